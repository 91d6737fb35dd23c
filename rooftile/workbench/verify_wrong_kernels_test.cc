// SPDX-License-Identifier: Apache-2.0
// The check itself is tested: each way of being wrong, planted in a kernel, must be rejected for
// what it is; the right kernel passes the same problems.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/workbench/planted_kernels.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

constexpr const char* kPlain = "rows=5 cols=48";
constexpr const char* kGaps = "rows=5 cols=48 y.stride=50,1";
constexpr const char* kPadded = "rows=5 cols=48 x.stride=64,1";
constexpr const char* kShifted = "rows=5 cols=48 x.offset=3";
constexpr const char* kBf16 = "rows=5 cols=48 x=bf16";
constexpr const char* kFar = "rows=64 cols=4 x.stride=67108864,1";

struct Wrong {
  const char* name;
  const char* problem;
  const char* reason;         // a part of it
  std::function<Run()> make;  // one that has not run yet
  Determinism determinism = Determinism::batch_invariant;
  std::int64_t workspace_bytes = 0;
};

// A kernel that counts its calls from 1.
Run counting(std::function<void(int, const Toy&)> run) {
  auto calls = std::make_shared<int>(0);
  return [calls, run](const Context&, const Arguments& args) { run(++*calls, Toy(args)); };
}

Run plain(std::function<void(const Toy&)> run) {
  return [run](const Context&, const Arguments& args) { run(Toy(args)); };
}

Run from(std::function<double(const Toy&, std::int64_t, std::int64_t)> value) {
  return plain([value](const Toy& toy) {
    toy.fill([&](std::int64_t r, std::int64_t c) { return value(toy, r, c); });
  });
}

// Right the first time, and from then on the answer that was given for this key.
template <class Key>
Run caching(std::function<Key(const Toy&)> key_of) {
  auto answers = std::make_shared<std::map<Key, std::vector<double>>>();
  return plain([answers, key_of](const Toy& toy) {
    std::vector<double>& answer = (*answers)[key_of(toy)];
    if (answer.empty())
      toy.fill(
          [&](std::int64_t r, std::int64_t c) { return answer.emplace_back(toy.right(r, c)); });
    std::size_t i = 0;
    toy.fill([&](std::int64_t, std::int64_t) { return answer[i++]; });
  });
}

double truncated(double value) {
  auto wide = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &wide, sizeof bits);
  bits &= 0xffff0000U;
  std::memcpy(&wide, &bits, sizeof bits);
  return wide;
}

