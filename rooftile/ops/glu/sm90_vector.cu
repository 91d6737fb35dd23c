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
#include "rooftile/ops/glu/alpha.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops::glu {

extern const KernelTable sm90_vector_kernels;

namespace {

/// y = act(alpha min(gate, limit)) / alpha * (clamp(up, -limit, limit) + up_offset)
struct Gate {
  Act act = Act::silu;
  float limit = 0;  // infinity: none
  float alpha = 1;
  float inverse_alpha = 1;
  float up_offset = 0;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// kExact: to the last places of f32. kIsPlain: alpha is 1, there is no limit and no offset.
template <bool kExact, bool kIsPlain>
__device__ void apply(const Gate& gate, float (&v)[2][kOctet]) {
  if constexpr (!kIsPlain) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
      const float limited = min_or_nan(v[0][j], gate.limit);
      // Why the maximum: a product that overflows is -inf, which has no activation.
      v[0][j] = max_or_nan(gate.alpha * limited, min_or_nan(limited, -1e38F));
      v[1][j] = max_or_nan(min_or_nan(v[1][j], gate.limit), -gate.limit) + gate.up_offset;
    }
  }
  activate<kExact>(gate.act, v[0]);
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
    if constexpr (!kIsPlain) v[0][j] *= gate.inverse_alpha;
    v[0][j] *= v[1][j];
  }
}

template <bool kExact, bool kIsPlain, class T, int kEach>
__global__ void __launch_bounds__(256, kEach == 2 ? 3 : 4)
    vector(const OctetMap<2> map, const Gate gate) {
  map_octets<T, kEach>(map, [&gate](float(&v)[2][kOctet]) { apply<kExact, kIsPlain>(gate, v); });
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const double limit = problem.number("limit");
  const double alpha = alpha_of(problem);
  const bool is_plain = limit <= 0 && alpha == 1 && problem.number("up_offset") == 0;
  const OctetKernels kernels =
      octet_kernels(sm90_vector_kernels, problem, config,
                    std::string(problem.dtype("y") == DType::f32 ? "true, " : "false, ") +
                        (is_plain ? "true, " : "false, "));
  const OctetBlocks blocks = octet_blocks(problem, {"y", "gate", "up"}, config.at("octets"));
  const Gate gate{.act = act_of(problem.option("act")),
                  .limit = limit > 0 ? static_cast<float>(limit) : HUGE_VALF,
                  .alpha = static_cast<float>(alpha),
                  .inverse_alpha = static_cast<float>(1 / alpha),
                  .up_offset = static_cast<float>(problem.number("up_offset"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    launch_octets(*context.stream, kernels, blocks, std::tie(args["y"], args["gate"], args["up"]),
                  gate);
  }};
}

}  // namespace

extern const KernelDef sm90_vector;
const KernelDef sm90_vector{
    .op = "glu",
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

#define VECTOR_ENTRY(...) ROOFTILE_KERNEL_ENTRY(vector<__VA_ARGS__>)
#define VECTOR_ENTRIES(...) VECTOR_ENTRY(__VA_ARGS__, 1), VECTOR_ENTRY(__VA_ARGS__, 2)
#define VECTOR_ENTRIES_OF(...) VECTOR_ENTRY(__VA_ARGS__, void, 0), VECTOR_ENTRIES(__VA_ARGS__, void)
ROOFTILE_KERNEL_TABLE(sm90_vector_kernels, VECTOR_ENTRIES_OF(false, false),
                      VECTOR_ENTRIES_OF(false, true), VECTOR_ENTRIES_OF(true, false),
                      VECTOR_ENTRIES_OF(true, true), VECTOR_ENTRIES(false, false, bf16),
                      VECTOR_ENTRIES(false, true, bf16), VECTOR_ENTRIES(false, false, fp16),
                      VECTOR_ENTRIES(false, true, fp16))

}  // namespace rooftile::ops::glu
