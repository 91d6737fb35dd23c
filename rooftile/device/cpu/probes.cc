// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/probes.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "rooftile/device/cpu/caches.h"
#include "rooftile/device/cpu/isa.h"

namespace rooftile {
namespace {

constexpr std::int64_t kLeastBytes = 256LL << 20;
constexpr std::int64_t kMostBytes = 1LL << 30;
constexpr std::int64_t kFloatsPerLine = 16;
constexpr std::int64_t kFmaRounds = 200000;

#if defined(__x86_64__)
#define ROOFTILE_AVX2 __attribute__((target("avx2,fma")))
#define ROOFTILE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define ROOFTILE_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,avx512vnni")))

ROOFTILE_AVX2 float read_avx2(const float* data, std::int64_t count) {
  __m256 sum[4] = {};
  for (std::int64_t i = 0; i + 32 <= count; i += 32)
    for (int j = 0; j < 4; ++j) sum[j] = _mm256_add_ps(sum[j], _mm256_loadu_ps(data + i + 8 * j));
  const __m256 all = _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]));
  return _mm256_cvtss_f32(all);
}

// to = a + s*b with whichever of a, b are not null; non-temporal stores. Pointers are line-aligned.
ROOFTILE_AVX2 void stream_avx2(float* to, const float* a, const float* b, std::int64_t count) {
  const __m256 s = _mm256_set1_ps(3);
  for (std::int64_t i = 0; i < count; i += kFloatsPerLine) {
    for (int j = 0; j < 16; j += 8) {
      __m256 value = a != nullptr ? _mm256_load_ps(a + i + j) : s;
      if (b != nullptr) value = _mm256_fmadd_ps(s, _mm256_load_ps(b + i + j), value);
      _mm256_stream_ps(to + i + j, value);
    }
  }
  _mm_sfence();
}

// Twelve chains hide four cycles of latency on two or three pipes.
ROOFTILE_AVX2 float fma_avx2(std::int64_t rounds) {
  __m256 chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = _mm256_set1_ps(static_cast<float>(j));
  const __m256 x = _mm256_set1_ps(0.5F);
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12  // in registers, or it times the stack
    for (auto& value : chain) value = _mm256_fmadd_ps(value, x, x);
  __m256 sum = chain[0];
  for (int j = 1; j < 12; ++j) sum = _mm256_add_ps(sum, chain[j]);
  return _mm256_cvtss_f32(sum);
}

ROOFTILE_AVX512 float fma_avx512(std::int64_t rounds) {
  __m512 chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = _mm512_set1_ps(static_cast<float>(j));
  const __m512 x = _mm512_set1_ps(0.5F);
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (auto& value : chain) value = _mm512_fmadd_ps(value, x, x);
  __m512 sum = chain[0];
  for (int j = 1; j < 12; ++j) sum = _mm512_add_ps(sum, chain[j]);
  return _mm512_cvtss_f32(sum);
}

// int8 products by pairs, summed to int32: the three instructions of a dot product without VNNI.
ROOFTILE_AVX2 float dot_int8_avx2(std::int64_t rounds) {
  __m256i chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = _mm256_set1_epi32(j);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i x = _mm256_set1_epi8(1);
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (auto& value : chain) {
      asm volatile("" : "+x"(x));  // or the products would be taken once for all chains
      value = _mm256_add_epi32(value, _mm256_madd_epi16(_mm256_maddubs_epi16(x, x), ones));
    }
  __m256i sum = chain[0];
  for (int j = 1; j < 12; ++j) sum = _mm256_add_epi32(sum, chain[j]);
  return static_cast<float>(_mm256_extract_epi32(sum, 0));
}

ROOFTILE_BF16 float dot_int8_vnni(std::int64_t rounds) {
  __m512i chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = _mm512_set1_epi32(j);
  const __m512i x = _mm512_set1_epi8(1);
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (auto& value : chain) value = _mm512_dpbusd_epi32(value, x, x);
  __m512i sum = chain[0];
  for (int j = 1; j < 12; ++j) sum = _mm512_add_epi32(sum, chain[j]);
  alignas(64) std::int32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  return static_cast<float>(lanes[0]);
}

ROOFTILE_BF16 float dot_bf16(std::int64_t rounds) {
  __m512 chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = _mm512_set1_ps(static_cast<float>(j));
  const __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.25F));
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (auto& value : chain) value = _mm512_dpbf16_ps(value, x, x);
  __m512 sum = chain[0];
  for (int j = 1; j < 12; ++j) sum = _mm512_add_ps(sum, chain[j]);
  return _mm512_cvtss_f32(sum);
}
#endif

float fma_scalar(std::int64_t rounds) {
  float chain[12];
  for (int j = 0; j < 12; ++j) chain[j] = static_cast<float>(j);
  for (std::int64_t i = 0; i < rounds; ++i)
    for (float& value : chain) value = value * 0.5F + 0.5F;
  float sum = 0;
  for (const float value : chain) sum += value;
  return sum;
}

float read_plain(const float* data, std::int64_t count) {
  float sum[kFloatsPerLine] = {};
  for (std::int64_t i = 0; i + kFloatsPerLine <= count; i += kFloatsPerLine)
    for (std::int64_t j = 0; j < kFloatsPerLine; ++j) sum[j] += data[i + j];
  float all = 0;
  for (const float value : sum) all += value;
  return all;
}

