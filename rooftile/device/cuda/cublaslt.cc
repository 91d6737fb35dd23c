// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/cublaslt.h"

#if ROOFTILE_HAS_CUBLASLT
#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

CublasLt open_cublaslt() {
  CublasLt lt;
  void* library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    lt.reason = "libcublasLt.so.13 (cuBLASLt of CUDA 13) was not found, nor that of CUDA 12";
    return lt;
  }
  const auto find = [&]<class Function>(const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
    if (function == nullptr && lt.reason.empty())
      lt.reason = std::string("found a cuBLASLt without ") + symbol + ": it is too old";
  };
  find("cublasLtGetVersion", lt.get_version);
  find("cublasLtGetStatusName", lt.status_name);
  find("cublasLtCreate", lt.create);
  find("cublasLtMatrixLayoutInit_internal", lt.layout_init);
  find("cublasLtMatmulDescInit_internal", lt.matmul_init);
  find("cublasLtMatmulDescSetAttribute", lt.matmul_set);
  find("cublasLtMatmulPreferenceInit_internal", lt.preference_init);
  find("cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
  find("cublasLtMatmulAlgoGetHeuristic", lt.get_heuristic);
  find("cublasLtMatmul", lt.matmul);
  if (lt.reason.empty()) lt.version = lt.get_version();
  return lt;
}

}  // namespace

void CublasLt::check(cublasStatus_t status, const char* doing) const {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(ErrorCode::device, std::string("cuBLASLt: ") + doing + ": " + status_name(status));
}

const CublasLt& cublaslt_library() {
  static const CublasLt found = open_cublaslt();
  return found;
}

CublasLtDevice& cublaslt_device(int index) {
  static std::mutex mutex;
  // Never destroyed: at exit the driver may be gone before it.
  static auto& devices = *new std::map<int, std::unique_ptr<CublasLtDevice>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<CublasLtDevice>& device = devices[index];
  if (!device) {
    auto made = std::make_unique<CublasLtDevice>(index);
    const CurrentDevice current(made->context);
    cublaslt_library().check(cublaslt_library().create(&made->handle), "starting on this GPU");
    device = std::move(made);
  }
  return *device;
}

}  // namespace rooftile

#endif
