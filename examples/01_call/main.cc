// SPDX-License-Identifier: Apache-2.0
// Calls the library as an inference engine would: typed calls, a tensor of another framework, and a
// plan that is prepared once and run many times.
#include <rooftile/rooftile.h>

#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

namespace {

bool all_near(const char* what, std::span<const float> values, float expected) {
  bool is_good = true;
  for (const float value : values) is_good &= std::abs(value - expected) <= 1e-4f * expected;
  std::printf("%-12s %s (%g)\n", what, is_good ? "right" : "WRONG", double{values[0]});
  return is_good;
}

// The lines at the top of rooftile.h.
bool typed_call() {
  const auto device = rooftile::open_device("cpu");
  const auto stream = device->make_stream();
  std::vector<float> x(4 * 64, 2.0f), w(64, 1.0f), y(4 * 64);
  using rooftile::DType, rooftile::TensorView;
  const auto y_view = TensorView::contiguous(y.data(), DType::f32, {4, 64});
  const auto x_view = TensorView::contiguous(x.data(), DType::f32, {4, 64});
  const auto w_view = TensorView::contiguous(w.data(), DType::f32, {64});
  rooftile::rmsnorm(*stream, y_view, x_view, w_view, {.eps = 1e-5});
  stream->synchronise();  // each element of y is now 1, nearly
  return all_near("typed call", y, 1);
}

// A matrix product and a softmax of its rows, with B stored transposed, as weights usually are.
bool chain() {
  using namespace rooftile;
  const auto device = open_device("cpu");
  const auto stream = device->make_stream();
  std::vector<float> a(3 * 16, 0.5f), weight(8 * 16, 0.25f), d(3 * 8);
  const auto d_view = TensorView::contiguous(d.data(), DType::f32, {3, 8});
  gemm(*stream, d_view, TensorView::contiguous(a.data(), DType::f32, {3, 16}),
       transposed(TensorView::contiguous(weight.data(), DType::f32, {8, 16})));
  stream->synchronise();
  bool is_good = all_near("gemm", d, 2);
  softmax(*stream, d_view, d_view);
  stream->synchronise();
  return is_good & all_near("softmax", d, 0.125f);
}

// A tensor as a framework hands it over, and a plan. The plan's caller owns the workspace.
bool prepared_plan() {
  using namespace rooftile;
  const auto device = open_device("cpu");
  const auto stream = device->make_stream();
  std::vector<float> x(2 * 32, 3.0f), w(32, 5.0f), y(2 * 32);
  std::int64_t shape[]{2, 32}, strides[]{32, 1};
  const DLTensor foreign{x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};

  const Problem problem = catalogue().bind("rmsnorm rows=2 cols=32 x=f32");
  const Plan plan = prepare(catalogue(), problem, *device);
  const DeviceMemory workspace(*device, plan.workspace_bytes());
  // In the order of the declaration: y, sum, x, residual, w; {} for those that this problem lacks.
  const TensorView views[]{TensorView::contiguous(y.data(), DType::f32, {2, 32}),
                           {},
                           from_dlpack(foreign),
                           {},
                           TensorView::contiguous(w.data(), DType::f32, {32})};
  for (int i = 0; i < 3; ++i)
    plan.run({.stream = stream.get(), .workspace = workspace.data()}, views);
  stream->synchronise();
  std::printf("%-12s %s\n", "plan", plan.kernel().id().c_str());
  return all_near("plan", y, 5);
}

bool errors_have_reasons() {
  try {
    const auto device = rooftile::open_device("cpu");
    const auto stream = device->make_stream();
    float value = 0;
    const auto view = rooftile::TensorView::contiguous(&value, rooftile::DType::f32, {1, 1});
    rooftile::softmax(*stream, view, rooftile::transposed(view), view);
  } catch (const rooftile::Error& error) {
    std::printf("%-12s %s\n", "error", error.what());
    return error.code() == rooftile::ErrorCode::bad_input;
  }
  return false;
}

}  // namespace

int main() {
  const bool is_good = typed_call() & chain() & prepared_plan() & errors_have_reasons();
  std::puts(is_good ? "01_call: ok" : "01_call: FAILED");
  return is_good ? 0 : 1;
}
