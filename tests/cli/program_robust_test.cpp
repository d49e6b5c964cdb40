// Inputs, outputs and signals that must neither hang nor crash the program nor lose a report.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "isa/core/visible.h"
#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char adding[] = "run vector_add --shape n=2048 ";

class RobustProgram : public Program {
 protected:
  std::string written(std::string_view name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  std::string some_binary() const {
    std::string bytes;
    for (int i = 0; i < 100'000; ++i) bytes += char(i * 7919 >> 3);
    return written("bin", bytes);
  }

  // Starts the program, sends the signal after a time, gives its exit code; -1 when a signal ended it.
  int ended_by(int signal, std::chrono::milliseconds after, const std::string& arguments,
               int more_signals = 0) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string command =
          "exec " + program() + " " + arguments + " >" + file("out") + " 2>" + file("err");
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(99);
    }
    std::this_thread::sleep_for(after);
    for (int i = 0; i <= more_signals; ++i) {
      ::kill(child, signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::set<std::string> files_left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
    return names;
  }
};

// ---- what is read ------------------------------------------------------------------------------------
TEST_F(RobustProgram, AnInputWithoutEndIsAnErrorThatNamesTheLimit) {
  for (const char* arguments :
       {"--in a=/dev/zero", "--suppress /dev/zero", "--schedule hardware --clock /dev/zero"}) {
    const Ran ran = run(std::string(adding) + arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("/dev/zero: has more than")) << arguments;
  }
  EXPECT_THAT(run("run --ptx /dev/zero --grid 1 --block 32").err, HasSubstr("64.0 MiB"));
  EXPECT_THAT(run("run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 32 --arg bytes:@/dev/zero").err,
              HasSubstr("parameters"));
}

TEST_F(RobustProgram, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(file("pipe")) << "# nothing is accepted\n";
  });
  EXPECT_EQ(run(saxpy("--suppress " + file("pipe"))).status, 0);
  writer.join();
}

// A writer that writes nothing; and none at all.
TEST_F(RobustProgram, ASignalEndsTheWaitForAPipe) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const std::string arguments = saxpy("--suppress " + file("pipe"));
  EXPECT_EQ(ended_by(SIGTERM, std::chrono::milliseconds(300), arguments), 130);
  const int writer = ::open(file("pipe").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(ended_by(SIGINT, std::chrono::milliseconds(300), arguments), 130);
  ::close(writer);
}

