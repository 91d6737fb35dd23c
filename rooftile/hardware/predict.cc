// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/predict.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;
constexpr double kSchedulers = 4;  // of an SM, each issues an instruction a clock
constexpr double kRequestsPerSector = 0.5;

void check(const char* what, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail_input(std::string(what) + " of a kernel is " + shortest(value) +
               ": a finite number from 0 is needed");
}

void check(const KernelWork& work) {
  check("DRAM bytes read", work.dram_read_bytes);
  check("DRAM bytes written", work.dram_written_bytes);
  check("L2 sectors", work.l2_sectors);
  check("L2 requests", work.l2_requests);
  check("shared wavefronts", work.shared_wavefronts);
  check("instructions", work.instructions);
  check("tensor seconds", work.tensor_seconds);
  check("barriers", work.barriers);
  if (!(work.blocks >= 1) || !std::isfinite(work.blocks))
    fail_input("blocks of a kernel: " + shortest(work.blocks) + "; at least 1 is needed");
  if (!(work.resident_blocks >= 1))
    fail_input("resident blocks of a kernel: " + shortest(work.resident_blocks) +
               "; at least 1 is needed");
}

/// Linear between reading alone, copying and writing alone.
double dram_bytes_per_s(const PredictionModel& model, double write_share) {
  const double towards = std::abs(write_share - 0.5) * 2;
  const double end = write_share < 0.5 ? model.read_bytes_per_s : model.write_bytes_per_s;
  return model.copy_bytes_per_s + towards * (end - model.copy_bytes_per_s);
}

std::string waits_for(TimeTerm term, const KernelWork& work) {
  switch (term) {
    case TimeTerm::dram:
      return "DRAM binds: a warp waits for loads that miss L2";
    case TimeTerm::l2:
      return work.l2_requests * 2 > work.l2_sectors
                 ? "L2 binds, by requests: lanes are spread over lines, a warp waits for its loads"
                 : "L2 binds: a warp waits for loads that hit it";
    case TimeTerm::shared:
      return "shared memory binds: a warp waits for its wavefronts";
    case TimeTerm::issue:
      return "issue binds: a warp waits for its scheduler";
    case TimeTerm::tensor:
      return "the tensor cores bind: a warp waits for matrix operations";
    case TimeTerm::launch:
      return "the launch binds: the kernel is too small to fill the GPU";
    case TimeTerm::exposed:
      return "latency binds: a warp waits for memory, and too few bytes are asked for at once";
  }
  return "";
}

// What was measured of an H200, as shares of its data sheet where that scales to another GPU. The
// last three and the error are calibrate()'s of records/h200/prediction.json, which a test repeats.
constexpr double kReadShare = 4.61 / 4.8;
constexpr double kCopyShare = 4.274 / 4.8;
constexpr double kWriteShare = 4.68 / 4.8;
constexpr double kTensorShare = 774e12 / (4096.0 * 132 * 1.98e9);  // 4096 operations a clock and SM
constexpr double kL2SectorsPerClock = 168.6;
constexpr double kLaunchUs = 3.35;
constexpr double kTripUs = 0.545;
constexpr PredictionError kError{
    .fitted = {.launches = 12,
               .median = 0.045,
               .worst = 0.133,
               .worst_launch = "gemm 512, bf16 by TMA"},
    .alone = {.launches = 43, .median = 0.049, .worst = 0.229, .worst_launch = "gemm/sm90_stream"}};

}  // namespace

PredictionError prediction_error() { return kError; }

PredictionModel prediction_model(const Gpu& gpu) {
  if (gpu.compute_capability != ComputeCapability{9, 0} || !gpu.compute_units ||
      !gpu.boost_clock_hz || !gpu.dram_bytes_per_s)
    throw Error(ErrorCode::unsupported,
                "times are predicted for GPUs of compute capability 9.0 (h100, h200), not for " +
                    std::string(gpu.name));
  const double sheet = gpu.dram_bytes_per_s->value;
  return {.units = gpu.compute_units->value,
          .clock_hz = gpu.boost_clock_hz->value,
          .read_bytes_per_s = sheet * kReadShare,
          .copy_bytes_per_s = sheet * kCopyShare,
          .write_bytes_per_s = sheet * kWriteShare,
          .tensor_share = kTensorShare,
          .l2_sectors_per_s = kL2SectorsPerClock * gpu.boost_clock_hz->value,
          .launch_us = kLaunchUs,
          .trip_us = kTripUs};
}

std::string_view name(TimeTerm term) {
  static constexpr std::array<std::string_view, kTimeTerms> kNames{
      "dram", "l2", "shared", "issue", "tensor", "launch", "exposed latency"};
  return kNames.at(static_cast<std::size_t>(term));
}

Prediction predict(const KernelWork& work, const PredictionModel& model) {
  check(work);
  using enum TimeTerm;
  Prediction p;
  const double rounds = std::ceil(work.blocks / model.units);  // of the fullest SM
  p.tail = rounds / (work.blocks / model.units);
  const double sm_clocks_per_us = model.units * model.clock_hz / kMicro;

  const double bytes = work.dram_read_bytes + work.dram_written_bytes;
  if (bytes > 0)
    p[dram] = bytes / dram_bytes_per_s(model, work.dram_written_bytes / bytes) * kMicro;
  p[l2] = std::max(work.l2_sectors, work.l2_requests / kRequestsPerSector) /
          model.l2_sectors_per_s * kMicro;
  p[shared] = work.shared_wavefronts / sm_clocks_per_us * p.tail;
  p[issue] = work.instructions / sm_clocks_per_us / kSchedulers * p.tail;
  p[tensor] = work.tensor_seconds * std::max(1 / model.tensor_share, p.tail) * kMicro;
  p[launch] = model.launch_us;

  const double busy = *std::max_element(p.us.begin(), p.us.begin() + static_cast<int>(launch));
  const double trips = work.waits_for_memory ? 1 + work.barriers / work.blocks : 0;
  p.latency_us = std::max(1.0, rounds / work.resident_blocks) * trips * model.trip_us;
  const double hidden = busy * (work.resident_blocks - 1) / work.resident_blocks;
  p[exposed] = std::max(0.0, p.latency_us - hidden);

  p.total_us = p[launch] + busy + p[exposed];
  const auto largest = std::max_element(p.us.begin(), p.us.end());
  p.binds = static_cast<TimeTerm>(largest - p.us.begin());
  p.why = waits_for(p.binds, work);
  return p;
}

}  // namespace rooftile
