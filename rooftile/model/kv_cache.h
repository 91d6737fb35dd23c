// SPDX-License-Identifier: Apache-2.0
// The keys and values of sequences, in pages. A page holds page_size tokens of every layer; within
// a layer it is laid out [kv_heads, page_size, head_dim], so that one head of it is read in one go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"
#include "rooftile/model/page_pool.h"

namespace ROOFTILE_API rooftile {

struct KvShape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t page_size = 16;  // tokens
  DType dtype = DType::fp16;    // f32, bf16 or fp16
  friend bool operator==(const KvShape&, const KvShape&) = default;
};

/// A sequence's place in the cache: its pages, and the tokens whose keys and values they hold.
struct Sequence {
  std::vector<std::int32_t> pages{};
  std::vector<std::int32_t> tokens{};
  [[nodiscard]] std::int64_t length() const { return static_cast<std::int64_t>(tokens.size()); }
};

class KvCache {
 public:
  /// Memory of `pages` pages. Throws Error(out_of_memory) that names the bytes.
  KvCache(Device& device, const KvShape& shape, std::int64_t pages);

  /// One layer as [pages, page_size, kv_heads, head_dim].
  [[nodiscard]] TensorView keys(std::int64_t layer) const { return view(2 * layer); }
  [[nodiscard]] TensorView values(std::int64_t layer) const { return view(2 * layer + 1); }

  /// A sequence that starts with what is cached of the head of `tokens`, by whole pages, and never
  /// all of it: the last token is left to compute, since its logits are wanted.
  Sequence start(std::span<const std::int32_t> tokens);

  /// Appends `tokens`: takes the pages they need and writes their slots (page * page_size + place)
  /// to `slots`. Their keys and values are the caller's to compute. On Error(out_of_memory) nothing
  /// has changed.
  void extend(Sequence& sequence, std::span<const std::int32_t> tokens,
              std::span<std::int32_t> slots);

  /// Lets others find the whole pages of `sequence`; called when they have been computed.
  void publish(const Sequence& sequence) { pool_.publish(sequence.pages, sequence.tokens); }

  /// Forgets what could be shared, as if nothing had been computed. Sequences keep their pages.
  void forget() { pool_.forget_all(); }

  /// Gives the pages back; the sequence is empty then.
  void release(Sequence& sequence);

  /// The share of held slots that holds no token, shared pages counted once.
  [[nodiscard]] double waste(std::span<const Sequence* const> sequences) const;

  [[nodiscard]] const KvShape& shape() const { return shape_; }
  [[nodiscard]] const PagePool& pool() const { return pool_; }
  [[nodiscard]] std::int64_t bytes() const { return memory_.bytes(); }
  [[nodiscard]] std::int64_t bytes_per_token() const { return page_bytes() / shape_.page_size; }
  [[nodiscard]] std::int64_t pages_for(std::int64_t tokens) const {
    return (tokens + shape_.page_size - 1) / shape_.page_size;
  }

  /// Writes a sequence's tokens, keys and values to a file (atomically), with `model`, which says
  /// whose they are.
  void save(const Sequence& sequence, const std::string& model, const std::string& path) const;

  /// Reads what save() wrote. Throws Error(bad_input) for another model or shape and for a damaged
  /// file (its checksum is in it), and takes no page then.
  Sequence resume(const std::string& model, const std::string& path);

 private:
  [[nodiscard]] TensorView view(std::int64_t index) const;
  [[nodiscard]] std::int64_t head_bytes() const;  // of one page of one layer's keys or values
  [[nodiscard]] std::int64_t page_bytes() const { return 2 * shape_.layers * head_bytes(); }
  // Calls move(memory, bytes) for each piece that `page` is made of, in the order of the file.
  template <class Move>
  void each_piece(std::int32_t page, Move&& move) const;

  KvShape shape_;
  PagePool pool_;
  DeviceMemory memory_;  // [layers, keys and values, pages, kv_heads, page_size, head_dim]
};

}  // namespace rooftile
