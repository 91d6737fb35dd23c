// SPDX-License-Identifier: Apache-2.0
// The dot products of cpu_gemv_q8. Lane l of an accumulator sums the products of elements 4 l ..
// 4 l + 3 of every other group of 32; products of bytes are added in 16 bits by VPMADDUBSW, which
// saturates: 63 * 127 * 2 and 128 * 127 * 2 stay below 2^15. AVX-512 processors use this code too:
// it runs at the speed of memory.
#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/gguf_blocks.h"
#include "rooftile/ops/gemm/cpu_gemv_q8.h"

#if defined(__x86_64__)

ROOFTILE_SIMD_BEGIN_AVX2
namespace rooftile::ops::gemm {
namespace {

// How far ahead memory is asked for: past what the processor's prefetcher has under way.
constexpr std::int64_t kAheadBytes = 1024;
constexpr std::int64_t kMostAheadBytes = 8192;

template <class Block>
ROOFTILE_SIMD_INLINE void prefetch_ahead(const Block& block) {
  const auto* p = reinterpret_cast<const char*>(&block) + kAheadBytes;
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < std::int64_t{sizeof(Block)}; i += 64) __builtin_prefetch(p + i);
}

ROOFTILE_SIMD_INLINE __m256i load32(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
ROOFTILE_SIMD_INLINE __m256i low_bits(__m256i v, int mask) {
  return _mm256_and_si256(v, _mm256_set1_epi8(static_cast<char>(mask)));
}

// Codes of 32 elements as bytes ------------------------------------------------------------------

// Low nibbles of 16 bytes, then high ones.
ROOFTILE_SIMD_INLINE __m256i nibbles(const std::uint8_t* q) {
  const __m256i twice =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(q)));
  const __m256i shifts = _mm256_set_epi32(4, 4, 4, 4, 0, 0, 0, 0);
  return low_bits(_mm256_srlv_epi32(twice, shifts), 15);
}

// Bit i of 32 bits as bit 4 of byte i.
ROOFTILE_SIMD_INLINE __m256i fifth_bits(const std::uint8_t* high) {
  std::int32_t bits = 0;
  std::memcpy(&bits, high, sizeof bits);
  const __m256i spread =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i place = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201U));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread);
  const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, place), place);
  return low_bits(is_set, 16);
}

// Products summed by fours: unsigned codes, 0 to 63, and signed ones.
ROOFTILE_SIMD_INLINE __m256i dot(__m256i codes, const std::int8_t* x) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(codes, load32(x)), _mm256_set1_epi16(1));
}
ROOFTILE_SIMD_INLINE __m256i dot_signed(__m256i codes, const std::int8_t* x) {
  const __m256i x_signed = _mm256_sign_epi8(load32(x), codes);
  return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(codes), x_signed),
                           _mm256_set1_epi16(1));
}

// Blocks of 32 -----------------------------------------------------------------------------------

ROOFTILE_SIMD_INLINE __m256i codes_of(const q4_0& b) { return nibbles(b.q); }
ROOFTILE_SIMD_INLINE __m256i codes_of(const q4_1& b) { return nibbles(b.q); }
ROOFTILE_SIMD_INLINE __m256i codes_of(const q5_0& b) {
  return _mm256_or_si256(nibbles(b.q), fifth_bits(b.high));
}
ROOFTILE_SIMD_INLINE __m256i codes_of(const q5_1& b) {
  return _mm256_or_si256(nibbles(b.q), fifth_bits(b.high));
}
ROOFTILE_SIMD_INLINE __m256i codes_of(const q8_0& b) { return load32(b.q); }

// What the two numbers of Int8Row::pairs are multiplied by: the scale, and the scale or minimum.
template <class Block>
ROOFTILE_SIMD_INLINE __m128 factors_of(const Block& b) {
  if constexpr (requires { b.m; })  // the bytes behind m are codes, and these lanes unused
    return _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&b)));
  else
    return _mm_cvtph_ps(_mm_set1_epi16(static_cast<std::int16_t>(b.d.bits)));
}

template <int Rows>
struct Sums {
  __m256 products[Rows][2];
  __m128 offsets[Rows];  // lane 1
};

