// Several threads store at one place: copies of one value, sums of the same terms, or different values; with
// these data and with all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/ptx_runner.h"
#include "tests/verify/twins.h"

namespace palladion::verify {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = sim::check::DataDependence::Kind;
using Severity = sim::FindingSeverity;
using Codes = std::vector<std::string>;

struct Seen {
  Codes codes;            // "PLD4612?": strict
  bool all_data = false;  // else these data
};

// Two warps; %r1 the lane, %p1 in warp 0. %f1 and %f2 are loaded, a value of its own in each thread; %rd4 is
// a word of `out` for two lanes, %rd2 begins `out`; %f3 to %f5 are the same three values in all threads.
Seen seen(const std::string& body, bool equal_data = false) {
  const auto module = isa::parse(sim::testing::ptx(R"(
.visible .entry k(.param .u64 data, .param .u64 out) {
  .shared .align 16 .b8 tile[256];
  .reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<24>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd3+256];
  ld.global.f32 %f3, [%rd1];
  ld.global.f32 %f4, [%rd1+4];
  ld.global.f32 %f5, [%rd1+8];
  and.b32 %r1, %r2, 31;
  setp.lt.u32 %p1, %r2, 32;
  shr.u32 %r3, %r2, 1;
  mul.wide.u32 %rd4, %r3, 4;
  add.u64 %rd4, %rd2, %rd4;
)" + body + "\n  ret;\n}\n"));
  if (!module) ADD_FAILURE() << body;
  Job job;
  job.module = &*module;
  job.entry = "k";
  job.grid = job.cluster = {1, 1, 1};
  job.block = {64, 1, 1};
  Array data({pl::f32, {128}});
  for (uint32_t i = 0; i < 128; ++i) {
    const float value = equal_data ? 0.1F : 1.0F / static_cast<float>(3 + i * i % 101);
    std::memcpy(data.bytes.data() + size_t{4} * i, &value, sizeof value);
  }
  job.buffers = {{.name = "data", .role = Role::in, .type = data.type, .initial = data, .variable = {}},
                 {.name = "out",
                  .role = Role::inout,
                  .type = {pl::f32, {64}},
                  .initial = Array({pl::f32, {64}}),
                  .variable = {}}};
  job.params = {PointerValue{0}, PointerValue{1}};
  const auto report = check(job, isa::default_arch());
  EXPECT_TRUE(report);
  EXPECT_TRUE(report->decided);
  Seen out;
  for (const SeenFinding& s : report->findings)
    out.codes.push_back(s.finding.code.name() + (s.finding.severity == Severity::strict ? "?" : ""));
  out.all_data = report->data.dependences.empty();
  for (const auto& d : report->data.dependences) EXPECT_EQ(d.kind, Kind::value);
  return out;
}

// A product is rounded before it is sent to the other lane, and fused with the sum where it is.
const char* const exchanged = R"(
  mul.rn.f32 %f6, %f1, %f2;
  shfl.sync.bfly.b32 %f7, %f6, 1, 31, -1;
  fma.rn.f32 %f8, %f1, %f2, %f7;
)";

TEST(Copies, SumsOfTheSameTermsThatLanesStoreAreStrict) {
  const Seen one = seen(exchanged + std::string("  st.global.f32 [%rd4], %f8;"));
  EXPECT_THAT(one.codes, ElementsAre("PLD4612?"));
  EXPECT_TRUE(one.all_data) << "they are sums of the same terms for all data";
  const std::string on = R"(
  shfl.sync.bfly.b32 %f9, %f8, 2, 31, -1;
  add.f32 %f10, %f8, %f9;
  cvt.rn.f16.f32 %h1, %f10;
  shr.u32 %r4, %r2, 2;
  mul.wide.u32 %rd5, %r4, 4;
  add.u64 %rd5, %rd2, %rd5;
)";
  EXPECT_THAT(
      seen(".reg .b16 %h<4>;\n" + std::string(exchanged) + on + "  st.global.f32 [%rd5], %f10;").codes,
      ElementsAre("PLD4612?"));
}

