// A second architecture: programs run on a chip that is no H200, within its limits and with its clock.
#include "tests/support/small_chip.h"

#include <gmock/gmock.h>

#include "isa/arch/clock.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using test::small_chip;
using ::testing::HasSubstr;

std::string for_target(const std::string& target, const std::string& body) {
  return ".version 8.6\n.target " + target + "\n.address_size 64\n" + body;
}

const std::string who_runs_where = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %nsmid;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d0, %d0, %d1;
  st.global.u32 [%d0], %r1;
  ret;
})";

std::string code_of(const RunResult& r) {
  if (!r.errors.empty()) return r.errors.front().code.name();
  return r.findings.empty() ? "" : r.findings.front().code.name();
}

TEST(SmallChip, RunsAKernelOnItsSms) {
  PtxRunner k(for_target("sm_90", who_runs_where), small_chip());
  std::vector<uint32_t> out(20, 7);
  k.array(out).shape({20, 1, 1}, {32, 1, 1});
  const RunResult r = k.run_clean();
  EXPECT_EQ(out, std::vector<uint32_t>(20, 8));
  EXPECT_EQ(r.ctas, 20U);
}

TEST(SmallChip, RefusesCodeForAnotherChipByName) {
  for (const std::string target : {"sm_90a", "sm_100", "sm_100f", "sm_103a"}) {
    PtxRunner k(for_target(target, who_runs_where), small_chip());
    std::vector<uint32_t> out(1);
    const RunResult r = k.array(out).run();
    ASSERT_EQ(code_of(r), "PLD1035") << target;
    EXPECT_THAT(r.errors.front().message, HasSubstr("small (sm_95a)"));
    EXPECT_THAT(r.errors.front().message, HasSubstr(target));
  }
  for (const std::string target : {"sm_95a", "sm_95", "sm_80"}) {
    PtxRunner k(for_target(target, who_runs_where), small_chip());
    std::vector<uint32_t> out(1);
    EXPECT_EQ(code_of(k.array(out).run()), "") << target;
  }
}

TEST(SmallChip, AnH200RefusesItsCode) {
  PtxRunner k(for_target("sm_95a", who_runs_where));
  std::vector<uint32_t> out(1);
  const RunResult r = k.array(out).run();
  EXPECT_EQ(code_of(r), "PLD1035");
  EXPECT_THAT(r.errors.front().message, HasSubstr("h200 (sm_90a)"));
}

// What a body without parameters ends with on the small chip.
RunResult ends(const std::string& body, isa::Dim3 block = {32, 1, 1}, uint32_t shared = 0,
               isa::Dim3 cluster = {1, 1, 1}) {
  PtxRunner k(for_target("sm_90",
                         ".visible .entry k() {\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                         ".shared .align 8 .b64 bar;\n" +
                             body + "\nret;\n}"),
              small_chip());
  k.shape({cluster.x, 1, 1}, block, cluster);
  k.launch.dynamic_shared = shared;
  return k.run();
}

TEST(SmallChip, LaunchesKeepItsLimits) {
  EXPECT_EQ(code_of(ends("", {256, 1, 1})), "");
  EXPECT_EQ(code_of(ends("", {288, 1, 1})), "PLD3101");
  EXPECT_EQ(code_of(ends("", {32, 1, 1}, 0, {4, 1, 1})), "");
  EXPECT_EQ(code_of(ends("", {32, 1, 1}, 0, {8, 1, 1})), "PLD3104");
  EXPECT_EQ(code_of(ends("", {32, 1, 1}, 60 * 1024)), "");
  const RunResult large = ends("", {32, 1, 1}, 64 * 1024);
  EXPECT_EQ(code_of(large), "PLD3108");
  EXPECT_THAT(large.errors.front().message, HasSubstr("small has 65536"));
}

TEST(SmallChip, AClusterFitsOneOfItsGpcs) {
  static constexpr std::array<uint8_t, 2> tpcs = {1, 1};
  isa::ArchSpec narrow = small_chip();
  narrow.gpc_tpcs = tpcs;
  narrow.sm_count = 4;
  const auto with_cluster = [&](uint32_t ctas) {
    PtxRunner k(for_target("sm_90", who_runs_where), narrow);
    std::vector<uint32_t> out(ctas);
    return k.array(out).shape({ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1}).run();
  };
  EXPECT_EQ(code_of(with_cluster(2)), "");
  const RunResult wide = with_cluster(4);
  ASSERT_EQ(code_of(wide), "PLD3104");
  EXPECT_EQ(wide.errors.front().message, "a cluster of 4 CTAs: a GPC of small has 2 SMs");
}

