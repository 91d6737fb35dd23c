// SPDX-License-Identifier: Apache-2.0
// The table of GPUs against arithmetic, and against the mistakes that published tables make.
#include "rooftile/hardware/gpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr double kTera = 1e12;
constexpr double kMiB = 1024.0 * 1024.0;

double peak_tera(std::string_view gpu, const Arithmetic& arithmetic) {
  return peak_ops_per_s(find_gpu(gpu), arithmetic).value_or(-kTera) / kTera;
}

// The peak that units, operations per clock and clock give; none where one of them is not known.
std::optional<double> computed_peak(const Gpu& gpu, const Rate& rate) {
  const std::optional<double> clock_hz = peak_clock_hz(gpu, rate.arithmetic);
  if (!clock_hz) return std::nullopt;
  return peak_ops_per_s_at(gpu, rate.arithmetic, *clock_hz);
}

TEST(Gpu, PeaksAreUnitsTimesOperationsTimesClock) {
  int checked = 0;
  for (const Gpu& gpu : gpus())
    for (const Rate& rate : gpu.rates) {
      SCOPED_TRACE(std::string(gpu.name) + ", " + name(rate.arithmetic));
      const std::optional<double> computed = computed_peak(gpu, rate);
      if (!computed) continue;
      ++checked;
      EXPECT_NEAR(rate.dense_ops_per_s.value / *computed, 1, 0.02);
    }
  EXPECT_EQ(checked, 59);
}

TEST(Gpu, SparseIsTwiceDenseAndNeverThePeak) {
  for (const Gpu& gpu : gpus())
    for (const Rate& rate : gpu.rates) {
      SCOPED_TRACE(std::string(gpu.name) + ", " + name(rate.arithmetic));
      EXPECT_EQ(peak_ops_per_s(gpu, rate.arithmetic), rate.dense_ops_per_s.value);
      if (!rate.sparse_2_of_4_ops_per_s) continue;
      EXPECT_NEAR(rate.sparse_2_of_4_ops_per_s->value / rate.dense_ops_per_s.value, 2, 0.05);
    }
  EXPECT_LT(peak_tera("h100", kTensorBf16), 1000);  // 1979 is with sparsity
  EXPECT_LT(peak_tera("h200", kTensorFp8), 2000);
  EXPECT_LT(peak_tera("b200", kTensorFp4), 10001);
}

TEST(Gpu, GeForceAccumulatesInFp32AtHalfRate) {
  EXPECT_DOUBLE_EQ(peak_tera("rtx5090", kTensorBf16), 209.5);
  EXPECT_DOUBLE_EQ(peak_tera("rtx5090", kTensorFp16), 209.5);
  EXPECT_DOUBLE_EQ(peak_tera("rtx5090", kTensorFp16AccFp16), 419);
  EXPECT_DOUBLE_EQ(peak_tera("rtx4090", kTensorBf16), 165.2);
  EXPECT_DOUBLE_EQ(peak_tera("rtx4090", kTensorFp8), 330.3);
  EXPECT_DOUBLE_EQ(peak_tera("h200", kTensorFp16AccFp16), peak_tera("h200", kTensorFp16));
}

TEST(Gpu, L2OfH200IsThatOfH100AndTheConflictIsKept) {
  const Figure& l2 = *find_gpu("h200").l2_bytes;
  EXPECT_EQ(l2.value, 50 * kMiB);
  ASSERT_EQ(l2.others.size(), 2u);
  EXPECT_EQ(l2.others[0].value, 60 * kMiB);
  EXPECT_EQ(l2.others[0].provenance, Provenance::driver);
}

TEST(Gpu, BlackwellIsTwoMachines) {
  const Gpu& b200 = find_gpu("b200");
  const Gpu& rtx5090 = find_gpu("rtx5090");
  EXPECT_EQ(b200.compute_capability, (ComputeCapability{10, 0}));
  EXPECT_EQ(rtx5090.compute_capability, (ComputeCapability{12, 0}));
  EXPECT_EQ(b200.warps_per_cu->value, 64);
  EXPECT_EQ(rtx5090.warps_per_cu->value, 48);
  EXPECT_EQ(b200.shared_bytes_per_cu->value, 228 * 1024);
  EXPECT_EQ(rtx5090.shared_bytes_per_cu->value, 100 * 1024);
  EXPECT_EQ(rtx5090.shared_bytes_per_block->value, 99 * 1024);
}

TEST(Gpu, BytesPerSecondAreDecimal) {
  for (const Gpu& gpu : gpus()) {
    EXPECT_EQ(std::fmod(gpu.dram_bytes_per_s->value, 1e9), 0) << gpu.name;
    EXPECT_EQ(std::fmod(gpu.memory_bytes->value, 1e9), 0) << gpu.name;
  }
  EXPECT_EQ(find_gpu("h200").dram_bytes_per_s->value, 4.8e12);
  EXPECT_EQ(find_gpu("b200").memory_bytes->value, 180e9);
}

TEST(Gpu, WhatIsUsableIsLessThanTheDriversTotal) {
  for (const Gpu& gpu : gpus())
    if (gpu.usable_memory_bytes) {
      EXPECT_LT(gpu.usable_memory_bytes->value, gpu.driver_memory_bytes->value) << gpu.name;
    }
}

TEST(Gpu, OnlyNewerPartsHaveSmallFormats) {
  EXPECT_EQ(peak_ops_per_s(find_gpu("a100"), kTensorFp8), std::nullopt);
  EXPECT_EQ(ridge_ops_per_byte(find_gpu("a100"), kTensorFp8), std::nullopt);
  for (const char* name : {"a100", "h100", "h200", "rtx4090"})
    EXPECT_EQ(peak_ops_per_s(find_gpu(name), kTensorFp4), std::nullopt) << name;
}