// The lanes beyond a row's end hold zeros, whose product is no term.
TEST(Copies, ProductsOfZerosThatAMaskLeavesAreNoTerms) {
  const std::string masked = R"(
  setp.ge.u32 %p2, %r1, 21;
  @%p2 mov.f32 %f1, 0f00000000;
  @%p2 mov.f32 %f2, 0f00000000;
)";
  const Seen zeros = seen(masked + exchanged + "  st.global.f32 [%rd4], %f8;");
  EXPECT_THAT(zeros.codes, ElementsAre("PLD4612?"));
  EXPECT_TRUE(zeros.all_data);
  EXPECT_THAT(seen("  setp.ge.u32 %p2, %r1, 21;\n  @%p2 mov.f32 %f1, 0f3F000000;\n" + std::string(exchanged) +
                   "  st.global.f32 [%rd4], %f8;")
                  .codes,
              ElementsAre("PLD4612?"))
      << "of other constants it is one";
}

TEST(Copies, NearlyEqualValuesOfOtherTermsAreErrors) {
  EXPECT_THAT(seen(R"(
  add.f32 %f8, %f1, 0f47800000;
  st.global.f32 [%rd4], %f8;)")
                  .codes,
              ElementsAre("PLD4612"))
      << "2^16 and a little";
  EXPECT_THAT(seen(exchanged + std::string(R"(
  @%p1 add.f32 %f8, %f8, %f1;
  st.global.f32 [%rd4], %f8;)"))
                  .codes,
              ElementsAre("PLD4612"));
  EXPECT_THAT(seen(exchanged + std::string(R"(
  mov.b32 %r5, %f8;
  and.b32 %r5, %r5, 7;
  st.global.u32 [%rd4], %r5;)"))
                  .codes,
              ElementsAre("PLD4612"))
      << "the last bits, as a number";
  EXPECT_THAT(seen(R"(
  and.b32 %r5, %r1, 1;
  st.global.u32 [%rd4], %r5;)")
                  .codes,
              ElementsAre("PLD4612"));
}

std::string of_two_warps(const std::string& second, const std::string& behind = "") {
  return R"(
  add.f32 %f8, %f3, %f4;
  add.f32 %f8, %f8, %f5;
  @%p1 bra STORE;
)" + second +
         "STORE:\n  st.shared.f32 [tile], %f8;\n" + behind;
}

TEST(Copies, SumsOfTheSameTermsThatWarpsStoreAreStrict) {
  const std::string again = R"(
  bar.sync 0;
  add.f32 %f8, %f4, %f4;
  add.f32 %f8, %f8, %f3;
  add.f32 %f9, %f4, %f3;
  @!%p1 add.f32 %f8, %f9, %f4;
  st.shared.f32 [tile], %f8;)";
  const std::string same = "  add.f32 %f8, %f4, %f5;\n  add.f32 %f8, %f8, %f3;\n";
  EXPECT_THAT(seen(of_two_warps(same)).codes, ElementsAre("PLD4001?"));
  EXPECT_THAT(seen(of_two_warps(same, again)).codes, testing::Each("PLD4001?"))
      << "the place is used again for another sum, behind a barrier";
  EXPECT_THAT(seen(of_two_warps("  add.f32 %f8, %f4, %f4;\n  add.f32 %f8, %f8, %f5;\n")).codes,
              ElementsAre("PLD4001"));
  EXPECT_THAT(
      seen(of_two_warps(same, "  @%p1 ld.shared.f32 %f9, [tile];\n  @%p1 st.global.f32 [%rd4], %f9;")).codes,
      testing::Contains("PLD4001"))
      << "one warp reads what the other one may have stored";
}

