// SPDX-License-Identifier: Apache-2.0
// The command line's parts: a verb is a table of options and a function; a session is what one call
// of the program works with.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/args.h"
#include "rooftile/base/console.h"
#include "rooftile/device/device.h"
#include "rooftile/op/record.h"
#include "rooftile/op/registry.h"
#include "rooftile/workbench/bench.h"

namespace rooftile::cli {

// Exit statuses.
inline constexpr int kGood = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadUsage = 2;

/// Thrown when nobody reads the output any more (| head): the program ends without a word.
struct OutputClosed {};

/// What one call works with: its arguments, the operations known, the device, and where results go.
class Session {
 public:
  ParsedArgs args{};
  Registry registry{};
  ProgressBar progress{};
  std::vector<Record> records{};  // what --json will hold

  /// Results for people: to stdout, or to stderr when stdout is for JSON. Removes the progress bar.
  void print(std::string_view text);
  [[nodiscard]] bool has_colour() const;
  [[nodiscard]] int width() const;

  /// The device of --on, opened at the first call.
  Device& device();
  /// Its ceilings: from the cache, or measured now.
  Ceilings& ceilings();

  /// Completes a record (commit, and the options that its command needs to repeat it) and keeps it.
  const Record& keep(Record record, const std::string& options = "");
  /// The options that every repeating command needs: " --on cuda:0 --plugin F.so".
  [[nodiscard]] std::string common_options() const;

  /// Writes `text` where --json says, if it was given.
  void write_json(const std::string& text);
  void write_records() { write_json(to_json(device().properties().id, records)); }

 private:
  [[nodiscard]] std::FILE* stream() const;
  std::unique_ptr<Device> device_{};
  std::optional<Ceilings> ceilings_{};
};

/// What the words after a verb are, for completion.
enum class Words : unsigned char { none, topics, problem, kernels, verbs, files };

struct Verb {
  std::string name;
  std::string_view help;  // its page, docs/cli/NAME.md
  Words words = Words::none;
  std::vector<std::string> topics{};  // the first word, for Words::topics
  std::vector<ArgOption> options{};   // its own; completed by the global ones
  bool is_global = true;              // takes the global options
  int (*run)(Session&) = nullptr;

  [[nodiscard]] std::vector<ArgOption> all_options() const;
};

// One file each.
Verb devices_verb();
Verb list_verb();
Verb verify_verb();
Verb bench_verb();
Verb compare_verb();
Verb tune_verb();
Verb run_verb();
Verb check_verb();
Verb profile_verb();
Verb report_verb();
Verb completion_verb();
Verb help_verb();

const std::vector<Verb>& verbs();
/// Throws Error(bad_input) with near misses.
const Verb& find_verb(const std::string& name);

/// A page of docs/cli, as a terminal shows it: headings bold, code without its marks.
std::string render_markdown(std::string_view page, bool has_colour);

/// Prints what may stand where the last of `words` stands, one a line, a tab before its meaning.
int complete(std::span<const std::string> words);

/// Adds the library's operations and those of --plugin.
void fill_registry(Registry& registry, const std::vector<std::string>& plugins);

// Problems (problems.cc).

/// What the words after a verb name.
struct Request {
  const Operation* operation = nullptr;  // null: every operation
  std::string kernel{};                  // empty: none was named
  std::optional<Problem> problem{};      // where name=value was given
};
/// Throws Error(bad_input) for what is wrong with it.
Request read_request(const Session& session, std::span<const std::string> words);

/// A problem and its operation.
struct Item {
  const Operation* operation;
  Problem problem;
};
/// The request's problem, or the cases of `set`: checked to exist and to fit into memory.
std::vector<Item> items_of(Session& session, const Request& request, const std::string& set);

/// The operations that the request is about.
std::vector<const Operation*> operations_of(const Session& session, const Request& request);

/// The names of all sets of these operations; throws Error(bad_input) unless `set` is one or "all".
std::vector<std::string> sets_of(std::span<const Operation* const> operations);
void check_set(const std::string& set, std::span<const Operation* const> operations);

/// Throws Error(bad_input) when the problem's tensors cannot fit into the device's memory, or their
/// reference into the host's.
void check_fits(const Problem& problem, Device& device);

/// "op/kernel" or "kernel" as the name of a kernel of `operation`; throws with near misses.
std::string kernel_name(const Operation& operation, const std::string& text);

// Figures (results.cc).

std::string time_range(
    const Quantiles& time_us);              // "[3.10-3.42]" in the median's unit, and the count
std::string rate_of(const Record& record);  // in what bounds it
Cell roof_of(const Record& record);         // "97.1 % memory"
Cell status_cell(const Record& record);
std::string ratio_text(const Quantiles& ratio);  // "1.23x [1.20-1.26]"
Style verdict_style(const std::string& verdict);
/// Whether one failed or is invalid.
bool has_failure(std::span<const Record> records);
void print_reason(Session& session, const Record& record);  // below its row
std::string problem_line(const Record& record);             // without the kernel

/// --cold, --hot, --graph and --budget, as bench, compare and tune take them.
std::vector<ArgOption> timing_options();
BenchOptions read_timing(Session& session);
/// " --hot", as a command repeats it; nothing for the default.
std::string mode_text(Mode mode);
/// The same as options of a command, those that records do not already show.
std::string timing_text(const Session& session);

}  // namespace rooftile::cli
