// The zoo's promise, pair by pair, under every schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/text/finding_text.h"
#include "tests/kernels/zoo_findings.h"
#include "tests/support/names.h"

namespace palladion::kernels::zoo {

void PrintTo(const Pair* pair, std::ostream* os) { *os << pair->name; }

}  // namespace palladion::kernels::zoo

namespace palladion::kernels::test {
namespace {

std::vector<sim::Schedule> schedules() {
  using K = sim::Schedule::Kind;
  return {{K::functional, 0}, {K::latest, 0}, {K::earliest, 0},
          {K::seeded, 1},     {K::seeded, 2}, {K::seeded, 3}};
}

std::string all_of(const sim::RunResult& r) {
  std::string out;
  for (const isa::Diagnostic& d : r.errors) out += d.code.name() + ": " + d.message + "\n";
  for (const sim::Finding& f : r.findings) out += report::finding_text(f);
  return out;
}

class Zoo : public testing::TestWithParam<const zoo::Pair*> {};

// The marks that some line of the twin carries.
std::set<int> all_marks(const Job& job, const sim::Finding& f) {
  std::set<int> out;
  std::istringstream in(job.ptx);
  if (!job.ptx.empty()) {
    for (const std::string& line : lines_of(in)) out.merge(marks_of(line));
    return out;
  }
  return named_marks(f, job);  // a C++ file has the marks of many pairs: which are this one's is not known
}

TEST_P(Zoo, BrokenTwinIsFound) {
  const zoo::Pair& pair = *GetParam();
  for (const sim::Schedule& schedule : schedules()) {
    SCOPED_TRACE(sim::name(schedule));
    zoo::Specimen specimen = pair.make(true);
    SimOutcome outcome = run_checked(specimen, {.schedule = schedule, .order = {}});
    if (pair.needs_exploration) {
      EXPECT_TRUE(outcome.result.clean()) << all_of(outcome.result);
      outcome.result.findings = explored_findings(specimen);
    }
    if (!outcome.result.errors.empty()) {
      EXPECT_TRUE(std::ranges::any_of(outcome.result.errors, [&](const isa::Diagnostic& d) {
        return d.code.name() == pair.code;
      })) << all_of(outcome.result);
      continue;
    }
    const auto found = std::ranges::find_if(outcome.result.findings, [&](const sim::Finding& f) {
      return (f.code.name() == pair.code || f.code.name() == pair.also) && f.severity == pair.severity;
    });
    ASSERT_NE(found, outcome.result.findings.end())
        << "wanted " << pair.code << " (" << pair.title << "), got:\n"
        << all_of(outcome.result);
    std::set<int> named;
    for (const sim::Finding& f : outcome.result.findings)
      if (f.code.name() == pair.code || f.code.name() == pair.also) named.merge(named_marks(f, specimen.job));
    std::set<int> wanted = all_marks(specimen.job, *found);
    if (wanted.empty()) wanted = {1};
    std::set<int> missing;
    std::ranges::set_difference(wanted, named, std::inserter(missing, missing.end()));
    EXPECT_TRUE(missing.empty()) << "mark @" << *missing.begin() << " is not named by\n"
                                 << report::finding_text(*found);
  }
}

TEST_P(Zoo, GoodTwinIsSilent) {
  const zoo::Pair& pair = *GetParam();
  for (const sim::Schedule& schedule : schedules()) {
    SCOPED_TRACE(sim::name(schedule));
    zoo::Specimen specimen = pair.make(false);
    const SimOutcome outcome = run_checked(specimen, {.schedule = schedule, .order = {}});
    EXPECT_TRUE(outcome.result.clean()) << all_of(outcome.result);
  }
  if (!pair.needs_exploration) return;
  zoo::Specimen specimen = pair.make(false);
  for (const sim::Finding& f : explored_findings(specimen)) ADD_FAILURE() << report::finding_text(f);
}

std::vector<const zoo::Pair*> pairs() {
  std::vector<const zoo::Pair*> out;
  for (const zoo::Pair& p : zoo::all_pairs()) out.push_back(&p);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Pairs, Zoo, testing::ValuesIn(pairs()),
                         [](const auto& pair) { return palladion::test::test_name(pair.param->name); });

}  // namespace
}  // namespace palladion::kernels::test
