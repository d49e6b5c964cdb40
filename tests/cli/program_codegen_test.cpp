// What run, check and sweep say of the code that ptxas makes: with a ptxas of the test's own, and with none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/cli/program.h"
#include "tests/support/json_reading.h"

namespace palladion::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CodegenOfProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ::setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"XDG_CACHE_HOME", "CUDA_HOME"}) ::unsetenv(name);
  }

  // A ptxas that says of `entry` that it spills `bytes`, where its text has `pattern`; each call leaves a
  // line in `calls`.
  void have_ptxas(const std::string& entry, int bytes, const std::string& pattern = ".entry") const {
    std::filesystem::create_directories(file("cuda/bin"));
    const std::string path = file("cuda/bin/ptxas");
    std::ofstream(path) << "#!/bin/sh\necho call >> " << file("calls") << "\nfor text; do :; done\n"
                        << "spills=0; if grep -q -e '" << pattern << "' \"$text\"; then spills=" << bytes
                        << "; fi\necho \"ptxas info    : Compiling entry function '" << entry
                        << "' for 'sm_90a'\"\necho \"    0 bytes stack frame, $spills bytes spill stores, "
                           "$spills bytes spill loads\"\n"
                        << "echo \"ptxas info    : Used 40 registers, used 0 barriers\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("CUDA_HOME", file("cuda").c_str(), 1);
  }
  long calls() const {
    const std::string lines = read(file("calls"));
    return std::count(lines.begin(), lines.end(), '\n');
  }
};

constexpr const char* spills = "ptxas keeps registers in local memory: 24 bytes of spill stores";

TEST_F(CodegenOfProgram, SpillsAreSaidOnceAskedAndAreNoError) {
  have_ptxas("saxpy", 24);
  for (int i = 0; i < 2; ++i) {
    const Ran ran = run(saxpy("--json " + file("r.json")));
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("strict[PLD6205]"), HasSubstr(spills)));
    EXPECT_THAT(ran.out, HasSubstr("findings    1, see above"));
  }
  EXPECT_EQ(calls(), 1) << "the answer is kept";
  const json::value r = json::parse(read(file("r.json")));
  EXPECT_EQ(r.at_pointer("/sim/findings/0/code"), "PLD6205");
  EXPECT_EQ(run(saxpy("--strict")).status, 1) << "unless they shall be";
}

TEST_F(CodegenOfProgram, ACheckSaysThemToo) {
  have_ptxas("vector_add", 24);
  const Ran ran = run("check vector_add --shape n=4096");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("strict[PLD6205]"), Not(HasSubstr("replay"))));
  EXPECT_THAT(ran.out, HasSubstr("strict (1 finding)"));
}

TEST_F(CodegenOfProgram, ASweepRanksThemLast) {
  const std::string sweep = "sweep vector_add --shape n=65536 --set tile=256,1024 --json " + file("s.json");
  const auto first = [&](const std::string& more) {
    EXPECT_EQ(run(sweep + more).status, 0);
    const json::value s = json::parse(read(file("s.json")));
    return std::string(s.at_pointer("/ranking/0/settings/tile").as_string());
  };
  const std::string best = first(" --codegen none");
  const std::string ptx = run("ptx vector_add --shape n=65536 --set tile=" + best).out;
  const std::string of_best = best == "256" ? "%r0, 8;" : "%r0, 10;";  // the CTA's first element
  EXPECT_NE(ptx.find(of_best), std::string::npos) << ptx;
  have_ptxas("vector_add", 24, of_best);
  EXPECT_NE(first(""), best);
  const Ran ran = run(sweep);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("slower on the chip than these cycles, and ranked last"), HasSubstr(spills)));
  EXPECT_EQ(first(" --codegen none"), best);
}

TEST_F(CodegenOfProgram, WhereThereIsNoPtxasThePredictionAnswers) {
  ::setenv("CUDA_HOME", file("nothing").c_str(), 1);
  EXPECT_THAT(run(saxpy("--codegen predicted")).out, HasSubstr("findings    not checked"));
  EXPECT_EQ(calls(), 0);
  if (toolkit::find_tool("ptxas")) GTEST_SKIP() << "there is a ptxas on PATH: asking for one was not checked";
  const Ran ran = run(saxpy("--codegen ptxas"));
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("there is no ptxas"));
}

TEST_F(CodegenOfProgram, TwinsOfTheZooAreAboutTheMachinesRules) {
  have_ptxas("zoo", 24);
  const Ran ran = run("check zoo/async-store-no-proxy-fence:good");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(calls(), 0);
}

}  // namespace
}  // namespace palladion::cli
