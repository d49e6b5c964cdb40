// The clock as scripts see it: run under the hardware schedule, sweep, and files of parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "isa/arch/clock.h"
#include "tests/cli/program.h"
#include "tests/support/json_reading.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class TimedProgram : public Program {
 protected:
  json::value report(const std::string& arguments, int status = 0) const {
    const Ran ran = run(arguments + " --json " + file("r.json"));
    EXPECT_EQ(ran.status, status) << arguments << "\n" << ran.out << ran.err;
    json::value j = json::parse(read(file("r.json")));
    j.as_object().erase("wall");
    return j;
  }
  // The parameters of an H200 with one line replaced; an empty line drops it.
  std::string clock_file(std::string_view key, const std::string& line) const {
    std::string text(isa::clock_file("h200"));
    const size_t at = text.find("\n" + std::string(key) + " ") + 1;
    text.replace(at, text.find('\n', at) - at, line);
    std::ofstream(file("my.clock")) << text;
    return file("my.clock");
  }
  static constexpr const char* add = "run vector_add --shape n=65536 --schedule hardware";
};

// ---- run -------------------------------------------------------------------------------------------
TEST_F(TimedProgram, TellsCyclesAndWhereTheyWent) {
  const Ran ran = run(add);
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* words : {" cycles, ", " us at ", "power throttling is not modelled", "GB/s",
                            "equal bit by bit", "where the time went", "kernels/examples/vector_add.cpp:"})
    EXPECT_THAT(ran.out, HasSubstr(words));
}

TEST_F(TimedProgram, SaysWhereTheChipWasNotMeasured) {
  const std::string shape = " --shape m=128,n=128,k=64 --schedule hardware";
  const std::string kernel = "run blackwell_matmul_basic" + shape;
  EXPECT_THAT(run(kernel).out,
              HasSubstr("published numbers, not measured; power throttling is not modelled"));
  EXPECT_EQ(report(kernel).at_pointer("/sim/clock/clock_measured"), json::value(false));
  EXPECT_EQ(report(add).at_pointer("/sim/clock/clock_measured"), json::value(true));
}

TEST_F(TimedProgram, CyclesDoNotDependOnThreadsOrValues) {
  const json::value first = report(std::string(add) + " --threads 1");
  EXPECT_GT(number(first.at_pointer("/sim/clock/cycles")), 0);
  EXPECT_EQ(dump(first), dump(report(std::string(add) + " --threads 2")));
  const json::value none = report(std::string(add) + " --values none");
  EXPECT_EQ(none.at_pointer("/sim/clock/cycles"), first.at_pointer("/sim/clock/cycles"));
  EXPECT_EQ(none.at_pointer("/sim/clock/counters"), first.at_pointer("/sim/clock/counters"));
  EXPECT_FALSE(none.at_pointer("/sim").as_object().contains("outputs"));
  EXPECT_TRUE(none.at_pointer("/reference").as_array().empty());
}

TEST_F(TimedProgram, WithoutValuesItSaysThatNothingIsCompared) {
  const Ran ran = run(std::string(add) + " --values none");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not computed, not compared: --values none"));
  EXPECT_THAT(ran.out, Not(HasSubstr("equal bit by bit")));
}

TEST_F(TimedProgram, FrequencyAndL2AreWhatWasAskedFor) {
  const json::value clock = report(std::string(add) + " --sm-clock 1000 --l2 warm").at_pointer("/sim/clock");
  EXPECT_EQ(clock.at_pointer("/sm_clock_mhz"), 1000);
  EXPECT_EQ(clock.at_pointer("/l2"), "warm");
  EXPECT_NEAR(number(clock.at_pointer("/microseconds")), number(clock.at_pointer("/cycles")) / 1000, 1e-6);
}

TEST_F(TimedProgram, OtherSchedulesHaveNoClock) {
  EXPECT_FALSE(report("run vector_add --shape n=4096").at_pointer("/sim").as_object().contains("clock"));
}

