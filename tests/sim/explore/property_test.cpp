// The proof of README.md and the reduction against an oracle that executes every interleaving.
// PLD_EXPLORE_PROGRAMS: programs of each kind (default below); PLD_EXPLORE_SEED: the first one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "report/text/finding_text.h"
#include "sim/explore/forced.h"
#include "sim/explore/report.h"
#include "sim/explore/spectators.h"
#include "tests/sim/explore/programs.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// What must not depend on how the schedules were explored.
struct Truth {
  std::set<OpRef> executed, ambiguous, overrun;
  std::set<std::pair<OpRef, SyncError>> errors;
  bool deadlocks = false;
  friend bool operator==(const Truth&, const Truth&) = default;
};

Truth truth(const Exploration& e) {
  Truth t{.deadlocks = e.deadlocks()};
  for (const Problem& p : e.problems) {
    if (p.kind == Problem::Kind::ambiguous) t.ambiguous.insert(p.op);
    if (p.kind == Problem::Kind::overrun) t.overrun.insert(p.op);
    if (p.kind == Problem::Kind::error) t.errors.insert({p.op, p.error});
  }
  for (uint32_t i = 0; i < e.labels.size(); ++i)
    for (uint32_t k = 0; k < e.labels[i].size(); ++k)
      if (e.labels[i][k].first != Labels::unseen) t.executed.insert({i, k});
  return t;
}

struct Tally {
  uint64_t programs = 0, too_large = 0;
  uint64_t forced = 0, forced_deadlocks = 0;
  uint64_t deadlocks = 0, partial_deadlocks = 0, ambiguous = 0, overruns = 0, errors = 0, calm = 0;
  uint64_t states = 0, reduced_states = 0, spectators = 0;
};