TEST(Gpu, HopperTensorPeaksAreNotAtTheBoostClock) {
  const Gpu& h100 = find_gpu("h100");
  EXPECT_EQ(peak_clock_hz(h100, kTensorBf16), 1830e6);
  EXPECT_EQ(peak_clock_hz(h100, kVectorFp32), 1980e6);
  EXPECT_EQ(peak_clock_hz(h100, kTensorFp64), 1980e6);
  EXPECT_NEAR(*peak_ops_per_s_at(h100, kTensorBf16, 1980e6), 1070.5 * kTera, 0.1 * kTera);
}

TEST(Gpu, RidgePoints) {
  EXPECT_NEAR(*ridge_ops_per_byte(find_gpu("h200"), kTensorBf16), 206.1, 0.1);
  EXPECT_NEAR(*ridge_ops_per_byte(find_gpu("h100"), kTensorBf16), 295.3, 0.1);
  EXPECT_NEAR(*ridge_ops_per_byte(find_gpu("rtx4090"), kVectorFp32), 81.9, 0.1);
}

void expect_sourced(const std::optional<Figure>& figure) {
  if (!figure) return;
  EXPECT_GT(figure->value, 0);
  EXPECT_FALSE(figure->source.empty());
  for (const Claim& other : figure->others) {
    EXPECT_GT(other.value, 0);
    EXPECT_FALSE(other.source.empty());
    EXPECT_NE(other.value, figure->value) << "not a conflict: " << other.source;
  }
}

TEST(Gpu, EveryFigureHasASourceAndIsNotZero) {
  for (const Gpu& gpu : gpus()) {
    SCOPED_TRACE(gpu.name);
    for (const auto member :
         {&Gpu::compute_units, &Gpu::memory_bytes, &Gpu::driver_memory_bytes,
          &Gpu::usable_memory_bytes, &Gpu::dram_bytes_per_s, &Gpu::l2_bytes,
          &Gpu::shared_bytes_per_cu, &Gpu::shared_bytes_per_block, &Gpu::registers_per_cu,
          &Gpu::warps_per_cu, &Gpu::blocks_per_cu, &Gpu::threads_per_cu, &Gpu::boost_clock_hz,
          &Gpu::tensor_clock_hz, &Gpu::device_link_bytes_per_s, &Gpu::host_link_bytes_per_s,
          &Gpu::power_w})
      expect_sourced(gpu.*member);
    for (const Rate& rate : gpu.rates) {
      expect_sourced(rate.dense_ops_per_s);
      expect_sourced(rate.sparse_2_of_4_ops_per_s);
      expect_sourced(rate.dense_ops_per_clock_per_cu);
    }
  }
}

TEST(Gpu, AbsentFiguresAreAbsent) {
  const Gpu& rtx4090 = find_gpu("rtx4090");
  EXPECT_FALSE(rtx4090.device_link_bytes_per_s);
  EXPECT_FALSE(rtx4090.usable_memory_bytes);
}

TEST(Gpu, NoRowOrRateStandsTwice) {
  std::set<std::string_view> names;
  for (const Gpu& gpu : gpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    for (const Rate& rate : gpu.rates) EXPECT_EQ(find_rate(gpu, rate.arithmetic), &rate);
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"a100", "b200", "h100", "h200", "rtx4090", "rtx5090"}));
}

TEST(Gpu, IsFoundByNameAndByDriverName) {
  EXPECT_EQ(find_gpu("H200").product, "NVIDIA H200 SXM 141 GB");
  EXPECT_EQ(find_gpu_of_driver("NVIDIA H200"), &find_gpu("h200"));
  EXPECT_EQ(find_gpu_of_driver("NVIDIA H200 NVL"), nullptr);
  EXPECT_EQ(find_gpu_of_driver(""), nullptr);
  try {
    find_gpu("h20");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("did you mean 'h200'"), std::string::npos)
        << error.what();
  }
}

TEST(Gpu, NamesOfArithmetic) {
  EXPECT_EQ(name(kTensorBf16), "tensor bf16 into fp32");
  EXPECT_EQ(name(kVectorFp32), "vector fp32");
  EXPECT_EQ(name(Provenance::third_party), "third party");
  EXPECT_EQ(name(Number::int32), "int32");
}

// A row of another maker needs no change of the structure: no capability, warps or blocks.
TEST(Gpu, TakesRowsOfOtherMakers) {
  const Figure ops{2048, Provenance::whitepaper, "AMD CDNA 3 white paper"};
  const Gpu mi300x{
      .name = "mi300x",
      .product = "AMD Instinct MI300X",
      .vendor = "AMD",
      .architecture = "CDNA 3",
      .compute_units = Figure{304, Provenance::data_sheet, "AMD Instinct MI300X data sheet"},
      .boost_clock_hz = Figure{2.1e9, Provenance::data_sheet, "AMD Instinct MI300X data sheet"},
      .rates = {{.arithmetic = kTensorBf16,
                 .dense_ops_per_s = {1307.4e12, Provenance::data_sheet, "the same"},
                 .dense_ops_per_clock_per_cu = ops}}};
  EXPECT_NEAR(*computed_peak(mi300x, mi300x.rates[0]), 1307.4e12, 0.1e12);
  EXPECT_EQ(ridge_ops_per_byte(mi300x, kTensorBf16), std::nullopt);
}

}  // namespace
}  // namespace rooftile
