// Experiments with other values: what is an error when an output depends on it, strict when none does, and
// what is no evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/check/values/other_values.h"
#include "tests/sim/ptx_runner.h"
#include "tests/verify/twins.h"

namespace palladion::verify {
namespace {

using testing::Contains;
using testing::Not;
using Severity = sim::FindingSeverity;

// Two warps; %r1 the lane, %r2 the warp, %r3 its word of `tile`, %rd1 and %rd2 its words of `data` and `out`.
class Launch {
 public:
  Launch(const std::string& body, Role data) {
    module_ = isa::parse(sim::testing::ptx(R"(
.visible .entry k(.param .u64 data, .param .u64 out) {
  .shared .align 16 .b8 tile[256];
  .reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  and.b32 %r1, %r1, 31;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r3, tile;
  mad.lo.u32 %r3, %r1, 4, %r3;
  setp.eq.u32 %p1, %r2, 0;
)" + body + "\n  ret;\n}\n"))
                  .value();
    job_.module = &module_;
    job_.entry = "k";
    job_.grid = job_.cluster = {1, 1, 1};
    job_.block = {64, 1, 1};
    Array sevens({pl::u32, {64}});
    for (size_t i = 0; i < sevens.bytes.size(); i += 4) sevens.bytes[i] = std::byte{7};
    job_.buffers = {
        {.name = "data", .role = data, .type = sevens.type, .initial = sevens, .variable = {}},
        {.name = "out", .role = Role::out, .type = {pl::u32, {32}}, .initial = {}, .variable = {}}};
    job_.params = {PointerValue{0}, PointerValue{1}};
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  const Job& job() const { return job_; }

 private:
  isa::Module module_;
  Job job_;
};

// The findings under one schedule: "PLD4301", or "PLD4301?" when strict.
std::vector<std::string> found(const std::string& body, Role data = Role::in) {
  const Launch launch(body, data);
  const auto report = check(launch.job(), isa::default_arch(), {.only = sim::check::Conditions{}});
  EXPECT_TRUE(report);
  std::vector<std::string> out;
  for (const SeenFinding& s : report->findings)
    out.push_back(s.finding.code.name() + (s.finding.severity == Severity::strict ? "?" : ""));
  return out;
}

// The first warp reads words that nothing has written yet; the second one stores them.
TEST(OtherValues, OfSeveralFindingsDoNotCancelOut) {
  const auto codes = found(R"(
  @!%p1 st.shared.u32 [%r3], %r1;
  @%p1 ld.shared.u32 %r4, [%r3];
  @%p1 st.global.u32 [%rd2], %r4;)");
  ASSERT_FALSE(codes.empty());
  for (const std::string& code : codes) EXPECT_THAT(code, Not(testing::EndsWith("?")));
}

TEST(OtherValues, DifferFromPlaceToPlace) {
  EXPECT_THAT(found(R"(
  ld.shared.u32 %r4, [%r3];
  ld.shared.u32 %r5, [%r3+128];
  xor.b32 %r4, %r4, %r5;
  @%p1 st.global.u32 [%rd2], %r4;)"),
              Contains("PLD6101"));
}

TEST(OtherValues, DifferFromOneExecutionToTheNext) {
  EXPECT_THAT(found(R"(
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
AGAIN:
  ld.shared.u32 %r4, [%r3];
  xor.b32 %r5, %r5, %r4;
  @!%p1 st.shared.u32 [%r3], %r1;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 2;
  @%p2 bra AGAIN;
  @%p1 st.global.u32 [%rd2], %r5;)"),
              Contains("PLD4001"));
}

// What is stored depends on the load only when two of them change.
constexpr const char* either = R"(
  @%p1 ld.global.u32 %r4, [%rd1];
  @%p1 ld.global.u32 %r5, [%rd1+128];
  @!%p1 st.global.u32 [%rd1], %r1;
  @!%p1 st.global.u32 [%rd1+128], %r1;
  setp.eq.u32 %p2, %r4, 7;
  setp.eq.or.u32 %p2, %r5, 7, %p2;
  selp.u32 %r6, 1, 0, %p2;
  @%p1 st.global.u32 [%rd2], %r6;)";

TEST(OtherValues, OfSeveralFindingsAreTriedTogetherAtLast) {
  for (const std::string& code : found(either, Role::inout)) EXPECT_THAT(code, Not(testing::EndsWith("?")));
  EXPECT_THAT(found(std::string(either).replace(std::string(either).find("setp.eq.or.u32 %p2, %r5, 7, %p2;"),
                                                32, "setp.eq.or.u32 %p2, %r1, %r1, %p2;"),
                    Role::inout),
              testing::Each(testing::EndsWith("?")));
}

// Both warps take a barrier for the end of a copy; reading is one mistake, of which one warp's values are
// used. Of the issuer's warp the finding follows from that of the other one.
TEST(OtherValues, OfFindingsThatFollowAreChangedWithTheirCause) {
  const auto copied = [](const std::string& stores) {
    return found(R"(
  .shared .align 8 .b64 full;
  mov.u32 %r6, %tid.x;
  setp.eq.u32 %p2, %r6, 0;
  @%p2 mbarrier.init.shared.b64 [full], 1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [full], 128;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [full];
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  )" + stores + R"(
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
  @!%p3 bra WAIT;)");
  };
  EXPECT_THAT(copied("@!%p1 st.global.u32 [%rd2], %r4;"), testing::ElementsAre("PLD4610"));
  EXPECT_THAT(copied("@%p1 st.global.u32 [%rd2], %r4;"), testing::ElementsAre("PLD4610"));
  EXPECT_THAT(copied(""), testing::ElementsAre("PLD4610?"));
}

TEST(OtherValues, WhatTheKernelLeavesInAnInputCounts) {
  const char* const writes_input = R"(
  @!%p1 st.shared.u32 [%r3], %r1;
  @%p1 ld.shared.u32 %r4, [%r3];
  @%p1 st.global.u32 [%rd1], %r4;
  @%p1 st.global.u32 [%rd2], %r1;)";
  EXPECT_THAT(found(writes_input), Not(Contains(testing::EndsWith("?"))));
}

// Eight lanes load each word, one of them stores it: the copies in the other seven are not used.
TEST(OtherValues, LanesThatOwnWhatTheyReadKeepIt) {
  const auto update = [](const std::string& stores) {
    return R"(
  and.b32 %r5, %r1, 3;
  mul.wide.u32 %rd4, %r5, 4;
  sub.u64 %rd1, %rd1, %rd3;
  add.u64 %rd1, %rd1, %rd4;
  setp.eq.and.u32 %p2, %r5, %r1, %p1;
  ld.global.u32 %r4, [%rd1];
  add.u32 %r4, %r4, 1;
  @%p2 st.global.u32 [%rd1], %r4;
  )" + stores;
  };
  const std::string first_warp = "  @!%p1 ret;\n";
  EXPECT_THAT(found(first_warp + update(""), Role::inout), testing::ElementsAre("PLD4611?"));
  EXPECT_THAT(found(update(""), Role::inout), testing::ElementsAre("PLD6001?"));
  // A lane that owns nothing gives its copy away, of the first warp or of the second.
  EXPECT_THAT(
      found(first_warp + update("setp.eq.u32 %p3, %r1, 9; @%p3 st.global.u32 [%rd2], %r4;"), Role::inout),
      testing::ElementsAre("PLD4611"));
  EXPECT_THAT(found(update("@!%p1 st.global.u32 [%rd2], %r4;"), Role::inout),
              testing::ElementsAre("PLD6001"));
}

// A product takes 128 rows of A in tensor memory, of which two warps have stored 64.
TEST(OtherValues, OfTensorMemoryThatNothingHasWritten) {
  const auto found_for = [](const std::string& rows) {
    auto module = isa::parse(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
  .shared .align 1024 .b8 tile[1024];
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 base;
  .reg .pred %p<6>; .reg .b32 %r<12>, %d; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  setp.eq.u32 %p1, %r1, 0;
  setp.lt.u32 %p2, %r1, 64;
  setp.lt.u32 %p4, %r1, )" + rows +
                             R"(;
  setp.ge.u32 %p3, %r1, 32;
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 3;
  add.u32 %r4, %r4, %r3;
  st.shared.v2.u32 [%r4], {%r1, %r1};
  fence.proxy.async.shared::cta;
  @%p1 mbarrier.init.shared.b64 [done], 1;
  fence.mbarrier_init.release.cluster;
  @%p3 bra ALLOCATED;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
ALLOCATED:
  bar.sync 0;
  ld.shared.u32 %d, [base];
  add.u32 %r5, %d, 32;
  shl.b32 %r6, %r2, 21;
  add.u32 %r7, %r6, %r5;
  @!%p2 bra STORED;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};
  tcgen05.wait::st.sync.aligned;
STORED:
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @!%p1 bra WAIT;
  shr.u32 %r3, %r3, 4;
  cvt.u64.u32 %rd2, %r3;
  or.b64 %rd2, %rd2, 0x400800100000;
  setp.ne.u32 %p5, %r1, %r1;
  tcgen05.mma.cta_group::1.kind::f16 [%d], [%r5], %rd2, 0x8080010, %p5;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p5, [done], 0;
  @!%p5 bra WAIT;
  tcgen05.fence::after_thread_sync;
  add.u32 %r6, %r6, %d;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r8}, [%r6];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.fence::before_thread_sync;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  @%p4 st.global.u32 [%rd1], %r8;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @%p3 bra END;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 64;
END:
  ret;
}
)");
    const isa::Module parsed = std::move(module).value();
    Job job;
    job.module = &parsed;
    job.entry = "k";
    job.grid = job.cluster = {1, 1, 1};
    job.block = {128, 1, 1};
    job.buffers = {
        {.name = "out", .role = Role::out, .type = {pl::u32, {128}}, .initial = {}, .variable = {}}};
    job.params = {PointerValue{0}};
    const auto report = check(job, *isa::find_arch("b200"), {.only = sim::check::Conditions{}});
    std::vector<std::string> out;
    for (const SeenFinding& s : report->findings)
      out.push_back(s.finding.code.name() + (s.finding.severity == Severity::strict ? "?" : ""));
    return out;
  };
  EXPECT_THAT(found_for("64"), testing::ElementsAre("PLD4529?"));
  EXPECT_THAT(found_for("128"), testing::ElementsAre("PLD4529"));
}

