// SPDX-License-Identifier: Apache-2.0
// The caches of proofs and tuned records: kept, shared between processes, and never believed when
// they are corrupt, of other code, another device, another type or another class of shapes.
#include "rooftile/op/cache.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/op/proof.h"
#include "rooftile/op/test_op.h"
#include "rooftile/op/tuned.h"

namespace rooftile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const DeviceProperties kCpu{.id = "cpu", .name = "a cpu", .kind = "cpu-avx2", .driver = ""};

// What standard error holds after `action`.
std::string warnings_of(const std::function<void()>& action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

// A file in a cache that this process has not read yet: as another process finds it.
class SecondProcess {
 public:
  explicit SecondProcess(const std::string& name, const std::string& text) {
    write_text(cache_.file(name), text);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return cache_.file(name); }

 private:
  TestCache cache_;
};

TEST(CacheFile, KeepsEntries) {
  const TestCache cache;
  const CacheFile file("a.json");
  EXPECT_TRUE(file.read().empty());
  file.update([](CacheFile::Entries& entries) { entries["key \"1\"\n"] = "value \xc3\xa9"; });
  file.update([](CacheFile::Entries& entries) { entries["other"] = ""; });
  const CacheFile::Entries expected{{"key \"1\"\n", "value \xc3\xa9"}, {"other", ""}};
  EXPECT_EQ(CacheFile("a.json").read(), expected);
  EXPECT_EQ(file.path(), cache.file("a.json"));
}

TEST(CacheFile, MakesItsFolder) {
  const TestFolder folder;
  const TestVariable variable("ROOFTILE_CACHE", folder.file("deep/er"));
  CacheFile("a.json").update([](CacheFile::Entries& entries) { entries["a"] = "b"; });
  EXPECT_TRUE(fs::exists(folder.file("deep/er/a.json")));
}

// A second process must not trust what it finds.
class CorruptCache : public testing::TestWithParam<const char*> {};

TEST_P(CorruptCache, IsSetAsideWithAWarning) {
  const SecondProcess process("a.json", GetParam());
  CacheFile::Entries entries;
  const std::string warning = warnings_of([&] { entries = CacheFile("a.json").read(); });
  EXPECT_TRUE(entries.empty());
  EXPECT_THAT(warning, HasSubstr("is not usable"));
  EXPECT_THAT(warning, HasSubstr("set aside as"));
  EXPECT_EQ(text_of_file(process.file("a.json.corrupt")), GetParam());
  EXPECT_FALSE(fs::exists(process.file("a.json")));
  CacheFile("a.json").update([](CacheFile::Entries& all) { all["new"] = "entry"; });
  EXPECT_EQ(CacheFile("a.json").read().size(), 1U) << "the cache works again";
}

INSTANTIATE_TEST_SUITE_P(Cache, CorruptCache,
                         testing::Values("", "{", "null", "[]", "{}", "\xff\xfe\x01",
                                         R"({"schema": 2, "entries": {}})",
                                         R"({"schema": "1", "entries": {}})", R"({"schema": 1})",
                                         R"({"schema": 1, "entries": 5})",
                                         R"({"schema": 1, "entries": {"a": 5}})",
                                         R"({"schema": 1, "entries": {"a": "b"})"));

TEST(CacheFile, ThatIsAFolderIsSetAside) {
  const TestCache cache;
  fs::create_directory(cache.file("a.json"));
  EXPECT_THAT(warnings_of([] { EXPECT_TRUE(CacheFile("a.json").read().empty()); }),
              HasSubstr("set aside"));
}

// The warning is given once in a process: hence one of its own.
void update_twice() {
  for (const char* value : {"b", "c"})
    CacheFile("a.json").update([&](CacheFile::Entries& entries) { entries["a"] = value; });
  std::fputs("went on", stderr);
  std::_Exit(0);
}

TEST(CacheFileDeathTest, ThatCannotBeWrittenIsNoFailure) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TestFolder folder;
  write_text(folder.file("file"), "not a folder");
  const TestVariable variable("ROOFTILE_CACHE", folder.file("file/cache"));
  const auto warns_once = testing::Truly([](const std::string& text) {
    const std::size_t first = text.find("nothing is remembered");
    return first != std::string::npos && first == text.rfind("nothing is remembered") &&
           text.ends_with("went on");
  });
  EXPECT_EXIT(update_twice(), testing::ExitedWithCode(0), warns_once);
}

