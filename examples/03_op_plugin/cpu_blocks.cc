// SPDX-License-Identifier: Apache-2.0
// axpby/cpu_blocks: each thread takes blocks that fit its first-level cache; f32 vectors without
// gaps go straight through a loop that compilers vectorise.
#include <rooftile/formats/element.h>
#include <rooftile/op/plugin.h>

#include <algorithm>

using namespace rooftile;

namespace {

constexpr std::int64_t kBlock = 2048;  // elements: 3 x 8 KiB of f32

struct Work {
  const TensorView& y;
  const TensorView& x;
  const TensorView& z;
  double alpha;
  double beta;

  [[nodiscard]] bool is_plain() const {
    for (const TensorView* view : {&y, &x, &z})
      if (view->dtype != DType::f32 || view->stride(0) != 1) return false;
    return true;
  }

  void block_plain(std::int64_t begin, std::int64_t end) const {
    float* to = y.as<float>();
    const float* xs = x.as<const float>();
    const float* zs = z.as<const float>();
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = static_cast<float>(alpha * xs[i] + beta * zs[i]);
  }

  // Any dtype and stride: an element at a time, rounded once.
  void block_any(std::int64_t begin, std::int64_t end) const {
    const auto load = [](const TensorView& view, std::int64_t i) {
      return load_element(view.dtype, view.data, i * view.stride(0));
    };
    for (std::int64_t i = begin; i < end; ++i)
      store_element(y.dtype, y.data, i * y.stride(0), alpha * load(x, i) + beta * load(z, i));
  }
};

void run(const Context& context, const Arguments& args) {
  const Problem& problem = args.problem();
  const Work work{args["y"], args["x"], args["z"], problem.number("alpha"), problem.number("beta")};
  const std::int64_t n = problem.axis("n");
  const bool is_plain = work.is_plain();
  context.stream->launch((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t begin = block * kBlock;
    const std::int64_t end = std::min(begin + kBlock, n);
    is_plain ? work.block_plain(begin, end) : work.block_any(begin, end);
  });
}

}  // namespace

extern const KernelDef cpu_blocks;
const KernelDef cpu_blocks{
    .op = "axpby",
    .name = "cpu_blocks",
    .idea = "blocks of a first-level cache, one loop over all three vectors",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};
