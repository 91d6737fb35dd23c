// SPDX-License-Identifier: Apache-2.0
// oneDNN's matmul, loaded when it is first asked for, so that nothing links to it. The yardstick
// for bf16; it uses its own threads (OpenMP). Written for the C interface of oneDNN 2.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "rooftile/ops/gemm/cpu_vendor.h"

#if ROOFTILE_WITH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace rooftile::ops::gemm {
namespace {

#if ROOFTILE_WITH_ONEDNN

struct OneDnn {
  decltype(dnnl_version)* version = nullptr;
  decltype(dnnl_engine_create)* engine_create = nullptr;
  decltype(dnnl_stream_create)* stream_create = nullptr;
  decltype(dnnl_stream_wait)* stream_wait = nullptr;
  decltype(dnnl_memory_desc_init_by_strides)* memory_desc_init_by_strides = nullptr;
  decltype(dnnl_memory_create)* memory_create = nullptr;
  decltype(dnnl_memory_destroy)* memory_destroy = nullptr;
  decltype(dnnl_memory_set_data_handle)* memory_set_data_handle = nullptr;
  decltype(dnnl_matmul_desc_init)* matmul_desc_init = nullptr;
  decltype(dnnl_primitive_desc_create)* primitive_desc_create = nullptr;
  decltype(dnnl_primitive_desc_destroy)* primitive_desc_destroy = nullptr;
  decltype(dnnl_primitive_create)* primitive_create = nullptr;
  decltype(dnnl_primitive_destroy)* primitive_destroy = nullptr;
  decltype(dnnl_primitive_execute)* primitive_execute = nullptr;
  dnnl_engine_t engine = nullptr;  // kept, with the library, until the process ends
  dnnl_stream_t stream = nullptr;
  std::string reason{};  // why it cannot be used; empty: it can
};

OneDnn open_onednn() {
  OneDnn dnn;
  void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    dnn.reason = "libdnnl.so.2 was not found";
    return dnn;
  }
  if (!find_symbol(library, "dnnl_version", dnn.version) || dnn.version()->major != 2) {
    dnn.reason = "found a oneDNN that is not version 2";
    return dnn;
  }
  const bool has_all =
      find_symbol(library, "dnnl_engine_create", dnn.engine_create) &&
      find_symbol(library, "dnnl_stream_create", dnn.stream_create) &&
      find_symbol(library, "dnnl_stream_wait", dnn.stream_wait) &&
      find_symbol(library, "dnnl_memory_desc_init_by_strides", dnn.memory_desc_init_by_strides) &&
      find_symbol(library, "dnnl_memory_create", dnn.memory_create) &&
      find_symbol(library, "dnnl_memory_destroy", dnn.memory_destroy) &&
      find_symbol(library, "dnnl_memory_set_data_handle", dnn.memory_set_data_handle) &&
      find_symbol(library, "dnnl_matmul_desc_init", dnn.matmul_desc_init) &&
      find_symbol(library, "dnnl_primitive_desc_create", dnn.primitive_desc_create) &&
      find_symbol(library, "dnnl_primitive_desc_destroy", dnn.primitive_desc_destroy) &&
      find_symbol(library, "dnnl_primitive_create", dnn.primitive_create) &&
      find_symbol(library, "dnnl_primitive_destroy", dnn.primitive_destroy) &&
      find_symbol(library, "dnnl_primitive_execute", dnn.primitive_execute);
  if (!has_all || dnn.engine_create(&dnn.engine, dnnl_cpu, 0) != dnnl_success ||
      dnn.stream_create(&dnn.stream, dnn.engine, dnnl_stream_default_flags) != dnnl_success)
    dnn.reason = "oneDNN did not start";
  return dnn;
}

const OneDnn& onednn_library() {
  static const OneDnn found = open_onednn();
  return found;
}

// A primitive and its three memory objects, of which only the addresses change between runs.
class Matmul {
 public:
  /// Nothing, with the reason, if oneDNN does not take the problem.
  static std::shared_ptr<Matmul> make(const Problem& problem, const GemmCall& shape,
                                      std::string& reason);
  ~Matmul();
  Matmul() = default;
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  void run(const GemmCall& call, void* c);

 private:
  std::mutex turn_;  // the addresses are state of the memory objects
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_memory_t a_ = nullptr;
  dnnl_memory_t b_ = nullptr;
  dnnl_memory_t c_ = nullptr;
};

dnnl_memory_desc_t describe(std::int64_t rows, std::int64_t cols, DType dtype,
                            const PlainLayout& layout) {
  const dnnl_dims_t extents{rows, cols};
  const dnnl_dims_t strides{layout.is_transposed ? 1 : layout.ld,
                            layout.is_transposed ? layout.ld : 1};
  dnnl_memory_desc_t desc{};
  onednn_library().memory_desc_init_by_strides(&desc, 2, extents,
                                               dtype == DType::f32 ? dnnl_f32 : dnnl_bf16, strides);
  return desc;
}