// `pair` is k / 16, counted beside k because the loop would divide otherwise.
template <int Half, class Block, int Rows>
ROOFTILE_SIMD_INLINE void add_block(Sums<Rows>& sums, const Block& b, const Int8Row (&x)[Rows],
                                    std::int64_t k, std::int64_t pair) {
  const __m256i codes = codes_of(b);
  const __m128 factors = factors_of(b);
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    __m256i product;
    if constexpr (std::is_same_v<Block, q8_0>)
      product = dot_signed(codes, x[r].codes + k);
    else
      product = dot(codes, x[r].codes + k);
    const __m128 scales = _mm_mul_ps(factors, _mm_loadu_ps(x[r].pairs + pair));
    if constexpr (!std::is_same_v<Block, q8_0>)
      sums.offsets[r] = _mm_add_ps(sums.offsets[r], scales);
    sums.products[r][Half] = _mm256_fmadd_ps(_mm256_broadcastss_ps(scales),
                                             _mm256_cvtepi32_ps(product), sums.products[r][Half]);
  }
}

template <class Block, int Rows>
ROOFTILE_SIMD_INLINE void dot_small_blocks(const char* column, const Int8Row (&x)[Rows],
                                           std::int64_t ks, float (&results)[Rows]) {
  Sums<Rows> sums;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    sums.products[r][0] = sums.products[r][1] = _mm256_setzero_ps();
    sums.offsets[r] = _mm_setzero_ps();
  }
  const auto* block = reinterpret_cast<const Block*>(column);
  std::int64_t k = 0;
  std::int64_t pair = 0;
  for (; k + 64 <= ks; k += 64, pair += 4, block += 2) {
    prefetch_ahead(*block);
    add_block<0>(sums, block[0], x, k, pair);
    add_block<1>(sums, block[1], x, k + 32, pair + 2);
  }
  if (k < ks) add_block<0>(sums, *block, x, k, pair);
  for (int r = 0; r < Rows; ++r) {
    results[r] = simd::avx2::sum({sums.products[r][0], sums.products[r][1]});
    if constexpr (!std::is_same_v<Block, q8_0>)
      results[r] += _mm_cvtss_f32(_mm_movehdup_ps(sums.offsets[r]));
  }
}

// One row and four columns at a time: an operand of the row is loaded once for the four, what the
// eight scales and offsets need is done in one register, and there are chains enough to hide the
// latency of the multiply-adds. The bits are those of one column at a time.
constexpr int kColumns = 4;

struct ColumnSums {
  __m256 products[kColumns][2];
  __m256 offsets;  // lane 2 c + 1 of column c
};

// d and m, or d twice, of the four columns' blocks.
template <class Block>
ROOFTILE_SIMD_INLINE __m256 factors_of(const char* block, std::int64_t b_bytes) {
  std::uint32_t words[kColumns];
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) std::memcpy(&words[c], block + c * b_bytes, sizeof words[c]);
  __m128i halves = _mm_cvtsi32_si128(static_cast<int>(words[0]));
  halves = _mm_insert_epi32(halves, static_cast<int>(words[1]), 1);
  halves = _mm_insert_epi32(halves, static_cast<int>(words[2]), 2);
  halves = _mm_insert_epi32(halves, static_cast<int>(words[3]), 3);
  if constexpr (!requires(Block b) { b.m; })  // the upper bytes are codes
    halves =
        _mm_shuffle_epi8(halves, _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13));
  return _mm256_cvtph_ps(halves);
}

template <int Half, class Block>
ROOFTILE_SIMD_INLINE void add_blocks(ColumnSums& sums, const char* block, std::int64_t b_bytes,
                                     const std::int8_t* x, const float* pair) {
  const __m256 both = _mm256_castpd_ps(_mm256_broadcast_sd(reinterpret_cast<const double*>(pair)));
  const __m256 scales = _mm256_mul_ps(factors_of<Block>(block, b_bytes), both);
  alignas(32) float scale_of[2 * kColumns];  // whence a broadcast is one load
  _mm256_store_ps(scale_of, scales);
  if constexpr (!std::is_same_v<Block, q8_0>) sums.offsets = _mm256_add_ps(sums.offsets, scales);
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const __m256i codes = codes_of(*reinterpret_cast<const Block*>(block + c * b_bytes));
    const __m256i product = std::is_same_v<Block, q8_0> ? dot_signed(codes, x) : dot(codes, x);
    sums.products[c][Half] = _mm256_fmadd_ps(_mm256_broadcast_ss(scale_of + 2 * c),
                                             _mm256_cvtepi32_ps(product), sums.products[c][Half]);
  }
}

