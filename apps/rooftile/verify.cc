// SPDX-License-Identifier: Apache-2.0
// rooftile verify: every kernel asked for, on a problem or on sets of cases.
#include "rooftile/workbench/verify.h"

#include <algorithm>

#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/proof.h"

namespace rooftile::cli {
namespace {

struct Totals {
  VerifyCounts counts{};
  int kernels = 0;
  int proven = 0;
};

class Verifier {
 public:
  explicit Verifier(Session& session) : session_(session) {
    const ParsedArgs& args = session.args;
    plan_.options.policy = parse_policy(args.value("--policy", "derived"));
    plan_.options.repeats = static_cast<int>(args.integer("--repeats", 3, 1, 1000));
    plan_.options.schedules = static_cast<int>(args.integer("--schedules", 4, 1, 1000));
    plan_.options.seed = static_cast<std::uint64_t>(args.integer("--seed", 0, 0, 1LL << 62));
    set_ = args.value("--set", "all");
    plan_.sets = set_ == "all" ? std::vector<std::string>{"smoke", "ci", "edges"}
                               : std::vector<std::string>{set_};
    for (const char* name : {"--seed", "--repeats", "--policy", "--schedules"})
      if (args.has(name)) options_ += " " + std::string(name) + " " + args.value(name);
  }

  int run() {
    const Request request = read_request(session_, session_.args.words);
    if (request.problem) {
      (void)items_of(session_, request, set_);  // refuses --set beside it, and what cannot fit
      verify_problem(request);
    } else {
      const auto operations = operations_of(session_, request);
      check_set(set_, operations);
      for (const Operation* operation : operations) verify_operation(*operation, request.kernel);
    }
    return finish();
  }

 private:
  // Kernels of the operation that this device can run; one that was named must be among them.
  std::vector<const KernelDef*> kernels_of(const Operation& operation, const std::string& named) {
    const DeviceProperties& device = session_.device().properties();
    if (!named.empty()) {
      const KernelDef& kernel = operation.kernel(named);
      if (!runs_on(kernel.target, device))
        throw Error(ErrorCode::unsupported, kernel.id() + ": runs on " +
                                                std::string(name(kernel.target)) + ", not on " +
                                                device.id);
      return {&kernel};
    }
    std::vector<const KernelDef*> list;
    for (const KernelDef* kernel : operation.kernels)
      if (runs_on(kernel->target, device)) list.push_back(kernel);
    return list;
  }

  void print_header(const Operation& operation, std::span<const KernelDef* const> kernels) {
    columns_ = Columns({{"kernel", 10},
                        {"passed", 6, true},
                        {"failed", 6, true},
                        {"invalid", 7, true},
                        {"unsupported", 11, true},
                        {"of bound", 8, true},
                        {"proof", 6}},
                       session_.width(), session_.has_colour(), 2);
    for (const KernelDef* kernel : kernels) columns_.fit({{kernel->name}});
    const DeviceProperties& device = session_.device().properties();
    session_.print(paint(operation.def->name, Style::bold, session_.has_colour()) + " on " +
                   device.id + " (" + device.name + ", " + device.kind + ")\n" + columns_.header());
  }

  void on_record(const Record& made, int done, int of) {
    const Record& record = session_.keep(made, options_);
    if (record.max_of_bound) worst_ = std::max(worst_.value_or(0), *record.max_of_bound);
    const bool is_bad = record.status == Status::failed || record.status == Status::invalid;
    if (is_bad || session_.args.has("--verbose")) print_record(record);
    session_.progress.update(record.problem, done, of);
  }

  void print_record(const Record& record) {
    const Columns line({}, session_.width(), session_.has_colour(), 2);
    std::string remark = record.reason;
    if (record.max_of_bound && record.status == Status::passed)
      remark = "(" + figures(*record.max_of_bound) + " of what is allowed)";
    session_.print(line.row({status_cell(record), {record.problem}}, {remark}, true));
    if (record.status != Status::passed)
      session_.print(paint("      " + record.command + "\n", Style::dim, session_.has_colour()));
  }

  void print_kernel(const Operation& operation, const KernelDef& kernel, const VerifyCounts& counts,
                    const std::string& what) {
    const DeviceProperties& device = session_.device().properties();
    const bool is_reference = &kernel == operation.reference.get();
    const ProofState proof = proof_state(*operation.def, kernel, device);
    const bool is_proven = proof == ProofState::current;
    totals_.counts.passed += counts.passed;
    totals_.counts.failed += counts.failed;
    totals_.counts.invalid += counts.invalid;
    totals_.counts.unsupported += counts.unsupported;
    totals_.kernels += is_reference ? 0 : 1;
    totals_.proven += is_proven ? 1 : 0;
    const auto count = [](int number, Style style) {
      return Cell{std::to_string(number), number > 0 ? style : Style::plain};
    };
    session_.print(columns_.row(
        {{kernel.name, Style::bold},
         count(counts.passed, Style::green),
         count(counts.failed, Style::red),
         count(counts.invalid, Style::yellow),
         count(counts.unsupported, Style::plain),
         {worst_ ? figures(*worst_) : "-"},
         {is_reference                 ? "-"
          : is_proven                  ? "proven"
          : proof == ProofState::stale ? "stale"
                                       : "none",
          is_proven      ? Style::green
          : is_reference ? Style::plain
                         : Style::yellow}},
        {"rooftile verify " + what + options_ + session_.common_options(), Style::dim}));
    worst_.reset();
  }

