// SPDX-License-Identifier: Apache-2.0
// Runs the validation kernels, and kernels of the catalogue, on one device and prints a JSON line
// for each launch: the hash of what it wrote and, on a simulated device, its counters under Nsight
// Compute's names. benchmarks/validate_simulator.py lays the lines of two devices side by side.
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "tests/sim/h200_data.h"

extern const rooftile::KernelTable validation_kernels;

namespace rooftile {
namespace {

/// A device, and the memory of one launch.
class Rig {
 public:
  explicit Rig(Device& device) : device_(device), stream_(device.make_stream()) {}

  template <class T>
  T* memory(const std::vector<T>& values) {
    owned_.emplace_back(device_, static_cast<std::int64_t>(values.size() * sizeof(T)));
    device_.copy_to_device(*stream_, owned_.back().data(), values.data(), owned_.back().bytes());
    return static_cast<T*>(owned_.back().data());
  }
  /// Zeros, whose final contents are hashed.
  template <class T>
  T* output(std::int64_t count) {
    T* data = memory(std::vector<T>(static_cast<std::size_t>(count)));
    output_ = data;
    output_bytes_ = count * static_cast<std::int64_t>(sizeof(T));
    return data;
  }
  float* uniforms(std::int64_t count, std::uint32_t seed) {
    return memory(h200::uniforms(static_cast<std::size_t>(count), seed));
  }
  /// Random bits that are numbers in every type of 8 bits, and small ones in those of 16 and 32.
  std::uint32_t* numbers(std::int64_t count, std::uint32_t seed) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = h200::number(i, seed) & 0xb7b7b7b7;
    return memory(words);
  }
  template <class... Args>
  void run(const std::string& kernel, const LaunchShape& shape, Args... args) {
    launch(*stream_, find_kernel(validation_kernels, kernel), shape, args...);
  }
  std::uint64_t hash() {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(output_bytes_));
    device_.copy_to_host(*stream_, bytes.data(), output_, output_bytes_);
    stream_->synchronise();
    return h200::hash(bytes.data(), bytes.size());
  }
  Device& device() { return device_; }
  Stream& stream() { return *stream_; }

 private:
  Device& device_;
  std::unique_ptr<Stream> stream_;
  std::vector<DeviceMemory> owned_;
  void* output_ = nullptr;
  std::int64_t output_bytes_ = 0;
};

struct Validation {
  std::string name;
  std::string what;
  std::function<void(Rig&)> run;
};

constexpr long long kCount = 1 << 20;
constexpr std::uint32_t kThreads = 256;

LaunchShape over(long long threads) {
  return {{static_cast<std::uint32_t>((threads + kThreads - 1) / kThreads)}, {kThreads}};
}

/// A permutation of 0 … 2^20 - 1, as an odd multiplier gives it.
std::vector<std::uint32_t> permutation() {
  std::vector<std::uint32_t> index(kCount);
  for (std::size_t i = 0; i < index.size(); ++i)
    index[i] = static_cast<std::uint32_t>(i * 402653189u % kCount);
  return index;
}

Validation copy_of(const std::string& type, int bytes, long long left_out, int shift) {
  const long long n = kCount * 4 / bytes - left_out;
  std::string what = std::to_string(bytes) + " bytes a thread";
  if (shift != 0) what += ", " + std::to_string(shift) + " elements beyond an aligned address";
  if (left_out != 0) what += ", the last warp masked in part";
  return {"copy<" + type + ">", what, [=](Rig& rig) {
            const float* in = rig.uniforms(kCount, 1);
            rig.run("copy<" + type + ">", over(n), rig.output<float>(kCount), in, n, shift);
          }};
}

Validation shared_of(const std::string& type, int bytes, int stride) {
  std::string what = "shared memory, " + std::to_string(bytes) + " bytes a thread";
  if (stride != 1) what += ", each " + std::to_string(stride) + " elements from the next";
  return {"through_shared<" + type + ">", what, [=](Rig& rig) {
            const float* in = rig.uniforms(kCount, 3);
            rig.run("through_shared<" + type + ">", over(1 << 16), rig.output<float>(kCount), in,
                    stride);
          }};
}

