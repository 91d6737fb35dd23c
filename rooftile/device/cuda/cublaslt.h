// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuBLASLt, loaded when it is first asked for: nothing links to it, and the same program
// starts where there is none. Its types come from the toolkit's header, where the toolkit has it.
#pragma once

#if __has_include(<cublasLt.h>)
#define ROOFTILE_HAS_CUBLASLT 1
#include <cublasLt.h>

#include <cstddef>
#include <string>

#include "rooftile/device/cuda/context.h"

namespace rooftile {

/// The functions that are used here. The header's inline ones call the library by its symbols, and
/// so are those that they wrap: with the size of what they fill.
struct CublasLt {
  decltype(cublasLtGetVersion)* get_version = nullptr;
  decltype(cublasLtGetStatusName)* status_name = nullptr;
  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtMatrixLayoutInit_internal)* layout_init = nullptr;
  decltype(cublasLtMatmulDescInit_internal)* matmul_init = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* matmul_set = nullptr;
  decltype(cublasLtMatmulPreferenceInit_internal)* preference_init = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preference_set = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* get_heuristic = nullptr;
  decltype(cublasLtMatmul)* matmul = nullptr;
  std::size_t version = 0;  // 130100 is 13.1.0
  std::string reason{};     // why it cannot be used; empty: it can

  /// Throws Error(device) with the library's name of the status unless it is a success. `doing`
  /// says what failed: "multiplying".
  void check(cublasStatus_t status, const char* doing) const;
};

/// Looked for once: libcublasLt.so.13, then .12.
const CublasLt& cublaslt_library();

/// One GPU as cuBLASLt knows it, kept with its handle until the process ends.
struct CublasLtDevice {
  explicit CublasLtDevice(int index) : context(index) {}

  CudaContext context;
  cublasLtHandle_t handle = nullptr;
};

/// `index` as the CUDA runtime counts. Throws Error(device) where the library does not start on it.
CublasLtDevice& cublaslt_device(int index);

}  // namespace rooftile

#else
#define ROOFTILE_HAS_CUBLASLT 0
#endif