  void verify_operation(const Operation& operation, const std::string& named) {
    const std::vector<const KernelDef*> kernels = kernels_of(operation, named);
    print_header(operation, kernels);
    int of = 0;
    for (const std::string& set : plan_.sets)
      of += static_cast<int>(problems_of(*operation.def, set).size() * kernels.size());
    int done = 0;
    const auto see = [&](const Record& record) { on_record(record, ++done, of); };
    for (const KernelDef* kernel : kernels) {
      plan_.kernel = kernel->name;
      const VerifyCounts counts = kernel == operation.reference.get()
                                      ? verify_reference(operation, see)
                                      : verify_all(operation, session_.device(), plan_, see);
      const std::string set = session_.args.has("--set") ? " --set " + set_ : "";
      print_kernel(operation, *kernel, counts, kernel->id() + set);
    }
  }

  // The reference is no candidate of verify_all: it proves nothing but that the check can pass.
  VerifyCounts verify_reference(const Operation& operation,
                                const std::function<void(const Record&)>& see) {
    VerifyCounts counts;
    for (const std::string& set : plan_.sets)
      for (const Problem& problem : problems_of(*operation.def, set))
        count(verify_one(operation, *operation.reference, problem, see), counts);
    return counts;
  }

  Status verify_one(const Operation& operation, const KernelDef& kernel, const Problem& problem,
                    const std::function<void(const Record&)>& see) {
    const Record record = verify(*operation.def, kernel, problem, session_.device(), plan_.options);
    see(record);
    return record.status;
  }

  static void count(Status status, VerifyCounts& counts) {
    counts.passed += status == Status::passed ? 1 : 0;
    counts.failed += status == Status::failed ? 1 : 0;
    counts.invalid += status == Status::invalid ? 1 : 0;
    counts.unsupported += status == Status::unsupported ? 1 : 0;
  }

  void verify_problem(const Request& request) {
    const Operation& operation = *request.operation;
    const std::vector<const KernelDef*> kernels = kernels_of(operation, request.kernel);
    if (!request.kernel.empty())
      if (const Support support =
              supports(*kernels[0], *request.problem, session_.device().properties());
          !support)
        throw Error(ErrorCode::unsupported, kernels[0]->id() + ": " + support.reason);
    print_header(operation, kernels);
    int done = 0;
    const auto see = [&](const Record& record) {
      on_record(record, ++done, static_cast<int>(kernels.size()));
    };
    for (const KernelDef* kernel : kernels) {
      VerifyCounts counts;
      Problem problem = *request.problem;
      problem.kernel = kernel->name;
      count(verify_one(operation, *kernel, problem, see), counts);
      print_kernel(operation, *kernel, counts, problem.text());
      const Record& record = session_.records.back();
      if (record.status == Status::unsupported && !session_.args.has("--verbose"))
        print_reason(session_, record);
    }
  }

  int finish() {
    const VerifyCounts& counts = totals_.counts;
    const bool has_passed = counts.failed == 0 && counts.invalid == 0 && counts.run() > 0;
    std::string text = std::to_string(counts.passed) + " passed, " + std::to_string(counts.failed) +
                       " failed, " + std::to_string(counts.invalid) + " invalid, " +
                       std::to_string(counts.unsupported) + " unsupported";
    text = paint(text, has_passed ? Style::green : Style::red, session_.has_colour());
    text += "; " + std::to_string(totals_.proven) + " of " + std::to_string(totals_.kernels) +
            " kernels proven on " + session_.device().properties().kind + "\n";
    session_.print(text);
    session_.write_records();
    if (counts.run() == 0) std::fputs("rooftile: error: 0 ran: nothing was verified\n", stderr);
    return has_passed ? kGood : kCheckFailed;
  }

  Session& session_;
  VerifyPlan plan_{};
  std::string set_;
  std::string options_;
  Columns columns_{{}, 0, false};
  std::optional<double> worst_{};
  Totals totals_{};
};

}  // namespace

Verb verify_verb() {
  return {
      .name = "verify",
      .help = embedded::verify,
      .words = Words::problem,
      .options =
          {{"--set", "SET", "smoke, ci, edges, all (those three) or another; default all"},
           {"--seed", "N", "added to the seed of every problem; default 0"},
           {"--repeats", "N", "runs whose bits are compared; default 3"},
           {"--schedules", "N",
            "orders of threads on a simulated GPU: as they come, reversed, then random ones; default 4"},
           {"--policy", "POLICY", "derived (default) or assert_close", {"derived", "assert_close"}},
           {"--verbose", "", "a line for every problem"}},
      .run = [](Session& session) { return Verifier(session).run(); }};
}

}  // namespace rooftile::cli