Validation transpose_of(const std::string& tile) {
  return {"transpose<Tile::" + tile + ">", "tiles of 32 x 32 through shared memory, " + tile,
          [=](Rig& rig) {
            const float* in = rig.uniforms(kCount, 4);
            float* out = rig.output<float>(kCount);
            rig.run("transpose<Tile::" + tile + ">", {{32, 32}, {32, 8}}, out, in, 1024);
          }};
}

Validation multiply_of(const std::string& types) {
  return {"multiply<" + types + ">", "wgmma of swizzled tiles, 8 steps of 128 bytes of k",
          [=](Rig& rig) {
            constexpr int kSteps = 8;
            constexpr std::int64_t kWords = 64 * 32 * kSteps;
            const std::uint32_t* a = rig.numbers(kWords, 5);
            const std::uint32_t* b = rig.numbers(kWords, 6);
            const std::string kernel = "multiply<" + types + ">";
            if (types.ends_with("float"))
              rig.run(kernel, {{1}, {128}}, rig.output<float>(64 * 64), a, b, kSteps);
            else
              rig.run(kernel, {{1}, {128}}, rig.output<std::uint32_t>(64 * 64), a, b, kSteps);
          }};
}

/// A kernel of the catalogue; bf16 inputs.
Validation catalogued(const std::string& line) {
  return {line, "a kernel of the catalogue", [=](Rig& rig) {
            const Problem problem = catalogue().bind(line);
            const Operation& operation = catalogue().operation(problem.op);
            std::vector<TensorView> views(problem.args.size());
            for (std::size_t i = 0; i < views.size(); ++i) {
              const ArgChoice& arg = problem.args[i];
              if (!arg.is_present) continue;
              std::vector<std::uint16_t> values(static_cast<std::size_t>(num_elements(arg.shape)));
              for (std::size_t e = 0; e < values.size(); ++e)
                values[e] = h200::uniform_bf16(e, static_cast<std::uint32_t>(i));
              void* data = operation.def->args[i].role == Role::out
                               ? rig.output<std::uint16_t>(num_elements(arg.shape))
                               : rig.memory(values);
              views[i] = TensorView::contiguous(data, arg.dtype, arg.shape);
              views[i].strides = arg.strides;
              views[i].device = rig.device().device_id();
            }
            Plan(operation.kernel(problem.kernel), problem, rig.device())
                .run({.stream = &rig.stream()}, views);
          }};
}

