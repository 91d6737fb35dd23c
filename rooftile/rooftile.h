// SPDX-License-Identifier: Apache-2.0
// Rooftile, for programs that use it: LLM kernels as plain C++ calls on tensors that you own.
//
//   const auto device = rooftile::open_device("cpu");
//   const auto stream = device->make_stream();
//   std::vector<float> x(4 * 64, 2.0f), w(64, 1.0f), y(4 * 64);
//   using rooftile::DType, rooftile::TensorView;
//   const auto y_view = TensorView::contiguous(y.data(), DType::f32, {4, 64});
//   const auto x_view = TensorView::contiguous(x.data(), DType::f32, {4, 64});
//   const auto w_view = TensorView::contiguous(w.data(), DType::f32, {64});
//   rooftile::rmsnorm(*stream, y_view, x_view, w_view, {.eps = 1e-5});
//   stream->synchronise();  // each element of y is now 1, nearly
//
// Outputs come first. A call checks its tensors, chooses a kernel and throws rooftile::Error with
// the reason where it cannot. To choose once and run many times, prepare a Plan. Whoever writes
// kernels includes rooftile/op/plugin.h instead (docs/plugins.md).
#pragma once

// What everything is made of: views of your memory, errors, and DLPack's structs to and from views.
#include "rooftile/base/error.h"
#include "rooftile/core/dlpack.h"
#include "rooftile/core/tensor.h"

// Where it runs: open_device("cpu"), streams, memory.
#include "rooftile/device/device.h"

// The typed calls.
#include "rooftile/ops/activation/activation.h"
#include "rooftile/ops/add/add.h"
#include "rooftile/ops/argmax/argmax.h"
#include "rooftile/ops/attention/attention.h"
#include "rooftile/ops/embedding/embedding.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm_glu/gemm_glu.h"
#include "rooftile/ops/gemm_rmsnorm/gemm_rmsnorm.h"
#include "rooftile/ops/glu/glu.h"
#include "rooftile/ops/kv_append/kv_append.h"
#include "rooftile/ops/mul/mul.h"
#include "rooftile/ops/rmsnorm/rmsnorm.h"
#include "rooftile/ops/rope/rope.h"
#include "rooftile/ops/sample/sample.h"
#include "rooftile/ops/scaled_copy/scaled_copy.h"
#include "rooftile/ops/softmax/softmax.h"
#include "rooftile/ops/transpose/transpose.h"

// Choosing once: prepare(catalogue(), catalogue().bind("rmsnorm rows=4 cols=64"), *device) gives a
// Plan; plan.run(Context, views) allocates nothing.
#include "rooftile/op/dispatch.h"
#include "rooftile/op/plan.h"
#include "rooftile/ops/catalogue.h"

// Language models from GGUF files and folders of Hugging Face: Model::open(), Runner
// (examples/05_model).
#include "rooftile/model/runner.h"
