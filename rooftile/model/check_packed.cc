// SPDX-License-Identifier: Apache-2.0
// The product of a weight with a row that is 1 in one place is a column of the weight, to the bit:
// all other terms are 0. The reference decoder (formats/) says what it must be.
#include "rooftile/model/check_packed.h"

#include <algorithm>
#include <set>

#include "rooftile/formats/element.h"
#include "rooftile/op/dispatch.h"

namespace rooftile {
namespace {

constexpr std::int64_t kMostRows = 512;  // of a weight, for each column looked at

struct Tally {
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  std::set<std::string> types{};
};

// Columns at the ends and middles of blocks.
std::vector<std::int64_t> columns_of(std::int64_t cols) {
  std::vector<std::int64_t> columns;
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{15}, std::int64_t{16},
                                std::int64_t{31}, cols / 2 + 5, cols - 1})
    if (at < cols) columns.push_back(at);
  return columns;
}

void compare(const TensorView& weight, PlanStore& plans, Stream& stream, Tally& tally) {
  const std::int64_t rows = std::min(weight.extent(0), kMostRows);
  const std::int64_t cols = weight.extent(1);
  const TensorView head{weight.data, weight.dtype, {rows, cols}, weight.strides};
  const std::vector<std::int64_t> columns = columns_of(cols);
  const auto m = static_cast<std::int64_t>(columns.size());
  std::vector<float> picks(static_cast<std::size_t>(m * cols));
  for (std::int64_t i = 0; i < m; ++i)
    picks[static_cast<std::size_t>(i * cols + columns[static_cast<std::size_t>(i)])] = 1;
  std::vector<float> got(static_cast<std::size_t>(m * rows));
  Program program(plans);
  program.add({"packed values"}, "gemm",
              {{"d", TensorView::contiguous(got.data(), DType::f32, {m, rows})},
               {"a", TensorView::contiguous(picks.data(), DType::f32, {m, cols})},
               {"b", transposed(head)}});
  program.run(stream);
  stream.synchronise();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t r = 0; r < rows; ++r) {
      const double expected =
          load_element(weight.dtype, weight.data, r * cols + columns[static_cast<std::size_t>(i)]);
      ++tally.compared;
      if (double{got[static_cast<std::size_t>(i * rows + r)]} != expected) ++tally.wrong;
    }
  tally.types.insert(std::string(name(weight.dtype)));
}

}  // namespace

ModelCheck check_packed_values(const Model& model, Device& device, const Registry& registry) {
  PlanStore plans(registry, device);
  const auto stream = device.make_stream();
  Tally tally;
  for_each_weight(model.weights(), [&](const TensorView& weight) {
    if (weight.shape.rank() == 2) compare(weight, plans, *stream, tally);
  });
  std::string types;
  for (const std::string& type : tally.types) types += (types.empty() ? "" : ", ") + type;
  return {"packed values", tally.wrong == 0 && tally.compared > 0,
          std::to_string(tally.compared) + " values of " + types + ", " +
              std::to_string(tally.wrong) + " differ from the reference decoder"};
}

}  // namespace rooftile
