// SPDX-License-Identifier: Apache-2.0
// rooftile compare: two kernels in one run, or two files of records.
#include <algorithm>

#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {
namespace {

bool is_file(const std::string& word) { return word.ends_with(".json"); }

void print_verdict(Session& session, const std::string& a, const Against& against,
                   const std::string& command) {
  const bool colour = session.has_colour();
  const Columns line({}, session.width(), colour, 2);
  const std::string verdict =
      against.verdict == "cannot tell"
          ? "cannot tell which is faster"
          : a + " is " + (against.verdict == "same" ? "the same" : against.verdict);
  session.print(
      line.row({{verdict + ": " + ratio_text(against.ratio), verdict_style(against.verdict)}},
               {command, Style::dim}));
}

void print_side(Session& session, const std::string& label, const Quantiles& time_us,
                std::size_t width) {
  Columns columns({{"", width}, {"", 7, true}}, session.width(), session.has_colour(), 2);
  session.print(
      columns.row({{label}, {time_text(time_us.median)}, {time_range(time_us), Style::dim}}));
}

// Two kernels
// --------------------------------------------------------------------------------------

struct Pair {
  const Operation* operation;
  const KernelDef* a;
  const KernelDef* b;
};

Pair read_pair(const Session& session) {
  const std::vector<std::string>& words = session.args.words;
  const Request a = read_request(session, std::span(words).subspan(0, 1));
  const Request b = read_request(session, std::span(words).subspan(1, 1));
  if (a.operation != b.operation)
    fail_input("'" + words[0] + "' and '" + words[1] + "' are kernels of different operations");
  if (a.kernel.empty() || b.kernel.empty())
    fail_input("compare needs two kernels, as OP/KERNEL OP/KERNEL; see 'rooftile list kernels " +
               a.operation->def->name + "'");
  return {a.operation, &a.operation->kernel(a.kernel), &b.operation->kernel(b.kernel)};
}

Problem problem_of(Session& session, const Pair& pair, std::span<const std::string> assignments) {
  std::vector<std::string> words{pair.a->id()};
  words.insert(words.end(), assignments.begin(), assignments.end());
  const Request request = read_request(session, words);
  if (!request.problem)
    fail_input(
        "compare needs a problem after the kernels, as name=value …; see 'rooftile list cases " +
        pair.operation->def->name + "'");
  check_fits(*request.problem, session.device());
  for (const KernelDef* kernel : {pair.a, pair.b})
    if (const Support support = supports(*kernel, *request.problem, session.device().properties());
        !support)
      throw Error(ErrorCode::unsupported, kernel->id() + ": " + support.reason);
  return *request.problem;
}

const Record& compare_on(Session& session, const Pair& pair, const Problem& problem,
                         const BenchOptions& options) {
  session.progress.update(pair.a->id() + " and " + pair.b->id(), 0, 1);
  Record made = compare_kernels(*pair.operation, *pair.a, *pair.b, problem, session.device(),
                                session.ceilings(), options);
  const std::string line = problem.text(false);
  made.command = "rooftile compare " + pair.a->id() + " " + pair.b->id() +
                 line.substr(pair.operation->def->name.size()) + mode_text(options.timing.mode);
  const Record& record = session.keep(std::move(made), timing_text(session));
  session.print(paint(line + ", " + record.mode, Style::bold, session.has_colour()) + "\n");
  if (record.status != Status::passed) {
    const Cell status = status_cell(record);
    session.print("  " + paint(status.text, status.style, session.has_colour()) + "\n");
    print_reason(session, record);
    return record;
  }
  const std::size_t width = std::max(pair.a->id().size(), pair.b->id().size());
  print_side(session, pair.a->id(), *record.time_us, width);
  print_side(session, pair.b->id(), record.against->time_us, width);
  print_verdict(session, pair.a->id(), *record.against, record.command);
  return record;
}

int compare_two_kernels(Session& session) {
  const BenchOptions options = read_timing(session);
  const Pair pair = read_pair(session);
  const auto words = std::span<const std::string>(session.args.words).subspan(2);
  std::vector<Problem> problems{problem_of(session, pair, words)};
  if (session.args.has("--second"))
    problems.push_back(problem_of(session, pair, split_words(session.args.value("--second"))));
  for (const Problem& problem : problems) (void)compare_on(session, pair, problem, options);
  const std::vector<Record>& records = session.records;
  if (records.size() > 1) {
    const auto [is_kept, reason] = keep(records);
    session.print(paint(is_kept ? "keep " : "do not keep ", is_kept ? Style::green : Style::yellow,
                        session.has_colour()) +
                  pair.a->id() + " over " + pair.b->id() + ": " + reason + "\n");
  }
  session.write_records();
  return has_failure(records) ? kCheckFailed : kGood;
}

// Two files
// ----------------------------------------------------------------------------------------

std::vector<Record> read_records(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw Error(ErrorCode::io, "cannot read '" + path + "': there is no such file");
  return records_from_json(*text, path);
}

bool has_time(const Record& record) { return record.status == Status::passed && record.time_us; }

bool is_same_problem(const Record& a, const Record& b) {
  return a.op == b.op && problem_line(a) == problem_line(b) && a.device == b.device &&
         a.mode == b.mode && has_time(a) && has_time(b);
}

// The record of B to hold against `a`: of the same kernel, else the only one of its problem.
const Record* partner_of(const Record& a, const std::vector<Record>& all_a,
                         const std::vector<Record>& all_b) {
  const auto is_alike = [&](const Record& other) { return is_same_problem(a, other); };
  const Record* only = nullptr;
  for (const Record& b : all_b) {
    if (!is_alike(b)) continue;
    if (b.kernel == a.kernel) return &b;
    only = &b;
  }
  const bool is_only =
      std::ranges::count_if(all_b, is_alike) == 1 && std::ranges::count_if(all_a, is_alike) == 1;
  return is_only ? only : nullptr;
}

Against against_of(const Record& a, const Record& b) {
  const RecordComparison result = compare_records(a, b);
  // Of two runs only quantiles are left: the widest ratio that they allow.
  return {.kernel = b.kernel,
          .time_us = *b.time_us,
          .ratio = {.median = result.ratio,
                    .p10 = b.time_us->p10 / a.time_us->p90,
                    .p90 = b.time_us->p90 / a.time_us->p10,
                    .n = std::min(a.time_us->n, b.time_us->n)},
          .verdict = result.verdict};
}

int compare_two_files(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  const std::vector<Record> all_a = read_records(words[0]);
  const std::vector<Record> all_b = read_records(words[1]);
  const std::string command =
      "rooftile compare " + shell_quote(words[0]) + " " + shell_quote(words[1]);
  std::vector<Record> pairs;
  for (const Record& a : all_a) {
    const Record* b = has_time(a) ? partner_of(a, all_a, all_b) : nullptr;
    if (b == nullptr) continue;
    Record record = a;
    record.against = against_of(a, *b);
    session.print(paint(problem_line(a) + ", " + a.mode, Style::bold, session.has_colour()) + "\n");
    const std::size_t width = std::max(a.kernel.size(), b->kernel.size()) + 3;
    print_side(session, "A " + a.kernel, *a.time_us, width);
    print_side(session, "B " + b->kernel, *b->time_us, width);
    print_verdict(session, "A", *record.against, command);
    pairs.push_back(std::move(record));
  }
  const std::size_t left_out = all_a.size() - pairs.size();
  if (left_out > 0)
    std::fprintf(stderr, "rooftile: %zu of %zu records of '%s' have no valid partner in '%s'\n",
                 left_out, all_a.size(), words[0].c_str(), words[1].c_str());
  session.write_json(to_json(all_a.empty() ? "" : all_a.front().device, pairs));
  if (!pairs.empty()) return kGood;
  std::fputs("rooftile: error: nothing to compare: no problem was measured in both\n", stderr);
  return kCheckFailed;
}

int run_compare(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  if (words.size() < 2)
    fail_input(
        "compare needs two files of records, or two kernels and a problem; see "
        "'rooftile compare --help'");
  if (!is_file(words[0]) && !is_file(words[1])) return compare_two_kernels(session);
  if (words.size() > 2) fail_input("'" + words[2] + "': after two files nothing more is expected");
  if (!is_file(words[0]) || !is_file(words[1]))
    fail_input("'" + words[0] + "' and '" + words[1] +
               "': expected two .json files or two kernels");
  return compare_two_files(session);
}

}  // namespace

Verb compare_verb() {
  std::vector<ArgOption> options = timing_options();
  options.push_back(
      {"--second", "PROBLEM", "another problem, \"name=value …\": is A worth keeping?"});
  return {.name = "compare",
          .help = embedded::compare,
          .words = Words::kernels,
          .options = std::move(options),
          .run = run_compare};
}

}  // namespace rooftile::cli