void stream_plain(float* to, const float* a, const float* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = (a != nullptr ? a[i] : 3.0F) + (b != nullptr ? 3.0F * b[i] : 0.0F);
}

std::atomic<float> sink{0};  // results nobody wants, kept from the optimiser

// One run of `work(first, count)` over `count` floats, a contiguous share for each thread.
template <class Work>
void share(Stream& stream, std::int64_t count, Work work) {
  const std::int64_t threads = stream.device().properties().compute_units;
  const std::int64_t lines = count / kFloatsPerLine;
  stream.launch(threads, [&](std::int64_t t) {
    const std::int64_t first = lines * t / threads * kFloatsPerLine;
    const std::int64_t last = lines * (t + 1) / threads * kFloatsPerLine;
    work(first, last - first);
  });
}

struct Buffers {
  DeviceMemory a, b, c;
  std::int64_t count;
  [[nodiscard]] float* at(const DeviceMemory& memory) const {
    return static_cast<float*>(memory.data());
  }
};

using StreamFn = void (*)(float*, const float*, const float*, std::int64_t);

void add_streams(std::vector<Probe>& probes, const std::shared_ptr<Buffers>& buffers,
                 const std::string& suffix, StreamFn fn) {
  const auto add = [&](const char* name, int reads) {
    const auto bytes = static_cast<double>(buffers->count) * sizeof(float);
    probes.push_back({.name = name + suffix,
                      .read_bytes = reads * bytes,
                      .written_bytes = bytes,
                      .run = [=](Stream& stream) {
                        share(stream, buffers->count, [&](std::int64_t first, std::int64_t n) {
                          fn(buffers->at(buffers->c) + first,
                             reads > 0 ? buffers->at(buffers->a) + first : nullptr,
                             reads > 1 ? buffers->at(buffers->b) + first : nullptr, n);
                        });
                      }});
  };
  add("write", 0);
  add("copy", 1);
  add("triad", 2);
}

void add_unit(std::vector<Probe>& probes, Unit unit, const std::string& name, double ops_per_round,
              float (*fn)(std::int64_t), int threads) {
  probes.push_back({.name = name,
                    .unit = unit,
                    .ops = ops_per_round * kFmaRounds * threads,
                    .run = [fn](Stream& stream) {
                      stream.launch(stream.device().properties().compute_units,
                                    [&](std::int64_t) { sink = fn(kFmaRounds); });
                    }});
}

void add_int8(std::vector<Probe>& probes, int threads) {
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::avx512_bf16)
    add_unit(probes, Unit::int8, "int8 dot product", 12 * 128, dot_int8_vnni, threads);
  else if (cpu_isa() >= Isa::avx2)
    add_unit(probes, Unit::int8, "int8 products of pairs", 12 * 64, dot_int8_avx2, threads);
#endif
}

void add_units(std::vector<Probe>& probes, int threads) {
  // Types without instructions of their own are widened and run at the fp32 rate.
  float (*fma)(std::int64_t) = fma_scalar;
  double lanes = 1;
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::avx2) fma = fma_avx2, lanes = 8;
  if (cpu_isa() >= Isa::avx512) fma = fma_avx512, lanes = 16;
#endif
  const double ops = 12 * lanes * 2;
  add_unit(probes, Unit::fp32, "fp32 multiply-add", ops, fma, threads);
  add_int8(probes, threads);
  add_unit(probes, Unit::fp16, "fp16 widened to fp32", ops, fma, threads);
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::avx512_bf16) {
    add_unit(probes, Unit::bf16, "bf16 dot product", 2 * ops, dot_bf16, threads);
    return;
  }
#endif
  add_unit(probes, Unit::bf16, "bf16 widened to fp32", ops, fma, threads);
}

}  // namespace

float probe_read(const float* data, std::int64_t count) {
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::avx2) return read_avx2(data, count);
#endif
  return read_plain(data, count);
}

std::vector<Probe> cpu_probes(Device& device) {
  const DeviceProperties& properties = device.properties();
  const std::int64_t bytes = std::clamp(2 * most_cache_bytes(), kLeastBytes, kMostBytes);
  const auto buffers =
      std::make_shared<Buffers>(Buffers{DeviceMemory(device, bytes), DeviceMemory(device, bytes),
                                        DeviceMemory(device, bytes), bytes / 4});
  for (const DeviceMemory* memory : {&buffers->a, &buffers->b, &buffers->c})
    std::memset(memory->data(), 0, static_cast<std::size_t>(bytes));
  std::vector<Probe> probes;
  probes.push_back(
      {.name = "read", .read_bytes = static_cast<double>(bytes), .run = [buffers](Stream& stream) {
         share(stream, buffers->count, [&](std::int64_t first, std::int64_t n) {
           sink = probe_read(buffers->at(buffers->a) + first, n);
         });
       }});
  add_streams(probes, buffers, " (plain stores)", stream_plain);
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::avx2) add_streams(probes, buffers, " (non-temporal stores)", stream_avx2);
#endif
  add_units(probes, properties.compute_units);
  return probes;
}

}  // namespace rooftile
