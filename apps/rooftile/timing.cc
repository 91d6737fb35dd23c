// SPDX-License-Identifier: Apache-2.0
// The options of every verb that times.
#include "apps/rooftile/cli.h"
#include "rooftile/base/error.h"

namespace rooftile::cli {

std::vector<ArgOption> timing_options() {
  return {{"--cold", "", "flush the caches before every sample (default)"},
          {"--hot", "", "back to back: what the caches hold stays"},
          {"--graph", "", "replay a captured graph"},
          {"--budget", "SECONDS", "wall time for the samples of each row; default 1"}};
}

BenchOptions read_timing(Session& session) {
  constexpr double kMostSeconds = 3600;
  BenchOptions options;
  const ParsedArgs& args = session.args;
  if (args.has("--graph"))
    throw Error(ErrorCode::unsupported,
                "--graph: " + session.device().properties().id +
                    " has no graphs to capture: its launches are plain calls; use --hot or --cold");
  if (args.has("--cold") && args.has("--hot")) fail_input("--cold or --hot: one of them, please");
  options.timing.mode = args.has("--hot") ? Mode::hot : Mode::cold;
  options.timing.budget_s = args.number("--budget", options.timing.budget_s, 0, kMostSeconds);
  return options;
}

std::string timing_text(const Session& session) {
  return session.args.has("--budget") ? " --budget " + session.args.value("--budget") : "";
}

}  // namespace rooftile::cli
