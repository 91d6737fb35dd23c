// SPDX-License-Identifier: Apache-2.0
// Plugins: operations and kernels built outside this tree, in a shared object that is loaded into a
// registry. What they add is verified, timed and placed on the roof like our own. A plugin in C++
// is
//
//   ROOFTILE_PLUGIN(registry) {
//     registry.add(my_operation);  // an OpDef and a KernelDef that live as long as the program:
//     registry.add(my_kernel);     // constants of the file
//   }
//
// and shares C++ types with this library, so it must be built with its headers and a compatible
// compiler; load_plugin() checks. A plugin in any other language uses c_plugin.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/c_plugin.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// Raised whenever a plugin built with older headers would no longer work.
inline constexpr std::uint32_t kPluginContract = 1;

/// The version of these headers.
inline constexpr const char* kHeaderVersion = "0.1.0";

/// What a C++ plugin was built with; exported beside its entry. Its layout never changes.
struct PluginInfo {
  std::uint32_t contract = kPluginContract;
  std::uint32_t size = sizeof(PluginInfo);
  const char* version = kHeaderVersion;
  /// Sizes of the types that both sides share: other headers, another standard library or one of
  /// its debug modes show here, rather than in a crash.
  std::uint64_t layout[6] = {sizeof(OpDef),  sizeof(KernelDef),  sizeof(Problem),
                             sizeof(ArgDef), sizeof(TensorView), sizeof(std::string)};
};

struct LoadedPlugin {
  std::string path{};  // absolute
  std::vector<std::string> operations{};
  std::vector<std::string> kernels{};  // ids
};

/// Loads the shared object at `path` (a file name, never searched for) and adds what it offers; a
/// kernel goes behind those that its operation has. The code runs with this process's rights: load
/// only what you trust. It is never unloaded.
/// Throws Error(bad_input) that names the file and the cause, and leaves `registry` as it was, when
/// there is no such file, it is no shared object or cannot be loaded, has no entry, was built for
/// another contract, throws, adds nothing, or adds something faulty.
LoadedPlugin load_plugin(Registry& registry, const std::string& path);

}  // namespace rooftile

#define ROOFTILE_PLUGIN(registry)                                                          \
  extern "C" {                                                                             \
  [[gnu::visibility("default")]] extern const ::rooftile::PluginInfo rooftile_plugin_info; \
  const ::rooftile::PluginInfo rooftile_plugin_info{};                                     \
  [[gnu::visibility("default")]] void rooftile_plugin(::rooftile::Registry&);              \
  }                                                                                        \
  void rooftile_plugin([[maybe_unused]] ::rooftile::Registry& registry)
