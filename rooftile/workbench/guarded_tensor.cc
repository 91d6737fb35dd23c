// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/guarded_tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "rooftile/base/error.h"
#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/storage.h"
#include "rooftile/op/tiles.h"

namespace rooftile {
namespace {

constexpr std::int64_t kGuardBytes = 4096;
constexpr std::int64_t kBandMargin = 256;
constexpr std::int64_t kDenseBytes = 64 << 20;
constexpr int kPattern = 0xff;  // NaN in every floating type that has one
constexpr int kNumber = 0x55;   // 1.5e13 in f32 and bf16, 85 in fp16

std::int64_t span_elements(const ArgChoice& arg, std::int64_t& least) {
  const OffsetRange range = offset_range(arg.shape, arg.strides);
  least = std::min<std::int64_t>(range.least, 0);
  return range.greatest - least + 1;
}

}  // namespace

HostImage::HostImage(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                "host: cannot allocate " + bytes_text(static_cast<double>(bytes)));
  data_ = static_cast<char*>(memory);
}

HostImage::~HostImage() { munmap(data_, bytes_); }

GuardedTensor::GuardedTensor(const ArgChoice& arg, Device& device, Stream& stream)
    : device_(device),
      stream_(stream),
      bytes_([&] {
        std::int64_t least = 0;
        const std::int64_t span = span_elements(arg, least);
        return bytes_of(arg.dtype, span + arg.offset) + 2 * kGuardBytes;
      }()),
      origin_([&] {
        std::int64_t least = 0;
        span_elements(arg, least);
        const DTypeInfo& type = info(arg.dtype);
        return kGuardBytes + (arg.offset - least) / type.unit_elements * type.unit_bytes;
      }()),
      memory_(device, bytes_),
      image_(bytes_),
      now_(bytes_) {
  view_ = {.data = static_cast<char*>(memory_.data()) + origin_,
           .dtype = arg.dtype,
           .shape = arg.shape,
           .strides = arg.strides,
           .device = device.device_id(),
           .scaling = nullptr};
  image_view_ = now_view_ = view_;
  image_view_.data = image_.data() + origin_;
  now_view_.data = now_.data() + origin_;
  choose_bands(bytes_of(arg.dtype, num_elements(arg.shape)));
  if (arg.scaling) add_scaling(arg);
}

// One band over everything, unless the gaps dwarf the elements: then a band around each run.
void GuardedTensor::choose_bands(std::int64_t payload) {
  const DTypeInfo& type = info(view_.dtype);
  if (bytes_ <= kDenseBytes + 4 * payload || (type.is_packed() && !type.is_block())) {
    bands_ = {{0, bytes_}};
    claim_in_parallel(image_.data(), static_cast<std::size_t>(bytes_));
    claim_in_parallel(now_.data(), static_cast<std::size_t>(bytes_));
    return;
  }
  bands_ = {{0, kGuardBytes}, {bytes_ - kGuardBytes, bytes_}};
  for (std::int64_t i = 0; i < count(); ++i) {
    const std::int64_t begin = std::max<std::int64_t>(byte_of(i) - kBandMargin, 0);
    const std::int64_t end = std::min(byte_of(i) + type.unit_bytes + kBandMargin, bytes_);
    bands_.push_back({begin, end});
  }
  std::ranges::sort(bands_, {}, &Band::begin);
  std::vector<Band> merged{bands_.front()};
  for (const Band& band : bands_) {
    if (band.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, band.end);
    } else {
      merged.push_back(band);
    }
  }
  bands_ = std::move(merged);
}

void GuardedTensor::add_scaling(const ArgChoice& arg) {
  const ScaleChoice& choice = *arg.scaling;
  scaling_.block = choice.block;
  scaling_.layout = choice.layout;
  image_scaling_ = now_scaling_ = scaling_;
  scales_.reserve(3);
  scale_images_.reserve(3);
  scales_now_.reserve(3);
  const auto add = [&](DType dtype, const Dims& shape, std::int64_t bytes,
                       TensorView Scaling::* part) {
    scale_images_.emplace_back(static_cast<std::size_t>(bytes), '\0');
    scales_now_.emplace_back(static_cast<std::size_t>(bytes), '\0');
    scales_.emplace_back(device_, bytes);
    scaling_.*part = TensorView::contiguous(scales_.back().data(), dtype, shape);
    image_scaling_.*part = TensorView::contiguous(scale_images_.back().data(), dtype, shape);
    now_scaling_.*part = TensorView::contiguous(scales_now_.back().data(), dtype, shape);
  };
  const Dims shape = scale_shape(arg.shape, choice.block);
  // Whole tiles of 128 x 4 scales when swizzled.
  std::int64_t bytes = bytes_of(choice.dtype, num_elements(shape));
  if (choice.layout == ScaleLayout::swizzled_128x4)
    bytes = (shape[0] + 127) / 128 * ((shape[shape.rank() - 1] + 3) / 4) * 512;
  add(choice.dtype, shape, bytes, &Scaling::scale);
  if (choice.zero_point)
    add(*choice.zero_point, shape, bytes_of(*choice.zero_point, num_elements(shape)),
        &Scaling::zero_point);
  if (choice.second_scale)
    add(*choice.second_scale, {1}, bytes_of(*choice.second_scale, 1), &Scaling::second_scale);
  view_.scaling = &scaling_;
  image_view_.scaling = &image_scaling_;
  now_view_.scaling = &now_scaling_;
}

