// Checks from the command line: schedules, verdicts, suppressions, the zoo.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "kernels/zoo/zoo.h"
#include "tests/cli/found.h"
#include "tests/support/json_reading.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Program, CheckRunsHostileSchedules) {
  const Ran good = run("check vector_add --shape n=2048 --seeds 2");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, AllOf(HasSubstr("functional"), Not(HasSubstr("earliest"))));
  EXPECT_THAT(good.out, HasSubstr("verdict     clean"));
  EXPECT_THAT(good.out, HasSubstr("1 schedule; decided for all schedules by one run (others cannot differ)"));
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

// The same launch with other values where the finding says that they are arbitrary: no output changes.
TEST_F(ProgramFindings, AboutDroppedValuesAreStrict) {
  const std::string halo =
      "check --ptx tests/cli/ptx/dropped.ptx --entry halo --grid 1 --block 32 "
      "--arg out:u32[32] --arg u32:";
  EXPECT_EQ(only(halo + "0", 0), "strict PLD6101");
  EXPECT_EQ(found(halo + "0", 0).at(0).at_pointer("/said/notes/0/phrase"), "no_output_depends");
  EXPECT_EQ(only(halo + "1", 1), "error PLD6101");

  const std::string replicated =
      "check --ptx tests/cli/ptx/dropped.ptx --entry replicated --grid 1 --block 64 "
      "--arg inout:u32[32]=iota --arg out:u32[32] --arg u32:";
  EXPECT_EQ(only(replicated + "0", 0), "strict PLD6001");
  EXPECT_EQ(only(replicated + "1", 1), "error PLD6001");

  // The lane that writes reads its own word: its value is not arbitrary.
  for (const char* entry : {"last_reader", "last_counter"}) {
    const std::string last = "check --ptx tests/cli/ptx/dropped.ptx --entry " + std::string(entry) +
                             " --grid 1 --block 32 --arg inout:u32[32]=iota --arg out:u32[32] --arg u32:";
    EXPECT_EQ(only(last + "0", 0), "strict PLD4611") << entry;
    EXPECT_EQ(only(last + "1", 1), "error PLD4611") << entry;
  }
}

// A wgmma reads rows that are still being copied; nothing depends on them, or the other warps store them.
TEST_F(ProgramFindings, AboutDroppedRowsOfAProductAreStrict) {
  const std::string padded =
      "check --ptx tests/cli/ptx/padded.ptx --grid 1 --block 128 "
      "--arg 'in:f16[1152]=randint(7,-4,5)' --arg out:f32[512] --arg u32:";
  EXPECT_EQ(only(padded + "0", 0), "strict PLD4306");
  EXPECT_EQ(found(padded + "0", 0).at(0).at_pointer("/said/notes/1/phrase"), "no_output_depends");
  EXPECT_EQ(only(padded + "1", 1), "error PLD4306");
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
  EXPECT_THAT(ran.out, HasSubstr("verdict     no findings, not decided for all schedules: 1 was tried\n"));
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
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_EQ(seen.at_pointer("/sim/findings/0/reason"), "we know");
  const auto sarif = json::parse(read(file("r.sarif")));
  EXPECT_EQ(sarif.at_pointer("/runs/0/results/0/suppressions/0/kind"), "external");
  EXPECT_EQ(sarif.at_pointer("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri"),
            "tests/cli/ptx/hang.ptx");
}

TEST_F(Program, CheckJsonMergesSchedules) {
  EXPECT_EQ(
      run("check --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --seeds 1 --json " + file("r.json")).status,
      1);
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_EQ(seen.at_pointer("/verdict"), "errors");
  EXPECT_EQ(seen.at_pointer("/schedules").as_array().size(), 4u);
  ASSERT_EQ(seen.at_pointer("/findings").as_array().size(), 1u);
  EXPECT_EQ(seen.at_pointer("/findings/0/schedules").as_array().size(), 4u);
  EXPECT_THAT(text(seen.at_pointer("/findings/0/replay")), HasSubstr("--schedule functional"));
}

// ---- beyond one schedule ---------------------------------------------------------------------------
TEST_F(Program, OneRunDecidesWhenPhasesAreForced) {
  const Ran forced = run("check zoo/wgmma-wait-group-off-by-one:good --json " + file("r.json"));
  EXPECT_EQ(forced.status, 0) << forced.err;
  EXPECT_THAT(forced.out,
              HasSubstr("1 schedule; decided for all schedules by one run (others cannot differ)"));
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_EQ(seen.at_pointer("/decided_by_one_run"), true);
  EXPECT_EQ(seen.at_pointer("/decided"), true);
  EXPECT_EQ(seen.at_pointer("/scope/schedules"), "all");
  EXPECT_EQ(seen.at_pointer("/scope/data"), "all data of this shape");
  EXPECT_TRUE(seen.at_pointer("/assumptions").as_array().empty());
  EXPECT_EQ(seen.at_pointer("/schedules/0/coverage/decides_all_schedules"), true);
  EXPECT_EQ(seen.at_pointer("/schedules").as_array().size(), 1u) << "the others cannot differ";
}

