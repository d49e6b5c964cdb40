// What is found in small programs, and how many states the usual ring takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sim/explore/forced.h"
#include "sim/explore/spectators.h"
#include "tests/sim/explore/programs.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

const Problem* find(const Exploration& e, Problem::Kind kind) {
  for (const Problem& p : e.problems)
    if (p.kind == kind) return &p;
  return nullptr;
}

// Executes a witness: every step must be possible.
SyncState follow(const Skeleton& skeleton, const std::vector<uint32_t>& witness) {
  const Model model(skeleton);
  SyncState s = model.initial();
  for (const uint32_t t : witness) {
    EXPECT_TRUE(model.enabled(s, t));
    model.step(s, t);
  }
  return s;
}

double milliseconds(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

TEST(Explore, ring_of_four_stages_is_decided_for_all_schedules) {
  for (const uint32_t width : {1U, 4U}) {  // one thread speaks for a warpgroup, or each of its warps
    const Skeleton skeleton = ring(4, 2, 32, 2, width).skeleton();
    Exploration e;
    ForcedVerdict v;
    const double search = milliseconds([&] { e = explore(skeleton); });
    const double proof = milliseconds([&] { v = decide_forced(skeleton); });
    fmt::print(
        "ring, 4 stages, 2 consumers of {} threads, 32 steps: {} operations; {} states, {:.2f} ms; forced "
        "{:.3f} ms\n",
        width, skeleton.operations(), e.states, search, proof);
    EXPECT_TRUE(e.complete);
    EXPECT_TRUE(e.problems.empty());
    EXPECT_EQ(e.classes, 1U);
    EXPECT_EQ(e.states, skeleton.operations() + 1);  // one way through: every operation once
    EXPECT_TRUE(v.forced);
    EXPECT_FALSE(v.deadlocks);
  }
}

TEST(Explore, budget_ends_the_search) {
  const Skeleton skeleton = ring(4, 2, 32, 2).skeleton();
  const Exploration e = explore(skeleton, {.budget = 1000, .reduce = false});
  EXPECT_FALSE(e.complete);
  EXPECT_LE(e.states, 1001U);
}

TEST(Explore, deadlock_that_only_some_schedules_reach_has_a_witness) {
  SkeletonBuilder b(3);  // the second consumer may find phase 1 complete and then waits forever
  const uint32_t full = b.mbarrier(1);
  b.arrive(0, full);
  b.wait(1, full, false);
  b.wait(2, full, false);
  b.arrive(1, full);
  const Skeleton skeleton = b.build();
  const Exploration e = explore(skeleton);
  ASSERT_TRUE(e.complete);
  ASSERT_TRUE(e.deadlocks());
  EXPECT_LT(e.deadlocked_ends, e.ends);
  const Problem* p = find(e, Problem::Kind::deadlock);
  ASSERT_NE(p, nullptr);
  ASSERT_EQ(p->blocked.size(), 1U);
  EXPECT_EQ(p->blocked[0], (OpRef{2, 0}));
  const SyncState s = follow(skeleton, p->witness);
  EXPECT_FALSE(Model(skeleton).enabled(s, 2));
  EXPECT_FALSE(decide_forced(skeleton).forced);
}

TEST(Explore, wait_on_a_fresh_mbarrier_with_parity_one_learns_nothing) {
  SkeletonBuilder b(
      2);  // T1's wait returns for phase -1; that T0 may overtake it twice is not excluded by it
  const uint32_t empty = b.mbarrier(1);
  b.arrive(0, empty);
  b.wait(0, empty, false);
  b.wait(1, empty, true);
  const Skeleton skeleton = b.build();
  const Exploration e = explore(skeleton);
  EXPECT_TRUE(e.deadlocks());
  EXPECT_FALSE(decide_forced(skeleton).forced);
}

TEST(Explore, arrival_before_the_previous_phase_was_observed_is_an_overrun) {
  SkeletonBuilder b(2);
  const uint32_t full = b.mbarrier(1);
  b.arrive(0, full);
  b.arrive(0, full);
  b.wait(1, full, false);
  const Exploration e = explore(b.build());
  const Problem* p = find(e, Problem::Kind::overrun);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->op, (OpRef{0, 1}));
  EXPECT_EQ(p->phase, 1U);
}

TEST(Explore, expect_tx_that_the_phase_does_not_need_lands_in_two_phases) {
  SkeletonBuilder b(2);  // T0 arrives, T1 announces bytes: the phase may be over by then
  const uint32_t full = b.mbarrier(1);
  b.arrive(0, full);
  b.arrive(1, full, 0, 64);
  b.copy(1, full, 64);
  const Skeleton skeleton = b.build();
  const Exploration e = explore(skeleton);
  const Problem* p = find(e, Problem::Kind::ambiguous);
  ASSERT_NE(p, nullptr);
  EXPECT_NE(p->phase, p->other_phase);
  EXPECT_FALSE(decide_forced(skeleton).forced);
}

