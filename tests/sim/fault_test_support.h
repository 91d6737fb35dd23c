// SPDX-License-Identifier: Apache-2.0
// What tests of kernels with planted faults share: memory of the device with data, and what must be
// found, or must not, under each schedule.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rooftile/device/tensor_map.h"
#include "sim_test_support.h"

namespace rooftile::fault_test {

inline SimDevice& sim_device() {
  static const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  return *device;
}

/// An array in the device's memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    const auto bytes = static_cast<std::int64_t>(size_ * sizeof(T));
    data_ = static_cast<T*>(sim_device().allocate(bytes));
    const auto stream = sim_device().make_stream();
    sim_device().copy_to_device(*stream, data_, values.data(), bytes);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { sim_device().release(data_); }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

template <class T>
std::vector<T> counted(std::size_t count, T first = T{}) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(first + static_cast<T>(i));
  return values;
}

template <class... Args>
SimLaunch run_once(const KernelTable& table, const std::string& kernel, const LaunchShape& shape,
                   const SimOptions& options, Args... args) {
  sim_device().set_options(options);
  const auto stream = sim_device().make_stream();
  launch(*stream, find_kernel(table, kernel), shape, args...);
  try {
    stream->synchronise();
  } catch (const Error&) {
    // The findings say it.
  }
  return sim_device().take_launches().back();
}

inline std::vector<SimOptions> all_options() { return sim_test::schedules(3); }

inline std::string all_findings(const SimLaunch& launch) {
  return rooftile::text(launch.options) + "\n" + sim_test::findings(launch);
}

template <class... Args>
void expect_clean(const KernelTable& table, const std::string& kernel, const LaunchShape& shape,
                  Args... args) {
  for (const SimOptions& options : all_options()) {
    const SimLaunch done = run_once(table, kernel, shape, options, args...);
    EXPECT_TRUE(done.findings.empty()) << kernel << " " << all_findings(done);
  }
}

/// A finding of this kind whose text has all of `words`, whenever copies land.
template <class... Args>
void expect_finding(FindingKind kind, const std::vector<std::string>& words,
                    const KernelTable& table, const std::string& kernel, const LaunchShape& shape,
                    Args... args) {
  for (const SimOptions& options : all_options()) {
    const SimLaunch done = run_once(table, kernel, shape, options, args...);
    const bool is_found =
        std::any_of(done.findings.begin(), done.findings.end(), [&](const Finding& finding) {
          return finding.kind == kind &&
                 std::all_of(words.begin(), words.end(), [&](const std::string& word) {
                   return finding.text.find(word) != std::string::npos;
                 });
        });
    EXPECT_TRUE(is_found) << kernel << " lacks " << name(kind) << ": " << all_findings(done);
  }
}

/// A fault that shows in different ways under different schedules: always something.
template <class... Args>
void expect_some_finding(const KernelTable& table, const std::string& kernel,
                         const LaunchShape& shape, Args... args) {
  for (const SimOptions& options : all_options()) {
    const SimLaunch done = run_once(table, kernel, shape, options, args...);
    EXPECT_FALSE(done.findings.empty()) << kernel << " " << all_findings(done);
  }
}

}  // namespace rooftile::fault_test
