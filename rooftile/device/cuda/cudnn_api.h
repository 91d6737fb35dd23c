// SPDX-License-Identifier: Apache-2.0
// What is used of cuDNN 9's C interface, declared here: its header is no part of the CUDA toolkit,
// so that few machines that build this have it. Names are NVIDIA's without CUDNN_; the numbers of
// its enumerations are those of cudnn_graph.h and cudnn_ops.h, against which a test holds them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace rooftile::cudnn {

struct Context;
using Handle = Context*;
struct TensorStruct;
using LegacyTensor = TensorStruct*;
using Descriptor = void*;  // of the graph interface

using Status = int;
constexpr Status kSuccess = 0;

enum DataType : int { kFloat = 0, kHalf = 2, kBfloat16 = 9 };

enum Kind : int {
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kOperationNormForward = 29,
  kDeviceProperties = 38,  // from 9.8
};

enum Type : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeVoidPointer = 6,
  kTypeHeuristicMode = 8,
  kTypeDescriptor = 15,
  kTypeChar = 24,
  kTypeNormMode = 27,
  kTypeNormPhase = 28,
};

enum Attribute : int {
  kHeuristicsMode = 200,
  kHeuristicsOperationGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDeviceProperties = 204,
  kEngineConfigEngine = 300,
  kPlanHandle = 400,
  kPlanEngineConfig = 401,
  kPlanWorkspaceSize = 402,
  kPlanDeviceProperties = 407,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorByteAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorUniqueId = 906,
  kTensorIsByValue = 908,
  kPackUniqueIds = 1000,
  kPackDataPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGlobalIndex = 1301,
  kNormMode = 2000,
  kNormPhase = 2001,
  kNormX = 2002,
  kNormScale = 2005,
  kNormEpsilon = 2007,
  kNormY = 2013,
  kDevicePropertiesJson = 2702,
};

enum HeuristicMode : int { kHeuristicFallback = 2, kHeuristicA = 3 };
enum NormMode : int { kRmsNorm = 4 };
enum NormPhase : int { kInference = 0 };

enum SoftmaxAlgorithm : int { kSoftmaxAccurate = 1 };
enum SoftmaxMode : int { kSoftmaxInstance = 0, kSoftmaxChannel = 1 };

// The functions, by their types.
using GetVersion = std::size_t();
using GetErrorString = const char*(Status);
using GetLastErrorString = void(char* message, std::size_t size);
using Create = Status(Handle*);
using SetStream = Status(Handle, cudaStream_t);
using BackendCreateDescriptor = Status(Kind, Descriptor*);
using BackendDestroyDescriptor = Status(Descriptor);
using BackendSetAttribute = Status(Descriptor, Attribute, Type, std::int64_t count,
                                   const void* elements);
using BackendGetAttribute = Status(Descriptor, Attribute, Type, std::int64_t asked,
                                   std::int64_t* count, void* elements);
using BackendFinalize = Status(Descriptor);
using BackendExecute = Status(Handle, Descriptor plan, Descriptor pack);
using CreateTensorDescriptor = Status(LegacyTensor*);
using DestroyTensorDescriptor = Status(LegacyTensor);
using SetTensor4dDescriptorEx = Status(LegacyTensor, DataType, int n, int c, int h, int w,
                                       int n_stride, int c_stride, int h_stride, int w_stride);
using SoftmaxForward = Status(Handle, SoftmaxAlgorithm, SoftmaxMode, const void* alpha,
                              LegacyTensor x, const void* x_data, const void* beta, LegacyTensor y,
                              void* y_data);

}  // namespace rooftile::cudnn
