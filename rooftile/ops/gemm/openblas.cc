// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's sgemm, loaded when it is first asked for, so that nothing links to it. The yardstick
// for f32; it uses its own threads.
#include <algorithm>
#include <limits>

#include "rooftile/ops/gemm/cpu_vendor.h"

namespace rooftile::ops::gemm {
namespace {

// The C interface to BLAS with 32-bit integers (BLAS Technical Forum standard, 2001, annex B).
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;
using Sgemm = void(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                   const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
using Sgemv = void(int order, int trans, int rows, int cols, float alpha, const float* matrix,
                   int ld, const float* x, int x_stride, float beta, float* y, int y_stride);

struct OpenBlas {
  Sgemm* sgemm = nullptr;
  Sgemv* sgemv = nullptr;
  bool is_found = false;
};

const OpenBlas& openblas_library() {
  static const OpenBlas found = [] {
    OpenBlas blas;
    // Kept open: its threads live as long as the process.
    if (void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL); library != nullptr)
      blas.is_found = find_symbol(library, "cblas_sgemm", blas.sgemm) &&
                      find_symbol(library, "cblas_sgemv", blas.sgemv);
    return blas;
  }();
  return found;
}

Support takes(const Problem& problem, const DeviceProperties&) {
  if (Support types = takes_types(problem); !types) return types;
  if (problem.dtype("a") != DType::f32 || problem.dtype("b") != DType::f32)
    return unsupported("multiplies f32 only");
  const GemmCall shape = shape_of(problem);
  const auto a = plain_layout(shape.m, shape.k, shape.a);
  const auto b = plain_layout(shape.k, shape.n, shape.b);
  if (!a || !b) return unsupported("needs rows or columns of a and b that are contiguous");
  const std::int64_t ldc = vendor_target(problem, shape).ld;
  if (std::max({shape.m, shape.n, shape.k, a->ld, b->ld, ldc}) > std::numeric_limits<int>::max())
    return unsupported("its integers have 32 bits");
  if (!openblas_library().is_found) return unsupported("libopenblas.so.0 was not found");
  return supported();
}

void multiply(const GemmCall& call, const PlainLayout& a, const PlainLayout& b, float* c,
              std::int64_t ldc) {
  const auto* a_data = static_cast<const float*>(call.a.data);
  const auto* b_data = static_cast<const float*>(call.b.data);
  const int m = static_cast<int>(call.m);
  const int n = static_cast<int>(call.n);
  const int k = static_cast<int>(call.k);
  const OpenBlas& blas = openblas_library();
  if (m == 1) {  // y = B^T x, several times faster here than the same by sgemm
    const int x_stride = k > 1 && a.is_transposed ? static_cast<int>(a.ld) : 1;
    return blas.sgemv(kRowMajor, b.is_transposed ? kNoTrans : kTrans, b.is_transposed ? n : k,
                      b.is_transposed ? k : n, 1.0F, b_data, static_cast<int>(b.ld), a_data,
                      x_stride, 0.0F, c, 1);
  }
  blas.sgemm(kRowMajor, a.is_transposed ? kTrans : kNoTrans, b.is_transposed ? kTrans : kNoTrans, m,
             n, k, 1.0F, a_data, static_cast<int>(a.ld), b_data, static_cast<int>(b.ld), 0.0F, c,
             static_cast<int>(ldc));
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GemmCall shape = shape_of(problem);
  const VendorTarget target = vendor_target(problem, shape);
  const PlainLayout a = plain_layout(shape.m, shape.k, shape.a).value();
  const PlainLayout b = plain_layout(shape.k, shape.n, shape.b).value();
  const auto run = [=](const Context& context, const Arguments& args) {
    const GemmCall call = with_pointers(shape, args);
    if (call.m == 0 || call.n == 0) return;
    auto* c = static_cast<float*>(target.is_d ? call.d : context.workspace);
    if (call.k == 0)
      std::fill_n(c, target.bytes / 4, 0.0F);
    else
      multiply(call, a, b, c, target.ld);
    if (!target.is_d) finish_vendor(call, c, target.ld, launch_on(*context.stream));
  };
  return {.run = run, .workspace_bytes = target.bytes};
}

}  // namespace

extern const KernelDef openblas;
const KernelDef openblas{
    .op = "gemm",
    .name = "openblas",
    .idea = "OpenBLAS's sgemm and sgemv; the epilogue is a pass of our own",
    .calls_vendor_library = true,
    .supports = takes,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
