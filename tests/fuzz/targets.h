// SPDX-License-Identifier: Apache-2.0
// What the fuzzers call: the readers of untrusted files on any bytes. Error is the only way out
// that is allowed besides success; everything that was read is touched, so that a bad pointer
// shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rooftile/base/error.h"
#include "rooftile/model/config.h"
#include "rooftile/model/gguf.h"
#include "rooftile/model/safetensors.h"

namespace rooftile::fuzz {

/// Sums the first and last byte of each tensor.
inline unsigned touch(const TensorTable& tensors) {
  unsigned sum = 0;
  for (const auto& [name, tensor] : tensors.all()) {
    const auto* bytes = static_cast<const unsigned char*>(tensor.data);
    if (tensor.bytes > 0) sum += bytes[0] + bytes[tensor.bytes - 1];
  }
  return sum;
}

/// Calls a getter whatever the value's type; most throw.
template <class Get>
void attempt(Get get) {
  try {
    get();
  } catch (const Error&) {
  }
}

inline void touch(const GgufMetadata& metadata) {
  for (const auto& [key, value] : metadata.all()) {
    attempt([&] { (void)metadata.get_u32(key); });
    attempt([&] { (void)metadata.get_f32(key); });
    attempt([&] { (void)metadata.get_bool(key); });
    attempt([&] { (void)metadata.get_string(key); });
    attempt([&] { (void)metadata.get_strings(key); });
    attempt([&] { (void)metadata.get_i32s(key); });
    attempt([&] { (void)metadata.get_f32s(key); });
  }
}

inline void gguf(std::span<const std::byte> bytes) {
  attempt([&] {
    const GgufContent content = parse_gguf(bytes, "fuzz");
    touch(content.metadata);
    volatile unsigned sum = touch(content.tensors);
    (void)sum;
    (void)config_from_gguf(content);
  });
}

inline void safetensors(std::span<const std::byte> bytes) {
  attempt([&] {
    TensorTable table("fuzz");
    parse_safetensors(bytes, "fuzz", table);
    volatile unsigned sum = touch(table);
    (void)sum;
  });
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  attempt([&] { (void)parse_safetensors_index(text, "fuzz"); });
}

inline void config(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  attempt([&] { (void)config_from_json(text, "fuzz"); });
}

}  // namespace rooftile::fuzz
