// SPDX-License-Identifier: Apache-2.0
// Two matrices element by element, eight elements at a time of any types and strides, a few of them
// a thread.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/octet_map.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/binary.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops {

extern const KernelTable binary_sm90_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class T, int kEach>
__global__ void __launch_bounds__(256, 4) vector(const OctetMap<2> map, const bool is_product) {
  map_octets<T, kEach>(map, [is_product](float(&v)[2][kOctet]) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[0][j] =
        is_product ? v[0][j] * v[1][j] : v[0][j] + v[1][j];
  });
}

}  // namespace

#else

KernelDef binary_sm90(BinaryFn fn, const std::string& op) {
  const auto prepare = [fn](const Problem& problem, Device&, const Config& config) {
    const OctetKernels kernels = octet_kernels(binary_sm90_kernels, problem, config);
    const OctetBlocks blocks = octet_blocks(problem, {"y", "a", "b"}, config.at("octets"));
    return Prepared{.run = [=](const Context& context, const Arguments& args) {
      launch_octets(*context.stream, kernels, blocks, std::tie(args["y"], args["a"], args["b"]),
                    fn == BinaryFn::mul);
    }};
  };
  return {
      .op = op,
      .name = "sm90_vector",
      .idea = "8 elements at a time of any types and strides",
      .target = Target::sm90,
      .determinism = Determinism::batch_invariant,
      .supports = supports_octet_blocks,
      .configs = [](const Problem&, const DeviceProperties&) { return octet_configs(1); },
      .prepare = prepare,
  };
}

#endif

#define VECTOR_ENTRIES(type) \
  ROOFTILE_KERNEL_ENTRY(vector<type, 1>), ROOFTILE_KERNEL_ENTRY(vector<type, 2>)
ROOFTILE_KERNEL_TABLE(binary_sm90_kernels, ROOFTILE_KERNEL_ENTRY(vector<void, 0>),
                      VECTOR_ENTRIES(void), VECTOR_ENTRIES(bf16), VECTOR_ENTRIES(fp16))

}  // namespace rooftile::ops