TEST(SmallChip, ProgramsKeepItsLimits) {
  EXPECT_EQ(code_of(ends("mov.u32 %r0, 7;\nbar.sync %r0;")), "");
  const RunResult barrier = ends("mov.u32 %r0, 8;\nbar.sync %r0;");
  EXPECT_EQ(code_of(barrier), "PLD3030");
  EXPECT_EQ(barrier.findings.front().message, say<Phrase::barrier_beyond_last>(8, 8, 7));
  EXPECT_EQ(code_of(ends("mov.u32 %r0, 1001;\nmbarrier.init.shared::cta.b64 [bar], %r0;")), "PLD3042");
  EXPECT_EQ(code_of(ends("mov.u32 %r0, 1000;\nmbarrier.init.shared::cta.b64 [bar], %r0;")), "");
}

TEST(SmallChip, SharedMemoryBeginsBehindWhatItReserves) {
  EXPECT_EQ(code_of(ends("mov.u32 %r0, 2048;\nst.shared.u32 [%r0], %r0;")), "");
  const RunResult below = ends("mov.u32 %r0, 1024;\nst.shared.u32 [%r0], %r0;");
  EXPECT_EQ(code_of(below), "PLD3020");
  const Statement& message = below.findings.front().message;
  ASSERT_EQ(message.phrase, Phrase::outside_shared);
  EXPECT_EQ(message,
            say<Phrase::outside_shared>("write", 4, 1024, 2048, std::get<int64_t>(message.values[4])));
}

class SmallClock : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parsed = isa::ClockParameters::parse(test::small_clock, "small.clock");
    ASSERT_TRUE(parsed.has_value()) << isa::render(parsed.error());
    clock_ = std::move(*parsed);
  }
  RunResult timed(const std::string& body, uint32_t ctas, isa::Dim3 cluster = {1, 1, 1}) {
    PtxRunner k(for_target("sm_90", body), small_chip());
    std::vector<uint32_t> out(ctas);
    k.array(out).shape({ctas, 1, 1}, {32, 1, 1}, cluster);
    return k.run({.schedule = *schedule_named("hardware"), .parameters = &clock_});
  }
  isa::ClockParameters clock_{};
};

TEST_F(SmallClock, TimesAKernel) {
  const RunResult few = timed(who_runs_where, 8), many = timed(who_runs_where, 800);
  EXPECT_EQ(code_of(few), "");
  EXPECT_TRUE(many.completed);
  EXPECT_GT(many.clock.cycles, few.clock.cycles);
  EXPECT_TRUE(timed(who_runs_where, 8, {4, 1, 1}).completed);
}

// `launch.cluster_sms` of the .clock file.
TEST_F(SmallClock, RefusesAClusterThatFitsNoneOfItsSms) {
  clock_.launch_cluster_sms = 3;
  const RunResult r = timed(who_runs_where, 8, {4, 1, 1});
  ASSERT_EQ(code_of(r), "PLD3104");
  EXPECT_THAT(r.errors.front().message, HasSubstr("launch.cluster_sms"));
}

TEST_F(SmallClock, RefusesAProgramThatNeedsAnAbsentUnit) {
  const RunResult r = timed(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>;
  .shared .align 8 .b64 bar;
  mov.u32 %r0, bar;
  mapa.shared::cluster.u32 %r0, %r0, 0;
  ld.shared::cluster.u32 %r1, [%r0];
  ret;
})",
                            4, {4, 1, 1});
  ASSERT_EQ(code_of(r), "PLD3122");
  EXPECT_THAT(r.errors.front().message, HasSubstr("ld.shared::cluster.u32"));
  EXPECT_THAT(r.errors.front().message, HasSubstr("unit dsm"));
}

// Without parameters of its own a chip has no clock.
TEST(SmallChip, HasNoClockOfItsOwn) {
  PtxRunner k(for_target("sm_90", who_runs_where), small_chip());
  std::vector<uint32_t> out(1);
  EXPECT_EQ(code_of(k.array(out).run({.schedule = *schedule_named("hardware")})), "PLD3121");
}

}  // namespace
}  // namespace palladion::sim::testing
