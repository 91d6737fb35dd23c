// SPDX-License-Identifier: Apache-2.0
#include "apps/rooftile/models.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {

std::vector<ArgOption> model_options() {
  return {{"--activations",
           "KIND",
           "exact or q8: how activations meet quantised weights",
           {"exact", "q8"}},
          {"--kv", "DTYPE", "of the KV cache; default fp16", {"f32", "bf16", "fp16"}}};
}

ArgOption chunk_option() {
  return {"--chunk", "TOKENS",
          "of a prompt in one pass; default 512, 256 for models below 192 MiB"};
}

std::vector<ArgOption> prompt_options() {
  return {{"--prompt", "TEXT", "what the model continues; - reads standard input"},
          {"--prompt-file", "FILE", "the same from a file"},
          {"--chat", "", "the prompt is a user's message, in the model's chat template"},
          {"--system", "TEXT", "the system message before it; needs --chat"},
          {"--max-tokens", "N", "generate at most N"}};
}

std::unique_ptr<Model> open_model(Session& session) {
  if (session.args.words.size() != 1)
    fail_input("name one model: a GGUF file, a folder of Hugging Face, or synthetic:NAME (one of " +
               join(synthetic_models(), ", ", "") + ")");
  return Model::open(session.args.words[0], session.device());
}

std::string prompt_text(const Session& session) {
  const ParsedArgs& args = session.args;
  if (args.has("--prompt") && args.has("--prompt-file"))
    fail_input("--prompt and --prompt-file exclude each other");
  if (args.has("--prompt-file")) {
    const std::string path = args.value("--prompt-file");
    const std::optional<std::string> text = read_file(path);
    if (!text) throw Error(ErrorCode::io, "there is no file '" + path + "'");
    return *text;
  }
  if (!args.has("--prompt")) fail_input("--prompt TEXT (or --prompt-file FILE) is missing");
  if (args.value("--prompt") != "-") return args.value("--prompt");
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::vector<std::int32_t> prompt_tokens(const Session& session, const Model& model) {
  const std::string text = prompt_text(session);
  const bool is_chat = session.args.has("--chat");
  if (session.args.has("--system") && !is_chat) fail_input("--system needs --chat");
  std::vector<std::int32_t> ids =
      is_chat ? model.chat_tokens(text, session.args.value("--system"))
              : model.tokenizer().encode(text, {.add_special = true, .parse_special = false});
  if (ids.empty()) fail_input("the prompt is empty: a model needs at least one token");
  return ids;
}

namespace {

// Never less than a page, unless `chunk` is: a sequence to resume may miss as much of its own.
std::int64_t pass_tokens(std::int64_t prompt, std::int64_t chunk, std::int64_t page) {
  const std::int64_t tokens = std::max(prompt, page);
  const std::int64_t passes = (tokens + chunk - 1) / chunk;
  return (tokens + passes - 1) / passes;
}

// Longer passes are faster, and their buffers larger: no more than a tenth of the model's weights.
std::int64_t usual_chunk(const Model& model) {
  constexpr std::int64_t kSmallModel = std::int64_t{192} << 20;
  return stored_bytes(model.weights()) < kSmallModel ? 256 : 512;
}

}  // namespace

std::unique_ptr<Runner> make_runner(Session& session, const Model& model, std::int64_t prompt,
                                    std::int64_t others, const std::string& activations) {
  const std::int64_t tokens = prompt + others;
  const std::int64_t context = model.config().context;
  if (tokens > context)
    fail_input("prompt and --max-tokens need " + std::to_string(tokens) +
               " tokens; the context of '" + model.name() + "' is " + std::to_string(context));
  RunnerOptions options{.tokens = tokens, .kv = parse_dtype(session.args.value("--kv", "fp16"))};
  options.transformer.activations = session.args.value("--activations", activations);
  options.transformer.most_tokens = pass_tokens(
      prompt, session.args.integer("--chunk", usual_chunk(model), 1, 1 << 16), options.page_size);
  options.transformer.most_sequences = 1;
  return std::make_unique<Runner>(model, session.device(), session.registry, options);
}

std::string hash_of(const std::vector<std::int32_t>& ids) {
  char text[17];
  std::snprintf(
      text, sizeof text, "%016llx",
      static_cast<unsigned long long>(hash_bytes(ids.data(), ids.size() * sizeof ids[0])));
  return text;
}

std::string model_command(const Session& session, const std::string& verb) {
  std::string command = "rooftile " + verb;
  for (const std::string& word : session.args.words) command += " " + shell_quote(word);
  for (const auto& [name, value] : session.args.options) {
    if (name == "--json" || name == "--report" || name == "--trace") continue;
    command += " " + name + (value.empty() ? "" : " " + shell_quote(value));
  }
  return command;
}

}  // namespace rooftile::cli
