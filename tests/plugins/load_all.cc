// SPDX-License-Identifier: Apache-2.0
// Loads every faulty plugin: each must be refused for its own reason and leave the registry as it
// was; the one with a wrong kernel loads, and verify must reject it. Usage: load_all FOLDER SUFFIX
#include <rooftile/base/error.h>
#include <rooftile/op/plugin.h>
#include <rooftile/ops/catalogue.h>
#include <rooftile/workbench/verify.h>

#include <cstdio>
#include <string>

namespace {

using namespace rooftile;

struct Fault {
  const char* file;
  const char* reason;
};
constexpr Fault kFaults[]{
    {"missing", "no such file"},
    {"text", "not a shared object"},
    {"no_entry", "exports neither rooftile_plugin"},
    {"no_info", "does not say for which contract"},
    {"other_contract", "built for contract version 999"},
    {"other_layout", "another layout than ours"},
    {"half_way", "its entry failed: planted"},
    {"nothing", "adds nothing"},
    {"not_constant", "must be a constant of the plugin"},
    {"null_run", "'softmax/cpu_null': the function run is NULL"},
};

std::string contents(const Registry& registry) {
  std::string text;
  for (const Operation& operation : registry.operations())
    for (const KernelDef* kernel : operation.kernels) text += kernel->id() + " ";
  return text;
}

bool is_refused(Registry& registry, const std::string& path, const std::string& reason) {
  const std::string before = contents(registry);
  try {
    load_plugin(registry, path);
    std::printf("WRONG: %s was loaded\n", path.c_str());
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool is_good = error.code() == ErrorCode::bad_input &&
                         message.find(reason) != std::string::npos &&
                         message.find(path) != std::string::npos && contents(registry) == before;
    std::printf("%s: %s\n", is_good ? "refused" : "WRONG", error.what());
    return is_good;
  }
  return false;
}

bool wrong_kernel_fails(Registry& registry, const std::string& path) {
  const LoadedPlugin plugin = load_plugin(registry, path);
  const auto device = open_device("cpu");
  const Operation& operation = registry.operation("softmax");
  const VerifyCounts counts =
      verify_all(operation, *device, {.kernel = "cpu_faulty", .sets = {"smoke", "ci", "edges"}},
                 [](const Record&) {});
  std::printf("%s: %d passed, %d failed\n", plugin.kernels.at(0).c_str(), counts.passed,
              counts.failed);
  return counts.failed > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto path = [&](const std::string& name) { return argv[1] + ("/" + name) + argv[2]; };
  Registry registry;
  add_catalogue(registry);
  bool is_good = true;
  for (const Fault& fault : kFaults)
    is_good &= is_refused(registry, path(fault.file), fault.reason);
  is_good &= wrong_kernel_fails(registry, path("wrong_kernel"));
  is_good &= is_refused(registry, path("wrong_kernel"), "'softmax/cpu_faulty' is declared twice");
  std::puts(is_good ? "plugins: ok" : "plugins: FAILED");
  return is_good ? 0 : 1;
}
