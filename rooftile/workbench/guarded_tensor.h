// SPDX-License-Identifier: Apache-2.0
// One tensor in device memory between guard bands. Every byte that belongs to no element (guards,
// the gaps of a strided view) holds a pattern that reads as NaN and must still be there after a
// run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"
#include "rooftile/core/problem.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// Zeroed host memory, claimed at first touch: an image of a tensor whose strides leave gigabytes
/// between rows costs what its rows cost.
class HostImage {
 public:
  explicit HostImage(std::int64_t bytes);
  ~HostImage();
  HostImage(const HostImage&) = delete;
  HostImage& operator=(const HostImage&) = delete;
  [[nodiscard]] char* data() const { return data_; }

 private:
  char* data_;
  std::size_t bytes_;
};

/// What outputs hold before a run: NaN, which whoever reads it shows; or a number, without which an
/// output that nobody wrote would pass where NaN is the right answer.
enum class Poison : std::uint8_t { nan, number };

class GuardedTensor {
 public:
  /// What it holds is undefined until poison() or a store.
  GuardedTensor(const ArgChoice& arg, Device& device, Stream& stream);

  /// Fills everything with the pattern, NaN for floating types and -1 for integers; the elements
  /// with what `kind` says.
  void poison(Poison kind = Poison::nan);

  /// Stores `values` (row-major) into the elements; the rest gets the pattern.
  void store(const std::vector<double>& values);

  /// The same bytes as another tensor of the same argument was given.
  void store_as(const GuardedTensor& other);

  /// Writes what poison() or a store wrote last once more.
  void restore();

  /// The elements as the last store rounded them, row-major, in double.
  void load_stored(std::vector<double>& values) const;

  /// The elements now, row-major, in double; until the next call.
  [[nodiscard]] const std::vector<double>& load();

  /// The elements now of these indices of the first axis.
  [[nodiscard]] std::vector<std::vector<double>> load_rows(std::span<const std::int64_t> rows);

  /// As store(), but the bytes of the elements, row-major: block types do not give the same bits
  /// when their own values are quantised again.
  void store_bits(std::string_view bits);

  /// The bytes of the elements now, row-major.
  [[nodiscard]] std::string element_bits();

  /// Whether all bytes are as poison() or store() left them; with `except_elements`, all but those
  /// of the elements.
  [[nodiscard]] bool is_untouched(bool except_elements);

  /// The first element, row-major, that holds the NaN of poison() still; -1 where there is none,
  /// and for types that have no NaN or are packed.
  [[nodiscard]] std::int64_t first_poisoned();

  /// Spot checks during a measurement, at the cost of a few bytes: one row-major element poisoned,
  /// one read. Packed types cannot be poisoned alone and are left as they are.
  void poison_element(std::int64_t index);
  [[nodiscard]] double load_element_now(std::int64_t index);

  [[nodiscard]] const TensorView& view() const { return view_; }
  [[nodiscard]] std::int64_t count() const { return num_elements(view_.shape); }

 private:
  struct Band {  // bytes from the start of the memory
    std::int64_t begin;
    std::int64_t end;
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
  };

  void choose_bands(std::int64_t payload);
  void add_scaling(const ArgChoice& arg);
  void fill_image(int byte_of_scales);
  void upload();
  void download();
  [[nodiscard]] std::int64_t offset_of(std::int64_t index) const;  // elements
  /// visit(place among the elements' bytes, byte of the memory, bytes) for all elements; from
  /// several threads if `is_parallel`.
  void for_each_run(
      bool is_parallel,
      FunctionRef<void(std::int64_t place, std::int64_t byte, std::int64_t bytes)> visit) const;
  [[nodiscard]] std::int64_t byte_of(std::int64_t index) const;  // from the start of the memory

  Device& device_;
  Stream& stream_;
  std::int64_t bytes_;   // of the memory, guards included
  std::int64_t origin_;  // byte of element (0, …, 0)
  DeviceMemory memory_;
  HostImage image_;  // what should be there
  HostImage now_;    // what is there, after download()
  TensorView view_;  // in device memory
  TensorView image_view_;
  TensorView now_view_;
  std::vector<Band> bands_;
  bool is_poisoned_ = false;
  Poison poison_ = Poison::nan;  // where it is poisoned
  std::vector<double> loaded_;
  // Scale, zero point, second scale: those present.
  std::vector<DeviceMemory> scales_;
  std::vector<std::string> scale_images_;  // what should be there
  std::vector<std::string> scales_now_;    // what is there, after download()
  Scaling scaling_;
  Scaling image_scaling_;
  Scaling now_scaling_;
};

}  // namespace rooftile
