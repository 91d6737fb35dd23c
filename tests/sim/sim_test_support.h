// SPDX-License-Identifier: Apache-2.0
// Runs kernels of the simulator's tests, and says what was found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/sim/sim_device.h"

namespace rooftile::sim_test {

/// A simulated H200 with one stream, and memory that goes with it.
class Simulated {
 public:
  Simulated() : device(make_sim_device("h200")), stream(device->make_stream()) {}

  /// Memory that nobody has written.
  template <class T>
  T* memory(std::int64_t count) {
    owned_.push_back(std::make_unique<DeviceMemory>(*device, count * sizeof(T)));
    return static_cast<T*>(owned_.back()->data());
  }
  template <class T>
  T* memory(const std::vector<T>& values) {
    T* data = memory<T>(static_cast<std::int64_t>(values.size()));
    device->copy_to_device(*stream, data, values.data(),
                           static_cast<std::int64_t>(values.size() * sizeof(T)));
    return data;
  }
  template <class T>
  std::vector<T> values(const T* data, std::int64_t count) {
    std::vector<T> out(static_cast<std::size_t>(count));
    device->copy_to_host(*stream, out.data(), data, count * static_cast<std::int64_t>(sizeof(T)));
    return out;
  }

  /// The launch, with its findings and counters; what was found is no error here.
  template <class... Args>
  SimLaunch run(const KernelTable& table, const std::string& kernel, const LaunchShape& shape,
                Args... args) {
    launch(*stream, find_kernel(table, kernel), shape, args...);
    try {
      stream->synchronise();
    } catch (const Error&) {
    }
    std::vector<SimLaunch> launches = device->take_launches();
    return launches.back();
  }

  std::unique_ptr<SimDevice> device;
  std::unique_ptr<Stream> stream;

 private:
  std::vector<std::unique_ptr<DeviceMemory>> owned_;
};

/// The schedules that each test of a clean kernel runs: as they come, reversed, and random ones.
inline std::vector<SimOptions> schedules(int random) {
  std::vector<SimOptions> list{{},
                               {.completion = SimCompletion::early},
                               {.order = SimOrder::reversed, .completion = SimCompletion::early},
                               {.order = SimOrder::reversed, .completion = SimCompletion::late}};
  for (int seed = 1; seed <= random; ++seed)
    list.push_back({.order = SimOrder::random,
                    .completion = SimCompletion::random,
                    .seed = static_cast<std::uint64_t>(seed)});
  return list;
}

/// All that was found, a line each; empty when nothing was.
inline std::string findings(const SimLaunch& launch) {
  std::string text;
  for (const Finding& finding : launch.findings)
    text += std::string(name(finding.kind)) + ": " + finding.text + "\n";
  return text;
}

inline bool has(const SimLaunch& launch, FindingKind kind) {
  return std::any_of(launch.findings.begin(), launch.findings.end(),
                     [kind](const Finding& finding) { return finding.kind == kind; });
}

}  // namespace rooftile::sim_test