std::int64_t GuardedTensor::offset_of(std::int64_t index) const {
  std::int64_t offset = 0;
  for (int i = view_.shape.rank() - 1; i >= 0; --i) {
    offset += index % view_.shape[i] * view_.strides[i];
    index /= view_.shape[i];
  }
  return offset;
}

// Units in row-major order of their first elements: blocks may lie along any axis, other packed
// types lie along the last.
void GuardedTensor::for_each_run(
    bool is_parallel,
    FunctionRef<void(std::int64_t place, std::int64_t byte, std::int64_t bytes)> visit) const {
  const DTypeInfo& type = info(view_.dtype);
  const std::int64_t unit = type.unit_elements;
  Dims units = view_.shape;
  Dims steps = view_.strides;
  const int axis = block_axis(units, steps);
  const bool is_along_last = type.is_block() || axis == units.rank() - 1;
  if (unit > 1 && (!is_along_last || !Tiles(units, steps, unit).are_whole(unit))) {
    for (std::int64_t i = 0; i < count(); i += unit)
      visit(i / unit * type.unit_bytes, byte_of(i), type.unit_bytes);
    return;
  }
  for (int i = 0; i < units.rank() && unit > 1; ++i) {
    if (i == axis)
      units[i] /= unit;
    else
      steps[i] /= unit;
  }
  const Tiles tiles(units, steps);
  const bool is_dense = tiles.stride == 1 && tiles.index_step == 1;
  tiles.for_each(is_parallel && tiles.are_apart(), [&](const Tile& tile) {
    const std::int64_t length = is_dense ? tile.length : 1;
    for (std::int64_t r = 0; r < tile.runs; ++r)
      for (std::int64_t i = 0; i < tile.length; i += length) {
        const std::int64_t index = tile.index + r * tiles.run_index_step + i * tiles.index_step;
        const std::int64_t offset = tile.offset + r * tiles.run_stride + i * tiles.stride;
        visit(index * type.unit_bytes, origin_ + offset * type.unit_bytes,
              length * type.unit_bytes);
      }
  });
}

std::int64_t GuardedTensor::byte_of(std::int64_t index) const {
  const std::int64_t offset = offset_of(index);
  const DTypeInfo& type = info(view_.dtype);
  return origin_ + offset / type.unit_elements * type.unit_bytes;
}

void GuardedTensor::upload() {
  for (const Band& band : bands_)
    device_.copy_to_device(stream_, static_cast<char*>(memory_.data()) + band.begin,
                           image_.data() + band.begin, band.end - band.begin);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    device_.copy_to_device(stream_, scales_[i].data(), scale_images_[i].data(), scales_[i].bytes());
  stream_.synchronise();
  // Nobody may read the guards either.
  device_.forget(memory_.data(), kGuardBytes);
  device_.forget(static_cast<char*>(memory_.data()) + bytes_ - kGuardBytes, kGuardBytes);
}

void GuardedTensor::download() {
  for (const Band& band : bands_)
    device_.copy_to_host(stream_, now_.data() + band.begin,
                         static_cast<const char*>(memory_.data()) + band.begin,
                         band.end - band.begin);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    device_.copy_to_host(stream_, scales_now_[i].data(), scales_[i].data(), scales_[i].bytes());
  stream_.synchronise();
}

void GuardedTensor::fill_image(int byte_of_scales) {
  for (const Band& band : bands_)
    fill_in_parallel(image_.data() + band.begin, kPattern, band.bytes());
  for (std::string& scales : scale_images_)
    std::ranges::fill(scales, static_cast<char>(byte_of_scales));
}

void GuardedTensor::poison(Poison kind) {
  if (!is_poisoned_ || poison_ != kind) {
    fill_image(kPattern);
    if (kind == Poison::number)
      for_each_run(true, [&](std::int64_t, std::int64_t byte, std::int64_t bytes) {
        std::memset(image_.data() + byte, kNumber, static_cast<std::size_t>(bytes));
      });
  }
  is_poisoned_ = true;
  poison_ = kind;
  restore();
}