const std::vector<Wrong>& wrong_kernels() {
  using Index = std::int64_t;
  static const std::vector<Wrong> list{
      {"zeros", kPlain, "got 0, expected",
       [] { return from([](const Toy&, Index, Index) { return 0; }); }},
      {"a_constant", kPlain, "got 1, expected",
       [] { return from([](const Toy&, Index, Index) { return 1; }); }},
      {"nothing_done", kPlain, "got nan", [] { return plain([](const Toy&) {}); }},
      {"one_stale_element", kPlain, "y[4,47]: got nan",
       [] {
         return plain([](const Toy& toy) {
           for (Index i = 0; i + 1 < toy.rows * toy.cols; ++i)
             toy.store(i / toy.cols, i % toy.cols, toy.right(i / toy.cols, i % toy.cols));
         });
       }},
      {"one_nan", kPlain, "y[2,5]: got nan",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return r == 2 && c == 5 ? NAN : toy.right(r, c);
         });
       }},
      {"a_shifted_tile", kPlain, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return toy.right(r, c < 16 ? (c + 1) % 16 : c);
         });
       }},
      {"rows_exchanged", kPlain, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return toy.right(r == 0 ? 1 : r == 1 ? 0 : r, c);
         });
       }},
      {"reduced_precision", kPlain, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return round_to(DType::bf16, toy.right(r, c));
         });
       }},
      {"rounding_by_truncation", kBf16, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) { return truncated(toy.right(r, c)); });
       }},
      {"option_ignored", "rows=5 cols=48 factor=3", "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) { return 2 * toy.load(r, c) + 1; });
       }},
      {"write_before", kPlain, "wrote outside 'y'",
       [] {
         return plain([](const Toy& toy) {
           toy.fill_right();
           store_element(toy.y.dtype, toy.y.data, -1, 0);
         });
       }},
      {"write_past_the_end", kPlain, "wrote outside 'y'",
       [] {
         return plain([](const Toy& toy) {
           toy.fill_right();
           store_element(toy.y.dtype, toy.y.data, toy.rows * toy.cols, 0);
         });
       }},
      {"write_in_a_gap", kGaps, "wrote outside 'y'",
       [] {
         return plain([](const Toy& toy) {
           toy.fill_right();
           store_element(toy.y.dtype, toy.y.data, toy.cols, 0);
         });
       }},
      {"write_behind_the_input", kPlain, "changed input 'x' or the memory around it",
       [] {
         return plain([](const Toy& toy) {
           toy.fill_right();
           store_element(toy.x.dtype, toy.x.data, toy.rows * toy.cols, 0);
         });
       }},
      // Zeroed inputs make a zero answer right afterwards.
      {"input_zeroed", kPlain, "changed input 'x'",
       [] {
         return plain([](const Toy& toy) {
           for (Index i = 0; i < toy.rows * toy.cols; ++i)
             store_element(toy.x.dtype, toy.x.data, i, 0);
           toy.fill([](Index, Index) { return 1; });
         });
       }},
      {"input_changed_after_use", kPlain, "changed input 'x'",
       [] {
         return plain([](const Toy& toy) {
           toy.fill_right();
           store_element(toy.x.dtype, toy.x.data, 7, 0);
         });
       }},
      // An answer that lies in the memory already, or was kept, is right only for the data before.
      {"work_once_then_rely_on_memory", kPlain, "with other data in the same memory: y[",
       [] {
         return counting([](int call, const Toy& toy) {
           if (call == 1) toy.fill_right();
         });
       }},
      {"caching_by_pointer", kPlain, "with other data in the same memory",
       [] { return caching<void*>([](const Toy& toy) { return toy.x.data; }); }},
      {"caching_by_shape", kPlain, "with other data in the same memory",
       [] { return caching<Index>([](const Toy& toy) { return toy.rows * 1000 + toy.cols; }); }},
      {"lost_update_race", kPlain, "run 2: y[0,2]: got ",
       [] {
         return counting([](int call, const Toy& toy) {
           toy.fill_right();
           if (call % 3 == 0) toy.store(0, call % toy.cols - 1, 1);  // before factor * x was added
         });
       },
       Determinism::any},
      {"order_of_a_sum_varies", kPlain, "not repeatable: run 2",
       [] {
         return counting([](int call, const Toy& toy) {
           toy.fill([&](Index r, Index c) {
             return call % 2 == 0 ? toy.right(r, c) : nudged(toy.right(r, c), toy.y.dtype);
           });
         });
       },
       Determinism::repeatable},
      {"wrong_from_the_third_call", kPlain, "not repeatable: run 2",
       [] {
         return counting([](int call, const Toy& toy) {
           toy.fill_right();
           if (call > 2) toy.store(0, 0, -77);
         });
       },
       Determinism::repeatable},
      {"write_outside_in_the_third_call", kPlain, "run 2: wrote outside 'y'",
       [] {
         return counting([](int call, const Toy& toy) {
           toy.fill_right();
           if (call == 3) store_element(toy.y.dtype, toy.y.data, -1, 0);
         });
       },
       Determinism::repeatable},
      // One row's bits depend on how many there are, or on what the others hold.
      {"tile_chosen_by_the_batch", kPlain, "not batch-invariant: row 0 of 'y'",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return toy.rows > 1 ? toy.right(r, c) : nudged(toy.right(r, c), toy.y.dtype);
         });
       }},
      {"row_looks_at_its_neighbour", kPlain, "not batch-invariant",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           const bool is_lower = toy.load(0, 0) < toy.load(toy.rows - 1, 0);
           return is_lower || toy.load(0, 0) > toy.load(toy.rows - 1, 0)
                      ? nudged(toy.right(r, c), toy.y.dtype)
                      : toy.right(r, c);
         });
       }},
      {"workspace_read_before_written", kPlain, "got nan",
       [] {
         return [](const Context& context, const Arguments& args) {
           const Toy toy(args);
           const double left = load_element(DType::f32, context.workspace, 0);
           toy.fill([&](Index r, Index c) { return toy.right(r, c) + 0 * left; });
         };
       },
       Determinism::batch_invariant, 64},
      // Another kernel may have used it in between.
      {"workspace_kept_from_call_to_call", kPlain,
       "with other data in the same memory: y[0,0]: got",
       [] {
         auto is_first = std::make_shared<bool>(true);
         return [is_first](const Context& context, const Arguments& args) {
           if (std::exchange(*is_first, false)) store_element(DType::f32, context.workspace, 0, 1);
           const double one = load_element(DType::f32, context.workspace, 0);
           const Toy toy(args);
           toy.fill([&](Index r, Index c) { return toy.factor * toy.load(r, c) + one; });
         };
       },
       Determinism::batch_invariant, 64},
      {"write_past_the_workspace_in_the_third_call", kPlain, "run 2: wrote outside its workspace",
       [] {
         auto calls = std::make_shared<int>(0);
         return [calls](const Context& context, const Arguments& args) {
           Toy(args).fill_right();
           if (++*calls == 3) static_cast<char*>(context.workspace)[64] = 0;
         };
       },
       Determinism::repeatable, 64},
      {"write_past_the_workspace", kPlain, "wrote outside its workspace",
       [] {
         return [](const Context& context, const Arguments& args) {
           Toy(args).fill_right();
           static_cast<char*>(context.workspace)[64] = 0;
         };
       },
       Determinism::batch_invariant, 64},
      {"strides_ignored", kPadded, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return toy.factor * load_element(toy.x.dtype, toy.x.data, r * toy.cols + c) + 1;
         });
       }},
      {"column_stride_ignored", "rows=5 cols=33 x.stride=1,5", "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           return toy.factor * load_element(toy.x.dtype, toy.x.data, r * toy.x.stride(0) + c) + 1;
         });
       }},
      {"pointer_rounded_down", kShifted, "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           const auto address = reinterpret_cast<std::uintptr_t>(toy.x.data) & ~std::uintptr_t{15};
           const auto* aligned = reinterpret_cast<const float*>(address);
           return toy.factor * static_cast<double>(aligned[r * toy.x.stride(0) + c]) + 1;
         });
       }},
      // It wraps at 2^31 to stay within the memory here.
      {"index_of_32_bits", kFar, "(128 of 256 wrong",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           const Index offset = (r * toy.x.stride(0) + c) & 0x7fffffff;
           return toy.factor * load_element(toy.x.dtype, toy.x.data, offset) + 1;
         });
       }},
      {"two_passes_in_place", "rows=5 cols=48 y.alias=x", "got ",
       [] {
         return plain([](const Toy& toy) {
           toy.fill([](Index, Index) { return 1; });
           toy.fill([&](Index r, Index c) { return 1 + toy.factor * toy.load(r, c); });
         });
       }},
      {"tail_of_a_vector_skipped", "rows=5 cols=33", "got nan",
       [] {
         return plain([](const Toy& toy) {
           for (Index r = 0; r < toy.rows; ++r)
             for (Index c = 0; c < toy.cols / 16 * 16; ++c) toy.store(r, c, toy.right(r, c));
         });
       }},
      {"infinity_for_large_numbers", "rows=5 cols=48 data=extreme", "got ",
       [] {
         return from([](const Toy& toy, Index r, Index c) {
           const double square = toy.load(r, c) * toy.load(r, c);
           return toy.factor *
                      std::copysign(std::sqrt(static_cast<float>(square)), toy.load(r, c)) +
                  1;
         });
       }},
      {"throws", kPlain, "threw: no such luck",
       [] { return plain([](const Toy&) { throw std::runtime_error("no such luck"); }); }},
  };
  return list;
}

