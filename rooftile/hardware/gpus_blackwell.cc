// SPDX-License-Identifier: Apache-2.0
// Row of the table of GPUs: B200 in HGX and DGX systems. Another machine than GeForce's Blackwell,
// which is in gpus_geforce.cc. GB200 is clocked higher and has 152 SMs: it would be a row of its
// own.
#include "rooftile/hardware/gpu_rows.h"

namespace rooftile {
namespace {

using namespace rows;

constexpr std::string_view kSheet = "NVIDIA HGX B200 data sheet, figures of one GPU";
constexpr std::string_view kHalved =
    "NVIDIA HGX B200 data sheet, half of its figure, which is with sparsity";
constexpr std::string_view kBrief = "NVIDIA Blackwell Architecture technical brief, HGX B200";
constexpr std::string_view kDgx = "NVIDIA DGX B200 data sheet, an eighth of the system";
constexpr std::string_view kDriver = "deviceQuery of a B200, as published";

std::vector<Rate> b200_rates() {
  const Provenance halved = Provenance::derived;
  Rate tf32 = rate(kTensorTf32, 1125, 4096, 2200, halved, "half of the bf16 rate");
  tf32.dense_ops_per_s.others = {{1100 * kTera, Provenance::data_sheet,
                                  "NVIDIA HGX B200 data sheet, half of the rounded 2.2e15"}};
  Rate fp4 = rate(kTensorFp4, 9000, 32768, 18000, halved, kHalved);
  fp4.dense_ops_per_s.others = {
      {10000 * kTera, Provenance::third_party, "quoted for NVFP4; it is the rate of a GB200"}};
  Rate fp32 = rate(kVectorFp32, 75, 256, Provenance::data_sheet, kSheet);
  fp32.dense_ops_per_s.others = {{80 * kTera, Provenance::whitepaper, kBrief}};
  Rate fp64 = rate(kVectorFp64, 37, 128, Provenance::data_sheet, kSheet);
  fp64.dense_ops_per_s.others = {{40 * kTera, Provenance::whitepaper, kBrief}};
  Rate fp64_tensor = {.arithmetic = kTensorFp64, .dense_ops_per_s = sheet(37 * kTera, kSheet)};
  return {fp64,
          fp32,
          fp64_tensor,
          tf32,
          rate(kTensorBf16, 2250, 8192, 4500, halved, kHalved),
          rate(kTensorFp16, 2250, 8192, 4500, halved, kHalved),
          rate(kTensorFp8, 4500, 16384, 9000, halved, kHalved),
          rate(kTensorFp6, 4500, 16384, 9000, halved, kHalved),
          fp4,
          rate(kTensorInt8, 4500, 16384, 9000, halved, kHalved)};
}

void set_memory(Gpu& gpu) {
  gpu.memory_bytes = sheet(180 * kGiga, kSheet,
                           {{192 * kGiga, Provenance::whitepaper,
                             "NVIDIA Blackwell Architecture technical brief: what is fitted"}});
  gpu.driver_memory_bytes =
      driver(183359 * kMiB, "nvidia-smi's memory total, as published (TensorRT-LLM #10278)");
  gpu.usable_memory_bytes = driver(182631 * kMiB, kDriver);
  gpu.dram_bytes_per_s = sheet(7700 * kGiga, kSheet,
                               {{8000 * kGiga, Provenance::data_sheet, kDgx},
                                {7672.3 * kGiga, Provenance::driver,
                                 "bus of 7680 bits at 3996 MHz, two transfers a clock, as "
                                 "published (pytorch/ao #4002)"}});
  gpu.l2_bytes = driver(129536.0 * 1024, kDriver,
                        {{126 * kMiB, Provenance::guide, "NVIDIA Blackwell Tuning Guide"}});
}

}  // namespace

Gpu b200_row() {
  Gpu gpu;
  set_sm_limits(gpu, {10, 0});
  gpu.name = "b200";
  gpu.product = "NVIDIA B200 SXM 180 GB (HGX)";
  gpu.vendor = "NVIDIA";
  gpu.architecture = "Blackwell";
  gpu.driver_name = "NVIDIA B200";
  set_memory(gpu);
  gpu.compute_units = driver(148, kDriver);
  gpu.boost_clock_hz = driver(1965 * kMega, kDriver);
  gpu.tensor_clock_hz =
      derived(1855.8 * kMega, "bf16 peak / (148 SMs x 8192 operations a clock)",
              {{1860 * kMega, Provenance::third_party, "hmc-tech.com, B200 tensor clock"}});
  gpu.device_link_bytes_per_s = sheet(1800 * kGiga, kSheet);  // NVLink 5
  gpu.host_link_bytes_per_s =                                 // PCIe 5 x16
      sheet(128 * kGiga, kSheet,
            {{256 * kGiga, Provenance::whitepaper, "NVIDIA Blackwell brief: PCIe 6"}});
  gpu.power_w = sheet(1000, kSheet);
  gpu.rates = with_derived_clock_rates(b200_rates());
  return gpu;
}

}  // namespace rooftile