TEST_F(TimedProgram, WhyTellsWhatARelaxedPartWouldSave) {
  const json::value why = report(std::string(add) + " --why").at_pointer("/sim/clock/why");
  ASSERT_GT(why.at_pointer("/gains").as_array().size(), 0u);
  double last = 1;
  for (const json::value& gain : why.at_pointer("/gains").as_array()) {
    EXPECT_LE(number(gain.at_pointer("/saved")), last);
    last = number(gain.at_pointer("/saved"));
    EXPECT_GT(number(gain.at_pointer("/cycles")), 0);
  }
  EXPECT_THAT(run(std::string(add) + " --why").out, HasSubstr("what would help"));
}

TEST_F(TimedProgram, WhySaysBeforehandHowOftenItRunsAndThenWhatToChange) {
  const Ran ran = run(std::string(add) + " --why --json " + file("why.json"));
  EXPECT_THAT(ran.err,
              testing::ContainsRegex("what would help: [0-9]+ to [0-9]+ runs of about .* each, .* to .*\n"));
  EXPECT_THAT(ran.out, testing::AllOf(HasSubstr("what an author would change, and what it follows from"),
                                      HasSubstr(" of what HBM reads\n")));
  const json::value why = json::parse(read(file("why.json"))).at_pointer("/sim/clock/why");
  EXPECT_LE(number(why.at_pointer("/runs")), number(why.at_pointer("/most_runs")));
  EXPECT_EQ(why.at_pointer("/advice/0/about"), "peak");
  EXPECT_EQ(why.at_pointer("/advice/0/from"), "counters");
}

// The same runs, whatever the number of host threads.
TEST_F(TimedProgram, WhyDoesNotDependOnThreads) {
  const auto why = [&](const char* threads) {
    return dump(report(std::string(add) + " --why --threads " + threads).at_pointer("/sim/clock/why"));
  };
  EXPECT_EQ(why("1"), why("3"));
}

TEST_F(TimedProgram, WhyTriesAnotherNumberOfStages) {
  const Ran ran =
      run("run matmul_ws --shape m=512,n=512,k=512 --set stages=2 --schedule hardware --values none --why "
          "--json " +
          file("stages.json"));
  const json::value changes = json::parse(read(file("stages.json"))).at_pointer("/sim/clock/why/changes");
  ASSERT_EQ(changes.as_array().size(), 1u) << ran.out;
  EXPECT_EQ(changes.at_pointer("/0/change"), "stages=3");
  EXPECT_THAT(ran.out, HasSubstr("a run with stages=3: "));
}

// ---- files of parameters ---------------------------------------------------------------------------
TEST_F(TimedProgram, AFileOfParametersStandsInForTheArchitecturesOwn) {
  const auto cycles = [&](const std::string& more) {
    return report(std::string(add) + more).at_pointer("/sim/clock/cycles").to_number<uint64_t>();
  };
  const uint64_t own = cycles("");
  EXPECT_EQ(cycles(" --clock " + clock_file("sm.clock", "sm.clock = 1980 MHz | - | - | the same")), own);
  EXPECT_GT(
      cycles(" --clock " + clock_file("launch.overhead", "launch.overhead = 90000 cycles | - | - | slow")),
      own + 50000);
}

// Others see an atomic's result when it is issued at the earliest, however fast a file makes atomics.
TEST_F(TimedProgram, FasterAtomicsSaveTimeDownToNoLatencyAtAll) {
  uint64_t before = 0;
  for (const char* latency : {"0", "1", "100", "465"}) {
    const std::string line = std::string("l2.atomic_latency = ") + latency + " cycles | - | - | changed";
    const std::string file_of_parameters = clock_file("l2.atomic_latency", line);
    const uint64_t cycles =
        report("run zoo/deadlock-launch-order:good --schedule hardware --clock " + file_of_parameters)
            .at_pointer("/sim/clock/cycles")
            .to_number<uint64_t>();
    EXPECT_GT(cycles, before) << latency;
    before = cycles;
  }
}

