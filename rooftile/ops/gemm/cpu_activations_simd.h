// SPDX-License-Identifier: Apache-2.0
// Rows to int8 blocks. Compiled for each instruction set by device/cpu/simd_each.inc; on its own
// this header is empty.
#ifdef ROOFTILE_SIMD_FILE

// Sixteen elements at p, any of the three types, to f32.
template <class T>
void widen_all(const T* from, std::int64_t k, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) store(to + i, load(from + i));
  for (; i < k; ++i) to[i] = static_cast<float>(from[i]);
}

inline void widen_contiguous(DType dtype, const void* from, std::int64_t k, float* to) {
  with_float_type(dtype,
                  [&](auto type) { widen_all(static_cast<const decltype(type)*>(from), k, to); });
}

inline bool is_finite(const float* row, std::int64_t k) {
  Vec zeros = set(0.0F);
  for (std::int64_t i = 0; i < k; i += kLanes) zeros = fma(load(row + i), set(0.0F), zeros);
  return sum(zeros) == 0;
}

// A block of finite values: the f32 operations of quantise_int8_blocks, in its order.
struct Int8Levels {
  float scale;
  Ints codes[2];
};
ROOFTILE_SIMD_INLINE Int8Levels levels_of(const float* block) {
  const Vec v[2] = {load(block), load(block + kLanes)};
  const Vec zero = set(0.0F);
  const float amax = max_lane(max(max(v[0], zero - v[0]), max(v[1], zero - v[1])));
  const bool is_zero = amax < kLeastInt8Amax;
  const Vec inverse = set(is_zero ? 0.0F : 127.0F / amax);
  return {is_zero ? 0.0F : amax / 127.0F, {to_ints(v[0] * inverse), to_ints(v[1] * inverse)}};
}

inline void quantise_finite(const float* row, std::int64_t k, float factor,
                            const ops::gemm::Int8Row& to) {
  for (std::int64_t i = 0; i < k; i += kInt8Block) {
    const Int8Levels levels = levels_of(row + i);
    float total = 0;
    for (int half = 0; half < 2; ++half) {
      store(to.codes + i + half * kLanes, levels.codes[half]);
      const float codes = sum(to_float(levels.codes[half]));  // exact
      to.sums[i / kLanes + half] = static_cast<std::int16_t>(codes);
      total += codes;
    }
    to.pairs[i / kLanes] = levels.scale;
    to.pairs[i / kLanes + 1] = levels.scale * (factor * total);
  }
}

inline void round_finite(float* row, std::int64_t k) {
  for (std::int64_t i = 0; i < k; i += kInt8Block) {
    const Int8Levels levels = levels_of(row + i);
    store(row + i, to_float(levels.codes[0]) * set(levels.scale));
    store(row + i + kLanes, to_float(levels.codes[1]) * set(levels.scale));
  }
}

#endif
