// SPDX-License-Identifier: Apache-2.0
// The host's half of what the sm90 kernels of gemm share.
#pragma once

#include <initializer_list>
#include <string>

#include "rooftile/device/tensor_map.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/gemm/sm90_epilogue.h"
#include "rooftile/ops/gemm/sm90_gemm.h"

namespace rooftile::ops::gemm {

/// Everything of the call but the addresses.
Sm90Call sm90_call(const Problem& problem);
/// The addresses of one run.
Sm90Call with_arguments(Sm90Call call, const Arguments& args);
/// Whether pairs of columns of D, the first even, are adjacent and aligned to their size.
bool stores_pairs(const MatrixView& d);
/// What no sm90 kernel takes: weights in blocks, rounded activations.
Support supports_sm90(const Problem& problem);

// --- kernels that copy their operands by TMA

/// How many tiles of `size` cover the extent.
inline int tiles_of(std::int64_t extent, std::int64_t size) {
  return static_cast<int>((extent + size - 1) / size);
}

/// Configurations by what they are estimated to take, the least first.
std::vector<Config> fastest_first(std::vector<std::pair<double, Config> > estimates);

/// Why TMA cannot copy the matrix, whose axis `inner` is contiguous; empty: it can.
std::string tma_reason(const ArgChoice& arg, int inner);
/// Whether TMA can write D: in the type of A, its rows whole multiples of 16 bytes.
bool can_store_d(const Problem& problem);
/// The matrix without its address; nothing where the argument is absent.
MatrixView view_of(const Problem& problem, const char* name);

/// Which operands are contiguous along k; the others are along m or n.
struct OperandLayouts {
  bool a_is_k = true;
  bool b_is_k = true;
  [[nodiscard]] bool is_nt() const { return a_is_k && b_is_k; }
  /// "Major::k, Major::mn", as kernels' instances are named.
  [[nodiscard]] std::string majors() const;
};
OperandLayouts layouts_of(const Problem& problem);

/// A and `rights`, what it is multiplied by: bf16 or fp16, all of one type.
Support supports_16_bits(const Problem& problem, std::initializer_list<const char*> rights);
/// TMA counts coordinates in 32 bits; and there must be something along k.
Support supports_tma_extents(const Problem& problem);
/// What no kernel takes that copies its operands by TMA and multiplies them by wgmma.
Support supports_tma(const Problem& problem);
/// The same, and both operands contiguous along k.
Support supports_tma_along_k(const Problem& problem);

Output output_of(const Problem& problem);
Output with_arguments(Output output, const Arguments& args);

/// Boxes of `operand`, whose axis `outer` is m or n: `rows` along it and 64 along k where it is
/// contiguous along k, else 64 along it and 64 along k.
TensorMap operand_map(Device& device, const TensorView& operand, int outer, bool is_k, int rows);
/// Boxes of kBoxRows rows of D of 128 bytes.
TensorMap output_map(Device& device, const TensorView& d);

}  // namespace rooftile::ops::gemm