TEST_F(RobustProgram, OfTheErrorsOfAWrongFileTheFirstAreShown) {
  const std::string bin = some_binary();
  for (const std::string& arguments :
       {adding + std::string("--schedule hardware --clock ") + bin, adding + std::string("--suppress ") + bin,
        "run --grid 1 --block 32 --ptx " + bin,
        "compare matmul_ws --set profile=1 --schedule hardware --trace x.txt --device-trace " + bin}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_LT(ran.err.size(), 40'000u) << arguments;
    EXPECT_EQ(ran.err, isa::visible(ran.err)) << "control bytes: " << arguments;
  }
  EXPECT_THAT(run(adding + std::string("--schedule hardware --clock ") + bin).err,
              testing::ContainsRegex("and [0-9]+ more"));
}

// ---- what is written ---------------------------------------------------------------------------------
TEST_F(RobustProgram, PathsAreExaminedBeforeTheRun) {
  fs::create_directory(file("folder"));
  for (const std::string option : {"--json ", "--sarif ", "--out out="}) {
    for (const std::string& path : {file("none/x"), file("folder")}) {
      const Ran ran = run(adding + option + path);
      EXPECT_EQ(ran.status, 2) << option << path;
      EXPECT_EQ(ran.out, "") << option << path;
      EXPECT_THAT(ran.err, HasSubstr(option.substr(0, 5)));
    }
  }
  EXPECT_EQ(run(adding + std::string("--trace ") + file("none/x.txt")).out, "");
  EXPECT_EQ(run("ptx vector_add -o " + file("folder")).status, 2);
  EXPECT_EQ(run("sweep vector_add --shape n=2048 --set tile=512,1024 --state " + file("none/x")).status, 2);
  EXPECT_EQ(files_left(), (std::set<std::string>{"folder", "stderr"})) << "an examination leaves nothing";
}

TEST_F(RobustProgram, OneFileHasOneUse) {
  const std::string x = file("x"), same = file("./x");
  for (const std::string& arguments : {"--json " + x + " --sarif " + same, "--json " + x + " --out out=" + x,
                                       "--in a=" + x + " --json " + same}) {
    const Ran ran = run(adding + arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("the same file"));
  }
  EXPECT_EQ(run(adding + std::string("--json /dev/null --sarif /dev/null")).status, 0);
  EXPECT_THAT(run(saxpy("--json tests/cli/ptx/saxpy.ptx")).err, HasSubstr("would replace what is read"));
}

TEST_F(RobustProgram, AReportIsPrintedAlthoughAFileCannotBeWritten) {
  const Ran ran = run(adding + std::string("--out out=/dev/full --json ") + file("r.json"));
  EXPECT_EQ(ran.status, 74);
  EXPECT_THAT(ran.out, HasSubstr("equal bit by bit"));
  EXPECT_THAT(ran.err, HasSubstr("/dev/full"));
  EXPECT_THAT(read(file("r.json")), HasSubstr("\"bits_equal\": true"));
}

TEST_F(RobustProgram, AFullDiskBehindStandardOutputIsAnError) {
  for (const std::string& arguments :
       {std::string(adding), std::string("check vector_add --shape n=2048"), std::string("list"),
        std::string("--help"), std::string("ptx vector_add"), std::string("explain PLD3001")}) {
    const Ran ran = run(arguments + " >/dev/full");
    EXPECT_EQ(ran.status, 74) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("standard output cannot be written: No space left")) << arguments;
    EXPECT_THAT(ran.err, Not(HasSubstr("bug"))) << arguments;
  }
  EXPECT_EQ(run(adding + std::string("--json ") + file("r.json") + " >/dev/full").status, 74);
  EXPECT_THAT(read(file("r.json")), HasSubstr("\"bits_equal\": true")) << "the other half of the report";
}

