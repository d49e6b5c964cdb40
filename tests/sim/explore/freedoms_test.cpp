// What PTX leaves to the hardware and `check --explore` varies: waits that give up, elected lanes, residency
// and start orders; several observers of one run; what one run decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/check/observers.h"
#include "sim/explore/decide.h"
#include "sim/explore/residency.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;
using sim::testing::PtxRunner;

std::string kernel(const std::string& declarations, const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n" +
         declarations +
         ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd0, [out];\n"
         "cvta.to.global.u64 %rd0, %rd0;\nmov.u32 %r0, %tid.x;\n" +
         body + "ret;\n}\n";
}

sim::RunOptions under(std::string_view name, sim::Observer* observer = nullptr) {
  sim::RunOptions o;
  conditions_named(name)->apply(o);
  o.observer = observer;
  return o;
}

TEST(Conditions, names_are_read_back) {
  for (const char* text :
       {"functional", "seeded:7", "latest,resident=1", "functional,order=descending", "earliest,fail_waits=2",
        "functional,resident=12,order=random:3,fail_waits=4,elect=5,lanes=6",
        "functional,resident=1,cancels=0", "functional,resident=1,order=descending,cancels=7"}) {
    const auto c = conditions_named(text);
    ASSERT_TRUE(c) << text;
    EXPECT_EQ(name(*c), text);
  }
  EXPECT_EQ(name(*conditions_named("functional,order=ascending")), "functional");
  for (const char* text : {"", "fast", "latest,", "latest,resident", "latest,resident=0", "latest,resident=x",
                           "latest,order=up", "latest,order=random:", "latest,colour=1", ",resident=1",
                           "latest,cancels=", "latest,cancels=4294967295"})
    EXPECT_FALSE(conditions_named(text)) << text;
}

TEST(Conditions, orders_and_residencies_are_all_tried) {
  EXPECT_TRUE(hostile_residencies(1, 132).empty());
  EXPECT_EQ(hostile_residencies(8, 132).size(), 2U) << "one at a time; all, in other orders";
  const auto many = hostile_residencies(500, 132);
  ASSERT_EQ(many.size(), 3U);
  EXPECT_EQ(many.front().size(), 3U);
  EXPECT_EQ(many.back().front().resident, 500U);
}

// Each of four CTAs takes a number from a counter as it starts.
std::vector<uint32_t> start_numbers(std::string_view conditions) {
  std::vector<uint32_t> out(5);
  PtxRunner runner(kernel("", R"(
setp.ne.u32 %p0, %r0, 0;
@%p0 bra END;
atom.relaxed.gpu.global.add.u32 %r1, [%rd0], 1;
mov.u32 %r2, %ctaid.x;
mul.wide.u32 %rd1, %r2, 4;
add.u64 %rd1, %rd0, %rd1;
st.global.u32 [%rd1+4], %r1;
END:
)"));
  runner.array(out).shape({4, 1, 1}, {32, 1, 1});
  runner.run_clean(under(conditions));
  return {out.begin() + 1, out.end()};
}

TEST(Freedoms, clusters_start_in_the_order_that_was_asked_for) {
  EXPECT_EQ(start_numbers("functional,resident=1"), (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(start_numbers("functional,resident=1,order=descending"), (std::vector<uint32_t>{3, 2, 1, 0}));
  std::set<std::vector<uint32_t>> seen;
  for (int seed = 1; seed < 9; ++seed) {
    const std::string name = "functional,resident=1,order=random:" + std::to_string(seed);
    std::vector<uint32_t> numbers = start_numbers(name);
    EXPECT_EQ(numbers, start_numbers(name)) << "not the same again";
    seen.insert(numbers);
    std::ranges::sort(numbers);
    EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 2, 3})) << name;
  }
  EXPECT_GT(seen.size(), 2U);
}

