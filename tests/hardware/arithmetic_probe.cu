// SPDX-License-Identifier: Apache-2.0
// Asks a card of sm_90 how its ordinary arithmetic, conversions and approximate functions behave:
// prints how many results differ from IEEE 754 and from rooftile/formats and which NaN comes out,
// and writes a hash for each 2^18 inputs of every approximate function of one float.
//   nvcc -std=c++20 -O2 --expt-relaxed-constexpr -I. -gencode arch=compute_90a,code=sm_90a
//     -cudart static -Xcompiler -mfma,-ffp-contract=off tests/hardware/arithmetic_probe.cu
//   ./a.out HASHES.bin DUMP_DIRECTORY
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/tf32.h"
#include "tests/hardware/tensor_core_cases.h"

namespace {
using namespace rooftile;
using testing::mix;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}
template <class T>
T* device_array(size_t n) {
  T* p = nullptr;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}
template <class T>
std::vector<T> to_host(const T* p, size_t n) {
  std::vector<T> v(n);
  check(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

// ---- arithmetic of floats -------------------------------------------------------------------
#define OPS3(X)                                                                     \
  X(add, "add.rn.f32 %0, %1, %2;", x + y)                                           \
  X(sub, "sub.rn.f32 %0, %1, %2;", x - y)                                           \
  X(mul, "mul.rn.f32 %0, %1, %2;", x* y)                                            \
  X(div, "div.rn.f32 %0, %1, %2;", x / y)                                           \
  X(fma, "fma.rn.f32 %0, %1, %2, %3;", std::fma(x, y, z))                           \
  X(sqrt, "sqrt.rn.f32 %0, %1;", std::sqrt(x))                                      \
  X(rcp, "rcp.rn.f32 %0, %1;", 1.0f / x)                                            \
  X(min, "min.f32 %0, %1, %2;", std::fmin(x, y))                                    \
  X(max, "max.f32 %0, %1, %2;", std::fmax(x, y))                                    \
  X(max_nan, "max.NaN.f32 %0, %1, %2;", (x != x || y != y) ? NAN : std::fmax(x, y)) \
  X(neg, "neg.f32 %0, %1;", -x)                                                     \
  X(abs, "abs.f32 %0, %1;", std::fabs(x))                                           \
  X(add_ftz, "add.rn.ftz.f32 %0, %1, %2;", x + y) X(add_rz, "add.rz.f32 %0, %1, %2;", x + y)
__host__ __device__ inline uint32_t operand(uint64_t i, int which) {
  const uint64_t h = mix(i * 3 + which);
  const uint32_t edges[] = {0,          1,          0x007fffff, 0x00800000, 0x00800001, 0x3f7fffff,
                            0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff,
                            0x7fc00000, 0x7fc12345, 0x7fffffff, 0x4b800000};
  const uint32_t kind = (h >> 32) % 8;
  const uint32_t bits = static_cast<uint32_t>(h);
  if (kind == 0) return edges[bits % 16] | (bits & 0x80000000U);
  if (kind == 1) return bits & 0x80ffffffU;
  if (kind <= 4) return (bits & 0x807fffffU) | (112 + (h >> 40) % 32) << 23;
  return bits;
}
#define KERNEL(name, ptx, host)                                                            \
  __global__ void k_##name(uint32_t* out, uint64_t n) {                                    \
    for (uint64_t i = blockIdx.x * 256ULL + threadIdx.x; i < n; i += gridDim.x * 256ULL) { \
      float x = __uint_as_float(operand(i, 0)), y = __uint_as_float(operand(i, 1)),        \
            z = __uint_as_float(operand(i, 2)), r;                                         \
      asm volatile(ptx : "=f"(r) : "f"(x), "f"(y), "f"(z));                                \
      out[i] = __float_as_uint(r);                                                         \
    }                                                                                      \
  }                                                                                        \
  float h_##name(float x, float y, float z) { return host; }
OPS3(KERNEL)

template <class Kernel, class Host>
void compare(const char* name, Kernel kernel, Host host) {
  constexpr uint64_t n = 1 << 24;
  static uint32_t* d = device_array<uint32_t>(n);
  kernel<<<1024, 256>>>(d, n);
  check(cudaDeviceSynchronize());
  const auto got = to_host(d, n);
  uint64_t differ = 0, nan_only_one = 0, nans = 0, host_nan_same = 0, shown = 0;
  std::map<uint32_t, uint64_t> kinds;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t a = operand(i, 0), b = operand(i, 1), c = operand(i, 2);
    const uint32_t want = std::bit_cast<uint32_t>(
        host(std::bit_cast<float>(a), std::bit_cast<float>(b), std::bit_cast<float>(c)));
    const bool gn = (got[i] & 0x7fffffff) > 0x7f800000, wn = (want & 0x7fffffff) > 0x7f800000;
    if (gn != wn) {
      ++nan_only_one;
    } else if (gn) {
      ++nans, host_nan_same += got[i] == want;
      if (kinds.size() < 64 || kinds.count(got[i])) ++kinds[got[i]];
      if (got[i] != 0x7fffffff && shown++ < 2)
        std::printf("   %s(%08x %08x %08x) = %08x\n", name, a, b, c, got[i]);
    } else if (got[i] != want) {
      if (differ++ < 3)
        std::printf("   %s(%08x %08x %08x) = %08x host %08x\n", name, a, b, c, got[i], want);
    }
  }
  std::printf(
      "%-8s differ %llu, NaN on one side %llu, NaNs %llu of %zu kinds (as host %llu), first", name,
      (unsigned long long)differ, (unsigned long long)nan_only_one, (unsigned long long)nans,
      kinds.size(), (unsigned long long)host_nan_same);
  int k = 0;
  for (auto [bits, count] : kinds)
    if (k++ < 3) std::printf(" %08x", bits);
  std::printf("\n");
}

