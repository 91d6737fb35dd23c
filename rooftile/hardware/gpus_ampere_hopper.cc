// SPDX-License-Identifier: Apache-2.0
// Rows of the table of GPUs: A100, H100 and H200, all SXM.
#include "rooftile/hardware/gpu_rows.h"

namespace rooftile {
namespace {

using namespace rows;

constexpr std::string_view kA100Sheet = "NVIDIA A100 Tensor Core GPU data sheet, SXM 80 GB";
constexpr std::string_view kA100Paper = "NVIDIA A100 Tensor Core GPU Architecture, V1.0, table 1";
constexpr std::string_view kH100Sheet = "NVIDIA H100 Tensor Core GPU data sheet, SXM5";
constexpr std::string_view kH100Paper =
    "NVIDIA H100 Tensor Core GPU Architecture, table of H100 SXM5 specifications";
constexpr std::string_view kH200Sheet = "NVIDIA H200 Tensor Core GPU data sheet, SXM";
constexpr std::string_view kH200Driver = "CUDA driver attributes of an H200, 2026-11-29";
constexpr std::string_view kSmi = "nvidia-smi's memory total, as published (modal-client #2797)";

std::vector<Rate> a100_rates() {
  const Provenance from = Provenance::whitepaper;
  return {rate(kVectorFp64, 9.7, 64, from, kA100Paper),
          rate(kVectorFp32, 19.5, 128, from, kA100Paper),
          rate(kVectorFp16, 78, 512, from, kA100Paper),
          rate(kTensorFp64, 19.5, 128, from, kA100Paper),
          rate(kTensorTf32, 156, 1024, 312, from, kA100Paper),
          rate(kTensorBf16, 312, 2048, 624, from, kA100Paper),
          rate(kTensorFp16, 312, 2048, 624, from, kA100Paper),
          rate(kTensorFp16AccFp16, 312, 2048, 624, from, kA100Paper),
          rate(kTensorInt8, 624, 4096, 1248, from, kA100Paper)};
}

// H100 and H200 share the chip, and the sheets the rates.
std::vector<Rate> hopper_rates() {
  const Provenance from = Provenance::whitepaper;
  return {rate(kVectorFp64, 33.5, 128, from, kH100Paper),
          rate(kVectorFp32, 66.9, 256, from, kH100Paper),
          rate(kVectorFp16, 133.8, 512, from, kH100Paper),
          rate(kTensorFp64, 66.9, 256, from, kH100Paper),
          rate(kTensorTf32, 494.7, 2048, 989.4, from, kH100Paper),
          rate(kTensorBf16, 989.4, 4096, 1978.9, from, kH100Paper),
          rate(kTensorFp16, 989.4, 4096, 1978.9, from, kH100Paper),
          rate(kTensorFp16AccFp16, 989.4, 4096, 1978.9, from, kH100Paper),
          rate(kTensorFp8, 1978.9, 8192, 3957.8, from, kH100Paper),
          rate(kTensorInt8, 1978.9, 8192, 3957.8, from, kH100Paper)};
}

Gpu hopper_row() {
  Gpu gpu;
  set_sm_limits(gpu, {9, 0});
  gpu.vendor = "NVIDIA";
  gpu.architecture = "Hopper";
  gpu.compute_units = paper(132, kH100Paper);
  gpu.boost_clock_hz = paper(1980 * kMega, kH100Paper);
  // Why not 1980: the paper's tensor peaks of tf32 and below are at this clock; at 1980 MHz bf16
  // would be 1071e12, which is no published peak.
  gpu.tensor_clock_hz = paper(1830 * kMega, kH100Paper);
  gpu.device_link_bytes_per_s = sheet(900 * kGiga, kH100Sheet);  // NVLink 4
  gpu.host_link_bytes_per_s = sheet(128 * kGiga, kH100Sheet);    // PCIe 5 x16
  gpu.power_w = sheet(700, kH100Sheet);
  gpu.rates = hopper_rates();
  return gpu;
}

}  // namespace

Gpu a100_row() {
  Gpu gpu;
  set_sm_limits(gpu, {8, 0});
  gpu.name = "a100";
  gpu.product = "NVIDIA A100 SXM4 80 GB";
  gpu.vendor = "NVIDIA";
  gpu.architecture = "Ampere";
  gpu.driver_name = "NVIDIA A100-SXM4-80GB";
  gpu.compute_units = paper(108, kA100Paper);
  gpu.memory_bytes = sheet(80 * kGiga, kA100Sheet);
  gpu.driver_memory_bytes = driver(81920 * kMiB, kSmi);
  gpu.dram_bytes_per_s = sheet(2039 * kGiga, kA100Sheet);
  gpu.l2_bytes = paper(40 * kMiB, kA100Paper);
  gpu.boost_clock_hz = paper(1410 * kMega, kA100Paper);
  gpu.device_link_bytes_per_s = sheet(600 * kGiga, kA100Sheet);  // NVLink 3
  gpu.host_link_bytes_per_s = sheet(64 * kGiga, kA100Sheet);     // PCIe 4 x16
  gpu.power_w = sheet(400, kA100Sheet);
  gpu.rates = a100_rates();
  return gpu;
}

Gpu h100_row() {
  Gpu gpu = hopper_row();
  gpu.name = "h100";
  gpu.product = "NVIDIA H100 SXM5 80 GB";
  gpu.driver_name = "NVIDIA H100 80GB HBM3";
  gpu.memory_bytes = sheet(80 * kGiga, kH100Sheet);
  gpu.driver_memory_bytes = driver(81559 * kMiB, kSmi);
  gpu.dram_bytes_per_s = sheet(3350 * kGiga, kH100Sheet);
  gpu.l2_bytes = paper(50 * kMiB, kH100Paper);
  return gpu;
}

Gpu h200_row() {
  Gpu gpu = hopper_row();
  gpu.name = "h200";
  gpu.product = "NVIDIA H200 SXM 141 GB";
  gpu.driver_name = "NVIDIA H200";
  gpu.memory_bytes = sheet(141 * kGiga, kH200Sheet);
  gpu.driver_memory_bytes =
      driver(143771 * kMiB, "nvidia-smi's memory total of an H200, 2026-11-29");
  gpu.usable_memory_bytes = driver(150109880320.0, kH200Driver);
  gpu.dram_bytes_per_s = sheet(4800 * kGiga, kH200Sheet,
                               {{4814.3 * kGiga, Provenance::driver,
                                 "bus of 6016 bits at 3201 MHz, two transfers a clock"}});
  gpu.l2_bytes = paper(50 * kMiB, kH100Paper,
                       {{60 * kMiB, Provenance::driver, kH200Driver},
                        {90 * kMiB, Provenance::third_party,
                         "KernelBench, gpu_specs.py, a comment; no source of NVIDIA's says so"}});
  gpu.power_w = sheet(700, kH200Sheet);
  return gpu;
}

}  // namespace rooftile
