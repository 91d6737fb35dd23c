// SPDX-License-Identifier: Apache-2.0
// Eight elements at a time of any pair of types and any strides, a few of them a thread.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/octet_map.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops::scaled_copy {

extern const KernelTable sm90_convert_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class T, int kEach>
__global__ void __launch_bounds__(256, 4) vector(const OctetMap<1> map, const float alpha) {
  map_octets<T, kEach>(map, [alpha](float(&v)[1][kOctet]) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[0][j] = alpha * v[0][j];
  });
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const OctetKernels kernels = octet_kernels(sm90_convert_kernels, problem, config);
  OctetBlocks blocks = octet_blocks(problem, {"y", "x"}, config.at("octets"));
  blocks.saturates = problem.option("overflow") == "saturate";
  const auto alpha = static_cast<float>(problem.number("alpha"));
  return {.run = [=](const Context& context, const Arguments& args) {
    launch_octets(*context.stream, kernels, blocks, std::tie(args["y"], args["x"]), alpha);
  }};
}

}  // namespace

extern const KernelDef sm90_convert;
const KernelDef sm90_convert{
    .op = "scaled_copy",
    .name = "sm90_convert",
    .idea = "8 elements at a time of any pair of types and any strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports_octet_blocks,
    .configs = [](const Problem&, const DeviceProperties&) { return octet_configs(2); },
    .prepare = prepare,
};

#endif

#define VECTOR_ENTRIES(type) \
  ROOFTILE_KERNEL_ENTRY(vector<type, 1>), ROOFTILE_KERNEL_ENTRY(vector<type, 2>)
ROOFTILE_KERNEL_TABLE(sm90_convert_kernels, ROOFTILE_KERNEL_ENTRY(vector<void, 0>),
                      VECTOR_ENTRIES(void), VECTOR_ENTRIES(bf16), VECTOR_ENTRIES(fp16))

}  // namespace rooftile::ops::scaled_copy