// ---- conversions, all 2^32 inputs, against rooftile/formats on the card -----------------------
struct Count {
  unsigned long long differ, nans, nan_differ;
  unsigned nan_or, nan_and;
  unsigned x, got, want;
};
__device__ void note(Count* c, bool nan, uint32_t x, uint32_t got, uint32_t want) {
  if (nan) {
    atomicAdd(&c->nans, 1ULL);
    if (got != want) atomicAdd(&c->nan_differ, 1ULL);
    atomicOr(&c->nan_or, got), atomicAnd(&c->nan_and, got);
  } else if (got != want) {
    if (atomicAdd(&c->differ, 1ULL) == 0) c->x = x, c->got = got, c->want = want;
  }
}
template <class To>
__device__ uint32_t rooftile_code(float v, Overflow o, Rounding r) {
  return To::from(v, o, r).bits;
}
#define CVT(name, OUT, ptx, To, overflow, rounding)                        \
  __global__ void c_##name(Count* c) {                                     \
    for (uint64_t i = blockIdx.x * 256ULL + threadIdx.x; i < 1ULL << 32;   \
         i += gridDim.x * 256ULL) {                                        \
      const float x = __uint_as_float(static_cast<uint32_t>(i)), zero = 0; \
      OUT r;                                                               \
      asm volatile(ptx : OUT##_CONSTRAINT(r) : "f"(x), "f"(zero));         \
      uint32_t got = r;                                                    \
      if (sizeof(To) == 1) got &= 0xff;                                    \
      note(c, x != x, static_cast<uint32_t>(i), got,                       \
           rooftile_code<To>(x, Overflow::overflow, Rounding::rounding));  \
    }                                                                      \
  }
#define uint16_t_CONSTRAINT "=h"
#define uint32_t_CONSTRAINT "=r"
#define CVTS(X)                                                                                  \
  X(bf16, uint16_t, "cvt.rn.bf16.f32 %0, %1;", bf16, to_special, nearest_even)                   \
  X(bf16_rz, uint16_t, "cvt.rz.bf16.f32 %0, %1;", bf16, to_special, toward_zero)                 \
  X(fp16, uint16_t, "cvt.rn.f16.f32 %0, %1;", fp16, to_special, nearest_even)                    \
  X(fp16_rz, uint16_t, "cvt.rz.f16.f32 %0, %1;", fp16, to_special, toward_zero)                  \
  X(fp16_satfinite, uint16_t, "cvt.rn.satfinite.f16.f32 %0, %1;", fp16, saturate, nearest_even)  \
  X(bf16_satfinite, uint16_t, "cvt.rn.satfinite.bf16.f32 %0, %1;", bf16, saturate, nearest_even) \
  X(bf16x2, uint32_t, "cvt.rn.bf16x2.f32 %0, %2, %1;", bf16, to_special, nearest_even)           \
  X(fp16x2, uint32_t, "cvt.rn.f16x2.f32 %0, %2, %1;", fp16, to_special, nearest_even)            \
  X(e4m3, uint16_t, "cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;", e4m3, saturate, nearest_even)     \
  X(e5m2, uint16_t, "cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;", e5m2, saturate, nearest_even)     \
  X(tf32_rna, uint32_t, "cvt.rna.tf32.f32 %0, %1;", tf32, to_special, nearest_away)              \
  X(tf32_rn, uint32_t, "cvt.rn.tf32.f32 %0, %1;", tf32, to_special, nearest_even)
