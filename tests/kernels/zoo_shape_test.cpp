// The zoo itself: names, marks, twins that differ, and good twins that run to their end with the same
// results under every schedule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "isa/verify/verify.h"
#include "kernels/zoo/ptx_file.h"
#include "kernels/zoo/zoo.h"
#include "report/text/finding_text.h"
#include "tests/support/names.h"
#include "tests/support/toolkit.h"
#include "verify/launch/runner.h"

namespace palladion::kernels::zoo {

void PrintTo(const Pair& pair, std::ostream* os) { *os << pair.name; }

namespace {

const std::regex mark("// @[1-9]$");

bool has_mark(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, mark)) return true;
  return false;
}

// Marks of a recorded kernel are in the author's file, at lines that the kernel came from.
bool has_mark(const isa::Module& module) {
  std::map<std::string, std::set<uint32_t>> recorded;
  for (const isa::Function& f : module.functions)
    for (const isa::Instruction& i : f.body)
      if (const isa::SourceLoc* at = module.source(i)) recorded[at->file].insert(at->line);
  for (const auto& [file, numbers] : recorded) {
    std::ifstream in(file);
    uint32_t number = 0;
    for (std::string line; std::getline(in, line);)
      if (numbers.contains(++number) && std::regex_search(line, mark)) return true;
  }
  return false;
}

std::string text_of(const sim::RunResult& result) {
  std::string out;
  if (!result.errors.empty()) out = isa::render(result.errors) + "\n";
  for (const auto& f : result.findings) out += report::finding_text(f) + "\n";
  if (!result.completed) out += "not completed\n";
  return out;
}

std::string launch_of(const Job& job) {
  std::string out;
  for (const isa::Dim3& d : {job.grid, job.block, job.cluster})
    out += std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ";";
  out += std::to_string(job.dynamic_shared);
  for (const ParamValue& p : job.params) {
    if (const auto* tensor = std::get_if<TensorMapValue>(&p)) {
      const isa::EncodedTensorMap map = isa::encode(tensor->map);
      out.append(reinterpret_cast<const char*>(map.bytes.data()), map.bytes.size());
    }
    if (const auto* plain = std::get_if<BytesValue>(&p)) out.append(plain->bytes.begin(), plain->bytes.end());
  }
  return out;
}

TEST(Zoo, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Pair& pair : all_pairs()) {
    EXPECT_TRUE(names.insert(pair.name).second) << pair.name;
    EXPECT_EQ(find_pair(pair.name), &pair);
    EXPECT_TRUE(std::regex_match(pair.name, std::regex("[a-z0-9-]+"))) << pair.name;
    EXPECT_TRUE(std::regex_match(pair.entry, std::regex("[A-Z]{2}-[0-9]{2}"))) << pair.name;
    EXPECT_TRUE(std::regex_match(pair.code, std::regex("PLD[346][0-9]{3}"))) << pair.name;
    EXPECT_FALSE(pair.title.empty()) << pair.name;
  }
  EXPECT_EQ(find_pair("no-such-pair"), nullptr);
}

TEST(Zoo, TwinsOfAText) {
  const std::string text = "  a;\n  b;  //! good\n  c;  // @1  //! broken\n  d;";
  EXPECT_EQ(twin_text(text, true), "  a;\n\n  c;  // @1\n  d;\n");
  EXPECT_EQ(twin_text(text, false), "  a;\n  b;\n\n  d;\n");
}

class ZooPair : public testing::TestWithParam<Pair> {};

TEST_P(ZooPair, TwinsDifferAndTheBrokenOneIsMarked) {
  const Specimen good = GetParam().make(false), broken = GetParam().make(true);
  for (const Specimen* twin : {&good, &broken}) {
    const isa::Diagnostics wrong = isa::verify(*twin->job.module);
    EXPECT_TRUE(wrong.empty()) << isa::render(wrong, twin->job.ptx);
  }
  EXPECT_TRUE(ptx_of(good.job) != ptx_of(broken.job) || launch_of(good.job) != launch_of(broken.job));
  if (GetParam().code.starts_with("PLD31")) return;  // the launch is refused: no line is to blame
  EXPECT_TRUE(broken.job.ptx.empty() ? has_mark(*broken.job.module) : has_mark(broken.job.ptx));
}

TEST_P(ZooPair, TheGoodTwinRunsEverywhere) {
  Specimen good = GetParam().make(false);
  std::vector<Array> first;
  for (const char* name : {"functional", "latest", "earliest", "seeded:1", "seeded:2", "seeded:3"}) {
    sim::Machine machine(chip_of(good));
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(name);
    options.max_instructions = 10'000'000;
    const SimOutcome outcome = run(good.job, machine, options);
    ASSERT_TRUE(outcome.result.clean()) << name << "\n" << text_of(outcome.result);
    if (first.empty()) first = outcome.outputs;
    ASSERT_EQ(outcome.outputs.size(), first.size());
    for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(outcome.outputs[i].bytes, first[i].bytes) << name;
  }
  EXPECT_FALSE(first.empty());
}

TEST_P(ZooPair, PtxasTakesBothTwins) {
  PLD_NEEDS_TOOL("ptxas");
  for (const bool broken : {false, true}) {
    const Specimen twin = GetParam().make(broken);
    const toolkit::Assembly assembly = toolkit::assemble(ptx_of(twin.job), chip_of(twin).ptx_target);
    EXPECT_TRUE(assembly.ok) << (broken ? "broken\n" : "good\n") << assembly.log;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ZooPair, testing::ValuesIn(all_pairs().begin(), all_pairs().end()),
                         palladion::test::printed_name<Pair>);

}  // namespace
}  // namespace palladion::kernels::zoo
