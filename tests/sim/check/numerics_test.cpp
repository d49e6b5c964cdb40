// Overflow of f16 (NU-01), the first NaN (NU-02), sums whose order is open (NU-04). All are strict.
#include <limits>

#include "sim/check/core/merge.h"
#include "tests/sim/check/registers_observer.h"
#include "tests/sim/check/said.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t infinity = 0x7F800000, nan_bits = 0x7FC00000;

// A warp, %f0 and %h0 loaded from in[tid]; %f9 is stored to out[tid].
std::vector<Finding> run(const std::string& body, uint32_t first_word, isa::Dim3 grid = {1, 1, 1},
                         isa::Dim3 block = {32, 1, 1}) {
  PtxRunner runner(ptx(R"(.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 sum[256];
  .shared .align 1024 .b8 big[4096];
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.b32 %r1, [%rd0];
  mov.b32 %f0, %r1;
  mov.b32 {%h0, %h1}, %r1;
  mov.f32 %f9, 0f00000000;
)" + body + R"(
  st.global.f32 [%rd1], %f9;
  ret;
}
)"));
  std::vector<uint32_t> in(1024, 0x3F800000), out(1024);
  in[3] = first_word;
  runner.array(in).array(out).shape(grid, block);
  return findings_of(runner);
}

// Of the finding's note: the lane and its operands.
struct Operands {
  int64_t lane = 0;
  std::vector<double> values;
  friend bool operator==(const Operands&, const Operands&) = default;
};

Operands operands_of(const Finding& f) {
  Operands out;
  for (const PhraseValue& v : f.notes.at(0).values)
    if (const auto* lane = std::get_if<int64_t>(&v))
      out.lane = *lane;
    else
      out.values.push_back(std::get<double>(v));
  return out;
}

// Strict, whatever it says.
auto has_code(const std::string& code) {
  return ::testing::AllOf(::testing::Field(&Said::code, code),
                          ::testing::Field(&Said::severity, FindingSeverity::strict));
}

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Numerics, FirstNanOnly) {
  const auto found = run("sub.f32 %f1, %f0, %f0; add.f32 %f9, %f1, %f0;", infinity);
  ASSERT_THAT(said_by(found), ElementsAre(strict("PLD6302", Phrase::nan_from_numbers)));
  EXPECT_EQ(operands_of(found[0]), (Operands{3, {inf, inf}}));
  EXPECT_THAT(run("sub.f32 %f1, %f0, %f0;", nan_bits), IsEmpty());
  EXPECT_THAT(run("sub.f32 %f1, %f0, %f0;", 0x40000000), IsEmpty());
  EXPECT_THAT(run("max.f32 %f1, %f0, 0f3F800000; add.f32 %f9, %f1, %f0;", infinity), IsEmpty());
}

TEST(Numerics, InstructionThatOverwritesItsSource) {
  const auto found = run("mul.f32 %f0, %f0, 0f00000000;", infinity);
  ASSERT_THAT(said_by(found), ElementsAre(strict("PLD6302", Phrase::nan_from_numbers)));
  EXPECT_EQ(operands_of(found[0]), (Operands{3, {inf, 0}}));
  EXPECT_THAT(run("mul.f32 %f0, %f0, 0f00000000;", nan_bits), IsEmpty());
}

TEST(Numerics, GuardedLanesOnly) {
  EXPECT_THAT(run("setp.ne.u32 %p1, %r0, 3; @%p1 sub.f32 %f1, %f0, %f0;", infinity), IsEmpty());
}

TEST(Numerics, HalfOverflow) {
  const Said overflow = strict("PLD6301", Phrase::f16_overflow);
  const auto product = run("mul.f16 %h2, %h0, %h0;", 0x00005C00);
  ASSERT_THAT(said_by(product), ElementsAre(overflow));
  EXPECT_EQ(operands_of(product[0]).lane, 3);
  EXPECT_THAT(said_by(run("mul.f16x2 %r2, %r1, %r1;", 0x5C003C00)), ElementsAre(overflow));
  const auto conversion = run("cvt.rn.f16.f32 %h2, %f0;", 0x47900000);
  ASSERT_THAT(said_by(conversion), ElementsAre(overflow));
  EXPECT_EQ(operands_of(conversion[0]), (Operands{3, {73728}}));
  EXPECT_THAT(run("mul.f16 %h2, %h0, %h0;", 0x00007C00), IsEmpty());  // infinite before
  EXPECT_THAT(run("cvt.rn.f16.f32 %h2, %f0;", 0x47700000), IsEmpty());
}

TEST(Numerics, WarpMatrixOverflow) {
  const std::string mma =
      "mov.u32 %r2, 0; mov.u32 %r3, 0;"
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r2, %r3}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r2, "
      "%r3};";
  EXPECT_THAT(said_by(run(mma, 0x5C005C00)), ElementsAre(has_code("PLD6301")));
  EXPECT_THAT(said_by(run(mma, 0x7C007C00)), ElementsAre(has_code("PLD6302")));  // other lanes have zeros
  EXPECT_THAT(run(mma, 0x7E007E00), IsEmpty());
}