std::shared_ptr<Matmul> Matmul::make(const Problem& problem, const GemmCall& shape,
                                     std::string& reason) {
  const OneDnn& dnn = onednn_library();
  const PlainLayout a = plain_layout(shape.m, shape.k, shape.a).value();
  const PlainLayout b = plain_layout(shape.k, shape.n, shape.b).value();
  const dnnl_memory_desc_t a_desc = describe(shape.m, shape.k, shape.a.dtype, a);
  const dnnl_memory_desc_t b_desc = describe(shape.k, shape.n, shape.b.dtype, b);
  const dnnl_memory_desc_t c_desc =
      describe(shape.m, shape.n, DType::f32,
               {.is_transposed = false, .ld = vendor_target(problem, shape).ld});
  dnnl_matmul_desc_t matmul{};
  dnnl_primitive_desc_t chosen = nullptr;
  if (dnn.matmul_desc_init(&matmul, &a_desc, &b_desc, nullptr, &c_desc) != dnnl_success ||
      dnn.primitive_desc_create(&chosen, &matmul, nullptr, dnn.engine, nullptr) != dnnl_success) {
    reason = "oneDNN has no matmul for " + std::string(name(shape.a.dtype)) + " on this processor";
    return nullptr;
  }
  auto made = std::make_shared<Matmul>();
  const bool is_ready =
      dnn.primitive_create(&made->primitive_, chosen) == dnnl_success &&
      dnn.memory_create(&made->a_, &a_desc, dnn.engine, DNNL_MEMORY_NONE) == dnnl_success &&
      dnn.memory_create(&made->b_, &b_desc, dnn.engine, DNNL_MEMORY_NONE) == dnnl_success &&
      dnn.memory_create(&made->c_, &c_desc, dnn.engine, DNNL_MEMORY_NONE) == dnnl_success;
  dnn.primitive_desc_destroy(chosen);
  if (is_ready) return made;
  reason = "oneDNN could not prepare its matmul";
  return nullptr;
}

Matmul::~Matmul() {
  const OneDnn& dnn = onednn_library();
  if (primitive_ != nullptr) dnn.primitive_destroy(primitive_);
  for (dnnl_memory_t memory : {a_, b_, c_})
    if (memory != nullptr) dnn.memory_destroy(memory);
}

void Matmul::run(const GemmCall& call, void* c) {
  const OneDnn& dnn = onednn_library();
  const std::lock_guard lock(turn_);
  dnn.memory_set_data_handle(a_, const_cast<void*>(call.a.data));
  dnn.memory_set_data_handle(b_, const_cast<void*>(call.b.data));
  dnn.memory_set_data_handle(c_, c);
  const dnnl_exec_arg_t args[]{{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}};
  if (dnn.primitive_execute(primitive_, dnn.stream, 3, args) != dnnl_success ||
      dnn.stream_wait(dnn.stream) != dnnl_success)
    throw Error(ErrorCode::device, "oneDNN's matmul failed");
}

Support takes(const Problem& problem, const DeviceProperties&) {
  if (Support types = takes_types(problem); !types) return types;
  const GemmCall shape = shape_of(problem);
  if (shape.a.dtype != shape.b.dtype || shape.a.dtype == DType::fp16)
    return unsupported("multiplies f32 by f32 and bf16 by bf16 only");
  if (!plain_layout(shape.m, shape.k, shape.a) || !plain_layout(shape.k, shape.n, shape.b))
    return unsupported("needs rows or columns of a and b that are contiguous");
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) return unsupported("an extent is 0");
  if (const std::string& reason = onednn_library().reason; !reason.empty())
    return unsupported(reason);
  std::string reason;
  return Matmul::make(problem, shape, reason) ? supported() : unsupported(reason);
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GemmCall shape = shape_of(problem);
  const VendorTarget target = vendor_target(problem, shape);
  std::string reason;
  const std::shared_ptr<Matmul> matmul = Matmul::make(problem, shape, reason);
  if (!matmul) throw Error(ErrorCode::unsupported, reason);
  const auto run = [=](const Context& context, const Arguments& args) {
    const GemmCall call = with_pointers(shape, args);
    void* c = target.is_d ? call.d : context.workspace;
    matmul->run(call, c);
    if (!target.is_d)
      finish_vendor(call, static_cast<float*>(c), target.ld, launch_on(*context.stream));
  };
  return {.run = run, .workspace_bytes = target.bytes};
}

#else

Support takes(const Problem&, const DeviceProperties&) {
  return unsupported("built without oneDNN (ROOFTILE_WITH_ONEDNN)");
}

Prepared prepare(const Problem&, Device&, const Config&) {
  throw Error(ErrorCode::unsupported, "built without oneDNN (ROOFTILE_WITH_ONEDNN)");
}

#endif

}  // namespace

extern const KernelDef onednn;
const KernelDef onednn{
    .op = "gemm",
    .name = "onednn",
    .idea = "oneDNN's matmul; the epilogue is a pass of our own",
    .calls_vendor_library = true,
    .supports = takes,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
