// SPDX-License-Identifier: Apache-2.0
// One result with everything needed to repeat it. Figures that do not exist are absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/launch_record.h"

namespace ROOFTILE_API rooftile {

inline constexpr int kRecordSchema = 1;

enum class Origin : std::uint8_t { measured, simulated, predicted };

enum class Status : std::uint8_t {
  passed,
  failed,
  invalid,      // the measurement itself cannot be believed, for `reason`
  unsupported,  // the kernel does not do this problem, for `reason`
};

std::string_view name(Origin origin);
std::string_view name(Status status);

struct Quantiles {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  std::int64_t n = 0;  // samples
};

/// A against B, alternating in one run: ratio > 1 means this kernel is faster than the other.
struct Against {
  std::string kernel;
  Quantiles time_us;
  Quantiles ratio;
  std::string verdict;  // faster, slower, same, cannot tell
};

struct Record {
  std::string op;
  std::string kernel;
  std::string problem;        // the line that repeats it
  std::string device;         // as given to --on
  std::string device_name{};  // the product, what of it was used, and its kind
  Origin origin = Origin::measured;
  Status status = Status::passed;
  std::string reason{};
  std::optional<double> max_abs_error{};
  std::optional<double> max_rel_error{};
  std::optional<double> max_ulps{};
  std::optional<double> max_of_bound{};  // error / what is allowed: 1 is the limit
  std::optional<Quantiles> time_us{};
  std::optional<Against> against{};
  std::optional<Against> probe{};  // against the device's own bandwidth probe of the nearest mix
  std::optional<double> tflops{};
  std::optional<double> gbytes_per_s{};
  std::optional<double> intensity{};   // operations a byte
  std::string bound{};                 // memory or compute
  std::optional<double> attainable{};  // of this problem: GB/s or TFLOP/s, as `bound` says
  std::optional<double> percent_of_roof{};
  std::optional<double> predicted_us{};     // by the model of hardware/predict.h; never measured
  std::optional<double> predicted_error{};  // of that model, relative: the median of its validation
  std::vector<LaunchRecord> launches{};     // that were simulated
  std::optional<double> clocks_mhz{};
  std::optional<double> power_w{};
  std::optional<double> temperature_c{};
  std::string mode{};  // cold, hot, graph
  std::string data{};  // the distribution of the inputs, with its seed
  std::string config{};
  std::string code_hash{};
  std::string commit{};
  std::string command{};
  std::string date{};  // UTC, ISO 8601
};

/// {"schema": 1, "device": …, "records": […]} as docs/records.schema.json describes.
std::string to_json(const std::string& device, const std::vector<Record>& records);

/// Reads what to_json wrote. Throws Error(bad_input) that names the file's first fault; `what`
/// names the file.
std::vector<Record> records_from_json(const std::string& text, const std::string& what);

/// "2026-11-29T14:02:11Z"
std::string utc_now();

}  // namespace rooftile