void GuardedTensor::restore() {
  upload();
  for (const Band& band : bands_)
    if (is_poisoned_)
      device_.forget(static_cast<char*>(memory_.data()) + band.begin, band.end - band.begin);
}

void GuardedTensor::store(const std::vector<double>& values) {
  fill_image(0);  // the padding of scales
  is_poisoned_ = false;
  store_view(values, image_view_);
  upload();
}

void GuardedTensor::store_as(const GuardedTensor& other) {
  for (const Band& band : bands_)
    copy_in_parallel(image_.data() + band.begin, other.image_.data() + band.begin, band.bytes());
  for (std::size_t i = 0; i < scale_images_.size(); ++i)
    std::ranges::copy(other.scale_images_[i], scale_images_[i].begin());
  is_poisoned_ = other.is_poisoned_;
  poison_ = other.poison_;
  restore();
}

void GuardedTensor::store_bits(std::string_view bits) {
  for_each_run(true, [&](std::int64_t place, std::int64_t byte, std::int64_t bytes) {
    std::memcpy(image_.data() + byte, bits.data() + place, static_cast<std::size_t>(bytes));
  });
  upload();
}

void GuardedTensor::load_stored(std::vector<double>& values) const {
  load_view(image_view_, values);
}

const std::vector<double>& GuardedTensor::load() {
  download();
  load_view(now_view_, loaded_);
  return loaded_;
}

std::vector<std::vector<double>> GuardedTensor::load_rows(std::span<const std::int64_t> rows) {
  std::vector<std::vector<double>> list(rows.size());
  const bool is_plain = !info(view_.dtype).is_packed() && view_.scaling == nullptr;
  is_plain ? download() : static_cast<void>(load());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TensorView row = now_view_;
    row.data = now_.data() + origin_ + rows[i] * row.strides[0] * info(row.dtype).unit_bytes;
    row.shape[0] = 1;
    const std::int64_t length = num_elements(row.shape);
    if (is_plain)
      load_view(row, list[i]);
    else
      list[i].assign(loaded_.begin() + rows[i] * length, loaded_.begin() + (rows[i] + 1) * length);
  }
  return list;
}

std::string GuardedTensor::element_bits() {
  download();
  std::string bits(static_cast<std::size_t>(bytes_of(view_.dtype, count())), '\0');
  for_each_run(true, [&](std::int64_t place, std::int64_t byte, std::int64_t bytes) {
    std::memcpy(bits.data() + place, now_.data() + byte, static_cast<std::size_t>(bytes));
  });
  for (const std::string& scales : scales_now_) bits += scales;
  return bits;
}

bool GuardedTensor::is_untouched(bool except_elements) {
  download();
  if (except_elements)
    for_each_run(true, [&](std::int64_t, std::int64_t byte, std::int64_t bytes) {
      std::memcpy(now_.data() + byte, image_.data() + byte, static_cast<std::size_t>(bytes));
    });
  if (!except_elements && scales_now_ != scale_images_) return false;
  return std::ranges::all_of(bands_, [&](const Band& band) {
    return are_equal_in_parallel(now_.data() + band.begin, image_.data() + band.begin,
                                 band.bytes());
  });
}

std::int64_t GuardedTensor::first_poisoned() {
  const DTypeInfo& type = info(view_.dtype);
  if (type.kind != DTypeKind::floating || type.is_packed()) return -1;
  download();
  const std::string pattern(static_cast<std::size_t>(type.unit_bytes), static_cast<char>(kPattern));
  std::int64_t first = -1;
  for_each_run(false, [&](std::int64_t place, std::int64_t byte, std::int64_t bytes) {
    for (std::int64_t i = 0; i < bytes; i += type.unit_bytes)
      if (std::memcmp(now_.data() + byte + i, pattern.data(), pattern.size()) == 0) {
        const std::int64_t index = (place + i) / type.unit_bytes;
        first = first < 0 ? index : std::min(first, index);
      }
  });
  return first;
}

void GuardedTensor::poison_element(std::int64_t index) {
  const DTypeInfo& type = info(view_.dtype);
  if (type.is_packed()) return;
  const std::uint64_t pattern = ~std::uint64_t{0};
  device_.copy_to_device(stream_, static_cast<char*>(memory_.data()) + byte_of(index), &pattern,
                         type.unit_bytes);
}

double GuardedTensor::load_element_now(std::int64_t index) {
  const DTypeInfo& type = info(view_.dtype);
  std::vector<char> unit(static_cast<std::size_t>(type.unit_bytes));
  device_.copy_to_host(stream_, unit.data(),
                       static_cast<const char*>(memory_.data()) + byte_of(index), type.unit_bytes);
  stream_.synchronise();
  return load_element(view_.dtype, unit.data(), index % type.unit_elements);
}

}  // namespace rooftile