// The sums of four Vecs as simd::avx2::sum adds them.
ROOFTILE_SIMD_INLINE __m128 sum_each(const __m256 (&v)[kColumns][2]) {
  __m128 four[kColumns];
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const __m256 pairs = _mm256_hadd_ps(v[c][0], v[c][1]);
    four[c] = _mm_hadd_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  }
  _MM_TRANSPOSE4_PS(four[0], four[1], four[2], four[3]);
  return _mm_add_ps(_mm_add_ps(four[0], four[2]), _mm_add_ps(four[1], four[3]));
}

template <class Block>
ROOFTILE_SIMD_INLINE __m128 dot_four_columns(const char* column, std::int64_t b_bytes,
                                             const Int8Row& x, std::int64_t ks) {
  // The next four columns where they are near, in the order in which they lie: memory is read in
  // one stream, not in four.
  const std::int64_t group = kColumns * b_bytes;
  const char* next = column + (group <= kMostAheadBytes ? group : kAheadBytes);
  ColumnSums sums;
#pragma GCC unroll 4
  for (auto& products : sums.products) products[0] = products[1] = _mm256_setzero_ps();
  sums.offsets = _mm256_setzero_ps();
  std::int64_t k = 0;
  const char* block = column;
  const float* pair = x.pairs;
  for (; k + 64 <= ks; k += 64, block += 2 * sizeof(Block), pair += 4) {
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < std::int64_t{2 * kColumns * sizeof(Block)}; i += 64)
      __builtin_prefetch(next + i);
    next += 2 * kColumns * sizeof(Block);
    add_blocks<0, Block>(sums, block, b_bytes, x.codes + k, pair);
    add_blocks<1, Block>(sums, block + sizeof(Block), b_bytes, x.codes + k + 32, pair + 2);
  }
  if (k < ks) add_blocks<0, Block>(sums, block, b_bytes, x.codes + k, pair);
  const __m128 products = sum_each(sums.products);
  if constexpr (std::is_same_v<Block, q8_0>) return products;
  return _mm_add_ps(products, _mm_shuffle_ps(_mm256_castps256_ps128(sums.offsets),
                                             _mm256_extractf128_ps(sums.offsets, 1), 0xdd));
}

// Blocks of 256, in eight groups of 32
// -------------------------------------------------------------

ROOFTILE_SIMD_INLINE __m256 in_order(__m256 shuffled) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(shuffled), 0xd8));
}

// The pairs of eight blocks of x, apart.
ROOFTILE_SIMD_INLINE void split_pairs(const float* pairs, __m256& scales, __m256& sums) {
  const __m256 a = _mm256_loadu_ps(pairs);
  const __m256 b = _mm256_loadu_ps(pairs + 8);
  scales = in_order(_mm256_shuffle_ps(a, b, 0x88));
  sums = in_order(_mm256_shuffle_ps(a, b, 0xdd));
}

ROOFTILE_SIMD_INLINE __m256 widen_bytes(std::uint64_t bytes) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<std::int64_t>(bytes))));
}
ROOFTILE_SIMD_INLINE __m256 broadcast(fp16 x) { return simd::avx2::set(x).lo; }

// Scales and minima of the eight groups, as gguf_k_scales.h draws them, four bytes at a time.
struct GroupScales {
  __m256 scales;
  __m256 mins;
};
template <class Block>
ROOFTILE_SIMD_INLINE GroupScales group_scales(const Block& b) {
  std::uint32_t word[3];
  std::memcpy(word, b.scales.bytes, sizeof word);
  const std::uint64_t scale_top = (word[2] & 0x0f0f0f0fU) | (word[0] >> 6 & 0x03030303U) << 4;
  const std::uint64_t min_top = (word[2] >> 4 & 0x0f0f0f0fU) | (word[1] >> 6 & 0x03030303U) << 4;
  const std::uint64_t scales = (word[0] & 0x3f3f3f3fU) | scale_top << 32;
  const std::uint64_t mins = (word[1] & 0x3f3f3f3fU) | min_top << 32;
  return {_mm256_mul_ps(broadcast(b.d), widen_bytes(scales)),
          _mm256_mul_ps(broadcast(b.dmin), widen_bytes(mins))};
}

