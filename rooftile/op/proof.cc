// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/proof.h"

#include <link.h>

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "fmt/format.h"
#include "rooftile/base/rng.h"
#include "rooftile/op/cache.h"

namespace rooftile {
namespace {

constexpr const char* kFile = "proofs.json";

// Eight bytes a step: a module with the code of several GPUs has tens of megabytes.
std::uint64_t hash_words(const char* data, std::size_t size, std::uint64_t hash) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t word = 0;
  for (; size >= sizeof word; size -= sizeof word, data += sizeof word) {
    std::memcpy(&word, data, sizeof word);
    hash = std::rotl((hash ^ word) * kFactor, 29);
  }
  return hash_bytes(data, size, hash);
}

// Why all that is not written: constants decide a result as much as instructions do, and the code
// of GPUs lies among them.
std::uint64_t hash_of(const dl_phdr_info& module) {
  std::uint64_t hash = hash_bytes(nullptr, 0);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0)
      hash = hash_words(reinterpret_cast<const char*>(module.dlpi_addr + segment.p_vaddr),
                        segment.p_memsz, hash);
  }
  return hash;
}

struct ModuleSearch {
  std::uintptr_t address;
  std::uint64_t hash = 0;
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
  // Once for all kernels of a module.
  static std::mutex mutex;
  static std::map<const void*, std::uint64_t> hashes;
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = hashes.try_emplace(module->dlpi_phdr);
  if (is_new) known->second = hash_of(*module);
  search.hash = known->second;
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
  return kernel.own_code_hash.empty() ? module_hash(&kernel) : kernel.own_code_hash;
}

std::string module_hash(const void* address) {
  static const char here = 0;
  ModuleSearch search{reinterpret_cast<std::uintptr_t>(address)};
  if (dl_iterate_phdr(hash_if_inside, &search) == 0) {
    search.address = reinterpret_cast<std::uintptr_t>(&here);
    dl_iterate_phdr(hash_if_inside, &search);
  }
  return fmt::format("{:016x}", search.hash);
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
