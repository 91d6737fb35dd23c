// SPDX-License-Identifier: Apache-2.0
// What is accepted must also be written and read again as the same.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "rooftile/base/rng.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/model/check_reference.h"
#include "rooftile/model/kv_cache.h"
#include "rooftile/op/record.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/profile_html.h"
#include "rooftile/workbench/profile_json.h"
#include "rooftile/workbench/profile_text.h"
#include "tests/fuzz/targets.h"

namespace rooftile::fuzz {
namespace {

// The smallest device; made once, as it has threads.
Device& device() {
  static const std::unique_ptr<Device> made = make_cpu_device(1);
  return *made;
}

void problem(std::string_view bytes) {
  const Problem read = catalogue().bind(bytes);
  const std::string line = read.text();
  require(catalogue().bind(line).text() == line, "a problem's line names another problem");
  const Operation& operation = catalogue().operation(read.op);
  const Cost cost = operation.def->cost(read, nullptr);
  require(cost.bytes() >= 0 && cost.total_ops() >= 0, "a problem costs less than nothing");
  for (const KernelDef* kernel : operation.kernels)
    if (supports(*kernel, read, device().properties()) && kernel->configs)
      (void)kernel->configs(read, device().properties());
}

void records(std::string_view bytes) {
  const std::string text = to_json("cpu", records_from_json(std::string(bytes), "fuzz"));
  require(to_json("cpu", records_from_json(text, "fuzz")) == text, "a record changes when copied");
}

void profile(std::string_view bytes) {
  const Profile read = profile_from_json(std::string(bytes), "fuzz");
  const std::string text = profile_json(read);
  require(profile_json(profile_from_json(text, "fuzz")) == text, "a profile changes when copied");
  require(!profile_text(read).empty() && !profile_html(read).empty(), "a profile is not shown");
}

void reference(std::string_view bytes) { (void)references_from_json(std::string(bytes), "fuzz"); }

// A file that is in memory only.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("rooftile_fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "no memory file");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void replace(std::string_view bytes) const {
    require(ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
                                                  static_cast<ssize_t>(bytes.size()),
            "a memory file cannot be written");
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void kv(std::string_view bytes) {
  static const MemoryFile file;
  static KvCache cache(
      device(), {.layers = 1, .kv_heads = 1, .head_dim = 2, .page_size = 2, .dtype = DType::fp16},
      4);
  // Whatever comes before the checksum, it fits: else it would keep all from the code behind it.
  std::string text(bytes);
  if (text.size() >= sizeof(std::uint64_t)) {
    const std::size_t end = text.size() - sizeof(std::uint64_t);
    const std::uint64_t sum = hash_bytes(text.data(), end);
    std::memcpy(text.data() + end, &sum, sizeof sum);
  }
  file.replace(text);
  try {
    Sequence sequence = cache.resume("m", file.path());
    cache.release(sequence);
  } catch (const Error&) {
    require(cache.pool().num_held() == 0, "a refused sequence holds pages");
    throw;
  }
  cache.forget();
}

constexpr std::array kTargets{Target{"problem", problem}, Target{"records", records},
                              Target{"profile", profile}, Target{"reference", reference},
                              Target{"kv", kv}};

}  // namespace

std::span<const Target> text_targets() { return kTargets; }

}  // namespace rooftile::fuzz