// What each lane of a warp found in a counter that all of them increase by one instruction.
std::vector<uint32_t> lane_order(std::string_view conditions, uint32_t warps) {
  std::vector<uint32_t> out(1 + 32 * warps);
  PtxRunner runner(kernel("", R"(
atom.relaxed.gpu.global.add.u32 %r1, [%rd0], 1;
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd1, %rd0, %rd1;
st.global.u32 [%rd1+4], %r1;
)"));
  runner.array(out).shape({1, 1, 1}, {32 * warps, 1, 1});
  runner.run_clean(under(conditions));
  return {out.begin() + 1, out.end()};
}

TEST(Freedoms, lanes_of_an_atomic_are_performed_in_another_order) {
  std::vector<uint32_t> ascending(32);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_EQ(lane_order("functional", 1), ascending);
  std::vector<uint32_t> numbers = lane_order("functional,lanes=1", 2);
  EXPECT_EQ(numbers, lane_order("functional,lanes=1", 2)) << "not the same again";
  EXPECT_NE(numbers, lane_order("functional,lanes=2", 2));
  for (uint32_t& n : numbers) n %= 32;  // either warp may be the first
  std::vector<uint32_t> first(numbers.begin(), numbers.begin() + 32),
      second(numbers.begin() + 32, numbers.end());
  EXPECT_NE(first, second) << "one order for all warps";
  std::ranges::sort(second);
  EXPECT_EQ(second, ascending);
  std::set<uint32_t> first_warps;
  for (int seed = 1; seed < 9; ++seed)
    first_warps.insert(lane_order("functional,lanes=" + std::to_string(seed), 2)[0] / 32);
  EXPECT_EQ(first_warps.size(), 2U) << "the order of warps varies, too";
}

std::vector<uint32_t> leaders(std::string_view conditions) {
  std::vector<uint32_t> out(32);
  PtxRunner runner(kernel("", R"(
elect.sync %r1|%p0, 0xffffffff;
elect.sync %r2|%p1, 0xffffffff;
selp.u32 %r3, 256, 0, %p0;
or.b32 %r3, %r3, %r1;
xor.b32 %r4, %r1, %r2;
or.b32 %r3, %r3, %r4;
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd1, %rd0, %rd1;
st.global.u32 [%rd1], %r3;
)"));
  runner.array(out);
  runner.run_clean(under(conditions));
  return out;
}

TEST(Freedoms, another_lane_is_elected_the_same_one_every_time) {
  EXPECT_EQ(leaders("functional")[0], 256U);
  std::set<uint32_t> elected;
  for (int seed = 1; seed < 9; ++seed) {
    const std::vector<uint32_t> out = leaders("functional,elect=" + std::to_string(seed));
    const uint32_t leader = out[0];
    ASSERT_GT(leader, 0U);
    ASSERT_LT(leader, 32U);
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], leader | (lane == leader ? 256U : 0U));
    elected.insert(leader);
  }
  EXPECT_GT(elected.size(), 3U);
}

// Warp 1 counts how often its wait for warp 0 gave up.
const char* const waiting = R"(
setp.ne.u32 %p0, %r0, 0;
@%p0 bra INIT;
mbarrier.init.shared::cta.b64 [full], 1;
INIT:
bar.sync 0;
setp.eq.u32 %p1, %r0, 32;
@%p1 bra WAIT;
@%p0 bra END;
mov.u32 %r1, 2000;
WORK:
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p2, %r1, 0;
@%p2 bra WORK;
mbarrier.arrive.shared::cta.b64 _, [full];
bra END;
WAIT:
mov.u32 %r2, 0;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
@%p3 bra STORE;
add.u32 %r2, %r2, 1;
bra AGAIN;
STORE:
st.global.u32 [%rd0], %r2;
END:
)";

uint32_t failed_waits(std::string_view conditions) {
  std::vector<uint32_t> out(1);
  PtxRunner runner(kernel(".shared .align 8 .b64 full;\n", waiting));
  runner.array(out).shape({1, 1, 1}, {64, 1, 1});
  runner.run_clean(under(conditions));
  return out[0];
}