// Groups 2 i and 2 i + 1 of Q4_K and Q5_K, and all four groups of half a Q6_K.
ROOFTILE_SIMD_INLINE void two_groups(const q4_k& b, int i, __m256i (&codes)[2]) {
  const __m256i bytes = load32(b.q + 32 * i);
  codes[0] = low_bits(bytes, 15);
  codes[1] = low_bits(_mm256_srli_epi16(bytes, 4), 15);
}
ROOFTILE_SIMD_INLINE void two_groups(const q5_k& b, int i, __m256i (&codes)[2]) {
  const __m256i bytes = load32(b.q + 32 * i);
  const __m256i high = load32(b.high);
  // Bits 2 i and 2 i + 1 of a byte to its bit 4.
  const __m256i even = _mm256_slli_epi16(_mm256_srli_epi16(high, 2 * i), 4);
  const __m256i odd = _mm256_slli_epi16(_mm256_srli_epi16(high, 2 * i + 1), 4);
  codes[0] = _mm256_or_si256(low_bits(bytes, 15), low_bits(even, 16));
  codes[1] = _mm256_or_si256(low_bits(_mm256_srli_epi16(bytes, 4), 15), low_bits(odd, 16));
}
ROOFTILE_SIMD_INLINE void four_groups(const q6_k& b, int half, __m256i (&codes)[4]) {
  const __m256i low[2] = {load32(b.q + 64 * half), load32(b.q + 64 * half + 32)};
  const __m256i high = load32(b.high + 32 * half);
  const __m256i top[4] = {_mm256_slli_epi16(high, 4), _mm256_slli_epi16(high, 2), high,
                          _mm256_srli_epi16(high, 2)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256i nibble = i < 2 ? low[i % 2] : _mm256_srli_epi16(low[i % 2], 4);
    codes[i] = _mm256_or_si256(low_bits(nibble, 15), low_bits(top[i], 48));
  }
}

template <int Rows>
struct GroupSums {
  __m256 products[Rows][2];
  __m256 offsets[Rows];  // to be subtracted
};

// The scales of eight groups, in memory, whence one is broadcast for less than from a register. Why
// not with the sums: they would be kept in memory too.
template <int Rows>
struct GroupFactors {
  alignas(32) float of[Rows][8];
};

// sums += factor * product for group g.
template <int Rows>
ROOFTILE_SIMD_INLINE void add_group(GroupSums<Rows>& sums, const GroupFactors<Rows>& factors, int r,
                                    int g, __m256i product) {
  sums.products[r][g % 2] = _mm256_fmadd_ps(_mm256_broadcast_ss(&factors.of[r][g]),
                                            _mm256_cvtepi32_ps(product), sums.products[r][g % 2]);
}

// Q4_K and Q5_K: minima.
template <class Block, int Rows>
ROOFTILE_SIMD_INLINE void add_block(GroupSums<Rows>& sums, const Block& b, const Int8Row (&x)[Rows],
                                    std::int64_t k) {
  const GroupScales weights = group_scales(b);
  GroupFactors<Rows> factors;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    __m256 scales, totals;
    split_pairs(x[r].pairs + k / 16, scales, totals);
    _mm256_store_ps(factors.of[r], _mm256_mul_ps(weights.scales, scales));
    sums.offsets[r] = _mm256_fmadd_ps(weights.mins, totals, sums.offsets[r]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m256i codes[2];
    two_groups(b, i, codes);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      add_group(sums, factors, r, 2 * i, dot(codes[0], x[r].codes + k + 64 * i));
      add_group(sums, factors, r, 2 * i + 1, dot(codes[1], x[r].codes + k + 64 * i + 32));
    }
  }
}

