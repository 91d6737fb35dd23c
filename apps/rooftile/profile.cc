// SPDX-License-Identifier: Apache-2.0
// rooftile profile: a real request, where its time goes and what to do about it.
#include "rooftile/workbench/profile.h"

#include "apps/rooftile/models.h"
#include "cli_help.h"
#include "rooftile/base/file.h"
#include "rooftile/op/record.h"
#include "rooftile/workbench/chrome_trace.h"
#include "rooftile/workbench/profile_html.h"
#include "rooftile/workbench/profile_json.h"
#include "rooftile/workbench/profile_text.h"
#include "rooftile/workbench/statistics.h"

namespace rooftile::cli {
namespace {

// The same request on a cache that holds nothing of it.
CleanRun run_once(Session& session, const Model& model, const rooftile::Request& request,
                  ProfiledModel& about, Timeline* capture) {
  const std::unique_ptr<Runner> runner = make_runner(
      session, model, static_cast<std::int64_t>(request.prompt.size()), request.max_tokens, "q8");
  about = description(model, runner->cache());
  // Plans are made at the first pass of a shape: what is timed has seen its shapes before.
  CleanRun warm_up;
  rooftile::Request once = request;
  once.max_tokens = std::min<std::int64_t>(request.max_tokens, 2);
  runner->generate(std::span(&once, 1), warm_up);
  runner->cache().forget();
  CleanRun times;
  runner->generate(std::span(&request, 1), times, capture);
  return times;
}

// Whether the pairs tell the cost within a percent: a quiet machine soon does.
bool say_enough(const std::vector<CapturePair>& pairs) {
  constexpr std::size_t kLeastPairs = 50;
  constexpr double kWidth = 0.01;
  if (pairs.size() < kLeastPairs) return false;
  std::vector<double> ratios;
  for (const CapturePair& pair : pairs) ratios.push_back(pair.captured_us / pair.clean_us);
  const Interval range = median_interval(std::move(ratios));
  return range.high - range.low < kWidth;
}

// Pairs of neighbouring passes until they say enough, in a run of their own: its times are not
// quoted. The prompt is computed once; after that the cache holds it.
std::vector<CapturePair> run_in_turns(Session& session, const Model& model,
                                      const rooftile::Request& request) {
  constexpr double kMostUs = 6e6;
  const std::unique_ptr<Runner> runner = make_runner(
      session, model, static_cast<std::int64_t>(request.prompt.size()), request.max_tokens, "q8");
  std::vector<CapturePair> pairs;
  if (request.max_tokens < 3) return pairs;  // the prompt gives the first token, a pair two more
  runner->generate_in_turns(request, pairs);
  pairs.clear();  // the first run of a program is slower
  const double started_us = now_us();
  do runner->generate_in_turns(request, pairs);
  while (!say_enough(pairs) && now_us() - started_us < kMostUs);
  return pairs;
}

void write_outputs(Session& session, const Profile& profile, const Timeline& timeline) {
  if (session.args.has("--report"))
    replace_file(session.args.value("--report"), profile_html(profile));
  if (session.args.has("--trace"))
    replace_file(session.args.value("--trace"),
                 chrome_trace(profile.model, timeline, description(session.device().properties())));
  session.write_json(profile_json(profile));
}

int run_profile(Session& session) {
  for (const char* output : {"--report", "--trace"})
    if (session.args.has(output)) check_writable(session.args.value(output));
  const std::unique_ptr<Model> model = open_model(session);
  const rooftile::Request request{
      .prompt = prompt_tokens(session, *model),
      .max_tokens = session.args.integer("--max-tokens", 32, 1, 1 << 20)};
  const Ceilings& ceilings = session.ceilings();
  ProfiledModel about;
  session.progress.update("clean run", 0, 3);
  const CleanRun clean = run_once(session, *model, request, about, nullptr);
  Timeline timeline;
  session.progress.update("captured run", 1, 3);
  run_once(session, *model, request, about, &timeline);
  session.progress.update("both in turns", 2, 3);
  timeline.pairs = run_in_turns(session, *model, request);
  session.progress.clear();
  about.command = model_command(session, "profile");
  about.context = static_cast<std::int64_t>(request.prompt.size()) + clean.decode_tokens;
  const Profile profile =
      make_profile(about, timeline, clean, session.device().properties(), ceilings);
  session.print(
      profile_text(profile, {.columns = session.width(), .has_colour = session.has_colour()}));
  write_outputs(session, profile, timeline);
  return kGood;
}

}  // namespace

Verb profile_verb() {
  std::vector<ArgOption> options = prompt_options();
  for (const ArgOption& option : model_options()) options.push_back(option);
  options.push_back(chunk_option());
  options.insert(options.end(), {{"--report", "F.html", "write a page for the browser"},
                                 {"--trace", "F.json", "write a trace for Perfetto"}});
  return {.name = "profile",
          .help = embedded::profile,
          .words = Words::files,
          .options = std::move(options),
          .run = run_profile};
}

}  // namespace rooftile::cli
