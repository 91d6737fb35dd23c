// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/cudnn_rows.h"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "rooftile/base/error.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cudnn.h"
#endif

namespace rooftile::ops {
namespace {

// What cuDNN says that it expects where nothing else is promised, and its vector loads need.
constexpr std::int64_t kAlignment = 16;
// NVIDIA cuDNN, "Tensor Descriptor": at most 2 giga-elements, padding included.
constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();

std::string text_of(const Problem& problem, const char* arg) {
  return std::string(arg) + " is " + std::string(name(problem.dtype(arg)));
}

bool starts_aligned(const ArgChoice& arg) {
  return arg.offset * info(arg.dtype).unit_bytes % kAlignment == 0;
}

Support takes_starts(const Problem& problem, std::initializer_list<const char*> names) {
  for (const char* each : names)
    if (problem.has(each) && !starts_aligned(problem.arg(each)))
      return unsupported(std::string(each) + " must start at a multiple of 16 bytes");
  return supported();
}

}  // namespace

Support takes_cudnn_rows(const Problem& problem, std::initializer_list<const char*> also) {
  const std::int64_t rows = problem.axis("rows");
  const std::int64_t cols = problem.axis("cols");
  const DType type = problem.dtype("x");
  if (problem.dtype("y") != type)
    return unsupported(text_of(problem, "y") + ": must be as x for cuDNN");
  if (rows == 0 || cols == 0) return unsupported("an extent is 0");
  if (rows > kMostElements / cols)
    return unsupported("a tensor of cuDNN has at most 2^31 elements");
  for (const char* each : {"x", "y"}) {
    const Dims& strides = problem.arg(each).strides;
    if ((cols > 1 && strides[1] != 1) || (rows > 1 && strides[0] != cols))
      return unsupported(std::string(each) + ": cuDNN needs rows that are packed");
  }
  for (const char* each : also) {
    if (!problem.has(each)) continue;
    if (problem.dtype(each) != type && problem.dtype(each) != DType::f32)
      return unsupported(text_of(problem, each) + ": must be f32 or as x");
    if (cols > 1 && problem.arg(each).strides[0] != 1)
      return unsupported(std::string(each) + " must be contiguous");
  }
  if (Support starts = takes_starts(problem, {"x", "y"}); !starts) return starts;
  return takes_starts(problem, also);
}

Support takes_cudnn_rows(const Problem& problem, const DeviceProperties& device,
                         std::initializer_list<const char*> also) {
  if (!device.id.starts_with("cuda:"))
    return unsupported("no vendor's library runs on " + device.id);
  if (Support rows = takes_cudnn_rows(problem, also); !rows) return rows;
#if ROOFTILE_WITH_CUDA
  if (const std::string& reason = cudnn_library().reason; !reason.empty())
    return unsupported(reason);
  try {
    (void)cudnn_device(cuda_index(device));
    return supported();
  } catch (const Error& error) {  // it does not start here: kernels of our own may
    return unsupported(error.what());
  }
#else
  return unsupported("built without CUDA (ROOFTILE_WITH_CUDA)");
#endif
}

void check_cudnn_addresses(const Arguments& args, std::initializer_list<const char*> names) {
  for (const char* each : names)
    if (reinterpret_cast<std::uintptr_t>(args[each].data) % kAlignment != 0)
      fail_input(std::string(each) + ": its address is no multiple of 16 bytes, which cuDNN needs");
}

int cuda_index(const DeviceProperties& device) {
  constexpr std::string_view kFamily = "cuda:";
  int index = 0;
  const char* const end = device.id.data() + device.id.size();
  std::from_chars(device.id.data() + kFamily.size(), end, index);
  return index;
}

std::vector<Config> cudnn_configs(std::int64_t count) {
  std::vector<Config> list;
#if ROOFTILE_WITH_CUDA
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(
        {{{"candidate", i}, {"cudnn", static_cast<std::int64_t>(cudnn_library().version)}}});
#else
  (void)count;
#endif
  return list;
}

}  // namespace rooftile::ops
