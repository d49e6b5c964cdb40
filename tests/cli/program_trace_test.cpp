// `run --trace` as scripts see it.
#include <gmock/gmock.h>

#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;

class ProgramTrace : public Program {};

TEST_F(ProgramTrace, EveryFormatUnderEverySchedule) {
  for (const char* schedule : {"functional", "hardware", "latest"}) {
    for (const char* name : {"t.pftrace", "t.perfetto-trace", "t.jsonl", "t.txt"}) {
      const Ran ran = run("run vector_add --schedule " + std::string(schedule) + " --trace " + file(name));
      EXPECT_EQ(ran.status, 0) << ran.err;
      EXPECT_THAT(ran.out, HasSubstr(std::string(name) + ": "));
      EXPECT_GT(read(file(name)).size(), 200U) << name;
    }
  }
  EXPECT_THAT(read(file("t.txt")), HasSubstr("has no clock"));
}

TEST_F(ProgramTrace, ATraceChangesNothing) {
  const std::string command = "run matmul_ws --shape m=512,n=512,k=256 --schedule hardware --json ";
  const Ran without = run(command + file("without.json"));
  const Ran with = run(command + file("with.json") + " --trace-ctas all --trace " + file("t.jsonl"));
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(with.status, 0);
  const auto cycles = [](const std::string& json) {
    const size_t at = json.find("\"cycles\":");
    return json.substr(at, json.find('\n', at) - at);
  };
  EXPECT_THAT(cycles(read(file("with.json"))), HasSubstr("cycles"));
  EXPECT_EQ(cycles(read(file("without.json"))), cycles(read(file("with.json"))));
  EXPECT_THAT(read(file("with.json")), HasSubstr("\"complete\": true"));
}

TEST_F(ProgramTrace, OneThatDoesNotFitStaysWholeAndSaysSo) {
  const Ran ran = run("run matmul_ws --shape m=512,n=512,k=256 --trace-limit 40K --trace " + file("t.jsonl"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("warning: the trace ends at "));
  EXPECT_THAT(ran.err, HasSubstr("the limit of 40000 bytes"));
  const std::string text = read(file("t.jsonl"));
  EXPECT_LE(text.size(), 40000U);
  EXPECT_TRUE(text.ends_with("}\n"));
  EXPECT_THAT(text, HasSubstr("\"complete\":false"));
}

TEST_F(ProgramTrace, AFullDiskEndsItAndNotTheRun) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  std::filesystem::create_symlink("/dev/full", file("full.jsonl"));
  const Ran ran = run("run vector_add --trace " + file("full.jsonl"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
}

// Scopes of a device are data: here those of another shape, so that no number is asserted.
TEST_F(ProgramTrace, CompareShowsADevicesScopesBesideThoseOfTheMachine) {
  std::ofstream(file("d.scopes")) << "what some H200\nkernel matmul_ws\nsm_clock_mhz 1755\n"
                                     "lane 0 0 3\nscope 10 60 prologue\nscope 70 4000 main loop\n";
  const std::string compare = "compare matmul_ws --shape m=512,n=512,k=256 --schedule hardware --trace ";
  const Ran ran = run(compare + file("t.txt") + " --set profile=1 --device-trace " + file("d.scopes"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("main loop"));
  EXPECT_THAT(ran.out, HasSubstr("device       3930 cycles"));
  EXPECT_THAT(read(file("t.txt")), HasSubstr("device: some H200"));
  EXPECT_THAT(read(file("t.txt")), HasSubstr("scope epilogue"));
  EXPECT_EQ(run(compare + file("t.txt")).status, 2) << "no scopes";
  std::ofstream(file("bad.scopes")) << "scope 1 2 x\n";
  EXPECT_THAT(run(compare + file("t.txt") + " --set profile=1 --device-trace " + file("bad.scopes")).err,
              HasSubstr("line 1"));
}

TEST_F(ProgramTrace, MistakesAreNamed) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"--trace t.json", ".pftrace"},
      {"--trace /nowhere/t.txt", "/nowhere/t.txt"},
      {"--trace-ctas 3", "--trace"},
      {"--trace t.txt --trace-ctas 3..1", "0..3"},
      {"--trace t.txt --trace-cycles soon", "FIRST..LAST"},
      {"--trace t.txt --trace-limit much", "2GB"},
  };
  for (const auto& [arguments, says] : mistakes) {
    const Ran ran = run("run vector_add " + std::string(arguments));
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(says)) << arguments;
  }
}

}  // namespace
}  // namespace palladion::cli
