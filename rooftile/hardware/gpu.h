// SPDX-License-Identifier: Apache-2.0
// What GPUs can do on paper: a table of figures, each with its unit in its name and its source. It
// is the data sheet, not a measurement: ceilings are measured on the device and kept elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/hardware/sm_limits.h"

namespace ROOFTILE_API rooftile {

/// Where a figure comes from, most trusted by the maker first.
enum class Provenance : std::uint8_t {
  data_sheet,   // the maker's page or sheet of this product
  whitepaper,   // the maker's architecture paper
  guide,        // the maker's programming or tuning guide
  driver,       // what the driver reports of such a device
  measured,     // by a benchmark
  derived,      // computed from other figures; the source says how
  third_party,  // published by others
};
std::string_view name(Provenance provenance);

struct Claim {
  double value = 0;
  Provenance provenance = Provenance::data_sheet;
  std::string_view source = {};
};

/// A figure and, where sources disagree, what the others say. The unit is in the member's name.
struct Figure {
  double value = 0;
  Provenance provenance = Provenance::data_sheet;
  std::string_view source = {};
  std::vector<Claim> others = {};
};

/// The part of the chip that does the arithmetic.
enum class Engine : std::uint8_t { vector, tensor };
enum class Number : std::uint8_t { fp64, fp32, tf32, bf16, fp16, fp8, fp6, fp4, int8, int32 };
std::string_view name(Engine engine);
std::string_view name(Number number);

/// A kind of arithmetic. The accumulator matters: on GeForce, accumulating in fp16 doubles the
/// rate, and that double is often quoted as if it were bf16's, which always accumulates in fp32.
struct Arithmetic {
  Engine engine = Engine::tensor;
  Number input = Number::bf16;
  Number accumulator = Number::fp32;
  friend bool operator==(const Arithmetic&, const Arithmetic&) = default;
};
/// "tensor bf16 into fp32"
std::string name(const Arithmetic& arithmetic);

inline constexpr Arithmetic kVectorFp64{Engine::vector, Number::fp64, Number::fp64};
inline constexpr Arithmetic kVectorFp32{Engine::vector, Number::fp32, Number::fp32};
inline constexpr Arithmetic kVectorFp16{Engine::vector, Number::fp16, Number::fp16};
inline constexpr Arithmetic kTensorFp64{Engine::tensor, Number::fp64, Number::fp64};
inline constexpr Arithmetic kTensorTf32{Engine::tensor, Number::tf32, Number::fp32};
inline constexpr Arithmetic kTensorBf16{Engine::tensor, Number::bf16, Number::fp32};
inline constexpr Arithmetic kTensorFp16{Engine::tensor, Number::fp16, Number::fp32};
inline constexpr Arithmetic kTensorFp16AccFp16{Engine::tensor, Number::fp16, Number::fp16};
inline constexpr Arithmetic kTensorFp8{Engine::tensor, Number::fp8, Number::fp32};
inline constexpr Arithmetic kTensorFp8AccFp16{Engine::tensor, Number::fp8, Number::fp16};
inline constexpr Arithmetic kTensorFp6{Engine::tensor, Number::fp6, Number::fp32};
inline constexpr Arithmetic kTensorFp4{Engine::tensor, Number::fp4, Number::fp32};
inline constexpr Arithmetic kTensorInt8{Engine::tensor, Number::int8, Number::int32};

/// A multiply-add is two operations. Dense and sparse never mix: no function here returns a sparse
/// figure as a peak.
struct Rate {
  Arithmetic arithmetic;
  Figure dense_ops_per_s;
  std::optional<Figure> sparse_2_of_4_ops_per_s = {};  // as marketed: of operations half skipped
  std::optional<Figure> dense_ops_per_clock_per_cu = {};
};

/// One product. A compute unit ("cu") is an SM of NVIDIA, a CU of AMD, a TensorCore of a TPU. An
/// absent figure is one that we do not know or that does not apply, never 0. Capacities of memory
/// and bytes a second are decimal in the sources (GB is 1e9); caches and shared memory are binary
/// (their "MB" is 2^20); values here are plain bytes.
struct Gpu {
  std::string_view name;     // "h200": what a user types
  std::string_view product;  // "NVIDIA H200 SXM 141 GB"
  std::string_view vendor;
  std::string_view architecture;
  /// The device name that the driver reports; empty where unknown.
  std::string_view driver_name = {};
  std::optional<ComputeCapability> compute_capability = {};

  std::optional<Figure> compute_units = {};
  std::optional<Figure> memory_bytes = {};         // as sold
  std::optional<Figure> driver_memory_bytes = {};  // nvidia-smi's total, before the driver's share
  std::optional<Figure> usable_memory_bytes = {};  // what programs can have
  std::optional<Figure> dram_bytes_per_s = {};     // read and write together
  std::optional<Figure> l2_bytes = {};
  std::optional<Figure> shared_bytes_per_cu = {};
  std::optional<Figure> shared_bytes_per_block = {};
  std::optional<Figure> registers_per_cu = {};  // of 32 bits
  std::optional<Figure> warps_per_cu = {};      // most that are resident
  std::optional<Figure> blocks_per_cu = {};
  std::optional<Figure> threads_per_cu = {};
  std::optional<Figure> boost_clock_hz = {};
  std::optional<Figure> tensor_clock_hz = {};  // behind the tensor peaks; absent: the boost clock
  std::optional<Figure> device_link_bytes_per_s = {};  // to other GPUs, both directions added
  std::optional<Figure> host_link_bytes_per_s = {};    // to the host, both directions added
  std::optional<Figure> power_w = {};
  std::vector<Rate> rates = {};
};

/// Every product known here.
std::span<const Gpu> gpus();

/// The product with this name, in any case. Throws Error(bad_input) with near misses.
const Gpu& find_gpu(std::string_view name);

/// The product whose driver reports exactly this device name ("NVIDIA H200"), or none: variants
/// such as "NVIDIA H200 NVL" have other clocks and must not be taken for it.
const Gpu* find_gpu_of_driver(std::string_view device_name);

/// The figures of one kind of arithmetic, or none where the hardware lacks it.
const Rate* find_rate(const Gpu& gpu, const Arithmetic& arithmetic);

/// Dense operations a second on the data sheet; none where the hardware lacks the arithmetic.
std::optional<double> peak_ops_per_s(const Gpu& gpu, const Arithmetic& arithmetic);

/// The same at a clock that was measured; none where operations per clock are not known.
std::optional<double> peak_ops_per_s_at(const Gpu& gpu, const Arithmetic& arithmetic,
                                        double clock_hz);

/// The clock behind the peak of this arithmetic.
std::optional<double> peak_clock_hz(const Gpu& gpu, const Arithmetic& arithmetic);

/// Operations per byte of DRAM traffic above which the arithmetic is the limit, on paper.
std::optional<double> ridge_ops_per_byte(const Gpu& gpu, const Arithmetic& arithmetic);

}  // namespace rooftile