// What some parents make of a pipe: a write that would block is an error EAGAIN.
TEST_F(RobustProgram, AStreamThatDoesNotBlockIsWaitedFor) {
  const std::string wanted = run("ptx matmul_ws").out;
  ASSERT_GT(wanted.size(), 8192U);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(program().c_str(), "palladion", "ptx", "matmul_ws", nullptr);
    ::_exit(99);
  }
  ::close(ends[1]);
  std::string got;
  char buffer[1000];
  for (ssize_t n = -1; n != 0;) {
    n = ::read(ends[0], buffer, sizeof buffer);
    if (n > 0) got.append(buffer, static_cast<size_t>(n));
    if (n < 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(got, wanted);
}

TEST_F(RobustProgram, AReaderThatHasGoneCostsNoFile) {
  const Ran ran = run(adding + std::string("--json ") + file("r.json") + " | true");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(read(file("r.json")), HasSubstr("\"bits_equal\": true"));
}

TEST_F(RobustProgram, AnOutputThatWasNotComputedIsNotWritten) {
  const Ran ran =
      run("run --ptx tests/cli/ptx/saxpy.ptx --grid 4 --block 256 --arg u32:1001 --arg f32:2 --arg "
          "in:f32[1000]=iota --arg 'inout:f32[1000]=const(1)' --out arg3=" +
          file("y.npy"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("did not reach its end"));
  EXPECT_FALSE(fs::exists(file("y.npy")));
}

// ---- bytes that are no text --------------------------------------------------------------------------
TEST_F(RobustProgram, ControlBytesAreEscaped) {
  for (const std::string arguments :
       {"run --ptx $'\\x1b[2Jx\\xff.ptx' --grid 1 --block 32", "run $'\\x1b[2J\\xff'",
        "explain $'\\x1b[2J\\xff'", "run vector_add --shape $'\\x1b\\xff=1'",
        "run vector_add --in a=$'\\x1b\\xff'", "list $'\\x1b\\xff'"}) {
    written("go.sh", program() + " " + arguments + "\n");
    const Ran ran = run("--version; bash " + file("go.sh"));
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_EQ(ran.err, isa::visible(ran.err)) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("\\x1b")) << arguments;
  }
}

TEST_F(RobustProgram, JsonIsUtf8WhateverAFileIsCalled) {
  const std::string name = file("\xff\x1b.ptx");
  fs::copy_file(ptx("hang"), name);
  ASSERT_EQ(run("run --ptx '" + name + "' --grid 2 --block 64 --json " + file("r.json") + " --sarif " +
                file("s.json"))
                .status,
            1);
  for (const std::string& report : {read(file("r.json")), read(file("s.json"))}) {
    EXPECT_EQ(report, isa::valid_utf8(report));
    EXPECT_THAT(report, HasSubstr("\\\\xff"));
    boost::json::error_code wrong;
    boost::json::parse(report, wrong);
    EXPECT_FALSE(wrong.failed());
  }
}

// ---- numbers -----------------------------------------------------------------------------------------
TEST_F(RobustProgram, ANumberOutOfRangeIsAnErrorThatNamesTheRange) {
  const std::pair<const char*, const char*> cases[] = {
      {"--seed -1", "--seed is a whole number from 0 to 18446744073709551615, not `-1`"},
      {"--seed 99999999999999999999999", "from 0 to 18446744073709551615"},
      {"--threads 1000000", "--threads is a whole number from 0 to 4096"},
      {"--lines 0", "--lines is a whole number from 1"},
      {"--limit x", "--limit is a whole number from 1"},
      {"--repeats -3", "--repeats is a whole number from 0"},
      {"--max-instructions 1e9", "--max-instructions is a whole number from 0"},
      {"--schedule hardware --sm-clock 1e308", "below 1000000 MHz"},
      {"--seed 1 --seed 2", "--seed is given more than once"},
      {"--shape n=1,n=2", "--shape gives n more than once"},
      {"--in a=x --in a=y", "--in gives a more than once"},
  };
  const Ran grid = run("run --ptx tests/cli/ptx/hang.ptx --block 32 --grid 2147483647,65535,65535");
  EXPECT_EQ(grid.status, 2);
  EXPECT_THAT(grid.err, HasSubstr("a grid has 1 to 4294967295 CTAs"));
  for (const auto& [arguments, says] : cases) {
    const Ran ran = run(adding + std::string(arguments));
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(says)) << arguments;
  }
  EXPECT_THAT(run("check vector_add --seeds 4000000000").err,
              HasSubstr("--seeds is a whole number from 0 to"));
}

// ---- loops without an end ----------------------------------------------------------------------------
constexpr char counting[] = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p;
  .reg .u32 %c;
  .reg .u64 %r;
  mov.u32 %c, %ctaid.x;
  setp.ne.u32 %p, %c, 5;
  @%p bra $done;
  mov.u64 %r, 0;
$loop:
  add.u64 %r, %r, 1;
  bra $loop;
$done:
  ret;
}
)";

