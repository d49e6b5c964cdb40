// Checks from the command line: schedules, verdicts, suppressions, the zoo.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "kernels/zoo/zoo.h"
#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Program, CheckRunsHostileSchedules) {
  const Ran good = run("check vector_add --shape n=2048 --seeds 2");
  EXPECT_EQ(good.status, 0) << good.err;
  for (const char* schedule : {"functional", "earliest", "latest", "seeded:0", "seeded:1"})
    EXPECT_THAT(good.out, HasSubstr(schedule));
  EXPECT_THAT(good.out, HasSubstr("verdict     clean"));
  EXPECT_THAT(good.out, HasSubstr("5 schedules"));
  const Ran bad = run("check --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --seeds 0");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, HasSubstr("verdict     errors (1 finding)"));
  EXPECT_THAT(bad.err, HasSubstr("seen: under all 3 schedules"));
  EXPECT_THAT(bad.err,
              HasSubstr("replay: palladion run --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --check all "
                        "--schedule functional\n"));
}

TEST_F(Program, TheReplayShowsTheFindingAgain) {
  const Ran bad = run("check --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --seeds 0 --limit 5 --json " +
                      file("a.json"));
  std::smatch match;
  ASSERT_TRUE(std::regex_search(bad.err, match, std::regex("replay: palladion (.*)\n")));
  const Ran again = run(match[1]);
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err.substr(0, again.err.find('\n')), bad.err.substr(0, bad.err.find('\n')));
}

TEST_F(Program, OneScheduleWhenItIsNamed) {
  const Ran ran = run("check vector_add --shape n=2048 --schedule seeded:7 --check none --no-reference");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("seeded:7"));
  EXPECT_THAT(ran.out, Not(HasSubstr("functional")));
  EXPECT_THAT(ran.out, Not(HasSubstr("coverage"))) << "nothing watched";
}

TEST_F(Program, RunChecksWhenItIsTold) {
  EXPECT_THAT(run("run vector_add --shape n=2048").out, Not(HasSubstr("verdict")));
  const Ran ran = run("run vector_add --shape n=2048 --check race,barrier");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("verdict     clean"));
  EXPECT_THAT(ran.out, HasSubstr("coverage    "));
}

TEST_F(Program, SuppressedFindingsAreCountedAndUnusedSuppressionsTold) {
  std::ofstream(file("let_be.txt")) << "PLD3080 hang.ptx  # we know\nPLD3020 hang.ptx  # never\n";
  const Ran ran = run("run --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --suppress " +
                      file("let_be.txt") + " --json " + file("r.json") + " --sarif " + file("r.sarif"));
  EXPECT_EQ(ran.status, 1) << "the run did not reach its end";
  EXPECT_THAT(ran.out, HasSubstr("findings    none; 1 suppressed"));
  EXPECT_THAT(ran.err, Not(HasSubstr("error[PLD3080]")));
  EXPECT_THAT(ran.err, HasSubstr("let_be.txt:2: this suppression of PLD3020 met no finding (never)"));
  const auto json = nlohmann::json::parse(read(file("r.json")));
  EXPECT_EQ(json["sim"]["findings"][0]["reason"], "we know");
  const auto sarif = nlohmann::json::parse(read(file("r.sarif")));
  EXPECT_EQ(sarif["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "tests/cli/ptx/hang.ptx");
}

TEST_F(Program, CheckJsonMergesSchedules) {
  EXPECT_EQ(
      run("check --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --seeds 1 --json " + file("r.json")).status,
      1);
  const auto json = nlohmann::json::parse(read(file("r.json")));
  EXPECT_EQ(json["verdict"], "errors");
  EXPECT_EQ(json["schedules"].size(), 4u);
  ASSERT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["schedules"].size(), 4u);
  EXPECT_THAT(json["findings"][0]["replay"].get<std::string>(), HasSubstr("--schedule functional"));
}

// ---- the zoo ---------------------------------------------------------------------------------------
TEST_F(Program, TwinsOfTheZooAreKernels) {
  const std::string& name = kernels::zoo::all_pairs().front().name;
  EXPECT_THAT(run("list").out, HasSubstr("zoo/" + name + " "));
  EXPECT_THAT(run("ptx zoo/" + name + ":good").out, HasSubstr(".entry"));
  EXPECT_EQ(run("check zoo/" + name).status, 1);
  const Ran good = run("check zoo/" + name + ":good");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("verdict     clean"));
  EXPECT_EQ(run("check zoo/" + name + ":godo").status, 2);
}

TEST_F(Program, ExplainShowsTheTwins) {
  const kernels::zoo::Pair& pair = kernels::zoo::all_pairs().front();
  const Ran ran = run("explain " + pair.code);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("palladion check zoo/" + pair.name));
}

}  // namespace
}  // namespace palladion::cli