// The name of a device is whatever its driver says.
TEST(CacheFile, TakesTextThatIsNoUtf8) {
  const TestCache cache;
  EXPECT_NO_THROW(CacheFile("a.json").update(
      [](CacheFile::Entries& entries) { entries["GPU \xff\xfe"] = "b"; }));
  EXPECT_EQ(CacheFile("a.json").read().size(), 1U);
}

TEST(CacheFile, LosesNothingToOtherWriters) {
  const TestCache cache;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 4; ++w)
      writers.emplace_back([w] {
        for (int i = 0; i < 10; ++i)
          CacheFile("a.json").update([&](CacheFile::Entries& entries) {
            entries[std::to_string(w) + "." + std::to_string(i)] = "";
          });
      });
  }
  EXPECT_EQ(CacheFile("a.json").read().size(), 40U);
}

// What is read while another writes is the file before or after, and no corrupt one.
TEST(CacheFile, IsReadWhileAnotherWrites) {
  const TestCache cache;
  const CacheFile file("a.json");
  const auto write = [&](std::size_t bytes) {
    file.update([&](CacheFile::Entries& entries) { entries["a"] = std::string(bytes, 'x'); });
  };
  write(1);
  std::atomic<bool> is_done{false};
  std::jthread writer([&] {
    for (std::size_t bytes = 1; !is_done; bytes = bytes == 1 ? 20000 : 1) write(bytes);
  });
  int num_empty = 0;
  const std::string warning = warnings_of([&] {
    for (int i = 0; i < 2000; ++i) num_empty += CacheFile("a.json").read().empty() ? 1 : 0;
  });
  is_done = true;
  EXPECT_EQ(num_empty, 0);
  EXPECT_EQ(warning, "");
}

class Proofs : public testing::Test {
 protected:
  Proofs() { kernel_.own_code_hash = "code1"; }
  [[nodiscard]] ProofState state() const { return proof_state(op_, kernel_, kCpu); }

  TestCache cache_;
  OpDef op_ = make_test_op();
  KernelDef kernel_ = test_kernel("plain");
};

TEST_F(Proofs, AreRememberedAndForgotten) {
  EXPECT_EQ(state(), ProofState::none);
  remember_proof(op_, kernel_, kCpu, true);
  EXPECT_EQ(state(), ProofState::current);
  remember_proof(op_, kernel_, kCpu, false);
  EXPECT_EQ(state(), ProofState::none);
}

TEST_F(Proofs, AreStaleForOtherCodeOrCases) {
  remember_proof(op_, kernel_, kCpu, true);
  kernel_.own_code_hash = "code2";
  EXPECT_EQ(state(), ProofState::stale);
  kernel_.own_code_hash = "code1";
  EXPECT_EQ(state(), ProofState::current);
  op_.case_set_version = 2;
  EXPECT_EQ(state(), ProofState::stale);
}

TEST_F(Proofs, HoldForOneKindOfDevice) {
  remember_proof(op_, kernel_, kCpu, true);
  DeviceProperties other = kCpu;
  other.kind = "cpu-avx512";
  EXPECT_EQ(proof_state(op_, kernel_, other), ProofState::none);
  other = kCpu;
  other.name = "another cpu of this kind";
  EXPECT_EQ(proof_state(op_, kernel_, other), ProofState::current);
}

TEST_F(Proofs, ReachTheNextProcess) {
  remember_proof(op_, kernel_, kCpu, true);
  const SecondProcess process("proofs.json", text_of_file(cache_.file("proofs.json")));
  EXPECT_EQ(state(), ProofState::current);
}