// One CTA of many: the others end.
TEST_F(RobustProgram, ALoopThatCountsForEverIsGivenUpWithItsLines) {
  const std::string kernel = "--ptx " + written("counting.ptx", counting) + " --arg u64:0 --block 64 --grid ";
  for (const std::string schedule : {"functional", "latest", "earliest", "seeded:3"}) {
    const Ran ran = run("run " + kernel + "500 --max-instructions 100000000 --schedule " + schedule);
    EXPECT_EQ(ran.status, 3) << schedule;
    EXPECT_THAT(ran.err, HasSubstr("PLD3002")) << schedule;
    EXPECT_THAT(ran.err, HasSubstr("without a store, a barrier or a copy")) << schedule;
    EXPECT_THAT(ran.err, HasSubstr("a loop in PTX lines 14 to 15, with 2 warps: cta (5,0,0)")) << schedule;
  }
  const Ran clocked = run("run " + kernel + "6 --max-instructions 1000000 --schedule hardware");
  EXPECT_EQ(clocked.status, 3);
  EXPECT_THAT(clocked.err, HasSubstr("a loop in PTX lines 14 to 15"));
  EXPECT_THAT(clocked.out, Not(HasSubstr("cycles"))) << "no figures of half a run";
  const Ran checked = run("check " + kernel + "6 --max-instructions 1000000");
  EXPECT_EQ(checked.status, 3);
  EXPECT_THAT(checked.out, HasSubstr("3 schedules")) << "none after it";
}

TEST_F(RobustProgram, ALoopThatStoresIsGivenUpAtTheLimit) {
  const Ran ran =
      run("run --ptx tests/cli/ptx/spin.ptx --grid 4 --block 128 --arg inout:u32[1]=zeros "
          "--max-instructions 200000");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("a warp has executed more than 200000 instructions"));
}

// ---- signals -----------------------------------------------------------------------------------------
TEST_F(RobustProgram, ASignalEndsEveryCommandAtAnyMoment) {
  const std::string spin = "--ptx " + ptx("spin") + " --grid 4 --block 128 --arg inout:u32[1]=zeros";
  const std::string large = "matmul_blockspec --shape m=4096,n=4096,k=2048";
  for (const std::string& arguments :
       {"run " + spin, "check " + spin, "run " + spin + " --schedule hardware", "run " + large,
        "check " + large + " --explore 1000000",
        std::string("sweep matmul_ws --set stages=2..4 --set epilogue_n=32,64,128"),
        "run " + large + " --schedule hardware --why", std::string("check matmul_ws --mutate --threads 1")}) {
    for (const int after : {5, 50, 700}) {
      const int code = ended_by(after == 50 ? SIGTERM : SIGINT, std::chrono::milliseconds(after),
                                arguments + " --json " + file("r.json"));
      const bool before_main = after < 700 && code == -1;  // the system ends a program that is being loaded
      EXPECT_TRUE(code == 130 || before_main) << code << ": " << arguments << " after " << after << " ms\n"
                                              << read(file("err"));
      for (const std::string& name : files_left()) EXPECT_THAT(name, Not(HasSubstr(".part"))) << arguments;
    }
  }
}

TEST_F(RobustProgram, AnInterruptedRunHasTheVerdictInterruptedAndNoFigures) {
  EXPECT_EQ(ended_by(SIGINT, std::chrono::milliseconds(700),
                     "run --ptx " + ptx("spin") +
                         " --grid 4 --block 128 --arg inout:u32[1]=zeros --schedule hardware --out arg0=" +
                         file("x.npy") + " --json " + file("r.json")),
            130);
  const std::string out = read(file("out"));
  EXPECT_THAT(out, HasSubstr("verdict     interrupted"));
  EXPECT_THAT(out, Not(HasSubstr("cycles,")));
  EXPECT_THAT(out, Not(HasSubstr("hash")));
  EXPECT_FALSE(fs::exists(file("x.npy")));
  EXPECT_THAT(read(file("r.json")), HasSubstr("\"verdict\": \"interrupted\""));
}

TEST_F(RobustProgram, ASecondSignalEndsAtOnce) {
  EXPECT_EQ(ended_by(SIGINT, std::chrono::milliseconds(300),
                     "run --ptx " + ptx("spin") + " --grid 4 --block 128 --arg inout:u32[1]=zeros", 1),
            130);
}

}  // namespace
}  // namespace palladion::cli
