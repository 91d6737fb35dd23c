// SPDX-License-Identifier: Apache-2.0
// The operations of a pass of given shape, in order.
#pragma once

#include <string>

#include "rooftile/model/transformer_buffers.h"

namespace rooftile {

struct PassSetting {
  const ModelConfig& config;
  const Weights& weights;
  const KvCache& cache;
  const PassBuffers& buffers;
  const std::string& activations;
  std::int64_t tokens;
  std::int64_t sequences;
  std::int64_t rows;  // of logits
};

Program build_program(const PassSetting& setting, PlanStore& plans);

}  // namespace rooftile
