// SPDX-License-Identifier: Apache-2.0
// An entry reads "KERNEL code=HASH time_us=T [config as name=value …]"; a line of tuned.txt
// "DEVICE | OP/KERNEL problem | config | microseconds".
#include "rooftile/op/tuned.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/cache.h"
#include "rooftile/op/proof.h"
#include "shipped_tuned.h"

namespace rooftile {
namespace {

constexpr const char* kFile = "tuned.json";
constexpr std::int64_t kExactTo = 16;

std::string extent_class(std::int64_t extent) {
  if (extent <= kExactTo) return std::to_string(extent);
  return "<=" + std::to_string(std::bit_ceil(static_cast<std::uint64_t>(extent)));
}

// What decides whether a kernel may load whole vectors: rows and first elements that are not
// aligned to 16 bytes; and rows that are all one.
std::string strides_class(const ArgChoice& arg) {
  constexpr std::int64_t kVectorBytes = 16;
  const DTypeInfo& type = info(arg.dtype);
  const auto is_aligned = [&](std::int64_t elements) {
    return elements % type.unit_elements == 0 &&
           elements / type.unit_elements * type.unit_bytes % kVectorBytes == 0;
  };
  bool is_whole = is_aligned(arg.offset);
  bool repeats = false;
  for (int i = 0; i < arg.strides.rank(); ++i) {
    if (arg.shape[i] < 2 || arg.strides[i] == 1) continue;
    is_whole &= is_aligned(arg.strides[i]);
    repeats |= arg.strides[i] == 0;
  }
  return std::string(is_whole ? "" : "/odd") + (repeats ? "/repeats" : "");
}

std::string arg_class(const ArgChoice& arg) {
  std::string text = " " + arg.name + "=" + std::string(name(arg.dtype));
  for (int i = 0; i < arg.strides.rank(); ++i)
    if (arg.strides[i] == 1) text += "/" + std::to_string(i);  // which dimension is contiguous
  if (arg.scaling) {
    const ScaleChoice& scaling = *arg.scaling;
    text += "/" + std::string(name(scaling.dtype)) + to_string(scaling.block);
    if (scaling.layout == ScaleLayout::swizzled_128x4) text += "/swizzled";
    if (scaling.zero_point) text += "/zero:" + std::string(name(*scaling.zero_point));
    if (scaling.second_scale) text += "/second:" + std::string(name(*scaling.second_scale));
  }
  if (!arg.alias.empty()) text += "/in:" + arg.alias;
  return text + strides_class(arg);
}

std::optional<Tuned> parse(const std::string& entry, std::string& hash) {
  const std::vector<std::string> words = split_words(entry);
  if (words.empty()) return std::nullopt;
  Tuned tuned{.kernel = words[0]};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string key = words[i].substr(0, equals);
    const std::string value = words[i].substr(equals + 1);
    if (key == "code") {
      hash = value;
    } else if (key == "time_us") {
      tuned.time_us = parse_number(value).value_or(0);
    } else if (const auto number = parse_int(value)) {
      tuned.config.values.emplace_back(key, *number);
    } else {
      return std::nullopt;
    }
  }
  return tuned;
}

// A configuration of another version must not reach the kernel.
bool is_offered(const KernelDef& kernel, const Config& config, const Problem& problem,
                const DeviceProperties& device) {
  if (!kernel.configs) return config.values.empty();
  const std::vector<Config> offered = kernel.configs(problem, device);
  return std::ranges::find(offered, config) != offered.end();
}

// Without spaces around it.
std::string trimmed(const std::string& field) {
  std::string text;
  for (const std::string& word : split_words(field)) text += (text.empty() ? "" : " ") + word;
  return text;
}

using Shipped = std::vector<std::pair<std::string, Tuned>>;  // by tuned_key()

Shipped shipped_of(const Operation& operation, const DeviceProperties& device) {
  Shipped list;
  for (const ShippedTuned& line : shipped_tuned())
    if (line.device == device.name) {
      const ProblemText text = parse_problem_text(line.problem);
      if (text.op == operation.def->name)
        list.emplace_back(tuned_key(bind(*operation.def, text), device), line.tuned);
    }
  return list;
}

// The kernel of a record, where it can run the problem as the record says.
const KernelDef* runnable(const Operation& operation, const Tuned& tuned, const Problem& problem,
                          const DeviceProperties& device) {
  for (const KernelDef* kernel : operation.kernels)
    if (kernel->name == tuned.kernel && supports(*kernel, problem, device) &&
        is_offered(*kernel, tuned.config, problem, device))
      return kernel;
  return nullptr;
}

// Whether the problem leaves the kernel open, or names that of the record.
bool is_of_named(const Tuned& tuned, const Problem& problem) {
  return problem.kernel.empty() || problem.kernel == tuned.kernel;
}

// What this machine measured, with the machine code of now.
std::optional<Tuned> find_own(const Operation& operation, const Problem& problem,
                              const DeviceProperties& device) {
  const auto found = KnownEntries::of(kFile).find(tuned_key(problem, device));
  if (!found) return std::nullopt;
  std::string hash;
  auto tuned = parse(*found, hash);
  if (!tuned || !is_of_named(*tuned, problem)) return std::nullopt;
  const KernelDef* kernel = runnable(operation, *tuned, problem, device);
  if (kernel == nullptr || code_hash(*kernel) != hash) return std::nullopt;
  return tuned;
}

// The first that came with the library for this class and can run.
std::optional<Tuned> find_shipped(const Operation& operation, const Problem& problem,
                                  const DeviceProperties& device) {
  static std::mutex mutex;
  static std::map<std::string, Shipped> known;
  const std::lock_guard lock(mutex);
  const std::string of = operation.def->name + " " + device.name + " " + device.driver;
  auto found = known.find(of);
  if (found == known.end()) found = known.emplace(of, shipped_of(operation, device)).first;
  const std::string key = tuned_key(problem, device);
  for (const auto& [of_class, tuned] : found->second)
    if (of_class == key && is_of_named(tuned, problem) &&
        runnable(operation, tuned, problem, device) != nullptr)
      return tuned;
  return std::nullopt;
}

}  // namespace

