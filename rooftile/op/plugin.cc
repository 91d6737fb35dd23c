// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/op/c_kernel.h"

namespace rooftile {
namespace {

static_assert(std::string_view(kHeaderVersion) == ROOFTILE_VERSION,
              "kHeaderVersion in plugin.h follows the project's version");
static_assert(sizeof(PluginInfo) == 64 && sizeof(PluginInfo::layout) == 48);

using Entry = void (*)(Registry&);
using CEntry = const RooftileCPlugin* (*)();
using Kernels = std::vector<std::unique_ptr<const KernelDef>>;

// The file itself: what the dynamic loader would say of it depends on the system.
std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> block;
  std::uint64_t hash = hash_bytes(nullptr, 0);
  bool is_first = true;
  while (file.read(block.data(), block.size()), file.gcount() > 0) {
    const std::span bytes(block.data(), static_cast<std::size_t>(file.gcount()));
    if (std::exchange(is_first, false) &&
        (bytes.size() < 4 || std::memcmp(bytes.data(), "\177ELF", 4) != 0))
      fail_input("it is not a shared object");
    hash = hash_bytes(bytes.data(), bytes.size(), hash);
  }
  if (is_first) fail_input(file.is_open() ? "it is empty" : "it cannot be read");
  return fmt::format("{:016x}", hash);
}

void* open_object(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* text = dlerror();
  std::string cause = text == nullptr ? "no cause given" : text;
  if (cause.starts_with(path + ": ")) cause.erase(0, path.size() + 2);
  fail_input("it cannot be loaded: " + cause);
}

template <class Pointer>
Pointer symbol(void* handle, const char* name) {
  return reinterpret_cast<Pointer>(dlsym(handle, name));
}

void check_info(const PluginInfo* info) {
  if (info == nullptr)
    fail_input("it has rooftile_plugin but does not say for which contract: use ROOFTILE_PLUGIN");
  const PluginInfo ours;
  if (info->contract != ours.contract)
    fail_input(
        fmt::format("it was built for contract version {}, this library ({}) has {}: rebuild "
                    "it with this library's headers",
                    info->contract, ours.version, ours.contract));
  if (info->size != ours.size || !std::ranges::equal(info->layout, ours.layout))
    fail_input(
        fmt::format("its types have another layout than ours: it was built with the headers of "
                    "version {} (this library: {}), or with another standard library",
                    info->version, ours.version));
}

void run_entry(Entry entry, Registry& registry) {
  try {
    entry(registry);
  } catch (const std::exception& error) {
    fail_input(std::string("its entry failed: ") + error.what());
  } catch (...) {
    fail_input("its entry threw something that is no std::exception");
  }
}

Kernels add_c_kernels(CEntry entry, const std::string& hash, Registry& registry) {
  Kernels kernels;
  for (KernelDef& def : wrap_c_plugin(entry(), hash))
    registry.add(*kernels.emplace_back(std::make_unique<const KernelDef>(std::move(def))));
  return kernels;
}

// Why: the hash of its module stands for a kernel's code; one made at run time lies in no module.
void check_kernel(const KernelDef& kernel) {
  Dl_info module;
  if (kernel.own_code_hash.empty() && dladdr(&kernel, &module) == 0)
    fail_input(
        "kernel '" + kernel.id() +
        "' must be a constant of the plugin, or have own_code_hash: its proof is bound to code");
}

void note_additions(const Registry& before, const Registry& after, LoadedPlugin& plugin) {
  const auto had = [&](const Operation& operation) {
    for (const Operation& known : before.operations())
      if (known.def == operation.def) return known.kernels.size();
    plugin.operations.push_back(operation.def->name);
    return std::size_t{0};
  };
  for (const Operation& operation : after.operations())
    for (std::size_t i = had(operation); i < operation.kernels.size(); ++i) {
      check_kernel(*operation.kernels[i]);
      plugin.kernels.push_back(operation.kernels[i]->id());
    }
  if (plugin.operations.empty() && plugin.kernels.empty()) fail_input("it adds nothing");
}

LoadedPlugin load(Registry& registry, const std::string& path) {
  LoadedPlugin plugin{.path = path};
  const std::string hash = file_hash(path);
  void* handle = open_object(path);
  const auto entry = symbol<Entry>(handle, "rooftile_plugin");
  const auto c_entry = symbol<CEntry>(handle, "rooftile_c_plugin");
  if (entry == nullptr && c_entry == nullptr)
    fail_input("it exports neither rooftile_plugin (see ROOFTILE_PLUGIN) nor rooftile_c_plugin");
  // Into a copy: a plugin that fails half-way has added nothing.
  Registry trial = registry;
  if (entry != nullptr) {
    check_info(symbol<const PluginInfo*>(handle, "rooftile_plugin_info"));
    run_entry(entry, trial);
  }
  Kernels kernels;
  if (c_entry != nullptr) kernels = add_c_kernels(c_entry, hash, trial);
  note_additions(registry, trial, plugin);
  // Never freed: registries and plans refer to them until the process ends.
  static auto& kept = *new std::vector<Kernels>;
  kept.push_back(std::move(kernels));
  registry = std::move(trial);
  return plugin;
}

}  // namespace

LoadedPlugin load_plugin(Registry& registry, const std::string& path) {
  try {
    std::error_code error;
    const auto absolute = std::filesystem::canonical(path, error);
    if (error) fail_input("no such file");
    if (!std::filesystem::is_regular_file(absolute, error)) fail_input("it is not a file");
    return load(registry, absolute.string());
  } catch (const Error& error) {
    throw Error(error.code(), "plugin '" + path + "': " + error.what());
  }
}

}  // namespace rooftile
