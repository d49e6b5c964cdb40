#include "isa/formats/fragments.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::isa {
namespace {

// Every element has exactly one holder, and both directions agree.
void expect_bijection(const FragmentLayout& layout, const char* what) {
  std::vector<int> seen(layout.rows * layout.cols);
  ASSERT_EQ(layout.lanes * layout.registers * layout.parts, layout.rows * layout.cols) << what;
  for (int lane = 0; lane < layout.lanes; ++lane)
    for (int reg = 0; reg < layout.registers; ++reg)
      for (int part = 0; part < layout.parts; ++part) {
        const MatrixIndex at = layout.element(lane, reg, part);
        ASSERT_TRUE(at.row >= 0 && at.row < layout.rows && at.col >= 0 && at.col < layout.cols) << what;
        ++seen[at.row * layout.cols + at.col];
        ASSERT_EQ(layout.holder(at.row, at.col), (FragmentIndex{lane, reg, part})) << what;
      }
  for (int count : seen) ASSERT_EQ(count, 1) << what;
}

TEST(Fragments, AreBijections) {
  expect_bijection(mma_a(16, 8, 16), "m16n8k8 f16 A");
  expect_bijection(mma_a(16, 16, 16), "m16n8k16 f16 A");
  expect_bijection(mma_a(16, 4, 32), "m16n8k4 tf32 A");
  expect_bijection(mma_a(16, 8, 32), "m16n8k8 tf32 A");
  expect_bijection(mma_a(16, 16, 8), "m16n8k16 s8 A");
  expect_bijection(mma_a(16, 32, 8), "m16n8k32 e4m3 A");
  expect_bijection(mma_a(8, 16, 8), "m8n8k16 s8 A");
  expect_bijection(mma_a(8, 4, 64), "m8n8k4 f64 A");
  expect_bijection(mma_a(16, 16, 64), "m16n8k16 f64 A");
  expect_bijection(mma_a(8, 32, 4), "m8n8k32 s4 A");
  expect_bijection(mma_a(16, 64, 4), "m16n8k64 s4 A");
  expect_bijection(mma_a(8, 128, 1), "m8n8k128 b1 A");
  expect_bijection(mma_a(16, 256, 1), "m16n8k256 b1 A");
  expect_bijection(mma_b(16, 16), "m16n8k16 f16 B");
  expect_bijection(mma_b(8, 32), "m16n8k8 tf32 B");
  expect_bijection(mma_b(32, 8), "m16n8k32 s8 B");
  expect_bijection(mma_b(4, 64), "m8n8k4 f64 B");
  expect_bijection(mma_b(64, 4), "m16n8k64 s4 B");
  expect_bijection(mma_b(256, 1), "m16n8k256 b1 B");
  expect_bijection(mma_c(16, 32), "m16n8 f32 C");
  expect_bijection(mma_c(16, 16), "m16n8 f16 C");
  expect_bijection(mma_c(8, 64), "m8n8 f64 C");
  expect_bijection(mma_c(8, 32), "m8n8 s32 C");
  for (int n : {8, 24, 64, 256}) {
    expect_bijection(wgmma_d(n, 32), "wgmma f32 D");
    expect_bijection(wgmma_d(n, 16), "wgmma f16 D");
  }
  for (int bits : {32, 16, 8, 1}) expect_bijection(wgmma_a(bits), "wgmma A");
}

TEST(Fragments, WgmmaMatchesTheManualsFormulas) {
  const FragmentLayout d = wgmma_d(128, 32), half = wgmma_d(128, 16);
  for (int t = 0; t < 128; ++t) {
    const int w = t / 32, l = t % 32;
    for (int i0 = 0; i0 < 2; ++i0)
      for (int i1 = 0; i1 < 2; ++i1)
        for (int j = 0; j < 16; ++j) {
          const MatrixIndex expected{16 * w + l / 4 + 8 * i1, 2 * (l % 4) + i0 + 8 * j};
          ASSERT_EQ(d.element(t, i0 + 2 * i1 + 4 * j, 0), expected);
          ASSERT_EQ(half.element(t, i1 + 2 * j, i0), expected);
        }
    for (int v1 = 0; v1 < 2; ++v1)
      for (int v2 = 0; v2 < 2; ++v2) {
        const int row = 16 * w + l / 4 + 8 * v1, reg = v1 + 2 * v2;
        ASSERT_EQ(wgmma_a(16).element(t, reg, 1), (MatrixIndex{row, 2 * (l % 4) + 1 + 8 * v2}));
        ASSERT_EQ(wgmma_a(8).element(t, reg, 3), (MatrixIndex{row, 4 * (l % 4) + 3 + 16 * v2}));
        ASSERT_EQ(wgmma_a(32).element(t, reg, 0), (MatrixIndex{row, l % 4 + 4 * v2}));
        ASSERT_EQ(wgmma_a(1).element(t, reg, 31), (MatrixIndex{row, 32 * (l % 4) + 31 + 128 * v2}));
      }
  }
}

// PTX, "Matrix Fragments for mma.m16n8k16", in the manual's own terms (element number i of a lane).
TEST(Fragments, MmaMatchesTheManualsFormulas) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, tig = lane % 4;
    for (int i = 0; i < 8; ++i) {  // f16 A: row + 8 for i in {2,3,6,7}, column + 8 for i >= 4
      const bool low = i < 2 || (i >= 4 && i < 6);
      ASSERT_EQ(mma_a(16, 16, 16).element(lane, i / 2, i % 2),
                (MatrixIndex{low ? group : group + 8, tig * 2 + (i & 1) + (i >= 4 ? 8 : 0)}));
    }
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(mma_b(16, 16).element(lane, i / 2, i % 2),
                (MatrixIndex{tig * 2 + (i & 1) + (i >= 2 ? 8 : 0), group}));
      ASSERT_EQ(mma_c(16, 32).element(lane, i, 0),
                (MatrixIndex{i < 2 ? group : group + 8, tig * 2 + (i & 1)}));
      ASSERT_EQ(mma_c(16, 16).element(lane, i / 2, i % 2),
                (MatrixIndex{i < 2 ? group : group + 8, tig * 2 + (i & 1)}));
      ASSERT_EQ(mma_a(16, 8, 32).element(lane, i, 0),
                (MatrixIndex{i % 2 == 0 ? group : group + 8, i < 2 ? tig : tig + 4}));
    }
    for (int i = 0; i < 16; ++i) {  // 8-bit, m16n8k32
      const bool low = i < 4 || (i >= 8 && i < 12);
      ASSERT_EQ(mma_a(16, 32, 8).element(lane, i / 4, i % 4),
                (MatrixIndex{low ? group : group + 8, tig * 4 + (i & 3) + (i >= 8 ? 16 : 0)}));
    }
    ASSERT_EQ(mma_a(8, 4, 64).element(lane, 0, 0), (MatrixIndex{group, tig}));
    ASSERT_EQ(mma_b(4, 64).element(lane, 0, 0), (MatrixIndex{tig, group}));
    ASSERT_EQ(mma_c(8, 64).element(lane, 1, 0), (MatrixIndex{group, tig * 2 + 1}));
  }
}

