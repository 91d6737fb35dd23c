// SPDX-License-Identifier: Apache-2.0
// rooftile bench: how fast, under which roof, against which rival.
#include "rooftile/workbench/bench.h"

#include <algorithm>

#include "apps/rooftile/bench_simulated.h"
#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/op/dispatch.h"
#include "rooftile/workbench/candidates.h"
#include "rooftile/workbench/roofline_text.h"

namespace rooftile::cli {
namespace {

// One row to come.
struct Run {
  const Operation* operation;
  const KernelDef* kernel;
  Problem problem;
  Config config{};
  std::string why{};  // how it came to be chosen; empty: named or one of all
  std::optional<Candidate> rival{};
};

// What --against says for the fastest of a vendor's kernels, which is another for each problem.
constexpr std::string_view kVendor = "vendor";

// One that the kernel offers for the problem, by its text.
Config config_named(const KernelDef& kernel, const Problem& problem, const DeviceProperties& device,
                    const std::string& text) {
  std::string offered;
  if (kernel.configs)
    for (const Config& config : kernel.configs(problem, device)) {
      if (config.text() == text) return config;
      offered += (offered.empty() ? "" : ", ") + ("'" + config.text() + "'");
    }
  fail_input("--config '" + text + "': " + kernel.id() + " offers " +
             (offered.empty() ? "none" : offered) + " for this problem");
}

std::string config_text(const Session& session) {
  return session.args.has("--config") ? " --config '" + session.args.value("--config") + "'" : "";
}

std::vector<Run> plan_runs(Session& session, const Request& request,
                           const std::string& default_set) {
  const DeviceProperties& device = session.device().properties();
  std::vector<Run> runs;
  if (session.args.has("--config") && session.args.has("--all-kernels"))
    fail_input("--config: of one kernel, not with --all-kernels");
  for (Item& item : items_of(session, request, session.args.value("--set", default_set))) {
    if (session.args.has("--all-kernels") && request.kernel.empty()) {
      for (const KernelDef* kernel : item.operation->kernels)
        if (runs_on(kernel->target, device)) runs.push_back({item.operation, kernel, item.problem});
      continue;
    }
    const Choice choice = choose(session.registry, item.problem, device);
    const bool is_named = !request.kernel.empty();
    const Support support = supports(*choice.kernel, item.problem, device);
    if (!support && request.problem)
      throw Error(ErrorCode::unsupported, choice.kernel->id() + ": " + support.reason);
    const Config config =
        support && session.args.has("--config")
            ? config_named(*choice.kernel, item.problem, device, session.args.value("--config"))
            : choice.config;
    runs.push_back({item.operation, choice.kernel, item.problem, config,
                    is_named ? "" : "dispatch chose it: " + choice.why});
  }
  return runs;
}

Columns columns_for(const Session& session, const std::vector<Run>& runs) {
  Columns columns({{"kernel", 10},
                   {"time", 7, true},
                   {"[p10-p90] n", 18},
                   {"rate", 12, true},
                   {"roof", 13, true},
                   {"probe", 6, true}},
                  session.width(), session.has_colour(), 2);
  for (const Run& run : runs) columns.fit({{run.kernel->name}});
  return columns;
}

void print_row(Session& session, const Columns& columns, const Record& record, const Run& run) {
  std::vector<Cell> cells{{run.kernel->name, Style::bold}};
  const bool is_timed = record.time_us.has_value();
  if (record.status == Status::passed && is_timed) {
    cells.insert(cells.end(),
                 {{time_text(record.time_us->median)},
                  {time_range(*record.time_us), Style::dim},
                  {rate_of(record)},
                  roof_of(record),
                  {record.probe ? figures(record.probe->ratio.median * 100) + " %" : "-"}});
  } else {
    cells.push_back(status_cell(record));
  }
  session.print(columns.row(cells, {record.command, Style::dim}));
  if (record.status != Status::passed) print_reason(session, record);
  const bool colour = session.has_colour();
  if (record.against && record.status == Status::passed)
    session.print("    " +
                  paint(record.against->verdict, verdict_style(record.against->verdict), colour) +
                  ", " + ratio_text(record.against->ratio) + ", against " + record.against->kernel +
                  " (" + time_text(record.against->time_us.median) + ")\n");
  if (!run.why.empty())
    session.print(paint("    " + run.why + (record.config.empty() ? "" : "; " + record.config),
                        Style::dim, colour) +
                  "\n");
}

// The fastest of a vendor's kernels as the rival, and of the kernel the fastest configuration,
// since both get the same choice. Dispatch may have chosen the vendor's: ours is then the first
// that is.
void meet_the_vendor(Session& session, const Request& request, Run& run, Mode mode) {
  Device& device = session.device();
  const DeviceProperties& properties = device.properties();
  const bool is_dispatched = request.kernel.empty() && !session.args.has("--all-kernels");
  if (is_dispatched && run.kernel->calls_vendor_library) {
    const KernelDef* ours = first_of_ours(*run.operation, run.problem, properties);
    if (ours == nullptr) return;
    run = {run.operation,
           ours,
           run.problem,
           {},
           "the first of ours; dispatch chose " + run.kernel->id()};
  }
  std::vector<std::vector<Candidate>> groups{
      vendor_candidates(*run.operation, run.problem, properties)};
  if (run.config.values.empty())
    groups.push_back(candidates_of(*run.kernel, run.problem, properties));
  const auto best = quickest(*run.operation->def, run.problem, device, groups, mode);
  run.rival = best.front();
  if (groups.size() > 1 && best.back()) run.config = best.back()->config;
}

void choose_rival(Session& session, const Request& request, Run& run, BenchOptions& options) {
  const std::string against = session.args.value("--against");
  options.against.clear();
  options.against_config = {};
  options.against_text.clear();
  if (against == kVendor) {
    options.against_text = kVendor;
    meet_the_vendor(session, request, run, options.timing.mode);
    if (!run.rival) return;
    options.against = run.rival->kernel->name;
    options.against_config = run.rival->config;
  } else if (!against.empty()) {
    options.against = kernel_name(*run.operation, against);
  }
}

std::string options_text(const Session& session) {
  return timing_text(session) + (session.args.has("--no-probe") ? " --no-probe" : "") +
         config_text(session);
}

std::vector<Record> measure(Session& session, const Request& request, std::vector<Run> runs,
                            BenchOptions options) {
  const Columns columns = columns_for(session, runs);
  Ceilings& ceilings = session.ceilings();
  session.print(columns.header());
  std::string heading;
  int done = 0;
  for (Run& run : runs) {
    const std::string line =
        run.problem.text(false) + ", " + std::string(name(options.timing.mode));
    if (line != heading)
      session.print(paint(heading = line, Style::bold, session.has_colour()) + "\n");
    session.progress.update(run.kernel->id() + ": " + run.problem.text(false), done++,
                            static_cast<int>(runs.size()));
    choose_rival(session, request, run, options);
    const Record& record = session.keep(bench(*run.operation, *run.kernel, run.problem,
                                              session.device(), ceilings, options, run.config),
                                        options_text(session));
    print_row(session, columns, record, run);
  }
  return session.records;
}

int exit_status(const std::vector<Record>& records) {
  if (std::ranges::count(records, Status::unsupported, &Record::status) == std::ssize(records)) {
    std::fputs("rooftile: error: 0 ran: nothing was measured\n", stderr);
    return kCheckFailed;
  }
  return has_failure(records) ? kCheckFailed : kGood;
}

int run_simulated(Session& session, SimDevice& device) {
  refuse_timing_options(session);
  const Request request = read_request(session, session.args.words);
  // Why not roof: its problems would take hours.
  for (const Run& run : plan_runs(session, request, "smoke"))
    bench_simulated(session, device, *run.operation, *run.kernel, run.problem, run.config,
                    config_text(session));
  session.write_records();
  return exit_status(session.records);
}

int run_bench(Session& session) {
  if (auto* simulated = dynamic_cast<SimDevice*>(&session.device()); simulated != nullptr)
    return run_simulated(session, *simulated);
  BenchOptions options = read_timing(session);
  options.with_probe = !session.args.has("--no-probe");
  const Request request = read_request(session, session.args.words);
  if (session.args.has("--against") && session.args.value("--against") != kVendor)
    for (const Operation* operation : operations_of(session, request))
      (void)kernel_name(*operation, session.args.value("--against"));  // known before any work
  const std::vector<Run> runs = plan_runs(session, request, "roof");
  const std::vector<Record> records = measure(session, request, runs, options);
  if (records.size() > 1 || session.args.has("--plot")) {
    const RooflineText plot{.columns = session.width() == 0 ? 100 : session.width(),
                            .has_colour = session.has_colour()};
    const std::string text = roofline_text(records, session.ceilings(), plot);
    if (!text.empty()) session.print("\n" + text);
  }
  session.write_records();
  if (std::ranges::count(records, Status::invalid, &Record::status) > 0)
    std::fputs("rooftile: if the ceilings are at fault: rooftile devices --measure\n", stderr);
  return exit_status(records);
}

}  // namespace

Verb bench_verb() {
  std::vector<ArgOption> options{
      {"--set", "SET", "the problems of this set; default roof, smoke where simulated"},
      {"--all-kernels", "", "every kernel, not the one that dispatch chooses"},
      {"--config", "CONFIG", "the kernel's configuration, as records and tune print it"},
      {"--against", "KERNEL",
       "alternate with this kernel; vendor: the fastest of a vendor's library"}};
  for (ArgOption& option : timing_options()) options.push_back(std::move(option));
  options.push_back({"--no-probe", "", "do not alternate with the bandwidth probe"});
  options.push_back({"--plot", "", "the roofline, even for one record"});
  return {.name = "bench",
          .help = embedded::bench,
          .words = Words::problem,
          .options = std::move(options),
          .run = run_bench};
}

}  // namespace rooftile::cli