TEST(Freedoms, waits_give_up_now_and_then_and_the_run_ends) {
  EXPECT_EQ(failed_waits("functional"), 0U);
  uint32_t failed = 0;
  for (int seed = 1; seed < 9; ++seed) {
    const std::string name = "functional,fail_waits=" + std::to_string(seed);
    failed += failed_waits(name);
    EXPECT_EQ(failed_waits(name), failed_waits(name));
  }
  EXPECT_GT(failed, 0U);
}

TEST(Freedoms, a_deadlock_is_seen_although_waits_give_up) {
  std::vector<uint32_t> out(1);
  PtxRunner runner(kernel(".shared .align 8 .b64 full;\n", R"(
mbarrier.init.shared::cta.b64 [full], 33;
bar.warp.sync 0xffffffff;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
@!%p3 bra AGAIN;
)"));
  runner.array(out);
  EXPECT_TRUE(runner.run(under("functional,fail_waits=1")).deadlocked);
}

// --- residency ------------------------------------------------------------------------------------
// Every CTA waits for `neighbour`, if that is one of the four.
std::string chain(const std::string& neighbour) {
  return kernel("", R"(
setp.ne.u32 %p0, %r0, 0;
@%p0 bra END;
mov.u32 %r2, %ctaid.x;
mul.wide.u32 %rd1, %r2, 4;
add.u64 %rd1, %rd0, %rd1;
)" + neighbour + R"(
END:
)");
}

const char* const right_neighbour = R"(
setp.eq.u32 %p1, %r2, 3;
@%p1 bra GO;
SPIN:
ld.acquire.gpu.global.u32 %r3, [%rd1+4];
setp.eq.u32 %p2, %r3, 0;
@%p2 bra SPIN;
GO:
mov.u32 %r4, 1;
st.release.gpu.global.u32 [%rd1], %r4;
)";

const char* const all_wait = R"(
atom.acq_rel.gpu.global.add.u32 %r3, [%rd0], 1;
SPIN:
ld.acquire.gpu.global.u32 %r3, [%rd0];
setp.lt.u32 %p2, %r3, 4;
@%p2 bra SPIN;
)";

std::vector<sim::Finding> residency_findings(const std::string& ptx) {
  const auto run = [&](const Conditions& c) {
    std::vector<uint32_t> out(4);
    PtxRunner runner(ptx);
    runner.array(out).shape({4, 1, 1}, {32, 1, 1});
    Checker checker;
    sim::RunOptions o;
    c.apply(o);
    o.observer = &checker;
    return runner.run(o);
  };
  const sim::RunResult usual = run({});
  EXPECT_TRUE(usual.clean()) << PtxRunner::describe(usual);
  const ResidencyLaunch launch{4, usual.resident_clusters, 1, true, [&](uint64_t resident) {
                                 return run({.schedule = {}, .resident = resident, .order = {}}).completed;
                               }};
  std::vector<sim::Finding> found;
  for (const auto& orders : hostile_residencies(4, usual.resident_clusters)) {
    std::vector<sim::RunResult> results;
    for (const Conditions& c : orders) results.push_back(run(c));
    std::vector<ResidencyRun> runs;
    for (size_t i = 0; i < orders.size(); ++i) runs.push_back({orders[i], &results[i]});
    judge_residency(runs, launch);
    for (const sim::RunResult& r : results) found.insert(found.end(), r.findings.begin(), r.findings.end());
  }
  return found;
}

TEST(Residency, an_order_that_is_assumed_is_strict) {
  const auto found = residency_findings(chain(right_neighbour));
  ASSERT_FALSE(found.empty());
  for (const sim::Finding& f : found) {
    EXPECT_EQ(f.code, "PLD4906");
    EXPECT_EQ(f.severity, sim::FindingSeverity::strict);
    EXPECT_NE(f.sites.front().instruction.find("ld.acquire"), std::string::npos)
        << f.sites.front().instruction;
  }
}