TEST_F(TimedProgram, AFileOfParametersIsRefusedByNameAndLine) {
  const auto refusal = [&](const std::string& line) {
    const Ran ran = run(std::string(add) + " --clock " + clock_file("hbm.read", line));
    EXPECT_EQ(ran.status, 2) << line;
    return ran.err;
  };
  EXPECT_THAT(refusal("hbm.reed = 4050 GB/s | - | - | typing"),
              testing::AllOf(HasSubstr("PLD5802"), HasSubstr("unknown parameter `hbm.reed`"),
                             HasSubstr("my.clock:")));
  EXPECT_THAT(refusal(""), testing::AllOf(HasSubstr("PLD5803"), HasSubstr("`hbm.read` (GB/s) is missing")));
  EXPECT_THAT(refusal("hbm.read = 4.05 TB/s | - | - | -"), HasSubstr("PLD5804"));
  EXPECT_THAT(refusal("hbm.read 4050"), HasSubstr("PLD5801"));
}

TEST_F(TimedProgram, AFileMayInheritTheArchitecturesOwn) {
  const auto with = [&](std::string_view text) {
    std::ofstream(file("derived.clock")) << text;
    return run(std::string(add) + " --clock " + file("derived.clock"));
  };
  EXPECT_EQ(with("inherit h200\nwithout wgmma\n").status, 0);
  const Ran unknown = with("inherit h200\nwithout tea\n");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, testing::AllOf(HasSubstr("PLD5802"), HasSubstr("unknown unit `tea`")));
  EXPECT_THAT(with("inherit z80\n").err, testing::AllOf(HasSubstr("PLD5805"), HasSubstr("`z80`")));
}

TEST_F(TimedProgram, ListShowsAChipsParametersAndAKernelsSettings) {
  const Ran chip = run("list h200");
  EXPECT_EQ(chip.status, 0);
  for (const char* words : {"hbm.read = ", "GB/s", "op.ffma.latency"})
    EXPECT_THAT(chip.out, HasSubstr(words));
  const Ran kernel = run("list matmul_ws");
  for (const char* words : {"--set   stages", "none, m, n"}) EXPECT_THAT(kernel.out, HasSubstr(words));
}

TEST_F(TimedProgram, StallReasonsAreExplained) {
  const Ran ran = run("explain 'long scoreboard' gmma");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("load from GMEM"));
  EXPECT_THAT(ran.out, HasSubstr("wgmma.wait_group"));
  const Ran both = run("explain mbarrier");
  EXPECT_THAT(both.out, HasSubstr("a stall reason"));
  EXPECT_THAT(both.out, HasSubstr("mbarrier.init"));
}

// ---- sweep -----------------------------------------------------------------------------------------
constexpr const char* sweep = "sweep vector_add --shape n=65536 --set tile=256,1000,512,1024";

TEST_F(TimedProgram, ASweepRanksBySimulatedTimeAndLeavesOutWhatCannotBe) {
  const json::value j = report(sweep);
  ASSERT_EQ(j.at_pointer("/ranking").as_array().size(), 3u);
  EXPECT_LE(number(j.at_pointer("/ranking/0/cycles")), number(j.at_pointer("/ranking/1/cycles")));
  EXPECT_LE(number(j.at_pointer("/ranking/1/cycles")), number(j.at_pointer("/ranking/2/cycles")));
  ASSERT_EQ(j.at_pointer("/left_out").as_array().size(), 1u);
  EXPECT_EQ(j.at_pointer("/left_out/0/code"), "PLD5001");
  EXPECT_EQ(j.at_pointer("/left_out/0/settings/tile"), "1000");
  const Ran ran = run(sweep);
  EXPECT_THAT(ran.out, HasSubstr("of best"));
  EXPECT_THAT(ran.out, HasSubstr("PLD5001"));
  EXPECT_THAT(ran.out, HasSubstr("tile=1000"));
}