CVTS(CVT)
template <class K>
void convert(const char* name, K kernel) {
  auto* c = device_array<Count>(1);
  check(cudaMemset(&c->nan_and, 0xff, 4));
  kernel<<<4096, 256>>>(c);
  check(cudaDeviceSynchronize());
  const Count r = to_host(c, 1)[0];
  std::printf(
      "cvt %-14s differ %llu of 2^32 (first %08x: %08x, formats %08x); NaNs %llu, other than formats' %llu, or %08x and %08x\n",
      name, r.differ, r.x, r.got, r.want, r.nans, r.nan_differ, r.nan_or, r.nan_and);
}
// Back to float: every code.
__global__ void k_back(uint32_t* out) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const uint16_t h = i;
  float f;
  asm volatile("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  out[i] = __float_as_uint(f);
  asm volatile("cvt.f32.bf16 %0, %1;" : "=f"(f) : "h"(h));
  out[65536 + i] = __float_as_uint(f);
  uint32_t two;
  asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(h));
  out[131072 + i] = two;
  asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(two) : "h"(h));
  out[196608 + i] = two;
}
void back() {
  auto* d = device_array<uint32_t>(4 * 65536);
  k_back<<<256, 256>>>(d);
  const auto got = to_host(d, 4 * 65536);
  const char* names[] = {"fp16", "bf16", "e4m3", "e5m2"};
  for (int t = 0; t < 4; ++t) {
    int differ = 0;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> nans;
    for (uint32_t i = 0; i < (t < 2 ? 65536 : 256); ++i) {
      const uint32_t raw = got[t * 65536 + i];
      const float g =
          t < 2 ? std::bit_cast<float>(raw) : static_cast<float>(fp16{static_cast<uint16_t>(raw)});
      const float w = t == 0   ? static_cast<float>(fp16{static_cast<uint16_t>(i)})
                      : t == 1 ? static_cast<float>(bf16{static_cast<uint16_t>(i)})
                      : t == 2 ? static_cast<float>(e4m3{static_cast<uint8_t>(i)})
                               : static_cast<float>(e5m2{static_cast<uint8_t>(i)});
      if (w != w)
        nans[{i, raw}] = std::bit_cast<uint32_t>(w);
      else
        differ += std::bit_cast<uint32_t>(g) != std::bit_cast<uint32_t>(w);
    }
    std::printf("%s to float (fp8: to fp16): differ %d; NaN", names[t], differ);
    int k = 0;
    for (auto [key, w] : nans)
      if (k++ % (nans.size() / 5 + 1) == 0)
        std::printf(" %04x->%08x(formats %08x)", key.first, key.second, w);
    std::printf("\n");
  }
}

// ---- approximate functions ------------------------------------------------------------------
#define APPROX(X)                      \
  X(ex2_ftz, "ex2.approx.ftz.f32")     \
  X(ex2, "ex2.approx.f32")             \
  X(rcp_ftz, "rcp.approx.ftz.f32")     \
  X(rcp, "rcp.approx.f32")             \
  X(rsqrt_ftz, "rsqrt.approx.ftz.f32") \
  X(rsqrt, "rsqrt.approx.f32")         \
  X(sqrt_ftz, "sqrt.approx.ftz.f32")   \
  X(sqrt, "sqrt.approx.f32")           \
  X(lg2_ftz, "lg2.approx.ftz.f32")     \
  X(lg2, "lg2.approx.f32")             \
  X(tanh, "tanh.approx.f32")           \
  X(sin_ftz, "sin.approx.ftz.f32")     \
  X(sin, "sin.approx.f32") X(cos_ftz, "cos.approx.ftz.f32") X(cos, "cos.approx.f32")
#define APPROX_KERNEL(name, ptx)                                                           \
  __device__ uint32_t f_##name(uint32_t i) {                                               \
    float r;                                                                               \
    asm volatile(ptx " %0, %1;" : "=f"(r) : "f"(__uint_as_float(i)));                      \
    return __float_as_uint(r);                                                             \
  }                                                                                        \
  __global__ void hash_##name(uint32_t* out) { /* one block of 256 for each 2^18 inputs */ \
    uint32_t sum = 0;                                                                      \
    for (uint32_t j = threadIdx.x; j < 1U << 18; j += 256) {                               \
      const uint32_t i = blockIdx.x << 18 | j;                                             \
      uint32_t h = f_##name(i) ^ j * 0x9e3779b9U;                                          \
      h = (h ^ h >> 16) * 0x85ebca6bU, h = (h ^ h >> 13) * 0xc2b2ae35U;                    \
      sum += h ^ h >> 16;                                                                  \
    }                                                                                      \
    atomicAdd(out + blockIdx.x, sum);                                                      \
  }                                                                                        \
  __global__ void dump_##name(uint32_t* out, uint32_t first) {                             \
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;                                     \
    out[i] = f_##name(first + i);                                                          \
  }
