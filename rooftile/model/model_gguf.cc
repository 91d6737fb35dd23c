// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "rooftile/model/gguf.h"
#include "rooftile/model/model_sources.h"
#include "rooftile/model/tokenizer_gguf.h"

namespace rooftile {
namespace {

// The reader that tokenizer_data_from_gguf() asks for.
class TokenizerMetadata {
 public:
  explicit TokenizerMetadata(const GgufMetadata& metadata) : metadata_(metadata) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
    const auto found = metadata_.find_string(key);
    return found ? std::optional(std::string(*found)) : std::nullopt;
  }
  [[nodiscard]] std::optional<bool> flag(const std::string& key) const {
    return metadata_.find_bool(key);
  }
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const {
    return metadata_.find_u32(key);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_strings(key);
    return std::vector<std::string>(found.begin(), found.end());
  }
  [[nodiscard]] std::optional<std::vector<double>> numbers(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_f32s(key);
    return std::vector<double>(found.begin(), found.end());
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_i32s(key);
    return std::vector<std::int64_t>(found.begin(), found.end());
  }

 private:
  const GgufMetadata& metadata_;
};

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
    tokenizer_ = make_tokenizer(tokenizer_data_from_gguf(TokenizerMetadata(file_.metadata())));
    complete();
  }

 private:
  GgufFile file_;
};

}  // namespace

std::unique_ptr<Model> open_gguf(const std::string& path) {
  return std::make_unique<GgufModel>(path);
}

}  // namespace rooftile