TEST(Fragments, LdmatrixGivesFragmentsOfMma) {
  // Four 8x8 matrices loaded in the order (rows 0-7, 8-15) x (columns 0-7, 8-15) are A of m16n8k16.
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix)
      for (int part = 0; part < 2; ++part) {
        const MatrixIndex in = ldmatrix_element(lane, part, false);
        const MatrixIndex a{in.row + matrix % 2 * 8, in.col + matrix / 2 * 8};
        ASSERT_EQ(mma_a(16, 16, 16).element(lane, matrix, part), a);
        for (bool transposed : {false, true}) {
          const MatrixIndex at = ldmatrix_element(lane, part, transposed);
          ASSERT_EQ(ldmatrix_holder(at.row, at.col, transposed), (FragmentIndex{lane, 0, part}));
        }
      }
  EXPECT_EQ(ldmatrix_element(5, 1, true), (MatrixIndex{3, 1}));
  EXPECT_EQ(ldmatrix_address_lane(3, 2), 26);
}

static_assert(wgmma_d(256, 32).registers == 128 && wgmma_d(256, 16).registers == 64);
static_assert(mma_a(16, 16, 16).registers == 4 && mma_b(16, 16).registers == 2 &&
              mma_c(16, 32).registers == 4);

}  // namespace
}  // namespace palladion::isa
