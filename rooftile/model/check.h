// SPDX-License-Identifier: Apache-2.0
// Is a model computed right on this device? What can be checked without another program: packed
// values against their reference decoder, one way of computing against another, and every kernel
// that the model used on the model's own shapes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/model/runner.h"
#include "rooftile/op/record.h"

namespace ROOFTILE_API rooftile {

/// One question and its answer.
struct ModelCheck {
  std::string name;  // "one row against a batch"
  bool passed = false;
  std::string detail;  // what was compared, and by how much it differed
};

struct ModelCheckOptions {
  std::string activations = "exact";
  DType kv = DType::fp16;
  std::vector<std::int32_t> prompt{};  // at least 24 tokens
  std::int64_t tokens = 16;            // generated
  std::string scratch_file{};          // for the saved sequence; removed afterwards
};

/// All checks in order; `on_check` sees each as it is done, `on_kernel` each verified kernel.
/// Throws as Runner does.
std::vector<ModelCheck> check_model(const Model& model, Device& device, const Registry& registry,
                                    const ModelCheckOptions& options,
                                    const std::function<void(const ModelCheck&)>& on_check,
                                    const std::function<void(const Record&)>& on_kernel);

}  // namespace rooftile
