// SPDX-License-Identifier: Apache-2.0
// For gpus_*.cc and gpu.cc only: one function a row of the table, and shorthand to write rows.
#pragma once

#include <utility>
#include <vector>

#include "rooftile/hardware/gpu.h"

namespace rooftile {

Gpu a100_row();
Gpu h100_row();
Gpu h200_row();
Gpu b200_row();
Gpu rtx4090_row();
Gpu rtx5090_row();

namespace rows {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;
constexpr double kMega = 1e6;
constexpr double kMiB = 1024.0 * 1024.0;

inline Figure sheet(double value, std::string_view source, std::vector<Claim> others = {}) {
  return {value, Provenance::data_sheet, source, std::move(others)};
}
inline Figure paper(double value, std::string_view source, std::vector<Claim> others = {}) {
  return {value, Provenance::whitepaper, source, std::move(others)};
}
inline Figure guide(double value, std::string_view source, std::vector<Claim> others = {}) {
  return {value, Provenance::guide, source, std::move(others)};
}
inline Figure driver(double value, std::string_view source, std::vector<Claim> others = {}) {
  return {value, Provenance::driver, source, std::move(others)};
}
inline Figure derived(double value, std::string_view source, std::vector<Claim> others = {}) {
  return {value, Provenance::derived, source, std::move(others)};
}

/// Fills what follows from the compute capability alone.
inline void set_sm_limits(Gpu& gpu, ComputeCapability capability) {
  constexpr std::string_view kSource =
      "CUDA C++ Programming Guide, Technical Specifications per Compute Capability";
  const SmLimits& sm = sm_limits(capability);
  gpu.compute_capability = capability;
  gpu.shared_bytes_per_cu = guide(static_cast<double>(sm.shared_bytes), kSource);
  gpu.shared_bytes_per_block = guide(static_cast<double>(sm.max_block_shared_bytes), kSource);
  gpu.registers_per_cu = guide(kRegistersPerSm, kSource);
  gpu.warps_per_cu = guide(sm.max_warps, kSource);
  gpu.blocks_per_cu = guide(sm.max_blocks, kSource);
  gpu.threads_per_cu = guide(sm.max_threads(), kSource);
}

/// A dense rate in units of 1e12 a second, and its operations per clock of one SM.
inline Rate rate(const Arithmetic& arithmetic, double dense_tera_ops, double ops_per_clock,
                 Provenance provenance, std::string_view source) {
  return {.arithmetic = arithmetic,
          .dense_ops_per_s = {dense_tera_ops * kTera, provenance, source},
          .dense_ops_per_clock_per_cu = Figure{ops_per_clock, provenance, source}};
}

/// The same with the sheet's figure for 2:4 sparsity.
inline Rate rate(const Arithmetic& arithmetic, double dense_tera_ops, double ops_per_clock,
                 double sparse_tera_ops, Provenance provenance, std::string_view source) {
  Rate result = rate(arithmetic, dense_tera_ops, ops_per_clock, provenance, source);
  result.sparse_2_of_4_ops_per_s = Figure{sparse_tera_ops * kTera, provenance, source};
  return result;
}

/// Says that the operations per clock are not the maker's words. Why they are still a check: the
/// hardware's are powers of two, which no wrong peak or clock would give.
inline std::vector<Rate> with_derived_clock_rates(std::vector<Rate> rates) {
  for (Rate& rate : rates)
    if (rate.dense_ops_per_clock_per_cu) {
      rate.dense_ops_per_clock_per_cu->provenance = Provenance::derived;
      rate.dense_ops_per_clock_per_cu->source = "power of two nearest to peak / (SMs x clock)";
    }
  return rates;
}

}  // namespace rows
}  // namespace rooftile
