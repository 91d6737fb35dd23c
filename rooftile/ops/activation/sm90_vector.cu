// SPDX-License-Identifier: Apache-2.0
// Eight elements at a time of any types and strides, a few of them a thread. Results in 16 bits
// take the exponential and the inverse of the special function unit.
#include "rooftile/tile/act.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/activation.h"
#include "rooftile/tile/octet_map.h"
#else
#include "rooftile/device/cpu/activation.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops::activation {

extern const KernelTable sm90_vector_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <bool kExact, class T, int kEach>
__global__ void __launch_bounds__(256, 4) vector(const OctetMap<1> map, const Act act) {
  map_octets<T, kEach>(map, [act](float(&v)[1][kOctet]) { activate<kExact>(act, v[0]); });
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const OctetKernels kernels =
      octet_kernels(sm90_vector_kernels, problem, config,
                    problem.dtype("y") == DType::f32 ? "true, " : "false, ");
  const OctetBlocks blocks = octet_blocks(problem, {"y", "x"}, config.at("octets"));
  const Act act = act_of(problem.option("act"));
  return {.run = [=](const Context& context, const Arguments& args) {
    launch_octets(*context.stream, kernels, blocks, std::tie(args["y"], args["x"]), act);
  }};
}

}  // namespace

extern const KernelDef sm90_vector;
const KernelDef sm90_vector{
    .op = "activation",
    .name = "sm90_vector",
    .idea =
        "8 elements at a time of any types and strides; exp and 1/x of 16-bit results by the "
        "special function unit",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports_octet_blocks,
    .configs = [](const Problem&, const DeviceProperties&) { return octet_configs(2); },
    .prepare = prepare,
};

#endif

#define VECTOR_ENTRIES(...) \
  ROOFTILE_KERNEL_ENTRY(vector<__VA_ARGS__, 1>), ROOFTILE_KERNEL_ENTRY(vector<__VA_ARGS__, 2>)
ROOFTILE_KERNEL_TABLE(sm90_vector_kernels, ROOFTILE_KERNEL_ENTRY(vector<false, void, 0>),
                      ROOFTILE_KERNEL_ENTRY(vector<true, void, 0>), VECTOR_ENTRIES(false, void),
                      VECTOR_ENTRIES(false, bf16), VECTOR_ENTRIES(false, fp16),
                      VECTOR_ENTRIES(true, void))

}  // namespace rooftile::ops::activation
