// SPDX-License-Identifier: Apache-2.0
// Runs every instruction of tensor_core_instructions.inc on its recorded operands, on a card of
// sm_90, and writes what the test keeps. Built by hand where there is a CUDA toolkit:
//   nvcc -std=c++20 -O2 -I. -gencode arch=compute_90a,code=sm_90a -cudart static
//     tests/hardware/tensor_core_probe.cu -o tensor_core_probe
//   ./tensor_core_probe tests/hardware/tensor_core_h200.bin tests/hardware/tensor_core_h200.txt
// The first file has a hash of each tile's results, the second one result of each mode in the
// clear. A third argument names a file for all results, 32 bits each (fp16 in the low half).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/hardware/tensor_core_cases.h"

namespace {

using namespace rooftile::testing;

// Fragments as words, the same for every type: thread (group g = lane/4, t = lane%4) has the bytes
// 4t..4t+3 of rows g and g+8 of A and of column g of B, and those 16 bytes further where k is long.
struct Fragments {
  uint32_t a[4], b[2], d[4];
};

template <int Id>
__device__ void multiply(Fragments& f, uint64_t desc_a, uint64_t desc_b);

#define D4 "{%0, %1, %2, %3}, "
#define D2 "{%0, %1}, "
#define NAME(k, acc, a, b, suffix) #k suffix "." #acc "." #a "." #b
#define WGMMA(D, N, DA, DB, P, name, scales, outs)                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                          \
               ", 0;\n"                                                                       \
               "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k" name " " D DA \
               ", " DB ", " scales                                                            \
               ";\n"                                                                          \
               "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"        \
               : outs                                                                         \
               : "l"(desc_a), "l"(desc_b), "r"(use_c)                                         \
               : "memory")
#define OUT4 "+r"(f.d[0]), "+r"(f.d[1]), "+r"(f.d[2]), "+r"(f.d[3])
#define OUT2 "+r"(f.d[0]), "+r"(f.d[1])
#define OUTF                                                                      \
  "+f"(reinterpret_cast<float&>(f.d[0])), "+f"(reinterpret_cast<float&>(f.d[1])), \
      "+f"(reinterpret_cast<float&>(f.d[2])), "+f"(reinterpret_cast<float&>(f.d[3]))
#define WGMMA_f32(name, scales) WGMMA(D4, 4, "%4", "%5", "%6", name, scales, OUTF)
#define WGMMA_s32(name, scales) WGMMA(D4, 4, "%4", "%5", "%6", name, scales, OUT4)
#define WGMMA_f16(name, scales) WGMMA(D2, 2, "%2", "%3", "%4", name, scales, OUT2)

#define MMA4(name, acc, out)                                                                      \
  if constexpr (long_k)                                                                           \
    asm volatile("mma.sync.aligned.m16n8k" name "." #acc " " D4                                   \
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                         \
                 : out                                                                            \
                 : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1])); \
  else                                                                                            \
    asm volatile("mma.sync.aligned.m16n8k" name "." #acc " " D4 "{%4,%5}, {%6}, {%0,%1,%2,%3};"   \
                 : out                                                                            \
                 : "r"(f.a[0]), "r"(f.a[1]), "r"(f.b[0]))
#define MMA_f32(name, scales) MMA4(name, f32, OUTF)
#define MMA_s32(name, scales) MMA4(name, s32, OUT4)
#define MMA_f16(name, scales)                                                                     \
  if constexpr (long_k)                                                                           \
    asm volatile("mma.sync.aligned.m16n8k" name ".f16 " D2 "{%2,%3,%4,%5}, {%6,%7}, {%0,%1};"     \
                 : OUT2                                                                           \
                 : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1])); \
  else                                                                                            \
    asm volatile("mma.sync.aligned.m16n8k" name ".f16 " D2 "{%2,%3}, {%4}, {%0,%1};"              \
                 : OUT2                                                                           \
                 : "r"(f.a[0]), "r"(f.a[1]), "r"(f.b[0]))
