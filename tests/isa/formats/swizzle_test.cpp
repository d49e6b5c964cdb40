#include "isa/formats/swizzle.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace palladion::isa {
namespace {

constexpr Swizzle all[] = {Swizzle::none,          Swizzle::b32,
                           Swizzle::b64,           Swizzle::b128,
                           Swizzle::b128_atom_32b, Swizzle::b128_atom_32b_flip_8b,
                           Swizzle::b128_atom_64b, Swizzle::b96};

// The 16-byte chunk numbers of the first rows as PTX draws them: row r of a 128-byte wide tile.
std::vector<uint32_t> chunks_of_row(Swizzle s, uint32_t row) {
  std::vector<uint32_t> out;
  for (uint32_t c = 0; c < 8; ++c) out.push_back(swizzle(row * 128 + c * 16, s) % 128 / 16);
  return out;
}

TEST(Swizzle, Permutes128ByteRowsAsDocumented) {
  using Row = std::vector<uint32_t>;
  EXPECT_EQ(chunks_of_row(Swizzle::b128, 0), (Row{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128, 1), (Row{1, 0, 3, 2, 5, 4, 7, 6}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128, 3), (Row{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128, 7), (Row{7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(chunks_of_row(Swizzle::b64, 1), (Row{1, 0, 3, 2, 5, 4, 7, 6}));
  EXPECT_EQ(chunks_of_row(Swizzle::b64, 3), (Row{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(chunks_of_row(Swizzle::b64, 4), (Row{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(chunks_of_row(Swizzle::b32, 1), (Row{1, 0, 3, 2, 5, 4, 7, 6}));
  EXPECT_EQ(chunks_of_row(Swizzle::b32, 2), (Row{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128_atom_32b, 1), (Row{2, 3, 0, 1, 6, 7, 4, 5}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128_atom_32b, 3), (Row{6, 7, 4, 5, 2, 3, 0, 1}));
  EXPECT_EQ(chunks_of_row(Swizzle::b128_atom_64b, 1), (Row{4, 5, 6, 7, 0, 1, 2, 3}));
}

TEST(Swizzle, IsAnInvolutionWithinItsPattern) {
  for (Swizzle s : all) {
    for (uint32_t a = 0; a < 4096; ++a) {
      const uint32_t b = swizzle(a, s);
      ASSERT_EQ(swizzle(b, s), a) << name(s);
      ASSERT_EQ(a / pattern_bytes(s), b / pattern_bytes(s)) << name(s);
      ASSERT_EQ(swizzle(a + pattern_bytes(s), s), b + pattern_bytes(s)) << name(s);
    }
  }
}

TEST(Swizzle, KeepsChunksWhole) {
  for (Swizzle s : all) {
    const uint32_t chunk = chunk_bytes(s);
    for (uint32_t a = 0; a < 2048; a += chunk)
      for (uint32_t i = 1; i < chunk; ++i) ASSERT_EQ(swizzle(a + i, s), swizzle(a, s) + i) << name(s);
  }
}

// What a swizzle is for: eight rows of one 16-byte column fall into different banks.
TEST(Swizzle, SpreadsAColumnOfEightRowsOverAllBanks) {
  for (auto [s, width] : {std::pair{Swizzle::b32, 32u}, {Swizzle::b64, 64u}, {Swizzle::b128, 128u}}) {
    for (uint32_t column = 0; column < width / 16; ++column) {
      std::set<uint32_t> bank_groups;
      for (uint32_t row = 0; row < 8; ++row)
        bank_groups.insert(swizzle(row * width + column * 16, s) % 128 / 16);
      EXPECT_EQ(bank_groups.size(), 8u) << name(s) << " column " << column;
    }
  }
}

TEST(Swizzle, PartsNameEachModeOnce) {
  for (Swizzle s : all) EXPECT_EQ(swizzle_of(parts(s)), s);
  EXPECT_FALSE(swizzle_of({1, 1}));  // 32B span with 32B atoms
  EXPECT_FALSE(swizzle_of({5, 0}));
}

TEST(Swizzle, MovesRunsOfAnyLengthAndPlace) {
  std::vector<std::byte> source(300);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (Swizzle s : all) {
    for (uint32_t address : {1024u, 1030u, 1087u}) {
      for (uint32_t bytes : {2u, 16u, 31u, 128u, 200u}) {
        std::vector<std::byte> shared(4096), back(bytes);
        store_swizzled(shared.data(), address, source.data(), bytes, s);
        for (uint32_t i = 0; i < bytes; ++i) ASSERT_EQ(shared[swizzle(address + i, s)], source[i]) << name(s);
        load_swizzled(back.data(), shared.data(), address, bytes, s);
        EXPECT_TRUE(std::equal(back.begin(), back.end(), source.begin()));
      }
    }
  }
}

}  // namespace
}  // namespace palladion::isa
