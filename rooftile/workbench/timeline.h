// SPDX-License-Identifier: Apache-2.0
// What a request did, operation by operation: the capture that a profile is made from. The run that
// is captured is never the run that is timed: a clean run gives the times that are quoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/cost.h"

namespace ROOFTILE_API rooftile {

/// One operation of the captured run.
struct TimelineEvent {
  std::string op;       // "gemm"
  std::string kernel;   // "gemm/cpu_gemv"
  std::string problem;  // the line that repeats it
  std::string role;     // what it is in the model: "ffn_up", "attention"
  int layer = -1;       // -1: outside the layers
  int pass = 0;         // index into Timeline::passes
  int thread = 0;       // the host thread that launched it
  Cost cost{};          // with the data as it was (lengths)
  double start_us = 0;  // since the start of the capture
  double end_us = 0;
  std::vector<int> reads{};   // indices of earlier events of the same pass whose output it reads
  bool output_stays = false;  // later passes read its output too (a KV cache): it must be written
  bool is_proven = true;      // its kernel has a current proof on this kind of device
};

/// One forward pass: the prompt, a chunk of it, or one token of every sequence.
struct TimelinePass {
  std::string phase;        // "prefill" or "decode"
  std::int64_t tokens = 0;  // computed in it
  double start_us = 0;
  double end_us = 0;
};

/// Weights that were brought into a kernel's own layout while loading.
struct TimelineLayout {
  std::string role;                         // of the operations that read them
  std::string kernel;                       // whose layout it is
  double bytes = 0;                         // converted
  double convert_us = 0;                    // once
  std::optional<double> saves_us_a_pass{};  // against the layout of the file; absent: not measured
};

/// Two neighbouring decode passes of one run, one of them captured: the time that the thread which
/// launches their operations computed.
struct CapturePair {
  double clean_us = 0;
  double captured_us = 0;
};

struct Timeline {
  std::vector<TimelinePass> passes{};
  std::vector<TimelineEvent> events{};  // by start
  std::vector<TimelineLayout> layouts{};
  std::vector<CapturePair> pairs{};  // of a run of their own: what the capture costs
};

/// The same request without the capture: what is quoted.
struct CleanRun {
  std::int64_t prefill_tokens = 0;
  double prefill_us = 0;
  std::vector<double> decode_us{};  // of each pass
  std::int64_t decode_tokens = 0;
};

/// What the numbers are about, for the head of a report.
struct ProfiledModel {
  std::string name;          // the file's, or "synthetic:llama-3.2-1b"
  std::string architecture;  // "llama"
  std::string command;       // that repeats the profile
  bool is_synthetic = false;
  double parameters = 0;
  double weight_bytes = 0;            // of all weights as stored
  double weight_bytes_per_token = 0;  // read by one decode pass
  double kv_bytes_per_token = 0;      // that one more token of context adds
  std::int64_t layers = 0;
  std::int64_t context = 0;  // at the end of the request
};

}  // namespace rooftile
