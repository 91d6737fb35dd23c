// SPDX-License-Identifier: Apache-2.0
// Rows of the table of GPUs: GeForce RTX 4090 and 5090. Their tensor cores run at half rate when
// they accumulate in fp32; bf16 always does.
#include "rooftile/hardware/gpu_rows.h"

namespace rooftile {
namespace {

using namespace rows;

constexpr std::string_view kAdaPaper = "NVIDIA Ada GPU Architecture, V2.01, table of RTX 4090";
constexpr std::string_view kAdaSheet = "NVIDIA GeForce RTX 4090 product page";
constexpr std::string_view kBlackwellPaper =
    "NVIDIA RTX Blackwell GPU Architecture, table of RTX 5090";
constexpr std::string_view kBlackwellSheet = "NVIDIA GeForce RTX 5090 product page";

std::vector<Rate> rtx4090_rates() {
  const Provenance from = Provenance::whitepaper;
  return {rate(kVectorFp64, 1.29, 4, from, kAdaPaper),
          rate(kVectorFp32, 82.6, 256, from, kAdaPaper),
          rate(kVectorFp16, 82.6, 256, from, kAdaPaper),
          rate(kTensorTf32, 82.6, 256, 165.2, from, kAdaPaper),
          rate(kTensorBf16, 165.2, 512, 330.3, from, kAdaPaper),
          rate(kTensorFp16, 165.2, 512, 330.3, from, kAdaPaper),
          rate(kTensorFp16AccFp16, 330.3, 1024, 660.6, from, kAdaPaper),
          rate(kTensorFp8, 330.3, 1024, 660.6, from, kAdaPaper),
          rate(kTensorFp8AccFp16, 660.6, 2048, 1321.2, from, kAdaPaper),
          rate(kTensorInt8, 660.6, 2048, 1321.2, from, kAdaPaper)};
}

std::vector<Rate> rtx5090_rates() {
  const Provenance from = Provenance::whitepaper;
  Rate bf16 = rate(kTensorBf16, 209.5, 512, 419, from, kBlackwellPaper);
  bf16.dense_ops_per_s.others = {
      {202.9 * kTera, Provenance::measured, "cuBLAS on an RTX 5090, gau-nernst's matmul post"},
      {419 * kTera, Provenance::third_party,
       "aiconfigurator: it is the rate of fp16 into fp16, which bf16 does not have"}};
  return {rate(kVectorFp64, 1.64, 4, from, kBlackwellPaper),
          rate(kVectorFp32, 104.8, 256, from, kBlackwellPaper),
          rate(kVectorFp16, 104.8, 256, from, kBlackwellPaper),
          rate(kTensorTf32, 104.8, 256, 209.5, Provenance::derived, "half of the bf16 rate"),
          bf16,
          rate(kTensorFp16, 209.5, 512, 419, from, kBlackwellPaper),
          rate(kTensorFp16AccFp16, 419, 1024, 838, from, kBlackwellPaper),
          rate(kTensorFp8, 419, 1024, 838, from, kBlackwellPaper),
          rate(kTensorFp8AccFp16, 838, 2048, 1676, from, kBlackwellPaper),
          rate(kTensorFp4, 1676, 4096, 3352, from, kBlackwellPaper),
          rate(kTensorInt8, 838, 2048, 1676, from, kBlackwellPaper)};
}

}  // namespace

// No link between GPUs on either: they speak over PCIe alone.
Gpu rtx4090_row() {
  Gpu gpu;
  set_sm_limits(gpu, {8, 9});
  gpu.name = "rtx4090";
  gpu.product = "NVIDIA GeForce RTX 4090 24 GB";
  gpu.vendor = "NVIDIA";
  gpu.architecture = "Ada Lovelace";
  gpu.driver_name = "NVIDIA GeForce RTX 4090";
  gpu.compute_units = paper(128, kAdaPaper);
  gpu.memory_bytes = sheet(24 * kGiga, kAdaSheet);
  gpu.driver_memory_bytes =
      driver(24564 * kMiB, "nvidia-smi's memory total, as published (RLinf #255)");
  gpu.dram_bytes_per_s = paper(1008 * kGiga, kAdaPaper);
  gpu.l2_bytes = paper(72 * kMiB, kAdaPaper);
  gpu.boost_clock_hz = paper(2520 * kMega, kAdaPaper);
  gpu.host_link_bytes_per_s = sheet(64 * kGiga, kAdaSheet);  // PCIe 4 x16
  gpu.power_w = sheet(450, kAdaSheet);
  gpu.rates = with_derived_clock_rates(rtx4090_rates());
  return gpu;
}

Gpu rtx5090_row() {
  Gpu gpu;
  set_sm_limits(gpu, {12, 0});
  gpu.name = "rtx5090";
  gpu.product = "NVIDIA GeForce RTX 5090 32 GB";
  gpu.vendor = "NVIDIA";
  gpu.architecture = "Blackwell (GeForce)";
  gpu.driver_name = "NVIDIA GeForce RTX 5090";
  gpu.compute_units = paper(170, kBlackwellPaper);
  gpu.memory_bytes = sheet(32 * kGiga, kBlackwellSheet);
  gpu.driver_memory_bytes =
      driver(32607 * kMiB, "nvidia-smi's memory total, as published (club-3090 #1229)");
  gpu.dram_bytes_per_s = paper(1792 * kGiga, kBlackwellPaper);
  gpu.l2_bytes = paper(96 * kMiB, kBlackwellPaper);
  gpu.boost_clock_hz = paper(2407 * kMega, kBlackwellPaper);
  gpu.host_link_bytes_per_s = sheet(128 * kGiga, kBlackwellSheet);  // PCIe 5 x16
  gpu.power_w = sheet(575, kBlackwellSheet);
  gpu.rates = with_derived_clock_rates(rtx5090_rates());
  return gpu;
}

}  // namespace rooftile
