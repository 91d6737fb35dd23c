// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/kv_cache.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/rng.h"
#include "rooftile/device/cpu/cpu_device.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

constexpr KvShape kShape{.layers = 2, .kv_heads = 3, .head_dim = 4, .page_size = 4};

class KvCaches : public testing::Test {
 protected:
  Sequence filled(KvCache& cache, const Tokens& tokens) {
    Sequence sequence = cache.start(tokens);
    const auto fresh = std::span(tokens).subspan(static_cast<std::size_t>(sequence.length()));
    Tokens slots(fresh.size());
    cache.extend(sequence, fresh, slots);
    return sequence;
  }
  std::string fault_of_resume(KvCache& cache, const std::string& model) {
    try {
      cache.resume(model, path_);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing thrown";
  }
  ~KvCaches() override { std::filesystem::remove(path_); }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  const std::string path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".kv";
};

TEST_F(KvCaches, SlotsFollowThePages) {
  KvCache cache(*device_, kShape, 4);
  Sequence sequence;
  Tokens slots(6);
  cache.extend(sequence, Tokens{1, 2, 3, 4, 5, 6}, slots);
  EXPECT_THAT(sequence.pages, ElementsAre(0, 1));
  EXPECT_THAT(slots, ElementsAre(0, 1, 2, 3, 4, 5));
  Sequence other;
  Tokens one(1);
  cache.extend(other, Tokens{7}, one);
  EXPECT_THAT(one, ElementsAre(8));
  cache.extend(sequence, Tokens{8}, one);
  EXPECT_THAT(one, ElementsAre(6));
}

TEST_F(KvCaches, AFullCacheLeavesTheSequenceAsItWas) {
  KvCache cache(*device_, kShape, 2);
  Sequence sequence;
  Tokens slots(5);
  cache.extend(sequence, Tokens{1, 2, 3, 4, 5}, slots);
  Tokens more(9);
  EXPECT_THROW(cache.extend(sequence, Tokens(9), more), Error);
  EXPECT_EQ(sequence.length(), 5);
  EXPECT_EQ(cache.pool().num_held(), 2);
  cache.release(sequence);
  EXPECT_EQ(cache.pool().num_held(), 0);
}

TEST_F(KvCaches, ACommonHeadIsSharedButItsLastTokenIsComputed) {
  KvCache cache(*device_, kShape, 8);
  const Tokens tokens{1, 2, 3, 4, 5, 6, 7, 8};
  const Sequence first = filled(cache, tokens);
  cache.publish(first);
  const Sequence same = cache.start(tokens);
  EXPECT_EQ(same.length(), 4);
  EXPECT_EQ(same.pages[0], first.pages[0]);
  const Sequence longer = cache.start(Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(longer.length(), 8);
  EXPECT_EQ(cache.pool().num_held(), 2);
}

TEST_F(KvCaches, WasteCountsSharedPagesOnce) {
  KvCache cache(*device_, kShape, 8);
  const Sequence first = filled(cache, {1, 2, 3, 4, 5});
  cache.publish(first);
  const Sequence second = filled(cache, {1, 2, 3, 4, 6, 7});
  EXPECT_DOUBLE_EQ(cache.waste(std::vector{&first, &second}), 5.0 / 12);
}

TEST_F(KvCaches, WastesLittleOnAMixedBatch) {
  KvShape shape = kShape;
  shape.page_size = 16;
  KvCache cache(*device_, shape, 256);
  std::vector<Sequence> sequences;
  for (const std::size_t length : {37, 150, 512, 801, 1024, 90, 333, 260}) {
    Tokens tokens(length);
    std::iota(tokens.begin(), tokens.end(), static_cast<std::int32_t>(sequences.size() * 2000));
    sequences.push_back(filled(cache, tokens));
  }
  std::vector<const Sequence*> all;
  for (const Sequence& sequence : sequences) all.push_back(&sequence);
  EXPECT_LT(cache.waste(all), 0.04);
}

TEST_F(KvCaches, ResumesWhatWasSaved) {
  KvCache cache(*device_, kShape, 4);
  std::memset(cache.keys(0).data, 7, static_cast<std::size_t>(cache.bytes()));
  const Sequence sequence = filled(cache, {1, 2, 3, 4, 5});
  auto* key = cache.values(1).as<std::uint16_t>() + sequence.pages[1] * 3 * 4 * 4;
  *key = 0x1234;
  cache.save(sequence, "tiny", path_);
  KvCache other(*device_, kShape, 4);
  Sequence in_the_way;
  Tokens slot(1);
  other.extend(in_the_way, Tokens{9}, slot);
  const Sequence resumed = other.resume("tiny", path_);
  EXPECT_EQ(resumed.tokens, sequence.tokens);
  EXPECT_EQ(other.values(1).as<std::uint16_t>()[resumed.pages[1] * 3 * 4 * 4], 0x1234);
  EXPECT_EQ(other.keys(0).as<std::uint16_t>()[resumed.pages[0] * 3 * 4 * 4], 0x0707);
}

TEST_F(KvCaches, RefusesAnotherModelAnotherShapeAndADamagedFile) {
  KvCache cache(*device_, kShape, 4);
  cache.save(filled(cache, {1, 2, 3}), "tiny", path_);
  EXPECT_THAT(fault_of_resume(cache, "huge"), HasSubstr("belongs to the model 'tiny'"));
  KvShape wider = kShape;
  wider.head_dim = 8;
  KvCache another(*device_, wider, 4);
  EXPECT_THAT(fault_of_resume(another, "tiny"), HasSubstr("another shape"));

  const std::string good = *read_file(path_);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    replace_file(path_, bad);
    EXPECT_THAT(fault_of_resume(cache, "tiny"), HasSubstr("no saved sequence")) << i;
    replace_file(path_, good.substr(0, i));
    EXPECT_THAT(fault_of_resume(cache, "tiny"), HasSubstr("no saved sequence")) << i;
  }
  EXPECT_EQ(cache.pool().num_held(), 1);
}

TEST_F(KvCaches, RefusesADtypeThatOnlyLooksLikeItsOwn) {
  KvCache cache(*device_, kShape, 4);
  cache.save(filled(cache, {1, 2, 3}), "tiny", path_);
  std::string file = *read_file(path_);
  constexpr std::size_t kDtypeAt = 40;
  ASSERT_EQ(file[kDtypeAt], static_cast<char>(kShape.dtype));
  file[kDtypeAt + 1] = 1;  // 256 more
  const std::size_t end = file.size() - sizeof(std::uint64_t);
  const std::uint64_t checksum = hash_bytes(file.data(), end);
  std::memcpy(file.data() + end, &checksum, sizeof checksum);
  replace_file(path_, file);
  EXPECT_THAT(fault_of_resume(cache, "tiny"), HasSubstr("another shape or dtype"));
}

}  // namespace
}  // namespace rooftile
