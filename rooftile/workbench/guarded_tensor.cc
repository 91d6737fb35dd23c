// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/guarded_tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/storage.h"

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
  poison();
}

// One band over everything, unless the gaps dwarf the elements: then a band around each run.
void GuardedTensor::choose_bands(std::int64_t payload) {
  const DTypeInfo& type = info(view_.dtype);
  if (bytes_ <= kDenseBytes + 4 * payload || (type.is_packed() && !type.is_block())) {
    bands_ = {{0, bytes_}};
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
template <class Visit>
void GuardedTensor::for_each_unit(Visit visit) const {
  const DTypeInfo& type = info(view_.dtype);
  const std::int64_t step = type.is_block() ? 1 : type.unit_elements;
  for (std::int64_t i = 0; i < count(); i += step)
    if (!type.is_block() || offset_of(i) % type.unit_elements == 0) visit(byte_of(i));
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

void GuardedTensor::poison(Poison kind) {
  for (const Band& band : bands_)
    std::memset(image_.data() + band.begin, kPattern,
                static_cast<std::size_t>(band.end - band.begin));
  if (kind == Poison::number) {
    const auto unit = static_cast<std::size_t>(info(view_.dtype).unit_bytes);
    for_each_unit([&](std::int64_t byte) { std::memset(image_.data() + byte, kNumber, unit); });
  }
  for (std::string& scales : scale_images_) std::ranges::fill(scales, static_cast<char>(kPattern));
  upload();
  for (const Band& band : bands_)
    device_.forget(static_cast<char*>(memory_.data()) + band.begin, band.end - band.begin);
}

void GuardedTensor::store(const std::vector<double>& values) {
  for (const Band& band : bands_)
    std::memset(image_.data() + band.begin, kPattern,
                static_cast<std::size_t>(band.end - band.begin));
  for (std::string& scales : scale_images_) std::ranges::fill(scales, '\0');  // the padding
  store_view(values, image_view_);
  upload();
}

void GuardedTensor::store_bits(std::string_view bits) {
  const DTypeInfo& type = info(view_.dtype);
  const auto unit = static_cast<std::size_t>(type.unit_bytes);
  for_each_unit([&](std::int64_t byte) {
    std::memcpy(image_.data() + byte, bits.data(), unit);
    bits.remove_prefix(unit);
  });
  upload();
}

std::vector<double> GuardedTensor::load() {
  download();
  std::vector<double> values;
  load_view(now_view_, values);
  return values;
}

std::string GuardedTensor::element_bits() {
  download();
  const DTypeInfo& type = info(view_.dtype);
  const std::int64_t elements = count();
  std::string bits;
  bits.reserve(static_cast<std::size_t>(bytes_of(view_.dtype, elements)));
  for_each_unit([&](std::int64_t byte) {
    bits.append(now_.data() + byte, static_cast<std::size_t>(type.unit_bytes));
  });
  for (const std::string& scales : scales_now_) bits += scales;
  return bits;
}

bool GuardedTensor::is_untouched(bool except_elements) {
  download();
  const DTypeInfo& type = info(view_.dtype);
  if (except_elements)
    for_each_unit([&](std::int64_t byte) {
      std::memcpy(now_.data() + byte, image_.data() + byte,
                  static_cast<std::size_t>(type.unit_bytes));
    });
  if (!except_elements && scales_now_ != scale_images_) return false;
  return std::ranges::all_of(bands_, [&](const Band& band) {
    return std::memcmp(now_.data() + band.begin, image_.data() + band.begin,
                       static_cast<std::size_t>(band.end - band.begin)) == 0;
  });
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