TEST_F(TimedProgram, ASweepIsTheSameForAnyNumberOfThreads) {
  const std::string one = dump(report(std::string(sweep) + " --threads 1"));
  EXPECT_EQ(one, dump(report(std::string(sweep) + " --threads 2")));
  EXPECT_EQ(one, dump(report(std::string(sweep) + " --threads 16"))) << "more threads than configurations";
}

TEST_F(TimedProgram, ASweepsTimesAreThoseOfRuns) {
  const json::array ranking = report(sweep).at("ranking").as_array();
  ASSERT_FALSE(ranking.empty());
  for (const json::value& timed : ranking) {
    const std::string tile = text(timed.at_pointer("/settings/tile"));
    EXPECT_EQ(timed.at_pointer("/cycles"),
              report(std::string(add) + " --set tile=" + tile).at_pointer("/sim/clock/cycles"))
        << tile;
  }
}

TEST_F(TimedProgram, AnInterruptedSweepGoesOnWhereItEnded) {
  const std::string whole = dump(report(std::string(sweep) + " --state " + file("s.jsonl")));
  const std::string lines = read(file("s.jsonl"));
  EXPECT_EQ(std::ranges::count(lines, '\n'), 3) << "what cannot be built has no line";
  std::ofstream(file("cut.jsonl")) << lines.substr(0, lines.find('\n') + 20);
  const Ran resumed = run(std::string(sweep) + " --resume " + file("cut.jsonl"));
  EXPECT_EQ(resumed.status, 0);
  EXPECT_THAT(resumed.out, HasSubstr("1 taken over from the file"));
  EXPECT_THAT(resumed.out, HasSubstr("the last line was cut short"));
  EXPECT_EQ(dump(report(std::string(sweep) + " --resume " + file("cut.jsonl"))), whole);
}

TEST_F(TimedProgram, ControlCKeepsTheTimesThatAreWhole) {
  const std::string state = file("s.jsonl");
  const std::string arguments =
      "sweep matmul_ws --shape m=1024,n=1024,k=1024 --set stages=2..4 --set epilogue_n=32,64,128 --set "
      "grid_width=1..4 --threads 1";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string command =
        "exec " + program() + " " + arguments + " --state " + state + " >" + file("out");
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(99);
  }
  for (int i = 0; i < 600 && read(state).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(read(file("out")), HasSubstr("--resume " + state));
  const std::string lines = read(state);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), '\n');
  for (std::istringstream in(lines); in.peek() != EOF;) {
    std::string line;
    std::getline(in, line);
    json::error_code wrong;
    json::parse(line, wrong);
    EXPECT_FALSE(wrong.failed()) << line;
  }
}

TEST_F(TimedProgram, AnotherClockIsAnotherSweep) {
  report(std::string(sweep) + " --state " + file("s.jsonl"));
  const Ran ran = run(std::string(sweep) + " --sm-clock 1500 --resume " + file("s.jsonl"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, Not(HasSubstr("taken over")));
}

TEST_F(TimedProgram, AKernelThatNeedsItsDataIsSweptWithThem) {
  const std::string arguments = "histogram --shape n=16384 --set bins=128,256";
  EXPECT_EQ(run("run histogram --shape n=16384 --schedule hardware --values none").status, 2);
  const json::array ranking = report("sweep " + arguments).at("ranking").as_array();
  EXPECT_FALSE(ranking.empty());
  for (const json::value& timed : ranking) EXPECT_EQ(timed.at_pointer("/values"), "full");
  EXPECT_THAT(run("sweep " + arguments).out, HasSubstr("2 needed the arrays' contents"));
}

TEST_F(TimedProgram, ASweepOfWhatCannotBeIsTheUsersMistake) {
  const json::value j = report("sweep vector_add --shape n=65536 --set tile=1000,1001", 2);
  EXPECT_EQ(j.at_pointer("/ranking").as_array().size(), 0u);
  EXPECT_EQ(j.at_pointer("/left_out").as_array().size(), 2u);
}

}  // namespace
}  // namespace palladion::cli
