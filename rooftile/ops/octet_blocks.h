// SPDX-License-Identifier: Apache-2.0
// How kernels that work on eight elements a thread (tile/octet.h) lay threads over a matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "rooftile/ops/row_blocks.h"

namespace rooftile::ops {

/// Octets of a row, a last part counted whole.
inline std::int64_t octets_of(std::int64_t cols) { return (cols + 7) / 8; }

/// Whether elements of rows are adjacent and all octets of all rows, or of this vector, start where
/// tile::load_octet() can read them. An absent tensor has none that do not.
inline bool is_octet_aligned(const TensorView& view) {
  if (!view.is_present()) return true;
  const int rank = view.shape.rank();
  const std::int64_t bytes = info(view.dtype).unit_bytes;
  const std::int64_t boundary = std::min<std::int64_t>(8 * bytes, 16);
  if (view.extent(rank - 1) > 1 && view.stride(rank - 1) != 1) return false;
  for (int i = 0; i + 1 < rank; ++i)
    if (view.extent(i) > 1 && view.stride(i) * bytes % boundary != 0) return false;
  return reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uint64_t>(boundary) == 0;
}

/// Rows that lie one after another in all of the arguments as one, and what to launch for them.
struct OctetBlocks {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int each = 1;           // octets a thread
  bool saturates = true;  // of y in fp8
  LaunchShape shape{};
  [[nodiscard]] bool is_empty() const { return rows == 0 || cols == 0; }
};

/// Blocks of 256 threads, [rows, threads of a row], whose threads take `each` octets of a row,
/// blockDim.x apart: block x has x-th such tiles of rows blockIdx.y * blockDim.y + threadIdx.y and
/// those that are gridDim.y * blockDim.y further. Without names rows stay apart.
inline OctetBlocks octet_blocks(const Problem& problem, std::initializer_list<const char*> names,
                                std::int64_t each) {
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kMostRows = 65535;  // of a grid
  OctetBlocks result{
      .rows = problem.axis("rows"), .cols = problem.axis("cols"), .each = static_cast<int>(each)};
  const auto follows = [&](const char* name) {
    const Dims& strides = problem.arg(name).strides;
    return strides[0] == result.cols && (result.cols == 1 || strides[1] == 1);
  };
  if (names.size() != 0 && std::all_of(names.begin(), names.end(), follows)) {
    result.cols *= result.rows;
    result.rows = std::min<std::int64_t>(result.rows, 1);
  }
  const std::int64_t wanted = std::max<std::int64_t>(1, (octets_of(result.cols) + each - 1) / each);
  std::int64_t threads = 1;
  while (threads < wanted && threads < kThreads) threads *= 2;
  const std::int64_t rows_of_block = kThreads / threads;
  const std::int64_t row_groups = (result.rows + rows_of_block - 1) / rows_of_block;
  result.shape = {
      .grid = {.x = static_cast<std::uint32_t>((wanted + threads - 1) / threads),
               .y = static_cast<std::uint32_t>(std::clamp<std::int64_t>(row_groups, 1, kMostRows))},
      .block = {.x = static_cast<std::uint32_t>(threads),
                .y = static_cast<std::uint32_t>(rows_of_block)}};
  return result;
}

/// What a kernel of tile/octet_map.h gets.
template <class... Views>
tile::OctetMap<static_cast<int>(sizeof...(Views))> octet_map(const OctetBlocks& blocks,
                                                             const TensorView& y,
                                                             const Views&... x) {
  return {.y = matrix_of(y),
          .x = {matrix_of(x)...},
          .rows = blocks.rows,
          .cols = blocks.cols,
          .each = blocks.each,
          .saturates = blocks.saturates};
}

/// Whether all of these are whole aligned octets, as octet_blocks() counts their rows.
template <class... Views>
bool has_whole_octets(const OctetBlocks& blocks, const Views&... views) {
  const auto is_aligned = [&](TensorView view) {
    if (blocks.rows == 1) view.shape[0] = 1;
    return is_octet_aligned(view);
  };
  return blocks.cols % 8 == 0 && (is_aligned(views) && ...);
}

/// The instances of one kernel: of whole octets, and of anything.
struct OctetKernels {
  GpuKernel whole{};
  GpuKernel any{};
};

/// "bf16" or "fp16" where all arguments are, else "void".
inline std::string packed_type(const Problem& problem) {
  const DType dtype = problem.dtype("y");
  const bool is_one = std::ranges::all_of(
      problem.args, [&](const ArgChoice& arg) { return !arg.is_present || arg.dtype == dtype; });
  return is_one && (dtype == DType::bf16 || dtype == DType::fp16) ? std::string(name(dtype))
                                                                  : "void";
}

/// "vector<bf16, 2>" (see packed_type()) and "vector<void, 0>" of `table`, or "vector<true, bf16,
/// 2>" with a `first` parameter "true, ".
inline OctetKernels octet_kernels(const KernelTable& table, const Problem& problem,
                                  const Config& config, const std::string& first = "") {
  const auto find = [&](const std::string& rest) {
    return find_kernel(table, "vector<" + first + rest + ">");
  };
  return {.whole = find(packed_type(problem) + ", " + std::to_string(config.at("octets"))),
          .any = find("void, 0")};
}

/// Launches y = f(x…) with what the kernel has besides the map.
template <class... Views, class... More>
void launch_octets(Stream& stream, const OctetKernels& kernels, const OctetBlocks& blocks,
                   const std::tuple<Views...>& views, More... more) {
  if (blocks.is_empty()) return;
  std::apply(
      [&](const auto&... view) {
        const GpuKernel& kernel = has_whole_octets(blocks, view...) ? kernels.whole : kernels.any;
        launch(stream, kernel, blocks.shape, octet_map(blocks, view...), more...);
      },
      views);
}

/// Octets a thread, 1 or 2: `best` first, the default.
inline std::vector<Config> octet_configs(std::int64_t best) {
  return {{.values = {{"octets", best}}}, {.values = {{"octets", 3 - best}}}};
}

/// What a grid of octet_blocks() can take.
inline Support supports_octet_blocks(const Problem& problem, const DeviceProperties&) {
  constexpr double kMost = 0x1p40;
  if (static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols")) > kMost)
    return unsupported("more than 2^40 elements");
  return supported();
}

}  // namespace rooftile::ops
