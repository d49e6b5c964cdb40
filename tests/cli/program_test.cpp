// Exit codes, what goes to which stream, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "tests/cli/floats.h"
#include "tests/cli/found.h"
#include "tests/support/golden.h"
#include "tests/support/json_reading.h"
#include "verify/arrays/arrays.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- foreign PTX -----------------------------------------------------------------------------------
TEST_F(Program, ForeignPtxComputes) {
  const Ran ran = run(saxpy("--out arg3=" + file("y.npy")));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("findings    not checked"));
  const auto y = npy::read_npy(file("y.npy"), {.dtype = "f32", .shape = npy::Shape{1000}});
  ASSERT_TRUE(y) << y.error();
  const auto values = floats_of(*y);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 2.0f * float(i) + 1.0f) << i;
}

TEST_F(Program, CompiledCudaComputes) {
  const Ran ran =
      run("run --ptx tests/isa/ptx/hopper_tile.ptx --grid 2,3 --block 128 --smem 33792 "
          "--arg 'tmap:in:f16[192,256]=randint(1,-2,3),box=64x64,swizzle=128' "
          "--arg 'tmap:in:f16[128,256]=randint(2,-2,3),box=64x64,swizzle=128' --arg out:f32[192,128]=" +
          file("c.npy") + " --arg i32:128 --arg i32:256");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto c = npy::read_npy(file("c.npy"), {.dtype = "f32", .shape = npy::Shape{192, 128}});
  ASSERT_TRUE(c) << c.error();
  const auto got = floats_of(*c);
  const auto a = to_floats(filled({pl::f16, {192, 256}}, *fill_named("randint(1,-2,3)")));
  const auto b = to_floats(filled({pl::f16, {128, 256}}, *fill_named("randint(2,-2,3)")));
  for (size_t m = 0; m < 192; ++m)
    for (size_t n = 0; n < 128; ++n) {
      float sum = 0;
      for (size_t k = 0; k < 256; ++k) sum += a[m * 256 + k] * b[n * 256 + k];
      ASSERT_EQ(got[m * 128 + n], sum) << m << "," << n;
    }
}

TEST_F(ProgramFindings, OfEveryCtaAreOne) {
  const json::array all = found(
      "run --ptx tests/isa/ptx/reduction.ptx --entry sum_integers --grid 8 --block 256 --arg "
      "in:i32[10000]=iota --arg inout:i32[1]=zeros --arg i32:10000",
      1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("code"), "PLD3020");
  EXPECT_EQ(all[0].at("count"), 8);
}

TEST_F(ProgramFindings, OfAHangHaveThePlace) {
  const json::array all = found("run --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64", 1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("severity"), "error");
  EXPECT_EQ(all[0].at("code"), "PLD3080");
  EXPECT_EQ(all[0].at_pointer("/sites/0/instruction"), "bar.sync 1, 64;");
}

TEST_F(ProgramFindings, OfAnAccessOutOfBoundsNameTheArray) {
  const json::array all = found(
      "run --ptx tests/cli/ptx/saxpy.ptx --grid 4 --block 256 --arg u32:1001 --arg f32:2 --arg "
      "in:f32[1000]=iota --arg 'inout:f32[1000]=const(1)'",
      1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("code"), "PLD3022");
  const json::value& where = all[0].at_pointer("/said/message/values/2");
  EXPECT_EQ(where.at("phrase"), "past_array");
  EXPECT_EQ(where.at_pointer("/values/1"), 0) << "bytes behind its end";
  EXPECT_EQ(where.at_pointer("/values/2"), "arg2");
}

// ---- kernels by name -------------------------------------------------------------------------------
TEST_F(Program, AKernelIsComparedWithItsReference) {
  const Ran ran = run("run vector_add --shape n=4096");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("equal bit by bit (4096 elements)"));
  EXPECT_EQ(ran.err, "");
}

