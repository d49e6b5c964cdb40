#include "isa/formats/matrix_descriptor.h"

#include <gtest/gtest.h>

#include <set>

namespace palladion::isa {
namespace {

TEST(MatrixDescriptor, EncodesTheDocumentedBits) {
  const MatrixDescriptor d{
      .start = 0x1400, .leading = 16, .stride = 1024, .base_offset = 5, .swizzle = Swizzle::b128};
  EXPECT_EQ(encode(d), 1ull << 62 | 5ull << 49 | 64ull << 32 | 1ull << 16 | 0x140);
  EXPECT_EQ(encode({.swizzle = Swizzle::b64}) >> 62, 2u);
  EXPECT_EQ(encode({.swizzle = Swizzle::b32}) >> 62, 3u);
  EXPECT_EQ(encode({.start = 0x3FFF0}) & 0x3FFF, 0x3FFFu);
  EXPECT_EQ(encode(d) & matrix_descriptor_reserved, 0u);
}

TEST(MatrixDescriptor, RoundTrips) {
  for (Swizzle s : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (uint8_t base : {0, 3, 7}) {
      const MatrixDescriptor d{0x2A5F0, 0x3FFF0, 0x120, base, s};
      EXPECT_TRUE(representable(d));
      EXPECT_EQ(decode_matrix_descriptor(encode(d)), d);
    }
  EXPECT_FALSE(representable({.start = 8}));
  EXPECT_FALSE(representable({.stride = 1 << 18}));
  EXPECT_FALSE(representable({.swizzle = Swizzle::b128_atom_32b}));
}

// PTX writes canonical layouts as CuTe shapes and strides in elements; the layouts below are the
// manual's examples. offset_of evaluates ((a,b),(c,d)):((sa,sb),(sc,sd)) as CuTe does.
struct CuteLayout {
  uint32_t mn_shape, mn_stride, mn_stride2, k_shape, k_stride, k_stride2;
  uint32_t offset_of(uint32_t mn, uint32_t k) const {
    return mn % mn_shape * mn_stride + mn / mn_shape * mn_stride2 + k % k_shape * k_stride +
           k / k_shape * k_stride2;
  }
};

void expect_same(const MatrixDescriptor& d, Major major, int bytes, const CuteLayout& cute,
                 uint32_t mn_extent, uint32_t k_extent) {
  const MatrixLayout layout(d, major, bytes);
  for (uint32_t mn = 0; mn < mn_extent; ++mn)
    for (uint32_t k = 0; k < k_extent; ++k)
      ASSERT_EQ(layout.offset(mn, k), cute.offset_of(mn, k) * bytes) << "mn " << mn << " k " << k;
}

TEST(MatrixLayout, KMajorPlainTf32) {  // ((8,2),(4,4)):((4,32),(1,64)): LBO field 16, SBO field 8
  const auto d = decode_matrix_descriptor(16ull << 16 | 8ull << 32);
  expect_same(d, Major::k, 4, {8, 4, 32, 4, 1, 64}, 16, 16);
}

TEST(MatrixLayout, KMajor32ByteTf32) {  // ((8,2),8):((8,64),1): SBO field 16
  const auto d = decode_matrix_descriptor(1ull << 16 | 16ull << 32 | 3ull << 62);
  expect_same(d, Major::k, 4, {8, 8, 64, 8, 1, 0}, 16, 8);
}

TEST(MatrixLayout, MnMajorPlainBf16) {  // ((8,1,2),(8,2)):((1,8,64),(8,128)): LBO 16, SBO 8
  const auto d = decode_matrix_descriptor(16ull << 16 | 8ull << 32);
  expect_same(d, Major::mn, 2, {8, 1, 64, 8, 8, 128}, 16, 16);
}

TEST(MatrixLayout, MnMajor32ByteBf16) {  // ((8,2,2),(8,2)):((1,8,128),(16,256)): LBO 16, SBO 32
  const auto d = decode_matrix_descriptor(16ull << 16 | 32ull << 32 | 3ull << 62);
  expect_same(d, Major::mn, 2, {16, 1, 128, 8, 16, 256}, 32, 16);
}

TEST(MatrixLayout, MnMajor64ByteBf16) {  // ((8,4,2),(8,2)):((1,8,256),(32,512)): LBO 32, SBO 64
  const auto d = decode_matrix_descriptor(32ull << 16 | 64ull << 32 | 2ull << 62);
  expect_same(d, Major::mn, 2, {32, 1, 256, 8, 32, 512}, 64, 16);
}

// A 64x64 f16 tile as TMA leaves it with a 128B swizzle; the descriptor steps along K by 32 bytes.
TEST(MatrixLayout, FindsElementsOfATmaTileWhileKAdvances) {
  const uint32_t tile = 4096;
  for (uint32_t step = 0; step < 4; ++step) {
    const MatrixLayout layout(
        {.start = tile + step * 32, .leading = 16, .stride = 1024, .swizzle = Swizzle::b128}, Major::k, 2);
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t k = 0; k < 16; ++k)
        ASSERT_EQ(layout.address(row, k), swizzle(tile + row * 128 + step * 32 + k * 2, Swizzle::b128));
  }
}

TEST(MatrixLayout, MnMajorFindsElementsOfATransposedTmaTile) {
  const uint32_t tile = 8192;  // K rows of 64 f16 (128 bytes), as loaded from a row-major K x N matrix
  const MatrixLayout layout({.start = tile, .leading = 8192, .stride = 1024, .swizzle = Swizzle::b128},
                            Major::mn, 2);
  for (uint32_t n = 0; n < 64; ++n)
    for (uint32_t k = 0; k < 16; ++k)
      ASSERT_EQ(layout.address(n, k), swizzle(tile + k * 128 + n * 2, Swizzle::b128));
  EXPECT_EQ(layout.offset(64, 0), 8192u);
}

TEST(MatrixLayout, ChunksAgreeWithElements) {
  for (Swizzle s : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    const MatrixDescriptor d{.start = 0x2000, .leading = 2048, .stride = 1024, .swizzle = s};
    for (int bytes : {1, 2, 4}) {
      const uint32_t per_chunk = 16 / bytes;
      const MatrixLayout by_k(d, Major::k, bytes), by_mn(d, Major::mn, bytes);
      for (uint32_t mn = 0; mn < 64; ++mn)
        for (uint32_t k = 0; k < 32u / bytes; ++k) {
          ASSERT_EQ(by_k.address(mn, k), by_k.k_chunk_address(mn, k / per_chunk) + k % per_chunk * bytes);
          ASSERT_EQ(by_mn.address(mn, k), by_mn.mn_chunk_address(mn / per_chunk, k) + mn % per_chunk * bytes);
        }
    }
  }
}

// A pattern that starts 384 bytes past a 1024-byte boundary: base offset 3 moves the phase back.
TEST(MatrixLayout, BaseOffsetShiftsThePhase) {
  const uint32_t start = 1024 + 384;
  const MatrixLayout layout({.start = start, .stride = 1024, .base_offset = 3, .swizzle = Swizzle::b128},
                            Major::k, 2);
  EXPECT_EQ(layout.address(0, 0), start);
  EXPECT_EQ(layout.address(1, 0), start + 128 + 16);
}

}  // namespace
}  // namespace palladion::isa