std::vector<ShippedTuned> shipped_tuned() {
  std::vector<ShippedTuned> list;
  for (const std::string& line : split(embedded::tuned, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = split(line, '|');
    if (fields.size() != 4)
      throw Error(ErrorCode::internal, "tuned.txt: four fields in a line, not '" + line + "'");
    const std::string problem = trimmed(fields[1]);
    const std::string kernel = parse_problem_text(problem).kernel;
    std::string no_hash;
    auto tuned = parse(kernel + " time_us=" + trimmed(fields[3]) + " " + fields[2], no_hash);
    if (!tuned || kernel.empty())
      throw Error(ErrorCode::internal, "tuned.txt: cannot read '" + line + "'");
    list.push_back({trimmed(fields[0]), problem, *std::move(tuned)});
  }
  return list;
}

std::string tuned_key(const Problem& problem, const DeviceProperties& device) {
  std::string key = device.name + " x" + std::to_string(device.compute_units) + " " + device.kind;
  if (!device.driver.empty()) key += " " + device.driver;
  key += ": " + problem.op;
  for (const auto& [axis, extent] : problem.axes) key += " " + axis + extent_class(extent);
  for (const ArgChoice& arg : problem.args)
    if (arg.is_present) key += arg_class(arg);
  for (const OptionChoice& option : problem.options)
    if (!option.is_default) key += " " + option.name + "=" + option.value;
  // Zeros draw less power, and extreme numbers take slow paths: no times for what is usual.
  if (problem.data != Problem{}.data) key += " data=" + problem.data;
  return key;
}

std::optional<Tuned> find_tuned(const Operation& operation, const Problem& problem,
                                const DeviceProperties& device) {
  if (auto own = find_own(operation, problem, device)) return own;
  return find_shipped(operation, problem, device);
}

void remember_tuned(const Operation& operation, const Problem& problem,
                    const DeviceProperties& device, const Tuned& tuned) {
  std::string entry = tuned.kernel + " code=" + code_hash(operation.kernel(tuned.kernel)) +
                      " time_us=" + shortest(tuned.time_us);
  if (!tuned.config.values.empty()) entry += " " + tuned.config.text();
  const std::string key = tuned_key(problem, device);
  KnownEntries::of(kFile).update([&](CacheFile::Entries& entries) { entries[key] = entry; });
}

}  // namespace rooftile