TEST_F(Program, InputsComeFromFilesAndOutputsGoThere) {
  std::vector<float> a(2048, 1.5f);
  ASSERT_TRUE(npy::write_npy(file("a.npy"), "f32", npy::Shape{2048}, std::as_bytes(std::span(a))));
  const Ran ran = run("run vector_add --shape n=2048 --in a=" + file("a.npy") + " --in b=" + file("a.npy") +
                      " --out out=" + file("out.npy"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto out = npy::read_npy(file("out.npy"));
  ASSERT_TRUE(out) << out.error();
  EXPECT_THAT(floats_of(*out), testing::Each(3.0f));
}

TEST_F(Program, SeedsChooseInputs) {
  const auto hash_line = [&](const std::string& arguments) {
    std::smatch match;
    const std::string out = run("run vector_add --shape n=2048 " + arguments).out;
    return std::regex_search(out, match, std::regex("hash ([0-9a-f]+)")) ? match[1].str() : "";
  };
  EXPECT_EQ(hash_line("--seed 5"), hash_line("--seed 5"));
  EXPECT_NE(hash_line("--seed 5"), hash_line("--seed 6"));
  EXPECT_NE(hash_line("--seed 5"), "");
}

TEST_F(Program, PtxIsPrintedAndReadBack) {
  const Ran printed = run("ptx vector_add --shape n=4096 -o " + file("v.ptx"));
  EXPECT_EQ(printed.status, 0) << printed.err;
  const Ran ran =
      run("run --ptx " + file("v.ptx") +
          " --grid 4 --block 128 --arg in:f32[4096]=iota --arg in:f32[4096]=iota --arg out:f32[4096]=" +
          file("sum.npy"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto sum = npy::read_npy(file("sum.npy"));
  ASSERT_TRUE(sum) << sum.error();
  EXPECT_EQ(floats_of(*sum)[4095], 8190.0f);
}

// ---- JSON ------------------------------------------------------------------------------------------
TEST_F(Program, AModuleForAnotherChipIsRefusedByName) {
  std::ofstream(file("other.ptx"))
      << ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
  EXPECT_EQ(run("run --ptx " + file("other.ptx") + " --grid 1 --block 32").status, 0)
      << "on the chip it is for";
  const Ran ran = run("run --arch h200 --ptx " + file("other.ptx") + " --grid 1 --block 32");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, testing::AllOf(HasSubstr("PLD1035"),
                                      HasSubstr("`.target sm_100a`, which h200 (sm_90a) cannot run")));
  EXPECT_EQ(run("ptx --ptx " + file("other.ptx")).status, 0) << "printed, for no chip in particular";
  EXPECT_EQ(run("ptx --arch h100 --ptx " + file("other.ptx")).status, 2);
  EXPECT_EQ(run("explain PLD1035").status, 0);
}

TEST_F(Program, JsonIsTheSameForOneAndTwoThreadsApartFromWallTimes) {
  const auto report = [&](const std::string& arguments) {
    EXPECT_EQ(run(arguments + " --json " + file("r.json")).status, 0);
    json::value seen = json::parse(read(file("r.json")));
    EXPECT_TRUE(seen.as_object().contains("wall"));
    seen.as_object().erase("wall");
    return dump(seen);
  };
  for (const std::string& what : {std::string("run vector_add --shape n=65536"), saxpy(),
                                  std::string("run vector_add --shape n=65536 --schedule seeded:3")}) {
    const std::string first = report(what + " --threads 1");
    EXPECT_EQ(first, report(what + " --threads 1"));
    EXPECT_EQ(first, report(what + " --threads 2"));
    EXPECT_EQ(first, report(what + " --threads 2"));
  }
}

TEST_F(Program, JsonHoldsWhatTheTextSays) {
  ASSERT_EQ(run("run --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64 --json " + file("r.json")).status, 1);
  const json::value seen = json::parse(read(file("r.json")));
  EXPECT_EQ(seen.at_pointer("/exit_code"), 1);
  EXPECT_EQ(seen.at_pointer("/sim/completed"), false);
  EXPECT_EQ(seen.at_pointer("/sim/findings/0/code"), "PLD3080");
  EXPECT_EQ(seen.at_pointer("/sim/findings/0/sites/0/instruction"), "bar.sync 1, 64;");
  ASSERT_EQ(run(saxpy("--json " + file("r.json"))).status, 0);
  const auto good = json::parse(read(file("r.json")));
  EXPECT_EQ(good.at_pointer("/sim/outputs/0/name"), "arg3");
  EXPECT_EQ(text(good.at_pointer("/sim/outputs/0/fnv1a")).size(), 16u);
  EXPECT_EQ(good.at_pointer("/sim/ctas"), 4);
  EXPECT_GT(number(good.at_pointer("/wall/sim_seconds")), 0);
}

// ---- mistakes --------------------------------------------------------------------------------------
struct Mistake {
  const char* arguments;
  int status;
};

// Every mistake a user makes before a run: its exit code and its whole text.
TEST_F(Program, MistakesAreAnsweredInWords) {
  const Mistake mistakes[] = {
      {"", 2},
      {"rnu vector_add", 2},
      {"run", 2},
      {"run vector_ad", 2},
      {"run saxpy.ptx", 2},
      {"run vector_add --shap n=4", 2},
      {"run vector_add --shape m=4", 2},
      {"run vector_add --shape n=-4", 2},
      {"run vector_add --shape n", 2},
      {"run vector_add --shape n=1000", 2},
      {"run vector_add --set dtype=f64", 2},
      {"run vector_add extra", 2},
      {"run vector_add --seed x", 2},
      {"run vector_add --arch h20", 2},
      {"run vector_add --schedule fast", 2},
      {"run vector_add --values none", 2},
      {"run vector_add --values some", 2},
      {"run vector_add --l2 warm", 2},
      {"run vector_add --why", 2},
      {"run vector_add --schedule hardware --l2 hot", 2},
      {"run vector_add --schedule hardware --sm-clock 0", 2},
      {"run vector_add --schedule hardware --clock missing.clock", 2},
      {"run vector_add --schedule hardware --values none --out out=sum.npy", 2},
      {"run vector_add --schedule hardware --values none --check race", 2},
      {"run vector_add --schedule hardware --arch h100", 3},
      {"sweep", 2},
      {"sweep vector_ad --set tile=1024", 2},
      {"sweep vector_add", 2},
      {"sweep vector_add --set tile", 2},
      {"sweep vector_add --set tile=1024..64", 2},
      {"sweep vector_add --set tiles=512,1024", 2},
      {"sweep vector_add --shape m=4096 --set tile=1024", 2},
      {"sweep vector_add --set tile=1024 --resume missing.jsonl", 2},
      {"sweep vector_add --set tile=1024 --state README.md", 2},
      {"list h20", 2},
      {"run vector_add --trace t.json", 2},
      {"run vector_add --report missing/r.html", 2},
      {"check vector_add --mutate --report m.html", 2},
      {"check vector_add --mutate --redundant", 2},
      {"run vector_add --check rase", 2},
      {"run vector_add --limit 0", 2},
      {"run vector_add --suppress missing.txt", 2},
      {"run vector_add --seeds 4", 2},
      {"check vector_add --explore 0", 2},
      {"run vector_add --schedule functional,resident=0", 2},
      {"check vector_add --on device", 2},
      {"check zoo/no-such-pair-anywhere", 2},
      {"check zoo/no-such-pair-anywhere --shape n=4", 2},
      {"run vector_add --on gpu", 2},
      {"run vector_add --in c=a.npy", 2},
      {"run vector_add --in a=missing.npy", 2},
      {"run vector_add --in a=tests/cli/ptx/saxpy.ptx", 2},
      {"run vector_add --out sum=a.npy", 2},
      {"run vector_add --grid 4", 2},
      {"run --ptx missing.ptx --grid 1 --block 32", 2},
      {"run --ptx tests/cli/ptx/broken.ptx --grid 1 --block 32", 2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --block 32", 2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1", 2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 32 --entry axpy", 2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 32 --arg u32:5", 2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 32 --arg u64:5 --arg f32:2 --arg in:f32[5]=iota "
       "--arg inout:f32[5]=iota",
       2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 32 --arg u32:5 --arg f32:2 --arg "
       "in:f32[9999999999999]=iota --arg inout:f32[5]=iota",
       2},
      {"run --ptx tests/cli/ptx/saxpy.ptx --grid 1 --block 2048 --arg u32:5 --arg f32:2 --arg in:f32[5]=iota "
       "--arg inout:f32[5]=iota",
       2},
      {"run --ptx tests/cli/ptx/tile.ptx --grid 1 --block 32 --arg tmap:f16[64,64]@1,box=64x64,swizzle=32 "
       "--arg inout:f16[64,64]=iota --arg u32:0 --arg u32:0",
       2},
      {"run --ptx tests/cli/ptx/tile.ptx --grid 1 --block 32 --arg tmap:f16[99,64]@1,box=8x8 --arg "
       "inout:f16[64,64]=iota --arg u32:0 --arg u32:0",
       2},
      {"explain PLD9999", 2},
      {"explain wgmm", 2},
      {"lab chek", 2},
      {"lab start parrity", 2},
  };
  std::string all;
  for (const Mistake& mistake : mistakes) {
    const Ran ran = run(mistake.arguments);
    EXPECT_EQ(ran.status, mistake.status) << mistake.arguments << "\n" << ran.err;
    all += "$ palladion " + std::string(mistake.arguments) + "\n" + ran.err + "\n";
  }
  all = std::regex_replace(all, std::regex("this machine has [0-9.e+]+ GB"), "this machine has ... GB");
  EXPECT_TRUE(golden::compare("cli/mistakes.txt", all));
}

TEST_F(Program, AWrongFileSaysWhatWasExpected) {
  std::vector<float> a(7);
  ASSERT_TRUE(npy::write_npy(file("a.npy"), "f32", npy::Shape{7}, std::as_bytes(std::span(a))));
  const Ran ran = run("run vector_add --shape n=2048 --in a=" + file("a.npy"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("a.npy"));
  EXPECT_THAT(ran.err, HasSubstr("f32[7]"));
  EXPECT_THAT(ran.err, HasSubstr("f32[2048]"));
}

TEST_F(Program, WithoutADeviceItSaysSo) {
  if (run("doctor").out.find("no device") == std::string::npos) GTEST_SKIP() << "there is a device";
  for (const char* arguments :
       {"run vector_add --shape n=2048 --on device", "compare vector_add --shape n=2048"}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("--on sim"));
  }
}

TEST_F(Program, ControlCEndsWithWhatIsKnown) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string out = file("out"), err = file("err");
    if (std::freopen(out.c_str(), "w", stdout) == nullptr ||
        std::freopen(err.c_str(), "w", stderr) == nullptr)
      ::_exit(99);
    ::execl(program().c_str(), "palladion", "run", "--ptx", ptx("spin").c_str(), "--grid", "4", "--block",
            "128", "--arg", "inout:u32[1]=zeros", nullptr);
    ::_exit(99);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130) << read(file("err"));
  EXPECT_THAT(read(file("out")), HasSubstr("interrupted"));
}

// ---- the rest --------------------------------------------------------------------------------------
TEST_F(Program, HelpAndVersion) {
  EXPECT_EQ(run("--version").out.substr(0, 10), "palladion ");
  EXPECT_THAT(run("--help").out, HasSubstr("compare"));
  const Ran help = run("run --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("--schedule"));
}

TEST_F(Program, TheVersionIsTheProjects) {
  std::smatch match;
  const std::string cmake = read(PLD_SOURCE_DIR "/CMakeLists.txt");
  ASSERT_TRUE(std::regex_search(cmake, match, std::regex("VERSION ([0-9.]+) LANGUAGES")));
  EXPECT_EQ(run("--version").out, "palladion " + match[1].str() + "\n");
}

TEST_F(Program, ListNamesKernelsArchitecturesSchedulesChecks) {
  const Ran ran = run("list");
  EXPECT_EQ(ran.status, 0);
  for (const char* word : {"vector_add", "h200", "functional", "seeded:N", "deadlock"})
    EXPECT_THAT(ran.out, HasSubstr(word));
}

TEST_F(Program, ExplainKnowsCodesAndInstructions) {
  EXPECT_THAT(run("explain pld3080").out, HasSubstr("no warp can continue"));
  const Ran op = run("explain cp.async.bulk.tensor wgmma.wait_group");
  EXPECT_EQ(op.status, 0) << op.err;
  EXPECT_THAT(op.out, HasSubstr("wgmma.wait_group.sync.aligned"));
  EXPECT_THAT(op.out, Not(HasSubstr("wgmma.fence.sync")));
  EXPECT_EQ(run("explain").status, 0);
}

TEST_F(Program, ExplainKnowsTheVerbsOfKernels) {
  const Ran verb = run("explain barrier_wait plgpu::barrier_arrive pl.fori_loop");
  EXPECT_EQ(verb.status, 0) << verb.err;
  EXPECT_THAT(verb.out, HasSubstr("plgpu::barrier_wait: a verb of kernels, frontend/sync/barriers.h"));
  EXPECT_THAT(verb.out, HasSubstr("void barrier_wait(const BarrierRef& barrier);"));
  EXPECT_THAT(verb.out, HasSubstr("const ArriveOptions& options"));
  EXPECT_THAT(verb.out, HasSubstr("pl::fori_loop"));
  EXPECT_EQ(run("explain pl::barrier_wait").status, 2);
}

}  // namespace
}  // namespace palladion::cli
