// SPDX-License-Identifier: Apache-2.0
// cuDNN as far as it goes without a GPU: our declarations against its header, how it is looked for,
// descriptors, its own words on errors, and engines for a GPU that is only described.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/device/cuda/cudnn_norm.h"

#if __has_include(<cudnn_graph.h>) && __has_include(<cudnn_ops.h>)
#include <cudnn_graph.h>
#include <cudnn_ops.h>
#define ROOFTILE_HAS_CUDNN_HEADER 1
#endif

namespace rooftile {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

#if ROOFTILE_HAS_CUDNN_HEADER

// NOLINTBEGIN: each pair once, ours and NVIDIA's.
#define SAME(ours, theirs) static_assert(static_cast<int>(cudnn::ours) == static_cast<int>(theirs))
SAME(kSuccess, CUDNN_STATUS_SUCCESS);
SAME(kFloat, CUDNN_DATA_FLOAT);
SAME(kHalf, CUDNN_DATA_HALF);
SAME(kBfloat16, CUDNN_DATA_BFLOAT16);
SAME(kEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
SAME(kEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
SAME(kEngineHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
SAME(kExecutionPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
SAME(kOperationGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
SAME(kVariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
SAME(kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
SAME(kOperationNormForward, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
SAME(kTypeHandle, CUDNN_TYPE_HANDLE);
SAME(kTypeDataType, CUDNN_TYPE_DATA_TYPE);
SAME(kTypeBoolean, CUDNN_TYPE_BOOLEAN);
SAME(kTypeInt64, CUDNN_TYPE_INT64);
SAME(kTypeVoidPointer, CUDNN_TYPE_VOID_PTR);
SAME(kTypeHeuristicMode, CUDNN_TYPE_HEUR_MODE);
SAME(kTypeDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
SAME(kTypeChar, CUDNN_TYPE_CHAR);
SAME(kTypeNormMode, CUDNN_TYPE_NORM_MODE);
SAME(kTypeNormPhase, CUDNN_TYPE_NORM_FWD_PHASE);
SAME(kHeuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE);
SAME(kHeuristicsOperationGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
SAME(kHeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
SAME(kEngineConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
SAME(kPlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
SAME(kPlanEngineConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
SAME(kPlanWorkspaceSize, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
SAME(kGraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
SAME(kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
SAME(kTensorByteAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
SAME(kTensorDataType, CUDNN_ATTR_TENSOR_DATA_TYPE);
SAME(kTensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS);
SAME(kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
SAME(kTensorUniqueId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
SAME(kTensorIsByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
SAME(kPackUniqueIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
SAME(kPackDataPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
SAME(kPackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
SAME(kEngineGlobalIndex, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
SAME(kNormMode, CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
SAME(kNormPhase, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE);
SAME(kNormX, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
SAME(kNormScale, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
SAME(kNormEpsilon, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
SAME(kNormY, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
SAME(kHeuristicFallback, CUDNN_HEUR_MODE_FALLBACK);
SAME(kHeuristicA, CUDNN_HEUR_MODE_A);
SAME(kRmsNorm, CUDNN_RMS_NORM);
SAME(kInference, CUDNN_NORM_FWD_INFERENCE);
SAME(kSoftmaxAccurate, CUDNN_SOFTMAX_ACCURATE);
SAME(kSoftmaxInstance, CUDNN_SOFTMAX_MODE_INSTANCE);
SAME(kSoftmaxChannel, CUDNN_SOFTMAX_MODE_CHANNEL);
#if CUDNN_VERSION >= 90800
SAME(kDeviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
SAME(kHeuristicsDeviceProperties, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
SAME(kPlanDeviceProperties, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
SAME(kDevicePropertiesJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
#endif
#undef SAME
// NOLINTEND

#endif

// A library of which a test says what there is: functions by name, files by not being `missing`.
const char* missing_file = "";
const char* missing_symbol = "";
std::size_t version_found() { return 91900; }
std::size_t old_version() { return 8907; }
std::size_t (*version_function)() = version_found;

void* open_fake(const char* name) {
  static int some = 0;
  return std::string(name) == missing_file ? nullptr : &some;
}

void* find_fake(void*, const char* symbol) {
  return std::string(symbol) == missing_symbol ? nullptr
                                               : reinterpret_cast<void*>(version_function);
}

class CudnnLoading : public testing::Test {
 protected:
  CudnnLoading() {
    missing_file = missing_symbol = "";
    version_function = version_found;
  }
  static Cudnn load() { return load_cudnn({.open = open_fake, .find = find_fake}); }
};

TEST_F(CudnnLoading, TakesOneThatHasAll) {
  EXPECT_EQ(load().reason, "");
  EXPECT_EQ(load().version, 91900U);
}

TEST_F(CudnnLoading, SaysThatItIsMissing) {
  missing_file = "libcudnn.so.9";
  EXPECT_EQ(load().reason, "libcudnn.so.9 (cuDNN 9) was not found");
}

TEST_F(CudnnLoading, NamesThePartThatIsMissing) {
  for (const char* part : {"libcudnn_graph.so.9", "libcudnn_engines_precompiled.so.9"}) {
    missing_file = part;
    EXPECT_THAT(load().reason, HasSubstr(std::string("not ") + part));
  }
}

TEST_F(CudnnLoading, RefusesOneThatIsTooOld) {
  missing_symbol = "cudnnGetLastErrorString";
  EXPECT_EQ(load().reason, "found a cuDNN without cudnnGetLastErrorString: it is too old");
  missing_symbol = "";
  version_function = old_version;
  EXPECT_THAT(load().reason, HasSubstr("found cuDNN 8907, which is too old"));
}

class CudnnLibrary : public testing::Test {
 protected:
  void SetUp() override {
    if (!cudnn_library().reason.empty()) GTEST_SKIP() << cudnn_library().reason;
  }
};

CudnnNorm norm(std::int64_t cols = 4096) {
  return {
      .type = cudnn::kBfloat16, .w_type = cudnn::kBfloat16, .rows = 64, .cols = cols, .eps = 1e-5F};
}

TEST_F(CudnnLibrary, TakesTheOperations) {
  EXPECT_GE(cudnn_library().version, 90000U);
  for (const cudnn::DataType type : {cudnn::kFloat, cudnn::kHalf, cudnn::kBfloat16})
    for (const std::int64_t cols : {1, 33, 4096}) {
      CudnnNorm each = norm(cols);
      each.type = type;
      EXPECT_NO_THROW(CudnnNormOperation{each}) << type << " " << cols;
    }
}

TEST_F(CudnnLibrary, TellsErrorsInItsOwnWords) {
  CudnnDescriptor empty(cudnn::kOperationNormForward);
  try {
    empty.finalise("describing nothing");
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.what(), StartsWith("cuDNN: describing nothing: CUDNN_STATUS_BAD_PARAM"));
    EXPECT_THAT(error.what(), testing::ContainsRegex("_PARAM[A-Z_]*: ."));  // and why
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

// In the form that cuDNN gives for a GPU; the figures are those of NVIDIA's data sheet and of the
// CUDA programming guide for compute capability 9.0.
constexpr std::string_view kH200 = R"({"deviceName": "NVIDIA H200", "deviceVer": 900,
  "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "totalGlobalMem": 150000000000,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1,
  "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "l2CacheSize": 62914560})";

TEST_F(CudnnLibrary, HasEnginesForAnH200) {
  if (cudnn_library().version < 90800) GTEST_SKIP() << "describing a GPU needs cuDNN 9.8";
  CudnnDescriptor h200(cudnn::kDeviceProperties);
  h200.set(cudnn::kDevicePropertiesJson, cudnn::kTypeChar, kH200.data(), std::ssize(kH200));
  h200.finalise("describing an H200");
  try {
    const CudnnNormEngines engines(norm(), {.described = h200.get()});
    EXPECT_GE(engines.count(), 1U);
    EXPECT_LE(engines.count(), CudnnNormEngines::kMost);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuDNN has no engine for this: "));
    if (std::string(error.what()).find("libcuda") != std::string::npos)
      GTEST_SKIP() << "no driver here: " << error.what();
    FAIL() << error.what();
  }
}

}  // namespace
}  // namespace rooftile