APPROX(APPROX_KERNEL)

// Second differences, one byte plane after another: lossless, and small once compressed.
template <class K>
void dump(const std::string& path, K kernel, std::initializer_list<uint32_t> firsts) {
  constexpr size_t n = 1 << 23;
  static uint32_t* d = device_array<uint32_t>(n);
  std::ofstream out(path, std::ios::binary);
  for (uint32_t first : firsts) {
    kernel<<<n / 256, 256>>>(d, first);
    const auto v = to_host(d, n);
    std::vector<char> planes(4 * n);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t second = v[i] - 2 * (i > 0 ? v[i - 1] : 0) + (i > 1 ? v[i - 2] : 0);
      for (int b = 0; b < 4; ++b) planes[b * n + i] = static_cast<char>(second >> 8 * b);
    }
    out.write(planes.data(), planes.size());
  }
}

template <class D>
void edges(const char* name, D kernel) {
  static uint32_t* d = device_array<uint32_t>(256);
  std::printf("%-9s", name);
  for (uint32_t at : {0x00000000U, 0x80000000U, 1U,          0x80000001U, 0x007fffffU, 0x00800000U,
                      0x3f800000U, 0xbf800000U, 0x7e800000U, 0x7e800001U, 0x7f000000U, 0x7f7fffffU,
                      0x7f800000U, 0xff800000U, 0x7f800001U, 0xffc12345U, 0xc2fc0000U, 0xc2fe8000U,
                      0xc3160000U, 0x43000000U, 0x42ffffffU, 0x33000000U, 0x3f000000U}) {
    kernel<<<1, 256>>>(d, at & ~255U);
    std::printf(" %08x:%08x", at, to_host(d, 256)[at & 255]);
  }
  std::printf("\n");
}
#define HALVES(X)                      \
  X(ex2_bf16, "ex2.approx.ftz.bf16x2") \
  X(ex2_f16, "ex2.approx.f16x2") X(tanh_bf16, "tanh.approx.bf16x2") X(tanh_f16, "tanh.approx.f16x2")
#define HALF_KERNEL(name, ptx)                         \
  __global__ void half_##name(uint16_t* out) {         \
    const uint32_t i = blockIdx.x * 256 + threadIdx.x; \
    uint32_t r;                                        \
    asm volatile(ptx " %0, %1;" : "=r"(r) : "r"(i));   \
    out[i] = static_cast<uint16_t>(r);                 \
  }
HALVES(HALF_KERNEL)
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: arithmetic_probe HASHES.bin DUMP_DIRECTORY\n"), 2;
  const std::string dir = std::string(argv[2]) + "/";
  std::ofstream hashes(argv[1], std::ios::binary);
#define HASH(name, ptx)                                           \
  {                                                               \
    auto* d = device_array<uint32_t>(16384);                      \
    hash_##name<<<16384, 256>>>(d);                               \
    const auto v = to_host(d, 16384);                             \
    hashes.write(reinterpret_cast<const char*>(v.data()), 65536); \
    edges(#name, dump_##name);                                    \
  }
  APPROX(HASH)
#define HALF(name, ptx)                                            \
  {                                                                \
    auto* d = device_array<uint16_t>(65536);                       \
    half_##name<<<256, 256>>>(d);                                  \
    const auto v = to_host(d, 65536);                              \
    hashes.write(reinterpret_cast<const char*>(v.data()), 131072); \
  }
  HALVES(HALF)
  constexpr uint32_t one = 0x3f800000, e = 1U << 23, minus = 1U << 31;
  std::thread writers[] = {
      std::thread([&] { dump(dir + "rcp", dump_rcp_ftz, {one}); }),
  };
  for (auto& t : writers) t.join();
  dump(dir + "rsqrt", dump_rsqrt_ftz, {one, one + e});
  dump(dir + "sqrt", dump_sqrt_ftz, {one, one + e});
  dump(dir + "ex2", dump_ex2_ftz, {one, one - e, minus | (one - e), one - 3 * e});
  dump(dir + "lg2", dump_lg2_ftz, {one, one - e, one + e});
  dump(dir + "tanh", dump_tanh, {one - 2 * e, one - e, one, one + e});
  dump(dir + "sin", dump_sin_ftz, {one - e, one});
  dump(dir + "cos", dump_cos_ftz, {one - e});
#define CONVERT(name, OUT, ptx, To, overflow, rounding) convert(#name, c_##name);
  CVTS(CONVERT)
  back();
#define COMPARE(name, ptx, host) compare(#name, k_##name, h_##name);
  OPS3(COMPARE)
  check(cudaGetLastError());
  return 0;
}
