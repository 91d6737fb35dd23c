// SPDX-License-Identifier: Apache-2.0
// rooftile check: is this model computed right on this device?
#include "rooftile/model/check.h"

#include <unistd.h>
#include <filesystem>

#include "apps/rooftile/models.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"
#include "rooftile/model/check_reference.h"

namespace rooftile::cli {
namespace {

// Long enough for several pages and chunks, and of no meaning to any model.
constexpr std::string_view kText =
    "A roof of tiles keeps the rain out as long as every tile overlaps the next: 0123456789, "
    "\xC3\xA4\xC3\xB6\xC3\xBC, {\"key\": [1, 2, 3]}\n";

std::vector<std::int32_t> check_prompt(const Session& session, const Model& model) {
  for (const char* name : {"--prompt", "--prompt-file", "--chat", "--system"})
    if (session.args.has(name)) return prompt_tokens(session, model);
  return model.tokenizer().encode(kText, {.add_special = true, .parse_special = false});
}

void print_check(Session& session, const ModelCheck& check) {
  const bool colour = session.has_colour();
  session.progress.clear();
  session.print(
      (check.passed ? paint("passed", Style::green, colour) : paint("FAILED", Style::red, colour)) +
      "  " + paint(check.name, Style::bold, colour) + ": " + check.detail + "\n");
}

Json as_json(const Session& session, const Model& model, const std::vector<ModelCheck>& checks) {
  Json list = Json::array();
  for (const ModelCheck& check : checks)
    list.push_back({{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  return {{"schema", 1},
          {"model", model.name()},
          {"synthetic", model.is_synthetic()},
          {"checks", std::move(list)},
          {"command", model_command(session, "check")}};
}

// The other program's file says what the prompts are and how far they were continued.
void refuse_prompt_options(const Session& session) {
  for (const ArgOption& option : prompt_options())
    if (session.args.has(option.name))
      fail_input(option.name + " and --reference exclude each other: the tokens are those of '" +
                 session.args.value("--reference") + "'");
}

// --reference: another program's choices instead of the checks above.
int run_reference(Session& session, const Model& model) {
  const std::string file = session.args.value("--reference");
  const std::optional<std::string> text = read_file(file);
  if (!text) throw Error(ErrorCode::io, "there is no file '" + file + "'");
  RunnerOptions options{.kv = parse_dtype(session.args.value("--kv", "fp16"))};
  options.transformer.activations = session.args.value("--activations", "exact");
  options.transformer.most_sequences = 1;
  const ReferenceResult result = compare_with(references_from_json(*text, file), model,
                                              session.device(), session.registry, options);
  Json mismatches = Json::array();
  for (const Mismatch& m : result.mismatches) {
    session.print("sequence " + std::to_string(m.sequence) + ", token " + std::to_string(m.place) +
                  ": theirs " + std::to_string(m.theirs) + ", ours " + std::to_string(m.ours) +
                  ", their gap " + figures(m.gap) + "\n");
    mismatches.push_back({{"sequence", m.sequence},
                          {"place", m.place},
                          {"theirs", m.theirs},
                          {"ours", m.ours},
                          {"gap", m.gap}});
  }
  print_check(
      session,
      {"reference", result.passed(),
       std::to_string(result.compared) + " choices, " + std::to_string(result.mismatches.size()) +
           " differ; gaps differ by " + figures(result.median_error) + " (median), at most " +
           figures(result.largest_error) + "; activations " + options.transformer.activations});
  session.write_json(Json({{"schema", 1},
                           {"model", model.name()},
                           {"activations", options.transformer.activations},
                           {"passed", result.passed()},
                           {"compared", result.compared},
                           {"median_error", result.median_error},
                           {"largest_error", result.largest_error},
                           {"mismatches", std::move(mismatches)}})
                         .dump(1) +
                     "\n");
  return result.passed() ? kGood : kCheckFailed;
}

int run_check(Session& session) {
  if (session.args.has("--reference")) refuse_prompt_options(session);
  const std::unique_ptr<Model> model = open_model(session);
  if (session.args.has("--reference")) return run_reference(session, *model);
  const std::filesystem::path scratch = cache_folder();
  std::filesystem::create_directories(scratch);
  const ModelCheckOptions options{
      .activations = session.args.value("--activations", "exact"),
      .kv = parse_dtype(session.args.value("--kv", "fp16")),
      .prompt = check_prompt(session, *model),
      .tokens = session.args.integer("--max-tokens", 16, 1, 4096),
      .scratch_file = scratch / ("check-" + std::to_string(getpid()) + ".kv")};
  int verified = 0;
  const std::vector<ModelCheck> checks = check_model(
      *model, session.device(), session.registry, options,
      [&](const ModelCheck& check) { print_check(session, check); },
      [&](const Record& record) {
        session.progress.update("verify " + record.kernel, ++verified, 0);
        session.records.push_back(record);
      });
  bool all = true;
  for (const ModelCheck& check : checks) all = all && check.passed;
  session.print("activations " + options.activations + "\n" + model_command(session, "check") +
                "\n");
  session.write_json(as_json(session, *model, checks).dump(1) + "\n");
  return all ? kGood : kCheckFailed;
}

}  // namespace

Verb check_verb() {
  std::vector<ArgOption> options = prompt_options();
  for (const ArgOption& option : model_options()) options.push_back(option);
  options.push_back(
      {"--reference", "FILE", "compare with another program's greedy choices instead"});
  return {.name = "check",
          .help = embedded::check,
          .words = Words::files,
          .options = std::move(options),
          .run = run_check};
}

}  // namespace rooftile::cli
