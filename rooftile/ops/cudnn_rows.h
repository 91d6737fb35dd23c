// SPDX-License-Identifier: Apache-2.0
// What cuDNN takes of operations on the rows x (rows x cols) that give y, whichever they are: plain
// data, so that it can be tested where there is no GPU.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "rooftile/op/kernel.h"

namespace rooftile::ops {

/// x and y have one type (f32, bf16 or fp16), packed rows, and no more elements than cuDNN's
/// tensors. `also` are vectors (cols) of f32 or x's type. All start at multiples of 16 bytes.
Support takes_cudnn_rows(const Problem& problem, std::initializer_list<const char*> also = {});

/// The above on this device: a GPU, and a cuDNN that starts on it.
Support takes_cudnn_rows(const Problem& problem, const DeviceProperties& device,
                         std::initializer_list<const char*> also = {});

/// Throws Error(bad_input) for addresses that are no multiples of 16 bytes. Absent ones are.
void check_cudnn_addresses(const Arguments& args, std::initializer_list<const char*> names);

/// "cuda:1" is 1.
int cuda_index(const DeviceProperties& device);

/// Candidates 0 to count - 1 of this version, since that decides what a number means: a tuned
/// record of another one is not used.
std::vector<Config> cudnn_configs(std::int64_t count);

}  // namespace rooftile::ops