TEST(Explore, uninitialised_mbarrier_is_met_when_nothing_orders_the_init) {
  SkeletonBuilder b(2);
  const uint32_t full = b.mbarrier(0);
  b.add(0, {.kind = SyncKind::init, .object = full, .count = 1, .after = {}});
  b.arrive(0, full);
  b.wait(1, full, false);
  const Exploration e = explore(b.build());
  const Problem* p = find(e, Problem::Kind::error);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->error, SyncError::uninitialised);
  EXPECT_EQ(p->op, (OpRef{1, 0}));
}

TEST(Explore, lanes_that_meet_are_ordered) {
  for (const bool meet : {false, true}) {
    SkeletonBuilder b(3);  // T0 and T1 wait; T0 alone frees the buffer: did T1 see the phase?
    const uint32_t full = b.mbarrier(1), empty = b.mbarrier(1);
    for (int k = 0; k < 2; ++k) {
      b.wait(2, empty, k == 0);
      b.arrive(2, full);
      b.wait(0, full, k == 1);
      b.wait(1, full, k == 1);
      if (meet) b.meet({0, 1});
      b.arrive(0, empty);
    }
    const Skeleton skeleton = b.build();
    EXPECT_EQ(decide_forced(skeleton).forced, meet);
    EXPECT_EQ(explore(skeleton).problems.empty(), meet);
    EXPECT_EQ(explore(skeleton, {.reduce = false}).problems.empty(), meet);
  }
}

TEST(Explore, spectators_are_explored_one_at_a_time) {
  Program p = ring(2, 1, 6, 1);
  for (int spectator = 0; spectator < 3;
       ++spectator) {  // they wait for each phase of `empty`, and do nothing
    auto& ops = p.threads.emplace_back();
    for (uint32_t k = 0; k < 6; ++k)
      ops.push_back({.kind = Op::Kind::wait, .object = 2 + k % 2, .flag = (k / 2 & 1) != 0});
  }
  const Skeleton skeleton = p.skeleton();
  const Exploration whole = explore(skeleton);
  const std::vector<Skeleton> parts = without_other_spectators(skeleton);
  ASSERT_EQ(parts.size(), 3U);
  uint64_t states = 0;
  for (const Skeleton& part : parts) {
    const Exploration e = explore(part);
    EXPECT_TRUE(e.complete);
    EXPECT_TRUE(e.deadlocks());  // a spectator that is delayed for a phase has missed it
    EXPECT_TRUE(find(e, Problem::Kind::deadlock)->missed);
    states += e.states;
  }
  EXPECT_LT(states, 2 * whole.states);
  EXPECT_TRUE(whole.deadlocks());
}

TEST(Explore, deadlock_of_every_schedule_is_forced) {
  SkeletonBuilder b(2);  // each waits for the other
  const uint32_t x = b.mbarrier(1), y = b.mbarrier(1);
  b.wait(0, x, false);
  b.arrive(0, y);
  b.wait(1, y, false);
  b.arrive(1, x);
  const ForcedVerdict v = decide_forced(b.build());
  EXPECT_TRUE(v.forced);
  EXPECT_TRUE(v.deadlocks);
}

// More bytes are announced behind the arrival: the phase cannot complete without them while the copies of the
// first announcement come behind them.
TEST(Forced, bytes_announced_behind_the_arrival_and_before_the_copies) {
  const auto verdict = [](auto&& issue) {
    SkeletonBuilder b(3);
    const uint32_t full = b.mbarrier(1);
    b.arrive(0, full, 1, 16);
    issue(b, full);
    b.wait(2, full, false);
    return decide_forced(b.build());
  };
  EXPECT_TRUE(verdict([](SkeletonBuilder& b, uint32_t full) {
                b.arrive(0, full, 0, 32);
                b.copy(0, full, 16);
                b.copy(0, full, 32);
              }).forced);
  const ForcedVerdict copied_first = verdict([](SkeletonBuilder& b, uint32_t full) {
    b.copy(0, full, 16);
    b.arrive(0, full, 0, 32);
    b.copy(0, full, 32);
  });
  EXPECT_FALSE(copied_first.forced);
  EXPECT_EQ(copied_first.reason, Unforced::loose_expect);
  const ForcedVerdict by_another = verdict([](SkeletonBuilder& b, uint32_t full) {
    b.arrive(1, full, 0, 32);
    b.copy(0, full, 16);
    b.copy(1, full, 32);
  });
  EXPECT_FALSE(by_another.forced);
}

}  // namespace
}  // namespace palladion::tests
