// SPDX-License-Identifier: Apache-2.0
// Caches of machines that are laid out as files.
#include "rooftile/device/cpu/caches.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace rooftile {
namespace {

class Caches : public testing::Test {
 protected:
  Caches() { std::filesystem::remove_all(folder_); }
  ~Caches() override { std::filesystem::remove_all(folder_); }

  void add(int cpu, int index, int level, const char* type, const char* size, const char* shared) {
    const std::string cache =
        folder_ + "/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
    std::filesystem::create_directories(cache);
    std::ofstream(cache + "/level") << level << "\n";
    std::ofstream(cache + "/type") << type << "\n";
    std::ofstream(cache + "/size") << size << "\n";
    std::ofstream(cache + "/shared_cpu_list") << shared << "\n";
  }

  const std::string folder_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Caches, OneForAllProcessorsCountsOnce) {
  for (const int cpu : {0, 1}) {
    add(cpu, 0, 1, "Data", "32K", cpu == 0 ? "0" : "1");
    add(cpu, 1, 1, "Instruction", "64K", cpu == 0 ? "0" : "1");
    add(cpu, 2, 3, "Unified", "32768K", "0-1");
  }
  EXPECT_EQ(last_level_cache_bytes(folder_, {0, 1}), 32 << 20);
}

TEST_F(Caches, OnlyThoseOfTheProcessorsAskedFor) {
  add(0, 0, 3, "Unified", "16384K", "0-3");
  add(4, 0, 3, "Unified", "16384K", "4-7");
  EXPECT_EQ(last_level_cache_bytes(folder_, {0, 4}), 32 << 20);
  EXPECT_EQ(last_level_cache_bytes(folder_, {4}), 16 << 20);
}

TEST_F(Caches, NothingListedIsZero) {
  EXPECT_EQ(last_level_cache_bytes(folder_, {0}), 0);
  add(0, 0, 2, "Unified", "much", "0");
  EXPECT_EQ(last_level_cache_bytes(folder_, {0}), 0);
}

}  // namespace
}  // namespace rooftile