#define RUN_wgmma(acc, name, scales) WGMMA_##acc(name, scales)
#define RUN_mma(acc, name, scales) MMA_##acc(name, scales)

enum Id {
#define ROOFTILE_INSTRUCTION(id, unit, accumulator, a, b, k, suffix, scales) id,
#include "tests/hardware/tensor_core_instructions.inc"
#undef ROOFTILE_INSTRUCTION
  kInstructions
};

__host__ __device__ constexpr int bytes_of(Element e) {
  return e == Element::tf32 ? 4 : e == Element::bf16 || e == Element::f16 ? 2 : 1;
}
// The type names are also the names in PTX: mma wants integers' .row.col after the shape, wgmma
// not.
#define LAYOUT_wgmma ""
#define LAYOUT_mma ".row.col"
#define TEXT(x) #x
#define STR(x) TEXT(x)
#define ROOFTILE_INSTRUCTION(id, unit, accumulator, A, B, k, suffix, scales)                      \
  template <>                                                                                     \
  __device__ void multiply<id>(Fragments & f, uint64_t desc_a, uint64_t desc_b) {                 \
    [[maybe_unused]] constexpr bool long_k = k * bytes_of(Element::A) == 32;                      \
    [[maybe_unused]] const int use_c = id != wgmma_bf16_no_c && id != wgmma_e4m3_no_c;            \
    RUN_##unit(accumulator, #k LAYOUT_##unit STR(suffix) "." #accumulator "." #A "." #B, scales); \
  }
#include "tests/hardware/tensor_core_instructions.inc"
#undef ROOFTILE_INSTRUCTION

__device__ uint64_t descriptor(const void* shared) {
  // No swizzle: matrices of 8 rows of 16 bytes; the next along k after 128 bytes, the next 8 rows
  // after 256 (PTX ISA, "Matrix Descriptor").
  const uint64_t address = __cvta_generic_to_shared(shared);
  return address >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
}