std::vector<Validation> validations() {
  const LaunchShape whole = over(kCount);
  std::vector<Validation> list{
      copy_of("uint16_t", 2, 0, 0), copy_of("float", 4, 0, 0),  copy_of("float2", 8, 0, 0),
      copy_of("float4", 16, 0, 0),  copy_of("float", 4, 16, 1), copy_of("float2", 8, 8, 3),
  };
  for (const int stride : {2, 8, 32})
    list.push_back(
        {"read_strided", "reads of every " + std::to_string(stride) + ". float", [=](Rig& rig) {
           const float* in = rig.uniforms(kCount, 2);
           rig.run("read_strided", whole, rig.output<float>(kCount), in, kCount, stride);
         }});
  list.push_back({"gather", "reads at permuted places", [=](Rig& rig) {
                    const float* in = rig.uniforms(kCount, 2);
                    const auto* index = static_cast<const unsigned*>(rig.memory(permutation()));
                    rig.run("gather", whole, rig.output<float>(kCount), in, index, kCount);
                  }});
  list.push_back({"scatter", "writes to permuted places", [=](Rig& rig) {
                    const float* in = rig.uniforms(kCount, 2);
                    const auto* index = static_cast<const unsigned*>(rig.memory(permutation()));
                    rig.run("scatter", whole, rig.output<float>(kCount), in, index, kCount);
                  }});
  list.push_back({"masked", "every third lane", [=](Rig& rig) {
                    const float* in = rig.uniforms(kCount, 2);
                    rig.run("masked", whole, rig.output<float>(kCount), in, kCount);
                  }});
  for (const char* tile : {"plain", "padded", "swizzled"}) list.push_back(transpose_of(tile));
  for (const int stride : {1, 2, 4}) list.push_back(shared_of("float", 4, stride));
  for (const int stride : {1, 2}) list.push_back(shared_of("float2", 8, stride));
  for (const int stride : {1, 2}) list.push_back(shared_of("float4", 16, stride));
  list.push_back({"histogram", "atomics of shared and global memory", [](Rig& rig) {
                    const auto* in = reinterpret_cast<const unsigned char*>(rig.numbers(kCount, 7));
                    rig.run("histogram", {{64}, {256}}, rig.output<unsigned>(256), in,
                            static_cast<long long>(kCount));
                  }});
  list.push_back({"row_sums", "shuffles", [](Rig& rig) {
                    const float* in = rig.uniforms(kCount, 8);
                    rig.run("row_sums", over(kCount / 32), rig.output<float>(1024), in);
                  }});
  list.push_back(
      {"arithmetic", "add, multiply, divide, square root, fma, conversions", [=](Rig& rig) {
         const float* a = rig.uniforms(kCount, 9);
         const float* b = rig.uniforms(kCount, 10);
         rig.run("arithmetic", whole, rig.output<unsigned>(6 * kCount), a, b,
                 static_cast<long long>(kCount));
       }});
  for (const char* types :
       {"bf16, bf16, float", "fp16, fp16, float", "fp16, fp16, fp16", "tf32, tf32, float",
        "e4m3, e4m3, float", "e5m2, e4m3, float", "int8_t, int8_t, int32_t"})
    list.push_back(multiply_of(types));
  list.push_back({"multiply_warp", "ldmatrix and mma.sync, bf16", [](Rig& rig) {
                    constexpr int kDepth = 256;
                    const auto* a = reinterpret_cast<const std::uint16_t*>(rig.numbers(2048, 11));
                    const auto* b = reinterpret_cast<const std::uint16_t*>(rig.numbers(1024, 12));
                    rig.run("multiply_warp", {{1}, {32}}, rig.output<float>(128), a, b, kDepth);
                  }});
  for (const char* line : {"scaled_copy/sm90_vector rows=512 cols=1000 x=bf16",
                           "transpose/sm90_vector rows=512 cols=1024 x=bf16",
                           "rmsnorm/sm90_rows rows=512 cols=4096 x=bf16",
                           "softmax/sm90_rows rows=512 cols=4096 x=bf16",
                           "gemm/sm90_tiled m=256 n=256 k=256 a=bf16 layout=nt",
                           "gemm/sm80_mma m=256 n=256 k=512 a=bf16 layout=nt",
                           "gemm/sm90_ws m=512 n=512 k=512 a=bf16 layout=nt"})
    list.push_back(catalogued(line));
  return list;
}

nlohmann::json counters_of(const SimLaunch& launch) {
  nlohmann::json counters;
  for (const SimCounterInfo& info : sim_counters())
    if (!info.metric.empty()) counters[std::string(info.metric)] = launch.counters[info.counter];
  return counters;
}

int run(const std::string& on) {
  const std::unique_ptr<Device> device = open_device(on);
  auto* const simulated = dynamic_cast<SimDevice*>(device.get());
  for (const Validation& validation : validations()) {
    Rig rig(*device);
    // Nsight Compute flushes before each kernel; a flush of ours would be one more kernel there.
    if (simulated != nullptr) device->flush_caches(rig.stream());
    validation.run(rig);
    nlohmann::json line{{"name", validation.name}, {"what", validation.what}};
    std::array<char, 20> hash{};
    std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(rig.hash()));
    line["hash"] = hash.data();
    if (simulated != nullptr) line["counters"] = counters_of(simulated->take_launches().back());
    std::puts(line.dump().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace rooftile

int main(int argc, char** argv) {
  try {
    return rooftile::run(argc > 1 ? argv[1] : "sim:h200");
  } catch (const rooftile::Error& error) {
    std::fprintf(stderr, "simulator_validation: %s\n", error.what());
    return 1;
  }
}
