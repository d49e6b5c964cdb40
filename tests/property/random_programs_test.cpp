// Random programs over the instructions that isa states now: accepted by the verifier, clean and the same in
// every run, and together they use every word of every form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/property/random/random_run.h"
#include "tests/support/toolkit.h"

namespace palladion::random_program {
namespace {

TEST(RandomPrograms, RunCleanAndRepeat) {
  for (uint64_t seed = 5000; seed < 5040; ++seed) {
    const Program p = generate(computing_catalogue(), seed);
    const SimRun first = run_in_machine(p, {.threads = 1}), second = run_in_machine(p, {.threads = 2});
    ASSERT_EQ(first.problem, "") << "seed " << seed;
    EXPECT_EQ(first.output, second.output) << "seed " << seed;
    EXPECT_EQ(first.result.instructions, second.result.instructions);
    EXPECT_TRUE(differences(p, first.output, second.output).empty());
  }
}

TEST(RandomPrograms, TheSameSeedGivesTheSameProgram) {
  const Program a = generate(computing_catalogue(), 7), b = generate(computing_catalogue(), 7),
                c = generate(computing_catalogue(), 8);
  EXPECT_EQ(a.ptx, b.ptx);
  EXPECT_EQ(a.input, b.input);
  EXPECT_NE(a.ptx, c.ptx);
}

// The seeds that were recorded go several times through all entries, so the entries are what they cover.
TEST(RandomPrograms, UseEveryWordOfEveryForm) {
  std::map<const isa::Form*, std::set<std::pair<size_t, int>>> used;
  const auto note = [&](const Catalogue::Entry& e) {
    for (size_t s = 0; s < e.words.size(); ++s) used[e.form].insert({s, e.words[s]});
    used[e.form];
  };
  for (uint64_t n = 0; n < computing_catalogue().scalars(); ++n) note(computing_catalogue().scalar(n));
  for (uint64_t n = 0; n < computing_catalogue().products(); ++n) note(computing_catalogue().product(n));
  for (const isa::Form& f : computing_catalogue().forms()) {
    ASSERT_TRUE(used.contains(&f)) << f.text;
    for (size_t s = 0; s < f.slots.size(); ++s)
      for (size_t w = 0; w < f.slots[s].words.size(); ++w)
        EXPECT_TRUE(used[&f].contains({s, static_cast<int>(w)})) << f.text << ": " << f.slots[s].words[w];
  }
}

// A changed bit is traced to the step that made it, not to those that read it.
TEST(RandomPrograms, ADifferenceNamesItsFirstStep) {
  const Program p = generate(computing_catalogue(), 11);
  const SimRun run = run_in_machine(p);
  ASSERT_EQ(run.problem, "");
  std::vector<uint8_t> other = run.output;
  const size_t step = 20;
  other[p.steps[step].writes.at(0).offset] ^= 1;
  const std::vector<Difference> found = differences(p, run.output, other);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step, step);
  EXPECT_EQ(found[0].threads, 1U);
  EXPECT_NE(found[0].text.find(p.steps[step].text), std::string::npos);
}

TEST(RandomPrograms, PtxasAssemblesThem) {
  PLD_NEEDS_TOOL("ptxas");
  for (uint64_t seed = 5000; seed < 5008; ++seed) {
    const toolkit::Assembly a = toolkit::assemble(generate(computing_catalogue(), seed).ptx, "sm_90a", "-O1");
    EXPECT_TRUE(a.ok) << "seed " << seed << "\n" << a.log;
  }
}

}  // namespace
}  // namespace palladion::random_program
