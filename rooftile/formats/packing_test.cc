// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/packing.h"

#include <gtest/gtest.h>

#include <array>

#include "rooftile/formats/fp4.h"

namespace rooftile {
namespace {

// Comfy-Org/comfy-kitchen#41: two elements a byte, low nibble first unless the order is named.
TEST(Nibbles, Order) {
  const auto pack = [](float a, float b, NibbleOrder order) {
    return pack_nibbles(encode<e2m1>(a).bits, encode<e2m1>(b).bits, order);
  };
  EXPECT_EQ(pack(0.5, 6, NibbleOrder::low_first), 0x71);
  EXPECT_EQ(pack(-1, 2, NibbleOrder::low_first), 0x4a);
  EXPECT_EQ(pack(0.5, 6, NibbleOrder::high_first), 0x17);
}

// intel/auto-round#2273: unpacking what was packed gives it back, for all 256 pairs.
TEST(Nibbles, AllPairs) {
  for (const NibbleOrder order : {NibbleOrder::low_first, NibbleOrder::high_first}) {
    for (std::uint32_t pair = 0; pair < 256; ++pair) {
      const std::uint8_t byte = pack_nibbles(pair & 15, pair >> 4, order);
      EXPECT_EQ(load_nibble(&byte, 0, order), pair & 15);
      EXPECT_EQ(load_nibble(&byte, 1, order), pair >> 4);
    }
  }
}

TEST(Nibbles, StoringLeavesTheNeighbour) {
  for (const NibbleOrder order : {NibbleOrder::low_first, NibbleOrder::high_first}) {
    for (std::uint32_t code = 0; code < 16; ++code) {
      std::array<std::uint8_t, 3> bytes{0xa5, 0xa5, 0xa5};
      store_nibble(bytes.data(), 3, code | 0xf0, order);
      const bool high = order == NibbleOrder::low_first;
      EXPECT_EQ(bytes[1], high ? (code << 4 | 0x5) : (0xa0 | code));
      EXPECT_TRUE(bytes[0] == 0xa5 && bytes[2] == 0xa5);
    }
  }
}

TEST(Nibbles, SignExtension) {
  for (int value = -8; value < 8; ++value)
    EXPECT_EQ(sign_extend_nibble(static_cast<std::uint32_t>(value)), value);
}

TEST(Sixbits, LittleEndianStream) {
  const std::array<std::uint8_t, 3> bytes{0x41, 0x30, 0x10};  // 0x103041 = 4, 3, 1, 1 from the top
  EXPECT_EQ(load_sixbit(bytes.data(), 0), 1);
  EXPECT_EQ(load_sixbit(bytes.data(), 1), 1);
  EXPECT_EQ(load_sixbit(bytes.data(), 2), 3);
  EXPECT_EQ(load_sixbit(bytes.data(), 3), 4);
}

TEST(Sixbits, StoringChangesOnlyItsBits) {
  for (const int before : {0x00, 0xff, 0xa5}) {
    for (int index = 0; index < 8; ++index) {
      for (std::uint32_t code = 0; code < 64; ++code) {
        std::array<std::uint8_t, 6> bytes{};
        bytes.fill(static_cast<std::uint8_t>(before));
        const std::array<std::uint8_t, 6> old = bytes;
        store_sixbit(bytes.data(), index, code | 0xc0);
        for (int other = 0; other < 8; ++other)
          ASSERT_EQ(load_sixbit(bytes.data(), other),
                    other == index ? code : load_sixbit(old.data(), other));
      }
    }
  }
}

}  // namespace
}  // namespace rooftile
