// SPDX-License-Identifier: Apache-2.0
// What cuBLASLt is asked for, against the problem's own strides: the call is carried out here,
// column by column, as the library's documentation defines it.
#include "rooftile/ops/gemm/cublaslt_call.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::ops::gemm {
namespace {

using testing::HasSubstr;

Problem problem_of(const std::string& line) {
  return bind(*catalogue().operation("gemm").def, parse_problem_text("gemm " + line));
}

using Memory = std::vector<double>;

// Numbers that no wrong index gives twice, for a matrix of any strides that fits.
Memory numbers(int salt) {
  Memory memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<double>((i * 7919 + static_cast<std::size_t>(salt)) % 251) - 125;
  return memory;
}

struct Operands {
  Memory a = numbers(1), b = numbers(2), bias = numbers(3), residual = numbers(4);
};

double at(const Memory& memory, const ColumnMajor& matrix, bool transposes, std::int64_t i,
          std::int64_t j) {
  if (transposes) std::swap(i, j);
  EXPECT_TRUE(i < matrix.rows && j < matrix.cols && matrix.rows <= matrix.ld);
  return memory.at(static_cast<std::size_t>(i + j * matrix.ld));
}

// cuBLAS Library, "cublasLtMatmul": D = epilogue(op(A) op(B) + beta C), its A being our b.
Memory carried_out(const CublasLtCall& call, std::int64_t k, const Operands& of) {
  Memory d(4096, 0.5);
  for (std::int64_t i = 0; i < call.d.rows; ++i)
    for (std::int64_t j = 0; j < call.d.cols; ++j) {
      double sum = call.has_residual ? at(of.residual, call.residual, false, i, j) : 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum +=
            at(of.b, call.b, call.transposes_b, i, p) * at(of.a, call.a, call.transposes_a, p, j);
      if (call.has_bias) sum += of.bias.at(static_cast<std::size_t>(i));
      if (call.has_relu) sum = sum > 0 ? sum : 0;
      d.at(static_cast<std::size_t>(i + j * call.d.ld)) = sum;
    }
  return d;
}

double element(const Problem& problem, const char* name, const Memory& memory, std::int64_t i,
               std::int64_t j) {
  const Dims& strides = problem.arg(name).strides;
  const std::int64_t at = strides.rank() == 1 ? j * strides[0] : i * strides[0] + j * strides[1];
  return memory.at(static_cast<std::size_t>(at));
}

Memory expected(const Problem& problem, const Operands& of) {
  Memory d(4096, 0.5);
  for (std::int64_t i = 0; i < problem.axis("m"); ++i)
    for (std::int64_t j = 0; j < problem.axis("n"); ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < problem.axis("k"); ++p)
        sum += element(problem, "a", of.a, i, p) * element(problem, "b", of.b, p, j);
      if (problem.has("bias")) sum += element(problem, "bias", of.bias, 0, j);
      if (problem.option("act") == "relu" && sum < 0) sum = 0;
      if (problem.has("residual")) sum += element(problem, "residual", of.residual, i, j);
      const Dims& strides = problem.arg("d").strides;
      d.at(static_cast<std::size_t>(i * strides[0] + j * strides[1])) = sum;
    }
  return d;
}

TEST(CublasLtCall, IsTheSameProductColumnByColumn) {
  for (const char* layout : {"nn", "nt", "tn", "tt"})
    for (const char* shape : {"m=7 n=15 k=9", "m=1 n=9 k=5", "m=6 n=1 k=3", "m=3 n=4 k=1"})
      for (const char* rest :
           {"", " bias=bf16", " act=relu", " bias=bf16 act=relu", " residual=bf16",
            " bias=bf16 residual=bf16", " residual=bf16 residual.stride=40,1",
            " d.stride=33,1 d=f32", " residual=bf16 d.alias=residual"}) {
        const std::string line = std::string(shape) + " a=bf16 layout=" + layout + rest;
        const Problem problem = problem_of(line);
        ASSERT_EQ(takes_cublaslt(problem).reason, "") << line;
        const CublasLtCall call = cublaslt_call(problem);
        const Operands of;
        EXPECT_EQ(carried_out(call, problem.axis("k"), of), expected(problem, of)) << line;
      }
}

TEST(CublasLtCall, KeepsLeadingDimensionsOfSlices) {
  const Problem problem =
      problem_of("m=9 n=21 k=33 a=bf16 a.stride=48,1 b.stride=1,50 layout=nt d.stride=24,1");
  ASSERT_EQ(takes_cublaslt(problem).reason, "");
  const CublasLtCall call = cublaslt_call(problem);
  EXPECT_EQ(call.a.ld, 48);
  EXPECT_EQ(call.b.ld, 50);
  EXPECT_EQ(call.d.ld, 24);
  EXPECT_TRUE(call.transposes_b);
  EXPECT_FALSE(call.transposes_a);
}

TEST(CublasLtCall, PromisesTheAlignmentThatOffsetsLeave) {
  const CublasLtCall call = cublaslt_call(
      problem_of("m=8 n=8 k=8 a=bf16 a.offset=1 b.offset=4 d.offset=8 bias=bf16 bias.offset=6"));
  EXPECT_EQ(call.a.alignment, 2);
  EXPECT_EQ(call.b.alignment, 8);
  EXPECT_EQ(call.d.alignment, 16);
  EXPECT_EQ(call.bias_alignment, 4);
}

TEST(CublasLtCall, RefusesWhatItWouldComputeOtherwise) {
  const auto reason = [](const std::string& line) {
    return takes_cublaslt(problem_of("m=8 n=8 k=32 " + line)).reason;
  };
  EXPECT_THAT(reason("a=bf16 act=gelu_tanh"), HasSubstr("act=gelu_tanh"));
  EXPECT_THAT(reason("a=bf16 act=relu residual=bf16"), HasSubstr("before the activation"));
  EXPECT_THAT(reason("a=bf16 bias=f32"), HasSubstr("bias is f32: must be as d"));
  EXPECT_THAT(reason("a=bf16 d=f32 residual=bf16"), HasSubstr("residual is bf16"));
  EXPECT_THAT(reason("a=bf16 b=fp16"), HasSubstr("one type"));
  EXPECT_THAT(reason("a=bf16 d=fp16"), HasSubstr("d is fp16"));
  EXPECT_THAT(reason("a=f32 b=q4_0 layout=nt"), HasSubstr("b is q4_0"));
  EXPECT_THAT(reason("a=bf16 a.stride=80,2"), HasSubstr("contiguous"));
  EXPECT_THAT(reason("a=bf16 d.stride=1,9"), HasSubstr("d: rows"));
  EXPECT_THAT(reason("a=bf16 residual=bf16 residual.stride=1,9"), HasSubstr("residual: rows"));
  EXPECT_THAT(reason("a=bf16 bias=bf16 bias.stride=2"), HasSubstr("bias must be contiguous"));
  EXPECT_THAT(takes_cublaslt(problem_of("m=8 n=0 k=8 a=bf16")).reason, HasSubstr("extent is 0"));
}

}  // namespace
}  // namespace rooftile::ops::gemm
