// SPDX-License-Identifier: Apache-2.0
// The profile of a request: where its time went, how far each kernel is from the roof, what limits
// decode, and what to do next with the gain that can be expected. Plain data, made once; the
// terminal, JSON and HTML only show it. Figures that do not exist are absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/ceilings.h"
#include "rooftile/op/record.h"
#include "rooftile/workbench/timeline.h"

namespace ROOFTILE_API rooftile {

struct DeviceProperties;

inline constexpr int kProfileSchema = 1;

/// The calls of one kernel, or of one role, in one phase.
struct ProfileRow {
  std::string name;       // the kernel's id, or the role
  std::string op{};       // empty where a role is served by several
  std::string problem{};  // of its longest call: the line that repeats it
  std::int64_t calls = 0;
  std::int64_t unproven_calls = 0;       // by kernels without a current proof
  double time_us = 0;                    // of its calls, one after the other
  double share_percent = 0;              // of the phase's time in operations; overlap is shared out
  double bytes = 0;                      // compulsory ones
  double ops = 0;                        // a multiply and an add are two
  std::optional<double> gbytes_per_s{};  //
  std::optional<double> gflops{};        //
  std::optional<double> intensity{};     // operations a byte
  std::string bound{};                   // memory, compute; cache: faster than memory allows
  std::optional<double> attainable{};    // GB/s where the memory binds, else GFLOP/s
  std::optional<double> percent_of_roof{};  // absent where the cache served it
  std::optional<double> roof_us{};          // the time at the roof
  std::optional<double> lost_us{};          // time - time at the roof, call by call
};

/// One operation of the pass that is drawn.
struct ShownEvent {
  std::string kernel;
  std::string role;
  std::string problem;
  std::int64_t layer = -1;
  std::int64_t thread = 0;
  double start_us = 0;  // since the start of the pass
  double time_us = 0;
  double bytes = 0;
  double ops = 0;
};

/// One pass with its operations: the longest prefill pass, the median decode pass.
struct ShownPass {
  std::int64_t index = 0;  // into the timeline's passes
  std::int64_t tokens = 0;
  double time_us = 0;
  std::vector<ShownEvent> events{};
};

/// What capturing a pass adds to it: the median over pairs of neighbouring passes of one run, one
/// captured and one clean, and where it lies with about 95 % confidence.
struct CaptureCost {
  double percent = 0;
  double low_percent = 0;
  double high_percent = 0;
  std::int64_t pairs = 0;
};

/// All passes of one kind. "Captured" is the run with the timeline, "clean" the one without.
struct ProfilePhase {
  std::string name;  // prefill or decode
  std::int64_t passes = 0;
  std::int64_t tokens = 0;
  std::int64_t operations = 0;  // calls of kernels
  double captured_us = 0;       // wall time of its passes
  double busy_us = 0;           // the union of its operations: overlap counts once
  double gap_us = 0;            // captured - busy
  std::optional<double> gap_us_an_operation{};
  std::optional<double> roof_us{};              // every operation at its roof, one after the other
  std::optional<double> clean_us{};             // wall time
  std::optional<double> tokens_per_s{};         // of the clean run
  std::optional<Quantiles> clean_pass_us{};     // decode: of its passes
  std::optional<CaptureCost> capture_cost{};    // decode
  std::optional<double> clean_gap_us_a_pass{};  // clean - busy: the overhead without the capture
  std::optional<double> mfu_percent{};          // operations of `mfu_unit` over its measured peak
  std::string mfu_unit{};
  std::vector<ProfileRow> kernels{};  // by time, longest first
  std::vector<ProfileRow> roles{};
  std::optional<ShownPass> shown{};

  /// What one pass takes: clean where there is a clean run.
  [[nodiscard]] double pass_us() const;
};

/// What a decode pass must move and compute, and the limits that follow.
struct DecodeArithmetic {
  double batch = 1;               // tokens a pass
  double weight_bytes = 0;        // a pass: shared by its sequences
  double kv_bytes = 0;            // a token: its sequence's cache at `context`
  double ops = 0;                 // a token
  double intensity = 0;           // of a pass, operations a byte
  double read_bytes_per_s = 0;    // the measured ceiling that the floor stands on
  double floor_us = 0;            // a pass: the larger of memory's and arithmetic's
  double floor_tokens_per_s = 0;  //
  std::int64_t context = 0;
  std::string unit{};                           // that does most of the operations
  std::optional<double> ridge{};                // operations a byte of that unit
  std::optional<double> compute_bound_batch{};  // from where the weights no longer bind
  std::optional<double> percent_of_floor{};     // floor / clean time of a pass
};

/// What fusing every pair of these two roles would save at most, per pass.
struct FusionRow {
  std::string phase;
  std::string producer;  // roles
  std::string consumer;
  std::int64_t pairs = 0;   // in the whole phase
  double bytes = 0;         // a pass: written by the producer, read again by the consumer
  double cached_bytes = 0;  // of them, those that fit in the cache: no memory traffic is saved
  std::optional<double> time_us{};      // a pass: what memory takes for the others, at its roof
  std::optional<double> overhead_us{};  // a pass: one operation less a pair
};

/// Weights that were converted when loading, and whether that pays.
struct LayoutRow {
  std::string role;
  std::string kernel;
  double bytes = 0;
  double convert_us = 0;
  std::optional<double> saves_us_a_pass{};
  std::optional<double> passes_to_pay{};  // conversion / saving
};

/// One thing to do, in the order in which to do it.
struct Advice {
  std::string topic;                     // correctness, kernel, overhead, fusion, quantise, batch
  std::string phase{};                   // empty: the whole request
  std::string what;                      // an imperative
  std::string why;                       // the numbers
  std::optional<double> gain_us{};       // a pass, at most
  std::optional<double> gain_percent{};  // of that pass; of throughput where `topic` is batch
};

struct ProfiledDevice {
  std::string description;
  std::int64_t last_level_cache_bytes = 0;  // 0: not known
};

struct Profile {
  ProfiledModel model{};
  ProfiledDevice device{};
  Ceilings ceilings{};
  std::string date{};                  // UTC
  std::vector<ProfilePhase> phases{};  // those that ran, prefill first
  std::optional<DecodeArithmetic> decode{};
  std::vector<FusionRow> fusion{};  // most bytes first
  std::vector<LayoutRow> layouts{};
  std::vector<Advice> advice{};
  std::vector<std::string> notes{};  // what the reader must know of the measurement

  [[nodiscard]] const ProfilePhase* phase(const std::string& name) const;
};

/// The analysis. Throws Error(bad_input) that names the event or pass whose figures are impossible
/// (a pass that does not exist, an end before its start, an unknown phase).
Profile make_profile(const ProfiledModel& model, const Timeline& timeline, const CleanRun& clean,
                     const DeviceProperties& device, const Ceilings& ceilings);

}  // namespace rooftile