TEST(Copies, ATurnThatIsTakenByTheLastBitsIsAnError) {
  EXPECT_THAT(seen(exchanged + std::string(R"(
  mov.b32 %r5, %f8;
  and.b32 %r5, %r5, 1;
  setp.eq.u32 %p2, %r5, 0;
  selp.f32 %f8, 0f00000000, %f8, %p2;
  st.global.f32 [%rd4], %f8;)"))
                  .codes,
              ElementsAre("PLD4612"));
}

// What is one value with these data alone is said to be so.
// With these data all values are equal: what they are made of tells them apart.
TEST(Copies, ANegatedPredicateMakesAnotherValue) {
  EXPECT_FALSE(seen(R"(
  selp.f32 %f8, %f3, %f4, !%p1;
  @!%p1 mov.f32 %f8, %f3;
  st.shared.f32 [tile], %f8;)",
                    true)
                   .all_data)
      << "the second value in the first warp, the first one in the other";
  EXPECT_TRUE(seen(R"(
  selp.f32 %f8, %f3, %f4, !%p1;
  @!%p1 mov.f32 %f8, %f4;
  st.shared.f32 [tile], %f8;)",
                   true)
                  .all_data);
  const std::string turned = R"(
  setp.gt.f32 %p2, %f3, %f4;
  @%p1 bra ONE;
  setp.lt.and.f32 %p3, %f5, %f4, !%p2;
  bra.uni STORE;
ONE:
  setp.lt.and.f32 %p3, %f5, %f4, %p2;
STORE:
  selp.f32 %f8, 0f3F800000, 0f40000000, %p3;
  st.shared.f32 [tile], %f8;)";
  EXPECT_FALSE(seen(turned, true).all_data);
}

TEST(Copies, ValuesThatAreEqualWithTheseData) {
  const std::string own = "  st.global.f32 [%rd4], %f1;", common = "  st.global.f32 [%rd4], %f3;";
  EXPECT_THAT(seen(own).codes, ElementsAre("PLD4612"));
  const Seen lucky = seen(own, true);
  EXPECT_THAT(lucky.codes, IsEmpty());
  EXPECT_FALSE(lucky.all_data);
  const Seen copies = seen(common);
  EXPECT_THAT(copies.codes, IsEmpty());
  EXPECT_TRUE(copies.all_data);
  EXPECT_TRUE(seen("  st.global.u32 [%rd4], %r3;").all_data) << "made of no data";
  EXPECT_TRUE(seen("  mul.f32 %f6, %f3, %f4;\n  st.shared.f32 [tile], %f6;").all_data) << "two warps";
  EXPECT_FALSE(seen("  mul.f32 %f6, %f1, %f4;\n  @%p1 st.shared.f32 [tile], %f6;", true).all_data);
  // Both orders of an exchange are one sum; of a fused one they need not be.
  const std::string sum = "  shfl.sync.bfly.b32 %f6, %f1, 1, 31, -1;\n  add.f32 %f8, %f1, %f6;\n";
  EXPECT_TRUE(seen(sum + "  st.global.f32 [%rd4], %f8;").all_data);
  EXPECT_FALSE(seen(exchanged + std::string("  st.global.f32 [%rd4], %f8;"), true).all_data);
}

// Through memory, and by a way that data choose: equal values come from equal choices.
TEST(Copies, ValuesThroughMemoryAndBranches) {
  EXPECT_TRUE(seen(R"(
  mov.u32 %r5, tile;
  mad.lo.u32 %r6, %r2, 4, %r5;
  st.shared.f32 [%r6], %f1;
  bar.sync 0;
  and.b32 %r7, %r2, 62;
  mad.lo.u32 %r6, %r7, 4, %r5;
  ld.shared.f32 %f6, [%r6];
  st.global.f32 [%rd4], %f6;)")
                  .all_data);
  const std::string chosen = R"(
  setp.gt.f32 %p2, %f6, 0f3D800000;
  mov.f32 %f7, 0f00000000;
  @%p2 mov.f32 %f7, 0f3F800000;
  st.global.f32 [%rd4], %f7;)";
  EXPECT_TRUE(seen("  mov.f32 %f6, %f3;\n" + chosen).all_data);
  EXPECT_FALSE(seen("  mov.f32 %f6, %f1;\n" + chosen, true).all_data);
}

}  // namespace
}  // namespace palladion::verify
