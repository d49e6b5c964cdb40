// Accesses of 256 bits, st.bulk, the byte mask of bulk copies, redux of f32.
#include <bit>
#include <numeric>

#include "sim/check/checker.h"
#include "tests/sim/blackwell.h"

namespace palladion::sim::testing {
namespace {

// --- accesses of 256 bits, st.bulk ------------------------------------------------------------------------
TEST(WideAccesses, EightWordsALane) {
  std::vector<uint32_t> in(256), out(256);
  std::iota(in.begin(), in.end(), 1U);
  PtxRunner k(blackwell(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r9, %tid.x;
  mul.wide.u32 %rd3, %r9, 32;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.L1::no_allocate.L2::evict_last.v8.b32 {%r1, %r2, %r3, _, %r5, %r6, %r7, %r8}, [%rd1];
  ld.global.nc.v4.b64 {%rd5, %rd6, %rd7, %rd8}, [%rd1];
  cvt.u32.u64 %r4, %rd6;
  shr.u64 %rd9, %rd6, 32;
  cvt.u32.u64 %r4, %rd9;
  st.global.cs.v8.b32 [%rd2], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
  ret;
})"),
              b200());
  k.array(in, "in").array(out, "out");
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  k.run_clean(how);
  for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], in[i - i % 8 + 7 - i % 8]) << i;
}

TEST(WideAccesses, AlignmentAndHopper) {
  const std::string text = blackwell(R"(
.visible .entry k(.param .u64 in) {
  .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1+16];
  ret;
})");
  std::vector<uint32_t> in(64);
  PtxRunner k(text, b200());
  k.array(in);
  expect_code(k.run(), "PLD3024");
  PtxRunner hopper(text);
  hopper.array(in);
  EXPECT_FALSE(hopper.run().clean());
}

TEST(StoreBulk, ZeroesTheRangeOfEachLane) {
  const auto kernel = [](const std::string& size) {
    return blackwell(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b32 words[256];
  .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  mad.lo.u32 %r3, %r1, 32, %r2;
  mov.u32 %r4, -1;
  st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
  st.shared.v4.b32 [%r3+16], {%r4, %r4, %r4, %r4};
  mov.u64 %rd2, )" + size +
                     R"(;
  st.bulk.weak.shared::cta [%r3+8], %rd2, 0;
  ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];
  mul.wide.u32 %rd3, %r1, 16;
  add.s64 %rd1, %rd1, %rd3;
  st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7};
  ret;
})");
  };
  std::vector<uint32_t> out(128);
  PtxRunner k(kernel("8"), b200());
  k.array(out);
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  k.run_clean(how);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 4 < 2 ? ~0U : 0U) << i;
  PtxRunner odd(kernel("12"), b200());
  odd.array(out);
  expect_code(odd.run(), "PLD3024");
}

// Ranges of two lanes that overlap are a race.
TEST(StoreBulk, IsAStoreToTheChecker) {
  std::vector<uint32_t> out(32);
  PtxRunner k(blackwell(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b32 words[256];
  .reg .b32 %r<12>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  mad.lo.u32 %r3, %r1, 8, %r2;
  mov.u64 %rd2, 16;
  st.bulk.weak.shared::cta [%r2], %rd2, 0;
  st.shared.b32 [%r3], %r1;
  ret;
})"),
              b200());
  k.array(out).shape({1, 1, 1}, {64, 1, 1});
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  EXPECT_FALSE(k.run(how).clean());
}

// Of each 16 bytes the lower four and the last are written; what is left out races with nothing.
TEST(ByteMask, OfABulkCopy) {
  std::vector<uint32_t> out(32, 7);
  PtxRunner k(blackwell(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b32 words[32];
  .reg .b16 %h<3>; .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.b32 [%r3], -1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 st.global.b32 [%rd1+4], 9;
  @%p1 bra $end;
  mov.b16 %h1, 0x800f;
  cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 128, %h1;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$end:
  ret;
})"),
              b200());
  k.array(out);
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  k.run_clean(how);
  for (uint32_t i = 0; i < 32; ++i) {
    const std::array<uint32_t, 4> expected = {~0U, i == 1 ? 9U : 7U, 7U, 0xFF000007U};
    EXPECT_EQ(out[i], expected[i % 4]) << i;
  }
}

// --- redux of f32 -----------------------------------------------------------------------------------------
uint32_t redux_f32(const std::string& words, const std::vector<uint32_t>& values) {
  std::vector<uint32_t> in = values, out(32);
  PtxRunner k(blackwell(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.f32 %f1, [%rd1];
  redux.sync.)" + words +
                        R"(.f32 %f2, %f1, -1;
  st.global.f32 [%rd2], %f2;
  ret;
})"),
              b200());
  k.array(in, "in").array(out, "out");
  k.run_clean();
  EXPECT_EQ(std::ranges::count(out, out[0]), 32);
  return out[0];
}

TEST(ReduxOfF32, NumbersZerosAndNan) {
  constexpr uint32_t one = 0x3F800000, minus_three = 0xC0400000, nan = 0xFFC00001;
  std::vector<uint32_t> v(32, one);
  v[5] = minus_three;
  EXPECT_EQ(redux_f32("min", v), minus_three);
  EXPECT_EQ(redux_f32("max", v), one);
  EXPECT_EQ(redux_f32("max.abs", v), 0x40400000U);
  EXPECT_EQ(redux_f32("min.abs", v), one);
  v[9] = nan;
  EXPECT_EQ(redux_f32("min", v), minus_three);
  EXPECT_EQ(redux_f32("min.NaN", v), 0x7FFFFFFFU);
  EXPECT_EQ(redux_f32("max.abs.NaN", v), 0x7FFFFFFFU);
  EXPECT_EQ(redux_f32("max", std::vector<uint32_t>(32, nan)), 0x7FFFFFFFU);
  std::vector<uint32_t> zeros(32, 0);
  zeros[31] = 0x80000000;
  EXPECT_EQ(redux_f32("min", zeros), 0x80000000U);
  EXPECT_EQ(redux_f32("max", zeros), 0U);
  EXPECT_EQ(redux_f32("min", std::vector<uint32_t>(32, 1)), 1U);  // subnormal numbers stay
}

}  // namespace
}  // namespace palladion::sim::testing