// A read that does not happen in the experiment, or whose lanes are none, changes nothing: no evidence.
TEST(OtherValues, AReadThatIsNotExecutedIsNoEvidence) {
  const Launch launch("  @%p1 ld.global.u32 %r4, [%rd1];\n  st.global.u32 [%rd2], %r1;", Role::in);
  const auto changed = [&](const sim::RacingRead& read) {
    sim::check::OtherValues other({.reads = {read}, .unwritten_reads = {}}, 0);
    sim::Observer* const observers[] = {&other};
    (void)try_under({launch.job(), isa::default_arch(), {}, no_checks}, {}, nullptr, observers);
    return other.changed_every_read();
  };
  const auto load = static_cast<uint32_t>(launch.job().module->functions.front().body.size() - 3);
  EXPECT_TRUE(changed(
      {.pc = sim::Pc(load), .cluster = sim::ClusterOfGrid(0), .warp = sim::WarpOfCluster(0), .lanes = ~0U}));
  EXPECT_FALSE(changed(
      {.pc = sim::Pc(load), .cluster = sim::ClusterOfGrid(0), .warp = sim::WarpOfCluster(1), .lanes = ~0U}))
      << "its guard is false";
  EXPECT_FALSE(changed(
      {.pc = sim::Pc(load), .cluster = sim::ClusterOfGrid(0), .warp = sim::WarpOfCluster(0), .lanes = 0}))
      << "of no lane";
  EXPECT_FALSE(changed({.pc = sim::Pc(load + 1),
                        .cluster = sim::ClusterOfGrid(0),
                        .warp = sim::WarpOfCluster(0),
                        .lanes = ~0U}))
      << "no load";
}

}  // namespace
}  // namespace palladion::verify
