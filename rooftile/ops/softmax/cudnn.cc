// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuDNN, loaded at run time: the yardstick of softmax on its GPUs. cudnnSoftmaxForward has
// two ways to see a row, as all of an image or as its channels, which are the two configurations.
#include <memory>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/ops/cudnn_rows.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cudnn.h"
#endif

namespace rooftile::ops::softmax {
namespace {

constexpr std::int64_t kModes = 2;

Support takes(const Problem& problem, const DeviceProperties& device) {
  if (problem.has("lengths")) return unsupported("lengths: cuDNN's softmax is of whole rows");
  if (problem.number("scale") != 1) return unsupported("scale: cuDNN's softmax has none");
  // Seen on an H200 with cuDNN 9: many elements of wide rows are off by more than rounding.
  if (problem.dtype("x") != DType::f32)
    return unsupported("x: in 16 bits cuDNN's softmax is less exact than its type");
  return takes_cudnn_rows(problem, device);
}

#if ROOFTILE_WITH_CUDA

// x and y alike: rows x cols, as a batch of `rows` with `cols` channels.
class Rows {
 public:
  Rows(std::int64_t rows, std::int64_t cols) {
    const Cudnn& library = cudnn_library();
    library.check(library.create_tensor(&descriptor_), "making a descriptor");
    const int n = static_cast<int>(rows);
    const int c = static_cast<int>(cols);
    library.check(library.set_tensor(descriptor_, cudnn::kFloat, n, c, 1, 1, c, 1, 1, 1),
                  "describing a tensor");
  }
  ~Rows() { cudnn_library().destroy_tensor(descriptor_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  [[nodiscard]] cudnn::LegacyTensor get() const { return descriptor_; }

 private:
  cudnn::LegacyTensor descriptor_ = nullptr;
};

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  CudnnDevice& gpu = cudnn_device(cuda_index(device.properties()));
  const auto rows = std::make_shared<const Rows>(problem.axis("rows"), problem.axis("cols"));
  const cudnn::SoftmaxMode mode =
      config.at("candidate") == 0 ? cudnn::kSoftmaxInstance : cudnn::kSoftmaxChannel;
  return {.run = [=, &gpu](const Context& context, const Arguments& args) {
    check_cudnn_addresses(args, {"x", "y"});
    const float one = 1;
    const float zero = 0;
    const CudnnTurn turn(gpu, static_cast<cudaStream_t>(context.stream->native()));
    cudnn_library().check(cudnn_library().softmax_forward(gpu.handle, cudnn::kSoftmaxAccurate, mode,
                                                          &one, rows->get(), args["x"].data, &zero,
                                                          rows->get(), args["y"].data),
                          "taking the softmax");
  }};
}

#else

Prepared prepare(const Problem&, Device&, const Config&) {
  throw Error(ErrorCode::unsupported, "built without CUDA (ROOFTILE_WITH_CUDA)");
}

#endif

}  // namespace

extern const KernelDef cudnn;
const KernelDef cudnn{
    .op = "softmax",
    .name = "cudnn",
    .idea = "NVIDIA's cuDNN: cudnnSoftmaxForward, which subtracts the maximum",
    .target = Target::sm80,
    .calls_vendor_library = true,
    // NVIDIA cuDNN, "Reproducibility (Determinism)": the same bits every run on one kind of GPU; no
    // softmax is among the exceptions.
    .determinism = Determinism::repeatable,
    .supports = takes,
    .configs = [](const Problem&, const DeviceProperties&) { return cudnn_configs(kModes); },
    .prepare = prepare,
};

}  // namespace rooftile::ops::softmax