// Each mbarrier's phases look forced, one at a time; together they are not.
// What a race reads may be other values under other schedules, also where no other finding can come.
TEST_F(Program, OneRunDecidesFindingsOfARace) {
  const Ran r = run("check zoo/async-store-not-committed");
  EXPECT_THAT(r.out, HasSubstr("other outputs"));
  EXPECT_THAT(r.out,
              HasSubstr("findings decided for all schedules by one run (random ones cannot add any, but give "
                        "other outputs)"));
}

TEST_F(Program, OneRunDoesNotDecideWhatOrdersNothing) {
  for (const char* name : {"zoo/tx-nothing-expected", "zoo/named-barrier-id-shared-by-roles"}) {
    const Ran ran = run(std::string("check ") + name + " --seeds 0 --json " + file("r.json"));
    EXPECT_EQ(ran.status, 1) << name;
    EXPECT_THAT(ran.out, HasSubstr("3 schedules; not decided for all others: `"));
    const json::value seen = json::parse(read(file("r.json")));
    EXPECT_EQ(seen.at_pointer("/decided_by_one_run"), false);
    EXPECT_EQ(seen.at_pointer("/scope/schedules"), "these");
    EXPECT_EQ(seen.at_pointer("/assumptions").as_array().size(), 1u);
    EXPECT_NE(seen.at_pointer("/schedules/0/coverage/undecided_reason"), "");
  }
}

TEST_F(Program, ExploreFindsWhatNoScheduleShows) {
  const Ran ran =
      run("check zoo/named-barrier-id-shared-by-roles --schedule functional --explore 100000 --json " +
          file("r.json"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("exploration all schedules; "));
  EXPECT_THAT(ran.err, HasSubstr("by exploration, under none of 1 schedules\n"));
  EXPECT_THAT(ran.err,
              HasSubstr("replay: palladion check zoo/named-barrier-id-shared-by-roles --explore 100000 "
                        "--schedule functional\n"));
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_TRUE(std::ranges::any_of(seen.at("findings").as_array(), [](const json::value& f) {
    return f.at("code") == "PLD4909" && f.at("severity") == "error";
  }));
  EXPECT_EQ(seen.at_pointer("/exploration/all_schedules"), true);
  EXPECT_EQ(seen.at_pointer("/exploration/budget"), 100000);
  EXPECT_GT(number(seen.at_pointer("/exploration/classes")), 1);
}

TEST_F(Program, ABudgetThatRunsOutIsToldAndIsNotClean) {
  const Ran ran =
      run("check --ptx tests/cli/ptx/lanes_apart.ptx --grid 1 --block 64 --schedule functional --explore 3");
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("exploration incomplete: budget of 3 states; "));
  EXPECT_THAT(ran.out, HasSubstr("verdict     incomplete (exploration: budget of 3 states; "));
}

TEST_F(Program, AnAssumptionAboutLanesIsNamed) {
  const Ran ran =
      run("check --ptx tests/cli/ptx/lanes_apart.ptx --grid 1 --block 64 --seeds 2 --json " + file("r.json"));
  EXPECT_THAT(ran.out,
              HasSubstr("verdict     no findings, decided for all schedules that keep the lanes of a warp "
                        "together\n"));
  EXPECT_THAT(ran.out, HasSubstr("5 schedules; decided for all in which lanes of a warp"))
      << "random ones are tried";
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_EQ(seen.at_pointer("/decided"), false);
  EXPECT_EQ(seen.at_pointer("/scope/schedules"), "all that keep warps together");
  EXPECT_EQ(seen.at_pointer("/assumptions/0"), "lanes of a warp that return from one wait go on together");
}

TEST_F(ProgramFindings, ExploreStartsCtasInOtherOrdersAndFewerAtATime) {
  const std::string command = "check zoo/deadlock-launch-order --seeds 0";
  EXPECT_THAT(run(command).out, HasSubstr("verdict     no findings, not decided")) << "no schedule shows it";
  const Ran ran = run(command + " --explore 1000");
  EXPECT_EQ(ran.status, 0) << "it is strict";
  EXPECT_THAT(ran.out, HasSubstr("functional,resident=1,order=descending no findings, the same outputs"));
  EXPECT_THAT(ran.out, HasSubstr("functional,elect=1"));
  EXPECT_THAT(ran.out, HasSubstr("functional,fail_waits=1"));
  EXPECT_THAT(ran.out, HasSubstr("verdict     strict (1 finding)"));
  EXPECT_EQ(only(command + " --explore 1000", 0), "strict PLD4906");
  EXPECT_THAT(ran.err,
              HasSubstr("replay: palladion check zoo/deadlock-launch-order --check all --explore 1000\n"));
  EXPECT_EQ(run(command + " --explore 1000 --strict").status, 1);
  EXPECT_EQ(run("check zoo/deadlock-launch-order:good --seeds 0 --explore 1000 --strict").status, 0);
  EXPECT_EQ(run("run zoo/deadlock-launch-order --schedule functional,resident=1").status, 1)
      << "one of its runs";
  EXPECT_THAT(run("explain PLD4906").out, HasSubstr("palladion check zoo/deadlock-launch-order --explore"));
}

