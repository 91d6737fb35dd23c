// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "rooftile/model/gguf.h"
#include "rooftile/model/gguf_tokenizer.h"
#include "rooftile/model/model_sources.h"

namespace rooftile {
namespace {

class GgufModel final : public Model {
 public:
  explicit GgufModel(const std::string& path) : file_(GgufFile::open(path)) {
    name_ = std::filesystem::path(path).filename().string();
    config_ = config_from_gguf(file_.content());
    weights_ = find_weights(
        config_,
        [&](const std::string& name, const Dims&) -> std::optional<TensorView> {
          const ModelTensor* tensor = file_.tensors().find(name);
          return tensor == nullptr ? std::nullopt : std::optional(tensor->view());
        },
        WeightNames::gguf);
    tokenizer_ = make_tokenizer(tokenizer_data_from_gguf(GgufTokenizer(file_.metadata())));
    complete();
    let_go(file_.bytes());  // the header's texts: the tokenizer has its own
  }

 private:
  GgufFile file_;
};

}  // namespace

std::unique_ptr<Model> open_gguf(const std::string& path) {
  return std::make_unique<GgufModel>(path);
}

}  // namespace rooftile