// All of A are the halves of `a`, all of B those of `b`.
std::vector<Finding> wgmma(uint32_t a, uint32_t b, const std::string& types, const std::string& registers) {
  return run("mov.u32 %r2, " + std::to_string(b) + "; mov.u32 %r3, " + std::to_string(a) + R"(;
  mov.u32 %r4, big;
  mad.lo.u32 %r5, %r0, 16, %r4;
  st.shared.v4.b32 [%r5], {%r3, %r3, %r3, %r3};
  st.shared.v4.b32 [%r5+2048], {%r2, %r2, %r2, %r2};
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r4, %r4, 4;
  cvt.u64.u32 %rd4, %r4;
  or.b64 %rd4, %rd4, 0x1000080000;
  add.u64 %rd5, %rd4, 128;
  setp.ne.u32 %p1, %r0, %r0;
  setp.eq.u32 %p2, %r0, %r0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.)" +
                 types + ".f16.f16 {" + registers + "}, %rd4, %rd5, %p1, 1, 1, 0, 0;\n" +
                 "  wgmma.mma_async.sync.aligned.m64n8k16." + types + ".f16.f16 {" + registers +
                 "}, %rd4, %rd5, %p2, 1, 1, 0, 0;" + R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)",
             0x3F800000, {1, 1, 1}, {128, 1, 1});
}

TEST(Numerics, WgmmaOverflow) {
  EXPECT_THAT(wgmma(0x3C003C00, 0x3C003C00, "f16", "%r10, %r11"), IsEmpty());
  // 16 * 256 * 256 at once is too much; the second wgmma only adds to what is infinite.
  const auto found = wgmma(0x5C005C00, 0x5C005C00, "f16", "%r10, %r11");
  ASSERT_THAT(said_by(found), ElementsAre(strict("PLD6301", Phrase::accumulator_overflow)));
  EXPECT_EQ(found[0].object.kind, Object::Kind::accumulators);
  EXPECT_EQ(found[0].object.ranges.at(0).from, 0U);
  EXPECT_EQ(found[0].object.ranges.at(1).from, 0U);
  EXPECT_THAT(wgmma(0x5C005C00, 0x5C005C00, "f32", "%f10, %f11, %f12, %f13"), IsEmpty());
}

TEST(Numerics, WgmmaOfInfinities) {
  const std::string f32 = "%f10, %f11, %f12, %f13";
  EXPECT_THAT(wgmma(0x7C007C00, 0x3C003C00, "f32", f32), IsEmpty());
  EXPECT_THAT(said_by(wgmma(0x7C007C00, 0xBC003C00, "f32", f32)),
              ElementsAre(strict("PLD6302", Phrase::accumulator_nan)));
  EXPECT_THAT(said_by(wgmma(0x7C003C00, 0x00003C00, "f32", f32)), ElementsAre(has_code("PLD6302")));
  EXPECT_THAT(wgmma(0x7E003C00, 0x3C003C00, "f32", f32), IsEmpty());  // a NaN came in
}

// --- sums -----------------------------------------------------------------------------------------------

TEST(Numerics, SumsOfSeveralWarps) {
  const std::string addition = "ld.param.u64 %rd3, [out]; red.relaxed.gpu.global.add.f32 [%rd3+512], %f0;";
  EXPECT_THAT(run(addition, 0x3F800000), IsEmpty());
  const auto floats = run(addition, 0x3F800000, {1, 1, 1}, {64, 1, 1});
  ASSERT_THAT(said_by(floats), ElementsAre(has_code("PLD6304")));
  EXPECT_EQ(floats[0].object.names, (std::vector<Named>{{"array", {}, {{512, 516}}}}));
  const std::string doubles =
      "ld.param.u64 %rd3, [out]; .reg .f64 %d; cvt.f64.f32 %d, %f0; red.relaxed.gpu.global.add.f64 "
      "[%rd3+512], %d;";
  const auto summed = run(doubles, 0x3F800000, {1, 1, 1}, {64, 1, 1});
  ASSERT_EQ(summed.size(), 1U);
  EXPECT_EQ(summed[0].object.names, (std::vector<Named>{{"array", {}, {{512, 520}}}}));
  const auto of_ctas = run(addition, 0x3F800000, {3, 1, 1});
  ASSERT_THAT(said_by(of_ctas), ElementsAre(has_code("PLD6304")));
  EXPECT_EQ(of_ctas[0].sites[0].cta.x, 1U);
  EXPECT_EQ(of_ctas[0].sites[1].cta.x, 0U);
}

// It is no mistake by itself: many sums are one remark.
TEST(Numerics, SumsOfManyInstructionsAreOneRemark) {
  std::string adds = "ld.param.u64 %rd3, [out];\n";
  for (int i = 0; i < 4; ++i)
    adds += "red.relaxed.gpu.global.add.f32 [%rd3+" + std::to_string(512 + 64 * i) + "], %f0;\n";
  const auto r = check::merge(run(adds, 0x3F800000, {1, 1, 1}, {64, 1, 1}));
  ASSERT_EQ(r.size(), 1U);
  EXPECT_EQ(r[0].code, "PLD6304");
  EXPECT_EQ(r[0].also.size(), 3U);
}

TEST(Numerics, SumsThatDoNotDepend) {
  EXPECT_THAT(run("red.relaxed.gpu.global.add.s32 [%rd1], %r0;", 0x3F800000, {3, 1, 1}, {64, 1, 1}),
              IsEmpty());
  EXPECT_THAT(run("red.relaxed.gpu.global.add.f32 [%rd1+512], %f0;", 0x3F800000, {1, 1, 1}, {64, 1, 1}),
              IsEmpty());
  EXPECT_THAT(said_by(run("red.shared.add.f32 [sum], %f0;", 0x3F800000, {1, 1, 1}, {64, 1, 1})),
              ElementsAre(has_code("PLD6304")));
}

}  // namespace
}  // namespace palladion::sim::testing
