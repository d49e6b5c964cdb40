// Random programs do no wrong that a checker knows: every thread works on bytes of its own or meets the
// others at a barrier. So checks find no error in them under any schedule, change no result, and say the same
// on one host thread as on two.
#include <gtest/gtest.h>

#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "tests/property/random/random_run.h"
#include "tests/support/names.h"

namespace palladion::random_program {
namespace {

using Kind = sim::Schedule::Kind;

// Far above what any of these programs executes.
constexpr uint64_t instruction_budget = 2'000'000;

sim::RunOptions options_of(const sim::Schedule& schedule, unsigned threads) {
  sim::RunOptions options;
  options.schedule = schedule;
  options.threads = threads;
  options.max_instructions = instruction_budget;
  return options;
}

// With that barrier.
Program ordered(Program p) {
  const std::string first_words = "  setp.lt.u32 %q0, %me, 8;\n", barrier = "  bar.sync 0;\n";
  for (size_t at = p.ptx.find(first_words); at != std::string::npos;
       at = p.ptx.find(first_words, at + barrier.size() + 1))
    p.ptx.insert(at, barrier);
  return p;
}

struct Checked {
  SimRun run;
  std::string findings, errors;
};

Checked checked(const Program& p, sim::RunOptions options) {
  sim::check::Checker checker;
  options.observer = &checker;
  Checked out{.run = run_in_machine(p, options), .findings = {}, .errors = {}};
  for (const sim::Finding& f : out.run.result.findings) {
    out.findings += report::finding_text(f);
    if (f.severity == sim::FindingSeverity::error) out.errors += report::finding_text(f);
  }
  return out;
}

class CheckedPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(CheckedPrograms, HaveNoErrorsAndTheSameResults) {
  const Program p = ordered(generate(computing_catalogue(), GetParam()));
  for (const sim::Schedule& schedule : {sim::Schedule{Kind::functional, 0}, sim::Schedule{Kind::earliest, 0},
                                        sim::Schedule{Kind::latest, 0}, sim::Schedule{Kind::seeded, 9}}) {
    SCOPED_TRACE(sim::name(schedule));
    const SimRun plain = run_in_machine(p, options_of(schedule, 1));
    const Checked one = checked(p, options_of(schedule, 1)), two = checked(p, options_of(schedule, 2));
    ASSERT_TRUE(plain.result.completed && one.run.result.completed && two.run.result.completed);
    EXPECT_EQ(one.errors, "");
    EXPECT_EQ(one.findings, two.findings);
    EXPECT_EQ(plain.output, one.run.output);
    EXPECT_EQ(plain.output, two.run.output);
    EXPECT_EQ(plain.result.instructions, one.run.result.instructions);
  }
}

// Without it, the lanes of a warp race, and nothing else is wrong.
TEST_P(CheckedPrograms, AsRecordedOnlyLanesOfAWarpRace) {
  const Program p = generate(computing_catalogue(), GetParam());
  for (const sim::Finding& f : checked(p, options_of({}, 1)).run.result.findings)
    EXPECT_TRUE(f.code == "PLD4611" || f.severity != sim::FindingSeverity::error) << report::finding_text(f);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckedPrograms, testing::Range<uint64_t>(7000, 7100),
                         palladion::test::printed_name<uint64_t>);

}  // namespace
}  // namespace palladion::random_program