// Q6_K: a scale for each 16 elements, taken with the 16-bit sums; and codes that mean code - 32.
template <int Rows>
ROOFTILE_SIMD_INLINE void add_block(GroupSums<Rows>& sums, const q6_k& b, const Int8Row (&x)[Rows],
                                    std::int64_t k) {
  const __m256i scales16 =
      _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b.scales)));
  const __m256 d = broadcast(b.d);
  GroupFactors<Rows> factors;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    __m256 scales, unused;
    split_pairs(x[r].pairs + k / 16, scales, unused);
    const __m256 scaled = _mm256_mul_ps(d, scales);
    _mm256_store_ps(factors.of[r], scaled);
    const __m256i totals = _mm256_madd_epi16(scales16, load32(x[r].sums + k / 16));
    sums.offsets[r] = _mm256_fmadd_ps(_mm256_mul_ps(scaled, _mm256_set1_ps(32)),
                                      _mm256_cvtepi32_ps(totals), sums.offsets[r]);
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const __m256i eight = half == 0 ? _mm256_permute4x64_epi64(scales16, 0x44)
                                    : _mm256_permute4x64_epi64(scales16, 0xee);
    __m256i codes[4];
    four_groups(b, half, codes);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      // Scale 2 i for the lower 128 bits, 2 i + 1 for the upper.
      const auto word = [](int s) { return static_cast<std::int16_t>(2 * s | (2 * s + 1) << 8); };
      const __m256i pick =
          _mm256_set_m128i(_mm_set1_epi16(word(2 * i + 1)), _mm_set1_epi16(word(2 * i)));
      const __m256i scale = _mm256_shuffle_epi8(eight, pick);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        const __m256i pairs =
            _mm256_maddubs_epi16(codes[i], load32(x[r].codes + k + 128 * half + 32 * i));
        add_group(sums, factors, r, 4 * half + i, _mm256_madd_epi16(pairs, scale));
      }
    }
  }
}

template <class Block, int Rows>
ROOFTILE_SIMD_INLINE void dot_large_blocks(const char* column, const Int8Row (&x)[Rows],
                                           std::int64_t ks, float (&results)[Rows]) {
  GroupSums<Rows> sums;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    sums.products[r][0] = sums.products[r][1] = sums.offsets[r] = _mm256_setzero_ps();
  const auto* block = reinterpret_cast<const Block*>(column);
  for (std::int64_t k = 0; k < ks; k += 256, ++block) {
    prefetch_ahead(*block);
    add_block(sums, *block, x, k);
  }
  for (int r = 0; r < Rows; ++r)
    results[r] = simd::avx2::sum({sums.products[r][0], sums.products[r][1]}) -
                 simd::avx2::sum({sums.offsets[r], _mm256_setzero_ps()});
}

// Column c with rows first .. first + Rows - 1.
template <class Block, int Rows>
ROOFTILE_SIMD_INLINE void dot_column(const Q8Task& t, std::int64_t c, std::int64_t first) {
  Int8Row x[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    x[r] = int8_row(t.columns.x + (first + r) * t.row_bytes, t.columns.ks);
  const char* column = t.columns.b + c * t.columns.b_bytes;
  float results[Rows];
  if constexpr (Block::kElements == 32)
    dot_small_blocks<Block>(column, x, t.columns.ks, results);
  else
    dot_large_blocks<Block>(column, x, t.columns.ks, results);
  for (int r = 0; r < Rows; ++r) t.columns.sums[(first + r) * t.columns.ld + c] = results[r];
}

template <class Block>
void dot_columns(const Q8Task& t) {
  std::int64_t c = 0;
  if constexpr (Block::kElements == 32)
    if (t.columns.rows == 1) {
      const ColumnsTask& task = t.columns;
      const Int8Row x = int8_row(task.x, task.ks);
      for (; c + kColumns <= task.cols; c += kColumns)
        _mm_storeu_ps(task.sums + c,
                      dot_four_columns<Block>(task.b + c * task.b_bytes, task.b_bytes, x, task.ks));
    }
  for (; c < t.columns.cols; ++c) {
    std::int64_t r = 0;
    for (; r + 4 <= t.columns.rows; r += 4) dot_column<Block, 4>(t, c, r);
    if (r + 2 <= t.columns.rows) {
      dot_column<Block, 2>(t, c, r);
      r += 2;
    }
    if (r < t.columns.rows) dot_column<Block, 1>(t, c, r);
  }
}

}  // namespace

void dot_q8_avx2(const Q8Task& task) {
  switch (task.columns.dtype) {
    case DType::q4_0:
      return dot_columns<q4_0>(task);
    case DType::q4_1:
      return dot_columns<q4_1>(task);
    case DType::q5_0:
      return dot_columns<q5_0>(task);
    case DType::q5_1:
      return dot_columns<q5_1>(task);
    case DType::q8_0:
      return dot_columns<q8_0>(task);
    case DType::q4_k:
      return dot_columns<q4_k>(task);
    case DType::q5_k:
      return dot_columns<q5_k>(task);
    case DType::q6_k:
      return dot_columns<q6_k>(task);
    default:
      return;  // has_q8_dot
  }
}

}  // namespace rooftile::ops::gemm
ROOFTILE_SIMD_END

#endif
