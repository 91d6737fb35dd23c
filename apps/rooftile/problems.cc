// SPDX-License-Identifier: Apache-2.0
// From words to problems: one, or the cases of a set.
#include <unistd.h>

#include <algorithm>

#include "apps/rooftile/cli.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/verify.h"

namespace rooftile::cli {
namespace {

// A value of the reference is a double, and there are inputs, a copy of them with the expected
// outputs, and the kernel's results read back.
constexpr double kHostBytesPerElement = 3 * sizeof(double);

double host_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

Request read_request(const Session& session, std::span<const std::string> words) {
  Request request;
  if (words.empty()) return request;
  const std::string line = join({words.begin(), words.end()}, " ");
  const ProblemText text = parse_problem_text(line);
  request.operation = &session.registry.operation(text.op);
  if (!text.kernel.empty()) request.kernel = request.operation->kernel(text.kernel).name;
  if (!text.assignments.empty()) request.problem = session.registry.bind(line);
  return request;
}

std::vector<const Operation*> operations_of(const Session& session, const Request& request) {
  if (request.operation != nullptr) return {request.operation};
  std::vector<const Operation*> list;
  for (const Operation& operation : session.registry.operations()) list.push_back(&operation);
  return list;
}

std::vector<std::string> sets_of(std::span<const Operation* const> operations) {
  std::vector<std::string> sets;
  for (const Operation* operation : operations)
    for (const Case& entry : operation->def->cases) add_once(sets, entry.set);
  return sets;
}

void check_set(const std::string& set, std::span<const Operation* const> operations) {
  std::vector<std::string> known = sets_of(operations);
  known.emplace_back("all");
  if (std::ranges::find(known, set) == known.end()) fail_input(unknown_name("set", set, known));
}

std::vector<Item> items_of(Session& session, const Request& request, const std::string& set) {
  if (request.problem) {
    if (session.args.has("--set"))
      fail_input("a problem is given and so is --set " + set + ": one of them, please");
    check_fits(*request.problem, session.device());
    return {{request.operation, *request.problem}};
  }
  const std::vector<const Operation*> operations = operations_of(session, request);
  check_set(set, operations);
  std::vector<Item> items;
  for (const Operation* operation : operations) {
    for (Problem& problem : problems_of(*operation->def, set)) {
      problem.kernel = request.kernel;
      check_fits(problem, session.device());
      items.push_back({operation, std::move(problem)});
    }
  }
  return items;
}

void check_fits(const Problem& problem, Device& device) {
  double bytes = 0;
  double elements = 0;
  for (const ArgChoice& arg : problem.args) {
    if (!arg.is_present) continue;
    bytes += problem.bytes(arg.name);
    elements += static_cast<double>(num_elements(arg.shape));
  }
  const DeviceProperties& properties = device.properties();
  const auto refuse = [&](const std::string& what, double need, double have) {
    if (need > have)
      fail_input("'" + problem.text() + "' needs " + bytes_text(need) + " for " + what + "; " +
                 "there are " + bytes_text(have));
  };
  refuse("its tensors on " + properties.id, bytes, static_cast<double>(properties.memory_bytes));
  refuse("its tensors and their reference in double, on the host",
         elements * kHostBytesPerElement + bytes, host_memory_bytes());
}

std::string kernel_name(const Operation& operation, const std::string& text) {
  const std::string prefix = operation.def->name + "/";
  return operation.kernel(text.starts_with(prefix) ? text.substr(prefix.size()) : text).name;
}

}  // namespace rooftile::cli
