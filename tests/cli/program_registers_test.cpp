// --registers as scripts see it: with a ptxas of the test's own, and with the toolkit's where there is one.
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

class RegistersOfProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ::setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"XDG_CACHE_HOME", "CUDA_HOME"}) ::unsetenv(name);
  }

  // A ptxas that says `words` and ends with `status`; each call leaves a line in `calls`.
  void have_ptxas(const std::string& words, int status = 0) const {
    std::filesystem::create_directories(file("cuda/bin"));
    const std::string path = file("cuda/bin/ptxas");
    std::ofstream(path) << "#!/bin/sh\necho call >> " << file("calls") << "\ncat <<'END'\n"
                        << words << "END\nexit " << status << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("CUDA_HOME", file("cuda").c_str(), 1);
  }
  long calls() const {
    const std::string lines = read(file("calls"));
    return std::count(lines.begin(), lines.end(), '\n');
  }
  json::value clock(const std::string& more) const {
    const Ran ran = run(std::string(add) + more + " --json " + file("r.json"));
    EXPECT_EQ(ran.status, 0) << more << "\n" << ran.out << ran.err;
    return json::parse(read(file("r.json"))).at_pointer("/sim/clock");
  }

  static constexpr const char* add =
      "run --ptx tests/cli/ptx/saxpy.ptx --grid 600 --block 256 --arg u32:100000 --arg f32:2 --arg "
      "in:f32[100000]=iota --arg 'inout:f32[100000]=const(1)' --schedule hardware ";
  static constexpr const char* saxpy_takes_90 =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'saxpy' for 'sm_90a'\n"
      "ptxas info    : Function properties for saxpy\n"
      "    48 bytes stack frame, 52 bytes spill stores, 60 bytes spill loads\n"
      "ptxas info    : Used 90 registers, used 0 barriers, 48 bytes cumulative stack size\n";
};

TEST_F(RegistersOfProgram, TheEstimateIsTheDefault) {
  const json::value usual = clock(""), estimate = clock("--registers estimate");
  EXPECT_EQ(usual, estimate);
  EXPECT_EQ(usual.at_pointer("/occupancy/registers_from"), "estimate");
  EXPECT_FALSE(usual.at_pointer("/occupancy").as_object().contains("ptxas"));
  EXPECT_THAT(run(add).out, HasSubstr("registers a thread (an estimate"));
}

TEST_F(RegistersOfProgram, TheirNumberLimitsTheCtasOfAnSm) {
  const json::value few = clock("--registers 32"), many = clock("--registers 255");
  EXPECT_EQ(few.at_pointer("/occupancy/ctas_per_sm"), 8);   // 2048 threads
  EXPECT_EQ(many.at_pointer("/occupancy/ctas_per_sm"), 1);  // 65536 registers
  EXPECT_EQ(many.at_pointer("/occupancy/registers"), 255);
  EXPECT_GT(number(many.at_pointer("/cycles")), number(few.at_pointer("/cycles")));
}

TEST_F(RegistersOfProgram, PtxasIsAskedOnce) {
  have_ptxas(saxpy_takes_90);
  const json::value asked = clock("--registers ptxas");
  EXPECT_EQ(asked.at_pointer("/occupancy/registers"), 90);
  EXPECT_EQ(asked.at_pointer("/occupancy/ctas_per_sm"), 2);
  EXPECT_EQ(asked.at_pointer("/occupancy/ptxas/spill_store_bytes"), 52);
  EXPECT_EQ(asked.at_pointer("/occupancy/ptxas/spills_in_the_clock"), false);
  EXPECT_EQ(asked.at_pointer("/cycles"), clock("--registers 90").at_pointer("/cycles"));
  const Ran again = run(std::string(add) + "--registers ptxas");
  EXPECT_THAT(again.out,
              AllOf(HasSubstr("2 CTAs an SM, 90 registers a thread (ptxas)"),
                    HasSubstr("spills: 52 bytes of stores and 60 of loads a thread, not in the clock")));
  EXPECT_EQ(calls(), 1);
  have_ptxas(saxpy_takes_90 + std::string("\n"));  // another ptxas
  clock("--registers ptxas");
  EXPECT_EQ(calls(), 2);
}

TEST_F(RegistersOfProgram, ASweepAsksForEachConfiguration) {
  have_ptxas(
      "ptxas info    : Compiling entry function 'vector_add' for 'sm_90a'\n"
      "ptxas info    : Used 200 registers, used 0 barriers\n");
  const Ran ran =
      run("sweep vector_add --shape n=65536 --set tile=256,512 --registers ptxas --json " + file("s.json"));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(json::parse(read(file("s.json"))).at_pointer("/ranking").as_array().size(), 2u);
  EXPECT_EQ(calls(), 2);
}

TEST_F(RegistersOfProgram, WhatPtxasRefusesIsTold) {
  have_ptxas("ptxas kernel.ptx, line 7; error   : Unknown modifier '.foo'\n", 255);
  const Ran refused = run(std::string(add) + "--registers ptxas");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("does not assemble"), HasSubstr("Unknown modifier '.foo'")));
  have_ptxas("ptxas info    : 0 bytes gmem\n");
  const Ran silent = run(std::string(add) + "--registers ptxas");
  EXPECT_EQ(silent.status, 2);
  EXPECT_THAT(silent.err, HasSubstr("says nothing of the registers of `saxpy`"));
}

TEST_F(RegistersOfProgram, WordsThatDoNotExistAreRefused) {
  for (const char* word : {"0", "256", "many", "12x", "-1"}) {
    const Ran ran = run(std::string(add) + "--registers=" + word);
    EXPECT_EQ(ran.status, 2) << word;
    EXPECT_THAT(ran.err, HasSubstr("--registers is estimate, ptxas or a number from 1 to 255")) << word;
  }
  EXPECT_THAT(run(saxpy("--registers 32")).err, HasSubstr("--registers needs the clock"));
}

TEST_F(RegistersOfProgram, WithoutAPtxasItSaysSo) {
  ::setenv("CUDA_HOME", file("nothing").c_str(), 1);
  if (toolkit::find_tool("ptxas"))
    GTEST_SKIP() << "there is a ptxas on PATH: what is said without one was not checked";
  const Ran ran = run(std::string(add) + "--registers ptxas");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("there is no ptxas in CUDA_HOME or on PATH"));
}

TEST_F(RegistersOfProgram, TheToolkitsOwnAnswers) {
  PLD_NEEDS_TOOL("ptxas");
  const json::value asked = clock("--registers ptxas").at_pointer("/occupancy");
  EXPECT_EQ(asked.at_pointer("/registers_from"), "ptxas");
  EXPECT_GT(number(asked.at_pointer("/registers")), 8);
  EXPECT_LT(number(asked.at_pointer("/registers")), 32);
  EXPECT_EQ(asked.at_pointer("/ptxas/spill_store_bytes"), 0);
  const Ran ours =
      run("run matmul_ws --shape m=256,n=256,k=256 --schedule hardware --values none --registers ptxas");
  EXPECT_EQ(ours.status, 0) << ours.err;
  EXPECT_THAT(ours.out, AllOf(HasSubstr("168 registers a thread (ptxas)"), Not(HasSubstr("spills"))));
}

}  // namespace
}  // namespace palladion::cli
