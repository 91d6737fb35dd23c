// SPDX-License-Identifier: Apache-2.0
// rooftile run: a model writes, and what that took.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/rooftile/models.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {
namespace {

// Prints text as it comes, but holds back what may become a stop text.
class StopFilter {
 public:
  StopFilter(Session& session, std::vector<std::string> stops)
      : session_(session), stops_(std::move(stops)) {}

  /// Whether a stop text has come.
  bool push(const std::string& text) {
    held_ += text;
    for (const std::string& stop : stops_)
      if (const std::size_t at = held_.find(stop); at != std::string::npos) {
        held_.resize(at);
        flush();
        return true;
      }
    emit(held_.size() - possible_start());
    return false;
  }
  void flush() { emit(held_.size()); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  // The longest end of held_ that a stop text may begin with.
  [[nodiscard]] std::size_t possible_start() const {
    std::size_t longest = 0;
    for (const std::string& stop : stops_)
      for (std::size_t n = std::min(held_.size(), stop.size() - 1); n > longest; --n)
        if (held_.ends_with(stop.substr(0, n))) longest = n;
    return longest;
  }
  void emit(std::size_t count) {
    session_.print(held_.substr(0, count));
    text_ += held_.substr(0, count);
    held_.erase(0, count);
  }

  Session& session_;
  std::vector<std::string> stops_;
  std::string held_{};
  std::string text_{};
};

Sampling read_sampling(const Session& session) {
  const ParsedArgs& args = session.args;
  return {
      .temperature = static_cast<float>(args.number("--temperature", 0, 0, 100)),
      .top_k = static_cast<std::int32_t>(args.integer("--top-k", 0, 0, 1 << 30)),
      .top_p = static_cast<float>(args.number("--top-p", 1, 0, 1)),
      .min_p = static_cast<float>(args.number("--min-p", 0, 0, 1)),
      .repetition_penalty = static_cast<float>(args.number("--repetition-penalty", 1, 1e-3, 100)),
      .seed = args.integer("--seed", 0, 0, std::int64_t{1} << 62)};
}

double per_s(double count, double us) { return us > 0 ? count / us * 1e6 : 0; }

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// What a decode pass moves at least: every weight once, and the keys and values so far.
double decode_bytes(const ProfiledModel& model, std::int64_t context) {
  return model.weight_bytes_per_token + model.kv_bytes_per_token * static_cast<double>(context);
}

// Of the matrix products: 2 for each weight and token, the output matrix for the last token alone.
double prefill_ops(const Model& model, std::int64_t tokens) {
  const ModelConfig& c = model.config();
  const double table = static_cast<double>(c.vocab) * static_cast<double>(c.hidden);
  const double matrices = num_parameters(model.weights()) - table * (c.is_tied ? 1 : 2);
  return 2 * (matrices * static_cast<double>(tokens) + table);
}

// What the run took of the host's memory, and what it cannot do without.
struct MemoryUse {
  std::optional<std::int64_t> peak_bytes{};  // the largest resident set; absent where not known
  std::int64_t model_bytes = 0;              // of the file; of several, the weights in them
  std::int64_t cache_bytes = 0;
};

// Linux's: since this program began, unlike getrusage(), which remembers who started it.
std::optional<std::int64_t> peak_bytes() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view kKey = "VmHWM:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kKey)) return std::stoll(line.substr(kKey.size())) * 1024;
  return std::nullopt;
}

MemoryUse memory_use(const Session& session, Runner& runner) {
  MemoryUse use{.peak_bytes = peak_bytes(), .cache_bytes = runner.cache().bytes()};
  std::error_code is_no_file;
  const auto file_bytes = std::filesystem::file_size(session.args.words[0], is_no_file);
  use.model_bytes = static_cast<std::int64_t>(is_no_file ? stored_bytes(runner.model().weights())
                                                         : static_cast<double>(file_bytes));
  return use;
}

std::string memory_line(const MemoryUse& use) {
  if (!use.peak_bytes) return "";
  const auto needed = static_cast<double>(use.model_bytes + use.cache_bytes);
  const auto peak = static_cast<double>(*use.peak_bytes);
  return "memory  " + bytes_text(peak) + " at most, " + figures(peak / needed) + " x the model (" +
         bytes_text(static_cast<double>(use.model_bytes)) + ") and its KV cache (" +
         bytes_text(static_cast<double>(use.cache_bytes)) + ")\n";
}

void print_figures(Session& session, Runner& runner, const CleanRun& times, const Completion& done,
                   std::int64_t prompt, double ready_us, const MemoryUse& memory) {
  const ProfiledModel about = description(runner.model(), runner.cache());
  const std::int64_t context = prompt + static_cast<std::int64_t>(done.tokens.size());
  const double prefill = per_s(static_cast<double>(times.prefill_tokens), times.prefill_us);
  const double decode = per_s(static_cast<double>(times.decode_tokens), sum(times.decode_us));
  const Ceilings& ceilings = session.ceilings();
  const double moved = decode_bytes(about, context);
  const auto& fp32 = ceilings.units[static_cast<std::size_t>(Unit::fp32)];
  std::string text = "\n\nready   in " + time_text(ready_us) + " (file, cache, first pass)\n";
  text += "prompt  " + std::to_string(prompt) + " tokens" +
          (done.cached_tokens > 0 ? " (" + std::to_string(done.cached_tokens) + " cached)" : "") +
          ", " + figures(prefill) + " tokens/s";
  if (fp32)
    text +=
        ", " +
        figures(100 * per_s(prefill_ops(runner.model(), times.prefill_tokens), times.prefill_us) /
                fp32->per_s) +
        " % MFU (fp32)";
  text += "\n";
  if (times.decode_tokens > 0)
    text += "decode  " + std::to_string(times.decode_tokens) + " tokens, " + figures(decode) +
            " tokens/s, " + bytes_text(moved) + " a token, " + rate_text(moved * decode, "B/s") +
            ", " + figures(100 * moved * decode / ceilings.read.per_s) +
            " % of the measured read rate\n";
  text += memory_line(memory);
  text += "tokens  " + std::to_string(done.tokens.size()) + ", hash " + hash_of(done.tokens) +
          ", ended by " + std::string(name(done.finish)) + ", activations " +
          runner.transformer().options().activations +
          (runner.model().is_synthetic() ? "; synthetic weights: the text means nothing" : "") +
          "\n";
  session.print(text + "        " + model_command(session, "run") + "\n");
}

Json to_json(const Session& session, const Runner& runner, const CleanRun& times,
             const Completion& done, const std::string& text,
             const std::vector<std::int32_t>& prompt, const MemoryUse& memory) {
  return {{"schema", 1},
          {"model", runner.model().name()},
          {"synthetic", runner.model().is_synthetic()},
          {"prompt_ids", prompt},
          {"token_ids", done.tokens},
          {"hash", hash_of(done.tokens)},
          {"text", text},
          {"finish", name(done.finish)},
          {"prefill",
           {{"tokens", times.prefill_tokens},
            {"cached_tokens", done.cached_tokens},
            {"time_us", times.prefill_us}}},
          {"decode", {{"tokens", times.decode_tokens}, {"time_us", times.decode_us}}},
          {"memory",
           {{"peak_bytes", memory.peak_bytes ? Json(*memory.peak_bytes) : Json()},
            {"model_bytes", memory.model_bytes},
            {"kv_cache_bytes", memory.cache_bytes}}},
          {"command", model_command(session, "run")}};
}

// What --resume holds, before the prompt: its pages are in the runner's cache, to be found there.
std::vector<std::int32_t> resumed_tokens(Runner& runner, const std::string& file) {
  Sequence sequence = runner.cache().resume(runner.model().fingerprint(), file);
  std::vector<std::int32_t> tokens = sequence.tokens;
  runner.cache().release(sequence);
  return tokens;
}

// Prompt and completion with their keys and values. What no page holds yet is computed again.
void save(Runner& runner, std::vector<std::int32_t> tokens, const std::string& file) {
  Sequence sequence = runner.cache().start(tokens);
  tokens.erase(tokens.begin(), tokens.begin() + sequence.length());
  const auto most = static_cast<std::size_t>(runner.transformer().options().most_tokens);
  for (std::size_t at = 0; at < tokens.size(); at += most) {
    const auto part = std::span(tokens).subspan(at, std::min(most, tokens.size() - at));
    const PassInput input{&sequence, {part.begin(), part.end()}, 0};
    runner.transformer().forward(runner.stream(), std::span(&input, 1));
  }
  runner.stream().synchronise();
  runner.cache().save(sequence, runner.model().fingerprint(), file);
  runner.cache().release(sequence);
}

// Tokens that the cache must hold: those of a file to resume are at most as many as its size
// allows.
std::int64_t room_for_resumed(const Session& session, const Model& model) {
  if (!session.args.has("--resume")) return 0;
  const auto bytes = std::filesystem::file_size(session.args.value("--resume"));
  const ModelConfig& c = model.config();
  const std::int64_t per_token = 2 * 2 * c.layers * c.kv_heads * c.head_dim;  // the narrowest type
  return std::min(c.context, static_cast<std::int64_t>(bytes) / per_token + 1);
}

int run_run(Session& session) {
  const double started_us = now_us();
  if (session.args.has("--save")) check_writable(session.args.value("--save"));
  if (session.args.has("--resume") && !std::filesystem::exists(session.args.value("--resume")))
    throw Error(ErrorCode::io, "there is no file '" + session.args.value("--resume") + "'");
  const std::unique_ptr<Model> model = open_model(session);
  std::vector<std::int32_t> prompt;  // with --resume there may be none: it goes on as it was
  if (!session.args.has("--resume") || session.args.has("--prompt") ||
      session.args.has("--prompt-file"))
    prompt = prompt_tokens(session, *model);
  const std::int64_t most = session.args.integer("--max-tokens", 128, 0, 1 << 24);
  const std::unique_ptr<Runner> runner =
      make_runner(session, *model, static_cast<std::int64_t>(prompt.size()),
                  room_for_resumed(session, *model) + most, "q8");
  runner->warm_up();
  const double ready_us = now_us() - started_us;
  if (session.args.has("--resume")) {
    const std::vector<std::int32_t> before =
        resumed_tokens(*runner, session.args.value("--resume"));
    prompt.insert(prompt.begin(), before.begin(), before.end());
  }
  std::vector<std::string> stops = session.args.values("--stop");
  for (const std::string& stop : stops)
    if (stop.empty()) fail_input("--stop is empty: it would stop before the first token");
  StopFilter out(session, stops);
  StreamDecoder decoder(model->tokenizer());
  rooftile::Request request{
      .prompt = prompt,
      .max_tokens = most,
      .sampling = read_sampling(session),
      .on_token = [&](std::int32_t token) { return out.push(decoder.push(token)); }};
  if (!session.args.has("--ignore-end")) request.end_ids = model->end_ids();
  CleanRun times;
  const Completion done = runner->generate(std::span(&request, 1), times).front();
  if (done.finish != Finish::stopped) out.push(decoder.finish());
  out.flush();
  const MemoryUse memory = memory_use(session, *runner);  // before ceilings: probes need their own
  print_figures(session, *runner, times, done, static_cast<std::int64_t>(prompt.size()), ready_us,
                memory);
  if (session.args.has("--save")) {
    std::vector<std::int32_t> all = prompt;
    all.insert(all.end(), done.tokens.begin(), done.tokens.end());
    save(*runner, std::move(all), session.args.value("--save"));
  }
  session.write_json(to_json(session, *runner, times, done, out.text(), prompt, memory).dump(1) +
                     "\n");
  return kGood;
}

}  // namespace

Verb run_verb() {
  std::vector<ArgOption> options = prompt_options();
  for (const ArgOption& option : model_options()) options.push_back(option);
  options.push_back(chunk_option());
  options.insert(
      options.end(),
      {{"--temperature", "T", "0 takes the most probable token (default)"},
       {"--top-k", "K", "draw from the K most probable; 0: all"},
       {"--top-p", "P", "draw from the most probable that make up P"},
       {"--min-p", "P", "drop what is less probable than P times the first"},
       {"--repetition-penalty", "R", "divide the logits of tokens seen; 1: off"},
       {"--seed", "S", "of the draws; default 0"},
       {"--stop", "TEXT", "stop before this text; repeatable", {}, true},
       {"--ignore-end", "", "go on after the model's end token"},
       {"--save", "FILE", "keep all tokens with their keys and values there"},
       {"--resume", "FILE", "go on after what --save kept, with the prompt if there is one"}});
  return {.name = "run",
          .help = embedded::run,
          .words = Words::files,
          .options = std::move(options),
          .run = run_run};
}

}  // namespace rooftile::cli
