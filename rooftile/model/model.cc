// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/model/model_sources.h"
#include "rooftile/model/weights_memory.h"

namespace rooftile {
namespace {

constexpr std::string_view kSynthetic = "synthetic:";

std::uint64_t add_sample(std::uint64_t hash, const TensorView& view) {
  const auto bytes = static_cast<std::size_t>(bytes_of(view.dtype, num_elements(view.shape)));
  const std::size_t sample = std::min<std::size_t>(bytes, 256);
  const char* data = view.as<const char>();
  for (const std::size_t at : {std::size_t{0}, bytes / 2 - sample / 2, bytes - sample})
    hash = hash_bytes(data + at, sample, hash);
  return hash;
}

std::string fingerprint_of(const std::string& name, const Weights& weights) {
  std::uint64_t hash = hash_bytes(name.data(), name.size());
  for_each_weight(weights, [&](const TensorView& view) { hash = add_sample(hash, view); });
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return name + "-" + text;
}

void add_end(std::vector<std::int32_t>& ids, std::int64_t id, const Tokenizer& tokenizer) {
  if (id < 0 || id >= tokenizer.size()) return;
  const auto small = static_cast<std::int32_t>(id);
  if (std::ranges::find(ids, small) == ids.end()) ids.push_back(small);
}

}  // namespace

std::unique_ptr<Model> Model::open(const std::string& path, Device& device) {
  if (path.starts_with(kSynthetic)) return open_synthetic(path.substr(kSynthetic.size()), device);
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  std::unique_ptr<Model> model = is_folder ? open_hugging_face(path) : open_gguf(path);
  if (auto memory = move_to_device(model->weights_, device))
    model->memory_.emplace(std::move(*memory));
  return model;
}

void Model::complete() {
  if (config_.vocab < tokenizer_->size())
    fail_input("'" + name_ + "': its tokenizer has " + std::to_string(tokenizer_->size()) +
               " tokens, its embedding " + std::to_string(config_.vocab) + " rows");
  for (const std::int64_t id : config_.eos) add_end(end_ids_, id, *tokenizer_);
  add_end(end_ids_, tokenizer_->data().eos_id, *tokenizer_);
  add_end(end_ids_, tokenizer_->data().eot_id, *tokenizer_);
  if (const std::string& source = tokenizer_->data().chat_template; !source.empty())
    chat_.emplace(source);
  fingerprint_ = fingerprint_of(name_, weights_);
}

std::vector<std::int32_t> Model::chat_tokens(const std::string& user,
                                             const std::string& system) const {
  if (!chat_) fail_input("'" + name_ + "' has no chat template; give its text as a prompt");
  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({.role = "system", .content = system});
  messages.push_back({.role = "user", .content = user});
  const TokenizerData& data = tokenizer_->data();
  const auto piece = [&](std::int32_t id) {
    return id < 0 ? std::string() : std::string(tokenizer_->piece(id));
  };
  const ChatPrompt prompt = chat_->render_guarded(
      messages, {.bos_token = piece(data.bos_id), .eos_token = piece(data.eos_id)},
      tokenizer_->control_texts());
  return tokenizer_->encode(prompt.text,
                            {.add_special = false, .parse_special = true, .mark = prompt.mark});
}

}  // namespace rooftile
