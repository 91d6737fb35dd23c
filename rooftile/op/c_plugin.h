/* SPDX-License-Identifier: Apache-2.0
 * The C entry: how a shared object without a line of C++ offers kernels. Whatever can export a C
 * function will do: C, Rust, Fortran, the launcher of a compiled Triton or CUDA kernel. It exports
 *
 *   const RooftileCPlugin* rooftile_c_plugin(void);
 *
 * and needs no library of ours. Every struct begins with its size (sizeof of it), so that fields
 * can be added at the end; a pointer to a struct, not an array of structs, crosses the boundary for
 * that reason. Strings end with 0 and live as long as the plugin, which is never unloaded. */
#ifndef ROOFTILE_OP_C_PLUGIN_H
#define ROOFTILE_OP_C_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* Raised when a field changes its meaning; new fields at the end do not raise it. */
#define ROOFTILE_C_PLUGIN_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* Element types; the numbers never change. A packed type has its elements in little-endian order of
 * bits: ROOFTILE_E2M1, _I4 and _U4 two to a byte, ROOFTILE_E3M2 and _E2M3 four to three bytes. */
enum {
  ROOFTILE_F64 = 0,
  ROOFTILE_F32 = 1,
  ROOFTILE_FP16 = 2,
  ROOFTILE_BF16 = 3,
  ROOFTILE_E4M3 = 4, /* OCP FP8, no infinity */
  ROOFTILE_E5M2 = 5,
  ROOFTILE_E4M3FNUZ = 6,
  ROOFTILE_E5M2FNUZ = 7,
  ROOFTILE_E3M2 = 8,
  ROOFTILE_E2M3 = 9,
  ROOFTILE_E2M1 = 10,
  ROOFTILE_E8M0 = 11,
  ROOFTILE_I64 = 12,
  ROOFTILE_I32 = 13,
  ROOFTILE_I16 = 14,
  ROOFTILE_I8 = 15,
  ROOFTILE_U8 = 16,
  ROOFTILE_I4 = 17,
  ROOFTILE_U4 = 18,
  ROOFTILE_Q4_0 = 19, /* GGUF blocks, of 32 elements to _Q8_0 and of 256 from _Q2_K */
  ROOFTILE_Q4_1 = 20,
  ROOFTILE_Q5_0 = 21,
  ROOFTILE_Q5_1 = 22,
  ROOFTILE_Q8_0 = 23,
  ROOFTILE_Q2_K = 24,
  ROOFTILE_Q3_K = 25,
  ROOFTILE_Q4_K = 26,
  ROOFTILE_Q5_K = 27,
  ROOFTILE_Q6_K = 28
};

/* What a kernel promises about the bits of its result; each includes the ones before. */
enum {
  ROOFTILE_ANY = 0,
  ROOFTILE_REPEATABLE = 1,     /* the same bits every run */
  ROOFTILE_BATCH_INVARIANT = 2 /* and a row's bits do not depend on the other rows */
};

/* One argument. `data` is NULL where it is absent, and where only its shape is asked for. Element
 * (i, j) stands at data + i*strides[0] + j*strides[1], in elements; strides may be 0 or negative.
 */
typedef struct RooftileCTensor {
  size_t size;
  const char* name;
  void* data;
  int32_t dtype;
  int32_t rank;
  int64_t shape[8];
  int64_t strides[8];
} RooftileCTensor;

/* The problem: every axis, dtype, view and option fixed; and the kind of device that it is for. The
 * functions take the struct itself as `self`. */
typedef struct RooftileCProblem {
  size_t size;
  const void* handle;
  const char* op;
  const char* device_kind; /* "cpu-avx2", "sm90" */
  int32_t compute_units;   /* threads or SMs */
  int32_t num_tensors;     /* arguments of the operation, absent ones included */
  /* The extent of an axis; -1 where the operation has no such axis. */
  int64_t (*axis)(const struct RooftileCProblem* self, const char* name);
  /* The value of an option as text; NULL where the operation has no such option. */
  const char* (*option)(const struct RooftileCProblem* self, const char* name);
  /* The same as a number; NaN where there is none. */
  double (*number)(const struct RooftileCProblem* self, const char* name);
  /* The dtype of an argument; -1 where it is absent or unknown. */
  int32_t (*dtype)(const struct RooftileCProblem* self, const char* name);
  /* Name, dtype, shape and strides of an argument, without data, into `tensor`, whose size the
   * caller has set. 0, or 1 where the argument is absent or unknown. */
  int (*tensor)(const struct RooftileCProblem* self, const char* name, RooftileCTensor* tensor);
  /* The input whose memory an output uses; NULL where it has its own. A kernel that reads inputs
   * after it has written outputs must refuse the rest. */
  const char* (*alias)(const struct RooftileCProblem* self, const char* name);
} RooftileCProblem;

/* Where a run goes. `parallel_for` calls body(user, i) for i in [0, n) on the threads of the cpu
 * and returns when all are done; not to be called from within a body; NULL on other devices. */
typedef struct RooftileCContext {
  size_t size;
  void* handle;
  void* stream;            /* the runtime's own (cudaStream_t); NULL on a cpu */
  void* workspace;         /* aligned to 256 bytes */
  int64_t workspace_bytes; /* at least what was asked for */
  int32_t rank;            /* of num_ranks, for collectives */
  int32_t num_ranks;
  void (*parallel_for)(const struct RooftileCContext* self, int64_t n,
                       void (*body)(void* user, int64_t i), void* user);
  char* message; /* room for the reason, if the run fails */
  size_t message_bytes;
} RooftileCContext;

/* One kernel. All fields must be set but workspace_bytes, which may be NULL: none is needed. The
 * functions may be called by several threads at once. */
typedef struct RooftileCKernel {
  size_t size;
  const char* op;     /* a known operation, as `rooftile list ops` has it */
  const char* name;   /* TARGET_IDEA, as "cpu_rust" */
  const char* idea;   /* one sentence */
  const char* target; /* "cpu", "sm80" (and later), "sm90", "sm100", "sm120" */
  int32_t determinism;
  int32_t calls_vendor_library; /* 1 where a vendor's library does the work */
  /* 0 for yes; else no, with the reason written to `reason` (at most reason_bytes, 0 included).
   * Every dtype, stride and option that the kernel does not honour must be refused here. */
  int (*supports)(const RooftileCProblem* problem, char* reason, size_t reason_bytes);
  int64_t (*workspace_bytes)(const RooftileCProblem* problem);
  /* Enqueues the work on the context's stream. Tensors are in the operation's order, outputs first.
   * Allocates nothing. 0, or non-zero with the reason in context->message. */
  int (*run)(const RooftileCContext* context, const RooftileCTensor* const* tensors, int32_t count,
             const RooftileCProblem* problem);
} RooftileCKernel;

typedef struct RooftileCPlugin {
  size_t size;
  uint32_t version; /* ROOFTILE_C_PLUGIN_VERSION */
  uint32_t num_kernels;
  const RooftileCKernel* const* kernels;
} RooftileCPlugin;

/* What the plugin exports; returns a constant. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const RooftileCPlugin*
rooftile_c_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
