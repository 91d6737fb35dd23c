// SPDX-License-Identifier: Apache-2.0
// A model as it lies on disk, ready to be run: settings, weights, tokenizer, chat template.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/model/chat_template.h"
#include "rooftile/model/config.h"
#include "rooftile/model/tokenizer.h"
#include "rooftile/model/weights.h"

namespace ROOFTILE_API rooftile {

class Model {
 public:
  /// `path`: a GGUF file; a folder of Hugging Face (config.json, tokenizer.json and safetensors);
  /// or "synthetic:NAME" for the shape of a known model with seeded random weights (see
  /// synthetic_models()). Files stay mapped; the weights are copied to the device's memory where
  /// they take at most a quarter of it (see weights_memory.h). Throws Error(io) for what cannot be
  /// read, Error(bad_input) for what is damaged, missing or inconsistent, Error(unsupported) for an
  /// architecture that is not known here.
  static std::unique_ptr<Model> open(const std::string& path, Device& device);
  virtual ~Model() = default;

  [[nodiscard]] const std::string& name() const { return name_; }  // the file's, without its folder
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizer_; }
  [[nodiscard]] bool is_synthetic() const { return is_synthetic_; }
  /// Where the model's files say how to write a conversation.
  [[nodiscard]] const std::optional<ChatTemplate>& chat() const { return chat_; }
  /// The ids that end a turn.
  [[nodiscard]] const std::vector<std::int32_t>& end_ids() const { return end_ids_; }
  /// The name, and a hash of the settings and samples of every weight: what a saved sequence
  /// belongs to.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }

  /// The conversation of one user message as tokens; control tokens typed into a message are plain
  /// text. Throws Error(bad_input) where the model has no
  /// chat template.
  [[nodiscard]] std::vector<std::int32_t> chat_tokens(const std::string& user,
                                                      const std::string& system = "") const;

 protected:
  Model() = default;
  /// Fills in what follows from the rest.
  void complete();

  std::string name_{};
  ModelConfig config_{};
  Weights weights_{};
  std::unique_ptr<Tokenizer> tokenizer_{};
  std::optional<ChatTemplate> chat_{};
  std::vector<std::int32_t> end_ids_{};
  std::string fingerprint_{};
  bool is_synthetic_ = false;

 private:
  std::optional<DeviceMemory> memory_{};  // of the weights, unless they are read from the file
};

/// The names that "synthetic:" takes.
std::vector<std::string> synthetic_models();

}  // namespace rooftile