TEST(Residency, a_barrier_of_the_grid_says_how_many_ctas_it_needs) {
  const auto found = residency_findings(chain(all_wait));
  ASSERT_EQ(found.size(), 3U) << "one at a time, in three orders";
  for (const sim::Finding& f : found) {
    EXPECT_EQ(f.code, "PLD4905");
    EXPECT_EQ(f.severity, sim::FindingSeverity::strict);
    EXPECT_EQ(f.message.phrase, sim::Phrase::relies_on_ctas);
    EXPECT_EQ(std::get<int64_t>(f.message.values.at(0)), 4);
  }
}

// --- several observers, and what one run decides ----------------------------------------------------
TEST(Observers, each_sees_what_it_would_see_alone) {
  const std::string ptx = kernel(".shared .align 8 .b64 full;\n", waiting);
  const auto run = [&](sim::Observer& o) {
    std::vector<uint32_t> out(1);
    PtxRunner runner(ptx);
    runner.array(out).shape({1, 1, 1}, {64, 1, 1});
    return runner.run({.observer = &o});
  };
  Checker alone, together;
  SkeletonObserver recorded_alone, recorded_together;
  run(alone);
  run(recorded_alone);
  Observers both({&together, &recorded_together});
  EXPECT_TRUE(run(both).clean());
  EXPECT_EQ(alone.coverage().accesses, together.coverage().accesses);
  EXPECT_EQ(alone.coverage().forced_phases, together.coverage().forced_phases);
  ASSERT_EQ(recorded_together.recorded().size(), 1U);
  EXPECT_TRUE(recorded_alone.recorded()[0].skeleton.same_structure(recorded_together.recorded()[0].skeleton));
  EXPECT_TRUE(decide_run(recorded_together.recorded(), together.coverage()).decided);
}

TEST(Observers, findings_and_deadlocks_pass_through_them) {
  std::vector<uint32_t> out(1);
  PtxRunner runner(kernel(".shared .align 8 .b64 full;\n", R"(
mbarrier.init.shared::cta.b64 [full], 33;
bar.warp.sync 0xffffffff;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
@!%p3 bra AGAIN;
)"));
  runner.array(out);
  Checker checker;
  SkeletonObserver recorder;
  Observers both({&recorder, &checker});
  const sim::RunResult r = runner.run({.observer = &both});
  ASSERT_TRUE(r.deadlocked);
  EXPECT_TRUE(r.findings.front().missing) << "the checker's own report";
  const RunDecision d = decide_run(recorder.recorded(), checker.coverage());
  EXPECT_FALSE(d.decided);
  EXPECT_EQ(d.reason, "the recorded run did not reach its end");
}

TEST(Decide, what_is_not_recorded_is_not_decided) {
  std::vector<uint32_t> out(1);
  PtxRunner runner(kernel("", "bar.sync 0;\nbar.sync 0;\nbar.sync 0;\nbar.sync 0;\n"));
  runner.array(out).shape({1, 1, 1}, {64, 1, 1});
  Checker checker;
  SkeletonObserver recorder({.events = 4});
  Observers both({&checker, &recorder});
  ASSERT_TRUE(runner.run({.observer = &both}).clean());
  const RunDecision d = decide_run(recorder.recorded(), checker.coverage());
  EXPECT_FALSE(d.decided);
  EXPECT_EQ(d.reason, "a cluster has more than 4 events of synchronisation");
}

TEST(Decide, clusters_that_differ_are_kept_up_to_a_limit) {
  std::vector<uint32_t> out(1);
  PtxRunner runner(kernel("", R"(
mov.u32 %r1, %ctaid.x;
LOOP:
bar.sync 0;
sub.u32 %r1, %r1, 1;
setp.lt.s32 %p0, %r1, 0;
@!%p0 bra LOOP;
)"));
  runner.array(out).shape({6, 1, 1}, {64, 1, 1});
  Checker checker;
  SkeletonObserver recorder({.operations = 20});
  Observers both({&checker, &recorder});
  ASSERT_TRUE(runner.run({.observer = &both}).clean());
  EXPECT_EQ(recorder.recorded().back().skeleton.operations(), 0U);
  EXPECT_EQ(decide_run(recorder.recorded(), checker.coverage()).reason,
            "the clusters differ, in more than 20 operations");
}

}  // namespace
}  // namespace palladion::tests
