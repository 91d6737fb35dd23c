// SPDX-License-Identifier: Apache-2.0
// How long a kernel should take on a GPU, from what it does: a pure function of counts, launch
// shape, occupancy and the GPU's limits. It is a prediction, never a measurement. The model:
//
//   time = launch + busy + exposed
//
//   busy     the largest of the throughput terms, which overlap:
//     dram     bytes / what its access mix reaches
//     l2       sectors / rate, or requests for lines / rate: a slice gives two sectors or answers
//              one request a clock
//     shared   wavefronts, one a clock of each SM
//     issue    instructions counted, one a clock of each of an SM's four schedulers
//     tensor   operations / what the power limit sustains, at least those of the fullest SM / its
//              peak
//   launch   from the end of the kernel before to the first block's first instruction, and back
//   latency  rounds of blocks that follow each other on an SM, times the time of one block alone:
//            its loads' way to memory and back, once more after each barrier of the block
//   exposed  the part of latency that no other block of the SM hides: of b resident blocks, b - 1
//            work while one waits, so (b - 1) / b of busy hides latency
//   tail     shared, issue and tensor belong to an SM: the fullest has ceil(blocks / SMs) of the
//            blocks, so these terms grow by ceil(blocks / SMs) / (blocks / SMs)
//
// It does not know how long a thread's loads depend on each other: those between two barriers count
// as in flight together. L1 is not modelled (what it would serve counts as L2's), nor is arithmetic
// that was not counted.
//
// The roofline is Williams, Waterman and Patterson's (2009); hiding latency by other warps' work
// follows Hong and Kim (2009) and Volkov (2016). Constants are fitted to kernels measured on an
// H200 (calibrate.h, records/h200/prediction.json); for another GPU its data sheet scales them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct Gpu;  // hardware/gpu.h

/// What all blocks of a launch do together.
struct KernelWork {
  double dram_read_bytes = 0;
  double dram_written_bytes = 0;
  double l2_sectors = 0;   // of 32 bytes, between the SMs and L2, both ways
  double l2_requests = 0;  // for lines of 128 bytes; at least l2_sectors / 4
  double shared_wavefronts = 0;
  double instructions = 0;  // of warps, as far as they were counted
  double tensor_seconds =
      0;  // of the whole GPU at its peak: sum of operations / peak of their type
  double blocks = 0;
  double barriers = 0;           // of blocks, all blocks together
  double resident_blocks = 1;    // of an SM, from occupancy; at least 1
  bool waits_for_memory = true;  // it reads global memory
};

/// What a GPU gives, and the constants of the model.
struct PredictionModel {
  double units = 1;  // SMs
  double clock_hz = 0;
  double read_bytes_per_s = 0;
  double copy_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double tensor_share = 1;  // of the peak, that the power limit sustains
  double l2_sectors_per_s = 0;
  double launch_us = 0;
  double trip_us = 0;  // a block's start, and a load's way to memory and back
};

/// The model of a GPU of the table: an H200's, scaled by the data sheet for others. Throws
/// Error(unsupported) for a GPU without what the model needs.
PredictionModel prediction_model(const Gpu& gpu);

enum class TimeTerm : std::uint8_t { dram, l2, shared, issue, tensor, launch, exposed };
constexpr int kTimeTerms = 7;
std::string_view name(TimeTerm term);

struct Prediction {
  std::array<double, kTimeTerms> us{};  // by TimeTerm
  double latency_us = 0;                // of which `exposed` is what nothing hides
  double tail = 1;                      // factor within shared, issue and tensor
  double total_us = 0;
  TimeTerm binds = TimeTerm::launch;  // the largest part of the total
  std::string why;                    // one sentence: what binds, and what a warp would wait for

  double& operator[](TimeTerm term) { return us[static_cast<std::size_t>(term)]; }
  double operator[](TimeTerm term) const { return us[static_cast<std::size_t>(term)]; }
};

/// Throws Error(bad_input) for a count that is negative or not finite, and for no blocks.
Prediction predict(const KernelWork& work, const PredictionModel& model);

/// How far predictions were from measured times, relative.
struct PredictionError {
  struct Of {
    int launches = 0;
    double median = 0;
    double worst = 0;
    std::string_view worst_launch;
  };
  /// The kernels that the constants were fitted to, each left out of the fit that predicted it;
  /// they ran back to back, with L2 as the launch before left it. Few, all from one run, and the
  /// model's form was chosen with them in view: other kernels may be further off.
  Of fitted;
  /// Launches of the catalogue's kernels, timed alone after the caches were flushed, none of them
  /// in the fit (benchmarks/validate_prediction.py; docs/simulator_hardware.md has each).
  Of alone;
};
PredictionError prediction_error();

}  // namespace rooftile
