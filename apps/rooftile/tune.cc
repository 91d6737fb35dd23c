// SPDX-License-Identifier: Apache-2.0
// rooftile tune: every kernel and configuration of an operation, and which of them is remembered.
#include "rooftile/workbench/tune.h"

#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {
namespace {

std::string command_of(const Problem& problem, const BenchOptions& options) {
  return "rooftile tune " + problem.text() + mode_text(options.timing.mode);
}

void print_candidate(Session& session, const Columns& columns, const Record& record) {
  std::vector<Cell> cells{{record.kernel.substr(record.kernel.find('/') + 1), Style::bold}};
  if (record.status == Status::passed && record.time_us) {
    cells.insert(cells.end(), {{time_text(record.time_us->median)},
                               {time_range(*record.time_us), Style::dim},
                               {rate_of(record)},
                               roof_of(record)});
  } else {
    cells.push_back(status_cell(record));
  }
  session.print(columns.row(cells, {record.config.empty() ? "" : record.config}));
  if (record.status != Status::passed) print_reason(session, record);
  if (!record.against) return;
  const bool is_open = record.against->verdict == "cannot tell";
  session.print(
      "    the two fastest again, alternating: " +
      (is_open ? "cannot tell which is faster" : "the first is " + record.against->verdict) + ", " +
      ratio_text(record.against->ratio) + "\n");
}

// Whether there is a winner.
bool tune_one(Session& session, const Item& item, const BenchOptions& options) {
  const bool colour = session.has_colour();
  Columns columns({{"kernel", 10},
                   {"time", 7, true},
                   {"[p10-p90] n", 18},
                   {"rate", 12, true},
                   {"roof", 13, true},
                   {"configuration", 8}},
                  session.width(), colour, 2);
  int of = 1;  // the play-off
  for (const KernelDef* kernel : item.operation->kernels) {
    columns.fit({{kernel->name}});
    const bool is_meant = item.problem.kernel.empty() || kernel->name == item.problem.kernel;
    if (!is_meant || !supports(*kernel, item.problem, session.device().properties())) continue;
    of +=
        kernel->configs
            ? static_cast<int>(kernel->configs(item.problem, session.device().properties()).size())
            : 1;
  }
  session.print(paint(item.problem.text() + ", " + std::string(name(options.timing.mode)),
                      Style::bold, colour) +
                "\n" + columns.header());
  const std::string command = command_of(item.problem, options);
  int done = 0;
  session.progress.update("tuning " + item.problem.text(), done, of);
  const TuneResult result = tune(
      *item.operation, item.problem, session.device(), session.ceilings(), options,
      [&](Record record) {
        record.command = command;
        print_candidate(session, columns, session.keep(std::move(record), timing_text(session)));
        session.progress.update("tuning " + item.problem.text(), ++done, of);
      });
  session.progress.clear();
  const std::string repeat = command + timing_text(session) + session.common_options();
  const Columns line({}, session.width(), colour, 2);
  if (result.kernel.empty()) {
    session.print(line.row({{"no kernel ran", Style::red}}, {repeat, Style::dim}));
    return false;
  }
  const std::string config = result.config.values.empty() ? "" : " " + result.config.text();
  session.print(line.row(
      {{"winner: " + item.operation->def->name + "/" + result.kernel + config, Style::green}},
      {repeat, Style::dim}));
  session.print(line.row({{"remembered for"}},
                         {tuned_key(item.problem, session.device().properties())}, true));
  return true;
}

int run_tune(Session& session) {
  const BenchOptions options = read_timing(session);
  const Request request = read_request(session, session.args.words);
  if (request.operation == nullptr)
    fail_input("tune needs an operation: rooftile tune OP [name=value …]; see 'rooftile list ops'");
  bool has_winners = true;
  for (const Item& item : items_of(session, request, session.args.value("--set", "roof")))
    has_winners &= tune_one(session, item, options);
  session.write_records();
  return has_winners && !has_failure(session.records) ? kGood : kCheckFailed;
}

}  // namespace

Verb tune_verb() {
  std::vector<ArgOption> options{{"--set", "SET", "the problems of this set; default roof"}};
  for (ArgOption& option : timing_options()) options.push_back(std::move(option));
  return {.name = "tune",
          .help = embedded::tune,
          .words = Words::problem,
          .options = std::move(options),
          .run = run_tune};
}

}  // namespace rooftile::cli
