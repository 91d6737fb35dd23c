// SPDX-License-Identifier: Apache-2.0
#include "apps/rooftile/bench_simulated.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/simulate.h"

namespace rooftile::cli {
namespace {

std::string whole(double value) { return std::to_string(static_cast<long long>(value)); }

std::string_view metric_of(const std::string& counter) {
  for (const SimCounterInfo& info : sim_counters())
    if (info.name == counter) return info.metric;
  return "";
}

void print_counters(Session& session, const LaunchRecord& launch) {
  Columns columns({{"counter", 24}, {"count", 12, true}, {"in Nsight Compute", 18}},
                  session.width(), session.has_colour(), 4);
  for (const auto& [name, count] : launch.counters) columns.fit({{name}, {whole(count)}});
  session.print(columns.header());
  for (const auto& [name, count] : launch.counters)
    session.print(
        columns.row({{name}, {whole(count)}, {std::string(metric_of(name)), Style::dim}}));
}

double figure(const Figures& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, [](const auto& f) { return f.first; });
  return found == figures.end() ? 0 : found->second;
}

void print_lines(Session& session, const LaunchRecord& launch) {
  if (launch.lines.empty()) return;
  Columns columns({{"line", 10},
                   {"access", 14},
                   {"requests", 9, true},
                   {"lanes each", 10, true},
                   {"sectors each", 12, true},
                   {"wavefronts each", 15, true}},
                  session.width(), session.has_colour(), 4);
  for (const LineRecord& line : launch.lines) columns.fit({{line.place}, {line.access}});
  session.print(columns.header());
  for (const LineRecord& line : launch.lines) {
    const double requests = std::max(1.0, figure(line.counts, "requests"));
    const auto each = [&](std::string_view name) -> Cell {
      const double count = figure(line.counts, name);
      return {count == 0 ? "-" : each_text(count / requests)};
    };
    session.print(columns.row({{line.place},
                               {line.access},
                               {whole(figure(line.counts, "requests"))},
                               each("lanes"),
                               each("sectors"),
                               each("wavefronts")},
                              {line.remark, Style::yellow}, true));
  }
}

void print_launch(Session& session, const LaunchRecord& launch) {
  const bool colour = session.has_colour();
  session.print("  " + paint(launch.kernel, Style::bold, colour) + ", " + launch.shape + "\n");
  session.print("    " +
                (launch.registers ? std::to_string(*launch.registers) + " registers a thread; "
                                  : std::string()) +
                std::to_string(launch.blocks_per_sm) + " blocks an SM. " + launch.occupancy + "\n");
  if (launch.simulated_s)
    session.print("    simulated in " + figures(*launch.simulated_s) + " s on this machine\n");
  std::string terms;
  for (const auto& [name, us] : launch.terms_us)
    terms += (terms.empty() ? "" : ", ") + name + " " + figures(us) + " us";
  session.print("    predicted " + time_text(launch.predicted_us) + ": " + launch.why + "\n    (" +
                terms + ")\n");
  print_counters(session, launch);
  print_lines(session, launch);
}

}  // namespace

void refuse_timing_options(const Session& session) {
  for (const char* option : {"--against", "--hot", "--graph", "--budget", "--no-probe", "--plot"})
    if (session.args.has(option))
      fail_input(std::string(option) + ": nothing is timed on a simulated device");
}

void bench_simulated(Session& session, SimDevice& device, const Operation& operation,
                     const KernelDef& kernel, const Problem& problem, const Config& config,
                     const std::string& options) {
  const Record& record =
      session.keep(simulate(operation, kernel, problem, device, config), options);
  const bool colour = session.has_colour();
  session.print(paint(problem.text(false) + ", L2 empty", Style::bold, colour) + "\n");
  std::string line = "  " + paint(kernel.id(), Style::bold, colour) + "  ";
  if (record.predicted_us) {
    const PredictionError::Of error = prediction_error().alone;
    line += "predicted " + time_text(*record.predicted_us) + "; the model was off by " +
            figures(error.median * 100, 2) + " % in the median and " +
            figures(error.worst * 100, 2) + " % at worst (" + std::string(error.worst_launch) +
            ") for " + std::to_string(error.launches) +
            " launches timed alone on an H200, caches flushed, that it was not fitted to";
  } else {
    line += std::string(name(record.status));
  }
  session.print(line + "\n");
  if (record.status != Status::passed) print_reason(session, record);
  for (const LaunchRecord& launch : record.launches) print_launch(session, launch);
  session.print(paint("  " + record.command, Style::dim, colour) + "\n");
}

}  // namespace rooftile::cli
