// Every case that was recorded on an H200 gives the same bits in the machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "kernels/frame/case.h"
#include "report/text/finding_text.h"
#include "tests/support/names.h"
#include "verify/launch/runner.h"

namespace palladion::kernels {
namespace {

struct Recorded {
  std::string text, hashes;
};
void PrintTo(const Recorded& r, std::ostream* os) { *os << r.text; }

std::vector<Recorded> recorded() {
  std::vector<Recorded> all;
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/kernels.csv");
  std::string line;
  while (std::getline(file, line)) {
    const size_t split = line.find(';');
    if (!line.starts_with('#') && split != std::string::npos)
      all.push_back({line.substr(0, split), line.substr(split + 1)});
  }
  return all;
}

// Names of kernels that wait for a device.
std::set<std::string> unrecorded() {
  std::set<std::string> names;
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/unrecorded.txt");
  std::string line;
  while (std::getline(file, line))
    if (!line.starts_with('#')) names.insert(line.substr(0, line.find(':')));
  return names;
}

std::string hashes_of(const std::vector<Array>& outputs) {
  std::string text;
  for (const Array& a : outputs) text += fmt::format("{}{:016x}", text.empty() ? "" : "+", hash(a));
  return text;
}

class OnDevice : public ::testing::TestWithParam<Recorded> {};

TEST_P(OnDevice, TheMachineGivesTheSameBits) {
  const Case c = parse_case(GetParam().text);
  sim::Machine machine(*isa::find_arch("h200"));
  const SimOutcome out = run(c.spec->build(c.choice), c.spec->make_inputs(c.choice, c.seed), machine);
  std::string findings = isa::render(out.result.errors);
  for (const sim::Finding& f : out.result.findings) findings += report::finding_text(f);
  EXPECT_TRUE(out.result.clean()) << findings;
  EXPECT_EQ(hashes_of(out.outputs), GetParam().hashes) << c.text;
}

INSTANTIATE_TEST_SUITE_P(H200, OnDevice, ::testing::ValuesIn(recorded()),
                         palladion::test::numbered_name<Recorded>);

TEST(DeviceRecords, EveryCaseIsRecorded) {
  const std::vector<Recorded> have = recorded();
  ASSERT_GE(have.size(), 100U);
  for (const Case& c : read_cases(PLD_SOURCE_DIR "/tests/device/cases.txt"))
    EXPECT_TRUE(std::ranges::any_of(have, [&](const Recorded& r) {
      return parse_case(r.text).text == c.text;
    })) << c.text;
}

TEST(DeviceRecords, EveryKernelHasThreeCases) {
  std::map<std::string, std::set<std::string>> cases;
  for (const Recorded& r : recorded()) cases[parse_case(r.text).spec->name].insert(r.text);
  const std::set<std::string> missing = unrecorded();
  for (const KernelSpec& k : all_kernels()) {
    if (missing.contains(k.name))
      EXPECT_TRUE(cases[k.name].empty()) << k.name << " is recorded: remove it from unrecorded.txt";
    else
      EXPECT_GE(cases[k.name].size(), 3U) << k.name;
  }
}

}  // namespace
}  // namespace palladion::kernels