TEST_F(Proofs, OfACorruptCacheAreNone) {
  const SecondProcess process("proofs.json", "{]");
  ProofState found = ProofState::current;
  EXPECT_THAT(warnings_of([&] { found = state(); }), HasSubstr("proofs.json"));
  EXPECT_EQ(found, ProofState::none);
}

TEST(CodeHash, IsThatOfTheModuleOrTheKernelsOwn) {
  static const KernelDef one = test_kernel("one");
  static const KernelDef two = test_kernel("two");
  EXPECT_EQ(code_hash(one).size(), 16U);
  EXPECT_EQ(code_hash(one), code_hash(two)) << "one program";
  static const KernelDef own = [] {
    KernelDef kernel = test_kernel("own");
    kernel.own_code_hash = "abc";
    return kernel;
  }();
  EXPECT_EQ(code_hash(own), "abc");
}

// Two libraries of the same instructions whose constants differ.
TEST(CodeHash, IsOfTheConstantsToo) {
  const auto hash_of = [](const char* module) {
    void* library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    return module_hash(dlsym(library, "rooftile_scaled"));
  };
  const std::string folder = ROOFTILE_BINARY_DIR "/modules/";
  const std::string first = hash_of((folder + "first.so").c_str());
  EXPECT_EQ(first, hash_of((folder + "first.so").c_str()));
  EXPECT_NE(first, hash_of((folder + "second.so").c_str()));
}

class TunedRecords : public testing::Test {
 protected:
  TunedRecords() {
    kernel_.own_code_hash = "code1";
    kernel_.configs = [](const Problem&, const DeviceProperties&) {
      return std::vector<Config>{{{{"tile", 8}}}, {{{"tile", 16}}}};
    };
    registry_.add(op_);
    registry_.add(kernel_);
  }
  void remember(const std::string& line, const Config& config = {{{"tile", 16}}}) {
    remember_tuned(operation(), test_problem(line), kCpu, {"plain", config, 12.5});
  }
  [[nodiscard]] std::optional<Tuned> find(const std::string& line,
                                          const DeviceProperties& device = kCpu) const {
    return find_tuned(operation(), test_problem(line), device);
  }
  [[nodiscard]] const Operation& operation() const { return registry_.operation("scale"); }

  TestCache cache_;
  OpDef op_ = make_test_op();
  KernelDef kernel_ = test_kernel("plain");
  Registry registry_;
};

TEST_F(TunedRecords, AreFoundAgain) {
  EXPECT_FALSE(find("rows=20 cols=100"));
  remember("rows=20 cols=100");
  const auto tuned = find("rows=20 cols=100");
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->kernel, "plain");
  EXPECT_EQ(tuned->config.text(), "tile=16");
  EXPECT_EQ(tuned->time_us, 12.5);
  const SecondProcess process("tuned.json", text_of_file(cache_.file("tuned.json")));
  EXPECT_TRUE(find("rows=20 cols=100")) << "in another process too";
}

TEST_F(TunedRecords, AreOfTheKernelThatTheProblemNames) {
  remember("rows=20 cols=100");
  Problem problem = test_problem("rows=20 cols=100");
  problem.kernel = "plain";
  EXPECT_TRUE(find_tuned(operation(), problem, kCpu));
  problem.kernel = "other";
  EXPECT_FALSE(find_tuned(operation(), problem, kCpu));
}

TEST_F(TunedRecords, HoldForTheirTypesLayoutsAndOptions) {
  remember("rows=20 cols=96 x=fp16");
  EXPECT_TRUE(find("rows=20 cols=96 x=fp16"));
  for (const char* other : {" x=f32", " x=bf16", " x=fp16 y=f32", " x=fp16 bias=f32",
                            " x=fp16 act=gelu", " x=fp16 x.stride=1,24", " x=fp16 y.alias=x",
                            " x=fp16 x.offset=1", " x=fp16 x.stride=97,1", " x=fp16 x.stride=0,1"})
    EXPECT_FALSE(find("rows=20 cols=96" + std::string(other))) << other;
  EXPECT_TRUE(find("rows=20 cols=96 x=fp16 x.offset=8 x.stride=104,1")) << "aligned all the same";
}

