// Every set of Pallas' race tests: our verdict is theirs, or the table says why not.
#include <fmt/format.h>

#include "tests/pallas/judge.h"
#include "tests/pallas/race_sets.h"
#include "tests/support/golden.h"
#include "tests/support/names.h"

namespace palladion::test {

std::vector<RaceSet> race_sets() {
  std::vector<RaceSet> sets;
  add_copy_sets(sets);
  add_thread_sets(sets);
  add_group_sets(sets);
  add_grid_sets(sets);
  add_cluster_barrier_sets(sets);
  return sets;
}

void PrintTo(const RaceSet& set, std::ostream* os) { *os << set.name; }

namespace {

const char* word(Theirs t) {
  static constexpr std::array words = {"clean", "race", "stops", "skipped", "not run"};
  return words[static_cast<size_t>(t)];
}

std::string word(const Judged& j) {
  std::string out;
  for (const auto* codes : {&j.races, &j.other})
    for (const std::string& c : *codes) out += (out.empty() ? "" : " ") + c;
  return out.empty() ? "clean" : out;
}

// The parameter sets of one of Pallas' tests have its name as their first word.
std::string test_of(const RaceSet& set) { return set.name.substr(0, set.name.find(' ')); }

std::vector<std::string> tests() {
  std::vector<std::string> out;
  for (const RaceSet& set : race_sets())
    if (std::ranges::find(out, test_of(set)) == out.end()) out.push_back(test_of(set));
  return out;
}

// Nothing but reads of what was never written, which Pallas' interpreter does not look for.
bool only_unwritten(const Judged& j) {
  return j.races.empty() && std::ranges::all_of(j.other, [](auto& c) { return c.starts_with("PLD61"); });
}

void expect_output(const RaceSet& set, const Judged& judged) {
  if (!set.output || !judged.races.empty()) return;
  const auto got = judged.outputs.at(0).as<int32_t>();
  const size_t row = got.size() / set.output->size();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], (*set.output)[i / row]) << "element " << i;
}

void expect_agreement(const RaceSet& set) {
  const Judged judged = judge(set.make(), set.inputs);
  switch (set.theirs) {
    case Theirs::clean:
      EXPECT_TRUE(set.reads_unwritten ? only_unwritten(judged) && !judged.other.empty()
                                      : judged.races.empty() && judged.other.empty())
          << judged.text;
      return expect_output(set, judged);
    case Theirs::not_run:
      EXPECT_TRUE(judged.races.empty() && judged.other.empty()) << judged.text;
      return expect_output(set, judged);
    case Theirs::race:
    case Theirs::skipped:
      EXPECT_FALSE(judged.races.empty()) << "no race was found; other errors: " << judged.text;
      return;
    case Theirs::stops:
      EXPECT_TRUE(judged.races.contains("PLD4314")) << judged.text;
      return;
  }
}

class RaceSets : public testing::TestWithParam<std::string> {};
TEST_P(RaceSets, AgreeWithPallas) {
  for (const RaceSet& set : race_sets()) {
    if (test_of(set) != GetParam()) continue;
    SCOPED_TRACE(set.name);
    expect_agreement(set);
  }
}
INSTANTIATE_TEST_SUITE_P(All, RaceSets, testing::ValuesIn(tests()),
                         [](const auto& p) { return palladion::test::test_name(p.param); });

TEST(RaceTable, IsGolden) {
  std::string table;
  for (const RaceSet& set : race_sets())
    table += fmt::format("{} | {} | {}\n", set.name, word(set.theirs), word(judge(set.make(), set.inputs)));
  EXPECT_TRUE(golden::compare("pallas/race_sets.txt", table));
}

}  // namespace
}  // namespace palladion::test
