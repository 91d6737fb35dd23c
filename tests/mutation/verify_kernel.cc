// SPDX-License-Identifier: Apache-2.0
// verify_kernel OP/KERNEL SCHEDULES [PROBLEM...] [--sets SET,...]: verifies one kernel on the
// simulated H200 on the sets (smoke, ci and edges unless told) and on the further problems, as
// `rooftile verify` does, until something is wrong. One line of JSON says what came of it.
// tools/mutate_kernels links it with objects of mutants in the place of the kernel's own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/op/bind.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

std::vector<Problem> problems_for(const OpDef& op, const std::vector<std::string>& sets,
                                  const std::vector<std::string>& texts) {
  std::vector<Problem> problems;
  for (const std::string& set : sets)
    for (Problem& problem : problems_of(op, set)) problems.push_back(std::move(problem));
  for (const std::string& text : texts)
    problems.push_back(bind(op, parse_problem_text(op.name + " " + text)));
  return problems;
}

nlohmann::json result_of(const Record& record) {
  return {{"status", name(record.status)}, {"problem", record.problem}, {"reason", record.reason}};
}

/// The first record that failed, or how many passed.
nlohmann::json verify_until_failure(const OpDef& op, const KernelDef& kernel,
                                    const std::vector<Problem>& problems, int schedules) {
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  int passed = 0;
  // Each problem once, before any under all schedules: most faults show at once.
  for (const int depth : {1, schedules}) {
    passed = 0;
    for (const Problem& problem : problems) {
      const VerifyOptions options{.repeats = std::min(depth, 2), .schedules = depth};
      const Record record = verify(op, kernel, problem, *device, options);
      if (record.status == Status::failed) return result_of(record);
      passed += record.status == Status::passed ? 1 : 0;
    }
  }
  return {{"status", passed != 0 ? "passed" : "unsupported"}, {"passed", passed}};
}

int run(std::vector<std::string> words) {
  std::vector<std::string> sets{"all"};
  if (words.size() >= 4 && words[words.size() - 2] == "--sets") {
    sets = split(words.back(), ',');
    words.resize(words.size() - 2);
  }
  const std::string id = words[0];
  const std::size_t slash = id.find('/');
  if (slash == std::string::npos) fail_input("'" + id + "' is not OP/KERNEL");
  const int schedules = std::atoi(words[1].c_str());
  if (schedules < 1) fail_input("SCHEDULES='" + words[1] + "': from 1");
  const Operation& operation = catalogue().operation(id.substr(0, slash));
  const KernelDef& kernel = operation.kernel(id.substr(slash + 1));
  const auto problems = problems_for(*operation.def, sets, {words.begin() + 2, words.end()});
  std::puts(verify_until_failure(*operation.def, kernel, problems, schedules).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rooftile

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: verify_kernel OP/KERNEL SCHEDULES [PROBLEM...] [--sets SET,...]\n", stderr);
    return 2;
  }
  try {
    return rooftile::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
