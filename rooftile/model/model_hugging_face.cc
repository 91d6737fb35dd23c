// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/model/model_sources.h"
#include "rooftile/model/safetensors.h"
#include "rooftile/model/tokenizer_json.h"

namespace rooftile {
namespace {

class HuggingFaceModel final : public Model {
 public:
  explicit HuggingFaceModel(const std::string& folder) : files_(SafetensorsModel::open(folder)) {
    const std::string config = folder + "/config.json";
    const std::optional<std::string> text = read_file(config);
    if (!text) throw Error(ErrorCode::io, "there is no '" + config + "'");
    name_ = std::filesystem::weakly_canonical(folder).filename().string();
    config_ = config_from_json(*text, config);
    weights_ = find_weights(
        config_,
        [&](const std::string& name, const Dims&) -> std::optional<TensorView> {
          const ModelTensor* tensor = files_.tensors().find(name);
          return tensor == nullptr ? std::nullopt : std::optional(tensor->view());
        },
        WeightNames::hugging_face);
    tokenizer_ = make_tokenizer(load_tokenizer_json(folder + "/tokenizer.json"));
    complete();
  }

 private:
  SafetensorsModel files_;
};

}  // namespace

std::unique_ptr<Model> open_hugging_face(const std::string& folder) {
  return std::make_unique<HuggingFaceModel>(folder);
}

}  // namespace rooftile