TEST_F(Program, ExploreOfARightKernelIsClean) {
  const Ran ran = run("check matmul_pipelined --shape m=256,n=256,k=256 --seeds 0 --explore 100000");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("exploration all schedules; "));
  EXPECT_THAT(ran.out, HasSubstr("verdict     clean"));
}

// ---- the zoo ---------------------------------------------------------------------------------------
TEST_F(Program, TwinsOfTheZooAreKernels) {
  const std::string& name = kernels::zoo::all_pairs().front().name;
  EXPECT_THAT(run("list").out, HasSubstr("zoo/" + name + " "));
  EXPECT_THAT(run("list zoo").out, HasSubstr("zoo/" + name + " "));
  EXPECT_THAT(run("ptx zoo/" + name + ":good").out, HasSubstr(".entry"));
  EXPECT_EQ(run("check zoo/" + name).status, 1);
  const Ran good = run("check zoo/" + name + ":good");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("verdict     clean"));
  EXPECT_EQ(run("check zoo/" + name + ":godo").status, 2);
}

// Names of arrays are in the PTX text: a file has them too.
TEST_F(ProgramFindings, OfAFileHaveTheAuthorsNames) {
  ASSERT_EQ(run("ptx zoo/mbarrier-count-too-large -o " + file("k.ptx")).status, 0);
  const json::array all =
      found("check --ptx " + file("k.ptx") +
                " --grid 1 --block 256 --smem 2048 --arg in:f32[4,256]=iota --arg out:f32[4,256] --sarif " +
                file("r.sarif"),
            1);
  EXPECT_EQ(all.at(0).at_pointer("/about/kind"), "mbarrier");
  EXPECT_EQ(all.at(0).at_pointer("/about/names/0/name"), "drained");
  EXPECT_THAT(read(file("r.sarif")), HasSubstr("`drained`"));
}

TEST_F(ProgramFindings, OfBytesBehindAnArrayNameIt) {
  std::ofstream(file("gap.ptx")) << R"(.version 8.8
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
//@buffer memory+0 16 f32[4] a
.visible .entry gap() {
  .reg .b32 %r<3>;
  mov.u32 %r0, memory;
  mov.u32 %r1, %tid.x;
  st.shared.b32 [%r0+32], %r1;
  ret;
}
)";
  const json::array all =
      found("check --ptx " + file("gap.ptx") + " --grid 1 --block 64 --smem 1024 --seeds 0", 1);
  EXPECT_EQ(all.at(0).at_pointer("/about/names/0/name"), "a");
  EXPECT_EQ(all.at(0).at_pointer("/about/names/0/bytes/0"), (json::array{32, 36}));
  EXPECT_EQ(all.at(0).at_pointer("/about/past_end"), true);
}

// A program of the user's own has another name than this one.
TEST_F(Program, CommandsToRepeatNameTheProgramThatRuns) {
  const std::string mine = file("my_kernels");
  std::filesystem::create_symlink(program(), mine);
  const std::string hang = mine + " check --ptx " + ptx("hang") + " --grid 2 --block 64 --seeds 0";
  ASSERT_EQ(WEXITSTATUS(std::system((hang + " >" + file("out") + " 2>&1").c_str())), 1);
  EXPECT_THAT(read(file("out")), HasSubstr("replay: my_kernels run --ptx "));
  ASSERT_EQ(WEXITSTATUS(std::system((mine + " run >" + file("out") + " 2>&1").c_str())), 2);
  EXPECT_THAT(read(file("out")), HasSubstr("`my_kernels list` names the kernels"));
}

TEST_F(Program, ExplainShowsTheTwins) {
  const kernels::zoo::Pair& pair = kernels::zoo::all_pairs().front();
  const Ran ran = run("explain " + pair.code);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("palladion check zoo/" + pair.name));
}

TEST_F(Program, ExplainNamesSeverityAndRule) {
  EXPECT_THAT(
      run("explain PLD4906").out,
      HasSubstr(
          "  severity\n    strict: an error with --strict only\n  rule\n    PTX, \"Grid of Clusters\"\n"));
}

}  // namespace
}  // namespace palladion::cli