class Schedules : public testing::TestWithParam<Program::Kind> {
 protected:
  void examine(const Program& program) {
    const Skeleton skeleton = program.skeleton();
    const Exploration all = explore(skeleton, {.budget = 60'000, .reduce = false});
    ++tally_.programs;
    if (!all.complete) {
      ++tally_.too_large;
      return;
    }
    const Exploration few = explore(skeleton, {.budget = 60'000, .reduce = true});
    const Truth expected = truth(all), got = truth(few);
    ASSERT_TRUE(few.complete);
    ASSERT_EQ(expected.deadlocks, got.deadlocks);
    ASSERT_TRUE(expected.executed == got.executed);
    ASSERT_TRUE(expected.ambiguous == got.ambiguous);
    ASSERT_TRUE(expected.errors == got.errors);
    ASSERT_TRUE(expected.overrun == got.overrun);
    ASSERT_LE(few.states, all.states);
    one_spectator_at_a_time(skeleton, expected);
    if (HasFatalFailure()) return;
    count(all, few, expected);
    judge(decide_forced(skeleton), all, expected, program);
  }

  // Spectators apart: together they show all that there is.
  void one_spectator_at_a_time(const Skeleton& skeleton, const Truth& expected) {
    const std::vector<Skeleton> parts = without_other_spectators(skeleton);
    tally_.spectators += parts.size() > 1;
    Truth sum;
    for (const Skeleton& part : parts) {
      Truth t = truth(explore(part));
      sum.executed.merge(t.executed);
      sum.ambiguous.merge(t.ambiguous);
      sum.overrun.merge(t.overrun);
      sum.errors.merge(t.errors);
      sum.deadlocks |= t.deadlocks;
    }
    // An end in which something has failed is not called a deadlock, whichever thread failed.
    if (!expected.errors.empty()) sum.deadlocks = expected.deadlocks;
    ASSERT_TRUE(expected == sum);
  }

  void count(const Exploration& all, const Exploration& few, const Truth& t) {
    tally_.states += all.states;
    tally_.reduced_states += few.states;
    tally_.deadlocks += t.deadlocks;
    tally_.partial_deadlocks += t.deadlocks && all.deadlocked_ends != all.ends;
    tally_.ambiguous += !t.ambiguous.empty();
    tally_.overruns += !t.overrun.empty();
    tally_.errors += !t.errors.empty();
    tally_.calm += t.ambiguous.empty() && t.overrun.empty() && t.errors.empty();
  }

  void judge(const ForcedVerdict& v, const Exploration& all, const Truth& t, const Program& program) {
    if (program.kind == Program::Kind::ring || program.kind == Program::Kind::chain) {
      ASSERT_TRUE(v.forced) << describe(v.reason);
      ASSERT_FALSE(v.deadlocks);
    }
    if (!v.forced) return;
    ++tally_.forced;
    tally_.forced_deadlocks += v.deadlocks;
    ASSERT_TRUE(t.ambiguous.empty());
    ASSERT_TRUE(t.overrun.empty());
    ASSERT_TRUE(t.errors.empty());
    ASSERT_EQ(all.ends, 1U);
    ASSERT_EQ(all.deadlocked_ends, v.deadlocks ? 1U : 0U);
  }

  Tally tally_;
};

TEST_P(Schedules, proof_and_reduction_agree_with_the_oracle) {
  const uint64_t programs = from_environment("PLD_EXPLORE_PROGRAMS", 5000);
  const uint64_t seed = from_environment("PLD_EXPLORE_SEED", 1);
  for (uint64_t i = 0; i < programs; ++i) {
    Random random((seed + i) * 8 + static_cast<uint64_t>(GetParam()));
    const Program program = random_program(GetParam(), random);
    SCOPED_TRACE(fmt::format("program {}\n{}", seed + i, program.text()));
    examine(program);
    if (HasFatalFailure()) return;
  }
  const Tally& t = tally_;
  fmt::print(
      "{}: {} programs ({} too large); forced {} (of these deadlocked {}) of {} without any problem; "
      "deadlock {} "
      "(in some schedules only {}), ambiguous {}, overrun {}, error {}; spectators {}; states {} -> {}\n",
      name_of(GetParam()), t.programs, t.too_large, t.forced, t.forced_deadlocks, t.calm, t.deadlocks,
      t.partial_deadlocks, t.ambiguous, t.overruns, t.errors, t.spectators, t.states, t.reduced_states);
  EXPECT_LT(t.too_large * 10, t.programs);
  EXPECT_GT(t.forced * 20, t.programs);
  if (GetParam() == Program::Kind::ring || GetParam() == Program::Kind::chain) return;
  EXPECT_GT(t.deadlocks * 20, t.programs);
  EXPECT_GT(t.partial_deadlocks * 100, t.programs);
  if (GetParam() == Program::Kind::pool) return;
  EXPECT_GT(t.ambiguous * 20, t.programs);
  EXPECT_GT(t.errors * 20, t.programs);
}

INSTANTIATE_TEST_SUITE_P(Random, Schedules,
                         testing::Values(Program::Kind::ring, Program::Kind::mutated_ring,
                                         Program::Kind::chain, Program::Kind::mutated_chain,
                                         Program::Kind::pool, Program::Kind::commits, Program::Kind::soup),
                         [](const auto& kind) { return name_of(kind.param); });

std::string text_of(const ExploreReport& r) {
  std::string out =
      fmt::format("{} {} {} {}\n{}\n", r.all_schedules, r.states, r.classes, r.verdict, r.coverage);
  for (const sim::Finding& f : r.findings) out += fmt::format("{} {}\n", f.count, report::finding_text(f));
  return out;
}

// Searches that run side by side share one budget, as if they ran one after the other.
TEST(ExploreRun, ReportIsTheSameForAnyNumberOfThreads) {
  Random random(7);
  std::vector<SkeletonObserver::Recorded> recorded;
  for (int i = 0; i < 8; ++i)
    for (const Program::Kind kind :
         {Program::Kind::mutated_ring, Program::Kind::mutated_chain, Program::Kind::soup})
      recorded.push_back({random_program(kind, random).skeleton(), 1});
  for (const uint64_t budget : {1U, 20U, 50U, 100U, 1000U, 100'000U}) {
    const ExploreOptions options{.budget = budget, .budget_after_problem = 50};
    const std::string alone = text_of(explore_run(recorded, options, 1));
    for (const unsigned threads : {2U, 3U, 8U})
      EXPECT_EQ(text_of(explore_run(recorded, options, threads)), alone) << budget << ' ' << threads;
  }
}

}  // namespace
}  // namespace palladion::tests
