// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/proof.h"

#include <link.h>

#include <array>
#include <map>
#include <mutex>

#include "fmt/format.h"
#include "rooftile/base/rng.h"
#include "rooftile/op/cache.h"

namespace rooftile {
namespace {

constexpr const char* kFile = "proofs.json";

struct ModuleSearch {
  std::uintptr_t address;
  std::uint64_t hash;
};

int hash_if_inside(dl_phdr_info* module, std::size_t, void* data) {
  auto& search = *static_cast<ModuleSearch*>(data);
  const auto contains = [&](const ElfW(Phdr) & segment) {
    const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= begin &&
           search.address < begin + segment.p_memsz;
  };
  bool is_inside = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) is_inside |= contains(module->dlpi_phdr[i]);
  if (!is_inside) return 0;
  search.hash = hash_bytes(nullptr, 0);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      search.hash = hash_bytes(reinterpret_cast<const void*>(module->dlpi_addr + segment.p_vaddr),
                               segment.p_memsz, search.hash);
  }
  return 1;
}

std::string key_of(const KernelDef& kernel, const DeviceProperties& device) {
  return kernel.id() + " on " + device.kind;
}

std::string value_of(const OpDef& op, const KernelDef& kernel) {
  return "code " + code_hash(kernel) + " cases " + std::to_string(op.case_set_version);
}

}  // namespace

std::string code_hash(const KernelDef& kernel) {
  if (!kernel.own_code_hash.empty()) return kernel.own_code_hash;
  static std::mutex mutex;
  static std::map<const KernelDef*, std::string> hashes;
  const std::lock_guard lock(mutex);
  std::string& hash = hashes[&kernel];
  if (hash.empty()) {
    // A kernel made at run time lies in no module: its code is that of this library.
    static const char here = 0;
    ModuleSearch search{reinterpret_cast<std::uintptr_t>(&kernel), 0};
    if (dl_iterate_phdr(hash_if_inside, &search) == 0) {
      search.address = reinterpret_cast<std::uintptr_t>(&here);
      dl_iterate_phdr(hash_if_inside, &search);
    }
    hash = fmt::format("{:016x}", search.hash);
  }
  return hash;
}

std::string_view name(ProofState state) {
  static constexpr std::array<std::string_view, 3> kNames{"none", "stale", "current"};
  return kNames.at(static_cast<std::size_t>(state));
}

ProofState proof_state(const OpDef& op, const KernelDef& kernel, const DeviceProperties& device) {
  const auto found = KnownEntries::of(kFile).find(key_of(kernel, device));
  if (!found) return ProofState::none;
  return *found == value_of(op, kernel) ? ProofState::current : ProofState::stale;
}

void remember_proof(const OpDef& op, const KernelDef& kernel, const DeviceProperties& device,
                    bool passed) {
  const std::string key = key_of(kernel, device);
  const std::string value = value_of(op, kernel);
  KnownEntries::of(kFile).update([&](CacheFile::Entries& entries) {
    if (passed) {
      entries[key] = value;
    } else {
      entries.erase(key);
    }
  });
}

}  // namespace rooftile