// One tile a block. A: rows x row_bytes, B: 8 x row_bytes, C and D: rows x 8 words.
template <int Id>
__global__ void tile_kernel(const uint8_t* all_a, const uint8_t* all_b, const uint32_t* all_c,
                            uint32_t* all_d, int row_bytes, bool is_wgmma, bool is_f16) {
  __shared__ alignas(128) uint8_t a[64 * 32], b[8 * 32];
  const int rows = is_wgmma ? 64 : 16, tile = blockIdx.x;
  const uint8_t* ga = all_a + tile * rows * row_bytes;
  const uint8_t* gb = all_b + tile * 8 * row_bytes;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
  auto place = [](int r, int byte) {
    return r / 8 * 256 + byte / 16 * 128 + r % 8 * 16 + byte % 16;
  };
  for (int i = threadIdx.x; i < rows * row_bytes; i += blockDim.x)
    a[place(i / row_bytes, i % row_bytes)] = ga[i];
  for (int i = threadIdx.x; i < 8 * row_bytes; i += blockDim.x)
    b[place(i / row_bytes, i % row_bytes)] = gb[i];
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  Fragments f{};
  if (!is_wgmma) {
    auto word = [](const uint8_t* p, int at) { return *reinterpret_cast<const uint32_t*>(p + at); };
    f.a[0] = word(a, place(row, 4 * t)), f.a[1] = word(a, place(row + 8, 4 * t));
    f.b[0] = word(b, place(g, 4 * t));
    if (row_bytes == 32) {
      f.a[2] = word(a, place(row, 16 + 4 * t)), f.a[3] = word(a, place(row + 8, 16 + 4 * t));
      f.b[1] = word(b, place(g, 16 + 4 * t));
    }
  }
  const size_t at0 = (static_cast<size_t>(tile) * rows + row) * 8 + 2 * t, at1 = at0 + 64;
  if (is_f16) {
    f.d[0] = all_c[at0] | all_c[at0 + 1] << 16, f.d[1] = all_c[at1] | all_c[at1 + 1] << 16;
  } else {
    f.d[0] = all_c[at0], f.d[1] = all_c[at0 + 1], f.d[2] = all_c[at1], f.d[3] = all_c[at1 + 1];
  }
  multiply<Id>(f, descriptor(a), descriptor(b));
  if (is_f16) {
    all_d[at0] = f.d[0] & 0xffff, all_d[at0 + 1] = f.d[0] >> 16;
    all_d[at1] = f.d[1] & 0xffff, all_d[at1 + 1] = f.d[1] >> 16;
  } else {
    all_d[at0] = f.d[0], all_d[at0 + 1] = f.d[1], all_d[at1] = f.d[2], all_d[at1 + 1] = f.d[3];
  }
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* to_device(const std::vector<T>& host) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

struct Files {
  std::ofstream hashes, samples, all;
};

void write(Files& files, const Instruction& in, const std::vector<uint32_t>& d) {
  const int per_tile = in.rows() * kColumns;
  for (int tile = 0; tile < in.tiles(); ++tile) {
    const uint32_t* results = &d[size_t(tile) * per_tile];
    const uint32_t hash = hash_of(results, per_tile);
    files.hashes.write(reinterpret_cast<const char*>(&hash), 4);
    if (tile >= static_cast<int>(Mode::count)) continue;
    const int at = tile * 7 + 3;
    files.samples << in.name << ' ' << tile << ' ' << at / kColumns << ' ' << at % kColumns << ' '
                  << std::hex << results[at] << std::dec << '\n';
  }
  if (files.all.is_open())
    files.all.write(reinterpret_cast<const char*>(d.data()), std::streamsize(d.size() * 4));
}

template <int Id>
void record(Files& files) {
  const Instruction& in = instructions()[Id];
  const int rows = in.rows(), tiles = in.tiles(), row_bytes = in.k * bytes_of(in.a);
  std::vector<uint8_t> a(size_t(tiles) * rows * row_bytes), b(size_t(tiles) * kColumns * row_bytes);
  std::vector<uint32_t> c(size_t(tiles) * rows * kColumns), d(c.size(), 0xdeadbeef);
  auto fill = [&](int tile) {
    auto put = [&](std::vector<uint8_t>& to, Operand operand, Element element, int n) {
      const int bytes = bytes_of(element);
      for (int r = 0; r < n; ++r)
        for (int k = 0; k < in.k; ++k) {
          const uint32_t code = code_at(Id, tile, operand, r, k);
          std::memcpy(&to[(size_t(tile) * n + r) * row_bytes + k * bytes], &code, bytes);
        }
    };
    put(a, Operand::a, in.a, rows);
    put(b, Operand::b, in.b, kColumns);
    for (int i = 0; i < rows * kColumns; ++i)
      c[size_t(tile) * rows * kColumns + i] =
          code_at(Id, tile, Operand::c, i / kColumns, i % kColumns);
  };
  for (int tile = 0; tile < tiles; ++tile) fill(tile);
  uint8_t *da = to_device(a), *db = to_device(b);
  uint32_t *dc = to_device(c), *dd = to_device(d);
  tile_kernel<Id><<<tiles, in.is_wgmma ? 128 : 32>>>(da, db, dc, dd, row_bytes, in.is_wgmma,
                                                     in.accumulator == Element::f16);
  check(cudaGetLastError(), in.name);
  check(cudaDeviceSynchronize(), in.name);
  check(cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost), "copy");
  for (void* p : {(void*)da, (void*)db, (void*)dc, (void*)dd}) check(cudaFree(p), "cudaFree");
  write(files, in, d);
}

template <int Id>
void record_all(Files& files) {
  if constexpr (Id < kInstructions) {
    record<Id>(files);
    record_all<Id + 1>(files);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: tensor_core_probe HASHES SAMPLES [ALL]\n"), 2;
  Files files{std::ofstream(argv[1], std::ios::binary), std::ofstream(argv[2]), {}};
  if (argc > 3) files.all.open(argv[3], std::ios::binary);
  record_all<0>(files);
  return files.hashes.flush() && files.samples.flush() ? 0 : 1;
}