TEST_F(TunedRecords, OfUnusualDataAreForNothingElse) {
  remember("rows=20 cols=100 data=zeros seed=3");
  EXPECT_FALSE(find("rows=20 cols=100"));
  EXPECT_TRUE(find("rows=20 cols=100 data=zeros"));
}

TEST_F(TunedRecords, HoldForTheirScales) {
  remember("rows=20 cols=96 codes=i4 codes.block=1,32 codes.scale=f32");
  EXPECT_TRUE(find("rows=20 cols=96 codes=i4 codes.block=1,32 codes.scale=f32"));
  for (const char* scales :
       {"codes.block=1,16 codes.scale=f32", "codes.block=1,32 codes.scale=bf16",
        "codes.block=1,32 codes.scale=f32 codes.zero=i8",
        "codes.block=1,32 codes.scale=f32 codes.scale2=f32",
        "codes.block=1,32 codes.scale=f32 codes.swizzle=128x4"})
    EXPECT_FALSE(find("rows=20 cols=96 codes=i4 " + std::string(scales))) << scales;
}

TEST_F(TunedRecords, HoldForTheirClassOfShapes) {
  remember("rows=20 cols=100");
  EXPECT_TRUE(find("rows=17 cols=68")) << "both within the same powers of two";
  EXPECT_FALSE(find("rows=17 cols=65")) << "rows that are not aligned";
  EXPECT_TRUE(find("rows=32 cols=128"));
  EXPECT_FALSE(find("rows=33 cols=100"));
  EXPECT_FALSE(find("rows=16 cols=100")) << "small extents are classes of their own";
  remember("rows=7 cols=100");
  EXPECT_TRUE(find("rows=7 cols=100"));
  EXPECT_FALSE(find("rows=8 cols=100"));
}

TEST_F(TunedRecords, HoldForTheirDeviceAndDriver) {
  remember("rows=20 cols=100");
  for (const auto change : {+[](DeviceProperties& device) { device.name = "another"; },
                            +[](DeviceProperties& device) { device.compute_units = 2; },
                            +[](DeviceProperties& device) { device.kind = "cpu-avx512"; },
                            +[](DeviceProperties& device) { device.driver = "580.1"; }}) {
    DeviceProperties other = kCpu;
    change(other);
    EXPECT_FALSE(find("rows=20 cols=100", other));
  }
}

TEST_F(TunedRecords, AreIgnoredWhenTheCodeHasChanged) {
  remember("rows=20 cols=100");
  kernel_.own_code_hash = "code2";
  EXPECT_FALSE(find("rows=20 cols=100"));
}

// A file edited by hand, or of another version: its configuration must not reach the kernel.
TEST_F(TunedRecords, AreIgnoredWhenTheyNameWhatIsNotOffered) {
  remember("rows=20 cols=100", {{{"tile", 99}}});
  EXPECT_FALSE(find("rows=20 cols=100"));
  const std::string key = tuned_key(test_problem("rows=20 cols=100"), kCpu);
  for (const char* entry :
       {"", "gone code=code1 time_us=1", "plain", "plain tile=16", "plain code=code1 tile",
        "plain code=code1 time_us=1 tile=x", "plain code=code1 time_us=1"}) {
    CacheFile::Entries entries{{key, entry}};
    const TestCache cache;
    CacheFile("tuned.json").update([&](CacheFile::Entries& all) { all = entries; });
    EXPECT_FALSE(find("rows=20 cols=100")) << entry;
  }
}

TEST_F(TunedRecords, OfACorruptCacheAreNone) {
  remember("rows=20 cols=100");
  const SecondProcess process("tuned.json", "{\"schema\": 1, \"entries\": {\"a\": ");
  bool is_found = true;
  EXPECT_THAT(warnings_of([&] { is_found = find("rows=20 cols=100").has_value(); }),
              HasSubstr("tuned.json"));
  EXPECT_FALSE(is_found);
}

}  // namespace
}  // namespace rooftile