class WrongKernel : public testing::TestWithParam<Wrong> {};

TEST_P(WrongKernel, IsRejected) {
  const Wrong& wrong = GetParam();
  FakeDevice device;
  const KernelDef kernel = toy_kernel(wrong.make(), wrong.determinism, wrong.workspace_bytes);
  const Record record = verify(toy_op(), kernel, toy_problem(wrong.problem), device);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr(wrong.reason));
}

TEST_P(WrongKernel, WhereTheRightOnePasses) {
  const Wrong& wrong = GetParam();
  FakeDevice device;
  const KernelDef kernel = toy_kernel(run_right, wrong.determinism, wrong.workspace_bytes);
  const Record record = verify(toy_op(), kernel, toy_problem(wrong.problem), device);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
}

// Right by default; a tuner could choose the other.
TEST(WrongConfiguration, IsRejected) {
  FakeDevice device;
  for (const bool is_wrong : {true, false}) {
    KernelDef kernel = toy_kernel(run_right);
    kernel.configs = [](const Problem&, const DeviceProperties&) {
      return std::vector<Config>{{{{"tile", 1}}}, {{{"tile", 2}}}};
    };
    kernel.prepare = [is_wrong](const Problem&, Device&, const Config& config) {
      const bool nudges = is_wrong && config.at("tile") == 2;
      return Prepared{.run = [nudges](const Context&, const Arguments& args) {
        Toy(args).fill_right();
        if (nudges) Toy(args).store(0, 0, 7);
      }};
    };
    const Record record = verify(toy_op(), kernel, toy_problem(kPlain), device);
    EXPECT_EQ(record.status, is_wrong ? Status::failed : Status::passed);
    if (is_wrong) {
      EXPECT_THAT(record.reason, HasSubstr("with tile=2: "));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Verify, WrongKernel, testing::ValuesIn(wrong_kernels()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rooftile
