// SPDX-License-Identifier: Apache-2.0
// The options of every verb that times.
#include "apps/rooftile/cli.h"
#include "rooftile/base/error.h"

namespace rooftile::cli {

std::vector<ArgOption> timing_options() {
  return {{"--cold", "", "flush the caches before every sample (default)"},
          {"--hot", "", "back to back: what the caches hold stays"},
          {"--graph", "", "many runs in one captured graph, hot: no launches by the host"},
          {"--budget", "SECONDS", "wall time for the samples of each row; default 1"}};
}

BenchOptions read_timing(Session& session) {
  constexpr double kMostSeconds = 3600;
  BenchOptions options;
  const ParsedArgs& args = session.args;
  if (args.has("--cold") + args.has("--hot") + args.has("--graph") > 1)
    fail_input("--cold, --hot or --graph: one of them, please");
  if (args.has("--graph") && !session.device().has_graphs())
    throw Error(ErrorCode::unsupported,
                "--graph: " + session.device().properties().id +
                    " has no graphs to capture: its launches are plain calls; use --hot or --cold");
  options.timing.mode = args.has("--hot")     ? Mode::hot
                        : args.has("--graph") ? Mode::graph
                                              : Mode::cold;
  options.timing.budget_s = args.number("--budget", options.timing.budget_s, 0, kMostSeconds);
  return options;
}

std::string mode_text(Mode mode) {
  return mode == Mode::cold ? "" : " --" + std::string(name(mode));
}

std::string timing_text(const Session& session) {
  return session.args.has("--budget") ? " --budget " + session.args.value("--budget") : "";
}

}  // namespace rooftile::cli
