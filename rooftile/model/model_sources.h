// SPDX-License-Identifier: Apache-2.0
// Where models come from: one function a kind of source.
#pragma once

#include <memory>
#include <string>

#include "rooftile/model/model.h"

namespace rooftile {

std::unique_ptr<Model> open_gguf(const std::string& path);
std::unique_ptr<Model> open_hugging_face(const std::string& folder);
std::unique_ptr<Model> open_synthetic(const std::string& name, Device& device);

}  // namespace rooftile
