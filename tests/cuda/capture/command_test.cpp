// `palladion capture` as a program, over the fake driver; and the PTX of machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda/bundle/read.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/cubin.h"
#include "cuda/toolkit/match.h"

namespace {

namespace fs = std::filesystem;
namespace toolkit = palladion::cuda::toolkit;
namespace cubin = palladion::cuda::cubin;
using palladion::cuda::bundle::Contents;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CaptureCommand : public ::testing::Test {
 protected:
  CaptureCommand() {
    std::string name = (fs::temp_directory_path() / "palladion_command_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~CaptureCommand() override { fs::remove_all(folder_); }

  std::string capture(const std::string& words) {
    const std::string log = (folder_ / "log").string();
    code_ = WEXITSTATUS(std::system(("LD_LIBRARY_PATH=" PLD_DRIVER_FOLDER " " PLD_PALLADION " capture -o " +
                                     (folder_ / "out").string() + " " + words + " >" + log + " 2>&1")
                                        .c_str()));
    return contents_of(log);
  }
  fs::path bundle() const { return folder_ / "out/0001-add_one"; }

  fs::path folder_;
  int code_ = -1;
};

TEST_F(CaptureCommand, RunsTheProgramAndNamesItsBundles) {
  const std::string said = capture("--kernel add -- " PLD_PROGRAM " proc add_one 3");
  EXPECT_EQ(code_, 0) << said;
  EXPECT_THAT(said, HasSubstr("ended with 0"));
  EXPECT_THAT(said, HasSubstr("0001-add_one: with its PTX"));
  const auto manifest = palladion::cuda::bundle::read_manifest(bundle());
  ASSERT_TRUE(manifest) << manifest.error();
  EXPECT_EQ(manifest->entry, "add_one");
  EXPECT_TRUE(palladion::cuda::bundle::read_ptx(bundle(), *manifest));
  for (const auto& b : manifest->buffers) {
    const auto before = palladion::cuda::bundle::read_contents(bundle(), b.before, b.bytes);
    ASSERT_TRUE(before) << before.error();
    EXPECT_EQ(before->size(), b.bytes);
  }
}

TEST_F(CaptureCommand, RecordsThePtxThatMachineCodeCarries) {
  ::setenv("AS_CUBIN", "1", 1);
  const std::string said = capture("--kernel add -- " PLD_PROGRAM " proc add_one");
  ::unsetenv("AS_CUBIN");
  EXPECT_THAT(said, HasSubstr("0001-add_one: with its PTX, which the machine code carried"));
  const auto manifest = palladion::cuda::bundle::read_manifest(bundle());
  ASSERT_TRUE(manifest) << manifest.error();
  EXPECT_EQ(manifest->ptx_source, cubin::carried_source);
  const auto ptx = palladion::cuda::bundle::read_ptx(bundle(), *manifest);
  ASSERT_TRUE(ptx) << ptx.error();
  EXPECT_THAT(*ptx, HasSubstr(".entry add_one("));
  EXPECT_THAT(manifest->buffers, Contains(Field(&palladion::cuda::bundle::Buffer::name, "table")))
      << "variables of the module are known by its PTX";
}

TEST_F(CaptureCommand, SaysWhenNothingWasRecorded) {
  EXPECT_THAT(capture("--kernel other -- " PLD_PROGRAM " proc add_one"),
              HasSubstr("no kernel's name matches `other`"));
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(capture("-- /nowhere/program"), HasSubstr("cannot be started"));
  EXPECT_THAT(capture("--ptx-dir /nowhere"), HasSubstr("there is no such folder"));
  EXPECT_THAT(capture("--ptx-dir /nowhere -- true"), HasSubstr("no launch was recorded")) << "it may make it";
  EXPECT_THAT(capture(""), HasSubstr("a command is missing"));
}

TEST_F(CaptureCommand, ACrashIsTheExitCodeAndLeavesABundle) {
  EXPECT_THAT(capture("-- " PLD_PROGRAM " proc crash"), HasSubstr("the program ended with 1"));
  EXPECT_EQ(code_, 1);
  EXPECT_TRUE(fs::exists(folder_ / "out/0001-crash/bundle.json"));
}

TEST_F(CaptureCommand, StripsContentsButKeepsTables) {
  capture("--launches 2 -- " PLD_PROGRAM " proc add_one 2");
  EXPECT_THAT(capture("--strip"), HasSubstr("stripped"));
  EXPECT_EQ(code_, 0);
  const auto table = palladion::cuda::bundle::read_manifest(bundle());
  ASSERT_TRUE(table) << table.error();
  EXPECT_FALSE(table->complete);
  EXPECT_EQ(table->buffers[1].before.kind, Contents::Kind::file);  // it points to the third
  EXPECT_EQ(table->buffers[1].after.kind, Contents::Kind::none);
  EXPECT_FALSE(fs::exists(bundle() / "buffer1.after"));
  const auto second = palladion::cuda::bundle::read_manifest(folder_ / "out/0002-add_one");
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ(second->buffers[1].before.kind, Contents::Kind::seed);  // its pointer was counted up
  EXPECT_FALSE(fs::exists(folder_ / "out/0002-add_one/buffer1.before"));
}

// A complete bundle of kernel `k`, whose 8 bytes at 0x7f0000000000 were 0 and became 77.
palladion::cuda::bundle::Manifest bundle_of(const std::string& ptx) {
  palladion::cuda::bundle::Manifest m;
  m.chip = "NVIDIA H200";
  m.entry = "k";
  m.complete = true;
  m.ptx_file = "kernel.ptx";
  m.ptx_checksum = palladion::cuda::bundle::checksum(std::as_bytes(std::span(ptx)));
  m.buffers.push_back({.name = "out",
                       .address = 0x7f00'0000'0000,
                       .bytes = 8,
                       .before = {.kind = Contents::Kind::repeated, .file = {}, .value = 0},
                       .after = {.kind = Contents::Kind::repeated, .file = {}, .value = 77}});
  return m;
}

void expect_equal(const fs::path& folder, const palladion::cuda::bundle::Manifest& m,
                  const std::string& ptx) {
  fs::create_directories(folder / "one");
  std::ofstream(folder / "one/kernel.ptx") << ptx;
  std::ofstream(folder / "one/bundle.json") << palladion::cuda::bundle::text(m);
  const std::string log = (folder / "log").string();
  const int status =
      std::system((PLD_PALLADION " compare " + (folder / "one").string() + " >" + log + " 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << contents_of(log);
  EXPECT_THAT(contents_of(log), HasSubstr("equal bit by bit"));
}

// As an H200's driver lays parameters out: 64-byte alignment counts from 0x210 bytes before the block.
TEST_F(CaptureCommand, ReplaysParametersInTheDriversLayout) {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 m[64], .param "
      ".u64 p) "
      "{\n.reg .b64 %d;\n.reg .b32 %r;\nld.param.u32 %r, [m+4];\nld.param.u64 %d, [p];\nst.global.u32 [%d], "
      "%r;\nret;\n}\n";
  palladion::cuda::bundle::Manifest m = bundle_of(ptx);
  m.parameters.assign(48 + 64 + 8, 0);
  m.parameters[48 + 4] = 77;
  m.parameters[112 + 5] = 0x7f;  // 0x7f0000000000
  expect_equal(folder_, m, ptx);
}

// The grid's barrier lies in the workspace that %envreg1 and %envreg2 name, as in cooperative_groups.
TEST_F(CaptureCommand, ReplaysCooperativeLaunches) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p<3>;
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1};
  setp.ne.u64 %p1, %d1, 0;
  @%p1 bra FOUND;
  trap;
FOUND:
  atom.global.acq_rel.gpu.add.u32 %r3, [%d1+4], 1;
WAIT:
  ld.global.acquire.gpu.u32 %r3, [%d1+4];
  setp.ne.u32 %p2, %r3, 300;
  @%p2 bra WAIT;
  ld.param.u64 %d2, [p];
  mov.u32 %r4, 77;
  st.global.u32 [%d2], %r4;
  ret;
}
)";
  palladion::cuda::bundle::Manifest m = bundle_of(ptx);
  m.grid = {300, 1, 1};
  m.block = {1, 1, 1};
  m.cooperative = true;
  m.parameters.assign(8, 0);
  m.parameters[5] = 0x7f;
  expect_equal(folder_, m, ptx);
}

// Where a launch leaves addresses of the device's heap, compare says so.
TEST_F(CaptureCommand, AddressesOfTheHeapAreNamedWhereTheyDiffer) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.visible .entry k(.param .u64 p) {
  .reg .b64 %d<4>;
  mov.u64 %d1, 16;
  { .param .b64 n; .param .b64 r; st.param.b64 [n], %d1; call.uni (r), malloc, (n); ld.param.b64 %d2, [r]; }
  ld.param.u64 %d3, [p];
  st.global.u64 [%d3], %d2;
  ret;
}
)";
  palladion::cuda::bundle::Manifest m = bundle_of(ptx);
  m.grid = m.block = {1, 1, 1};
  m.parameters.assign(8, 0);
  m.parameters[5] = 0x7f;
  m.buffers[0].after.value = 0x205b68620;
  fs::create_directories(folder_ / "one");
  std::ofstream(folder_ / "one/kernel.ptx") << ptx;
  std::ofstream(folder_ / "one/bundle.json") << palladion::cuda::bundle::text(m);
  const std::string log = (folder_ / "log").string();
  const int status =
      std::system((PLD_PALLADION " compare " + (folder_ / "one").string() + " >" + log + " 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(contents_of(log), HasSubstr("may all be addresses of blocks of the heap"));
}

const std::string stores_77 =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b64 %d;\n"
    ".reg .b32 %r;\nld.param.u64 %d, [p];\nmov.b32 %r, 77;\nst.global.u32 [%d], %r;\nret;\n}\n";

// A bundle that was recorded without PTX, of machine code that carries it.
TEST_F(CaptureCommand, ComparesMachineCodeThatCarriesItsPtx) {
  palladion::cuda::bundle::Manifest m = bundle_of(stores_77);
  m.ptx_file.clear();
  m.image_file = "kernel.cubin";
  const std::string image = cubin::carry(stores_77);
  m.image_checksum = palladion::cuda::bundle::checksum(std::as_bytes(std::span(image)));
  m.parameters.assign(8, 0);
  m.parameters[5] = 0x7f;
  fs::create_directories(folder_ / "one");
  std::ofstream(folder_ / "one/kernel.cubin", std::ios::binary) << image;
  expect_equal(folder_, m, "");
}

// The ways in which the frameworks give it are named, once.
TEST_F(CaptureCommand, SaysHowMachineCodeWouldCarryItsPtx) {
  palladion::cuda::bundle::Manifest m = bundle_of(stores_77);
  m.ptx_file.clear();
  m.image_file = "kernel.cubin";
  for (const char* name : {"0001-k", "0002-k"}) {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "kernel.cubin", std::ios::binary)
        << "\177ELF\2 of a chip, which no tool reads";
    std::ofstream(folder_ / name / "bundle.json") << palladion::cuda::bundle::text(m);
  }
  const std::string log = (folder_ / "log").string();
  std::system((PLD_PALLADION " capture -o " + folder_.string() + " --ptx-dir " + folder_.string() + " >" +
               log + " 2>&1")
                  .c_str());
  const std::string said = contents_of(log);
  EXPECT_THAT(said, HasSubstr("0002-k: without PTX: no file of PTX with the entry `k` was found"));
  EXPECT_THAT(said, HasSubstr("bundles without PTX: 2; machine code carries it when"));
  for (const char* way : {"XLA_FLAGS=--xla_gpu_generate_line_info=true", "CUTE_DSL_LINEINFO=1", "-lineinfo"})
    EXPECT_THAT(said, HasSubstr(way));
}

// One text in two folders, of which the second alone has the cubin.
TEST_F(CaptureCommand, FindsTheCubinBesideEachFileOfOneText) {
  for (const char* place : {"a", "b"}) {
    fs::create_directories(folder_ / place);
    std::ofstream(folder_ / place / "k.ptx") << stores_77;
  }
  const std::string code = "\177ELF\2 of a chip, which no tool reads";
  std::ofstream(folder_ / "b/k.cubin") << code;
  const toolkit::Match found = toolkit::match_ptx(code, "k", {folder_ / "a", folder_ / "b"});
  EXPECT_EQ(found.ptx, stores_77);
  EXPECT_THAT(found.source, HasSubstr("/b/k.ptx: the cubin beside it has the same bytes"));
}

TEST_F(CaptureCommand, MatchesPtxThatTheMachineCodeCarries) {
  const toolkit::Match found = toolkit::match_ptx(cubin::carry(stores_77), "k", {folder_});
  EXPECT_EQ(found.ptx, stores_77);
  EXPECT_EQ(found.source, "the machine code, which carries it");
  EXPECT_EQ(toolkit::match_ptx(cubin::carry(stores_77), "other", {folder_}).ptx, "");
}

// The same text but for comments and lines, in a file of its own.
TEST_F(CaptureCommand, FindsTheWholeTextOfWhatMachineCodeCarries) {
  const std::string whole = "// made by a framework\n" + stores_77 + ".file 1 \"k.py\"\n";
  const auto behind = [](std::string text, const std::string& place, const std::string& more) {
    return text.insert(text.find(place) + place.size(), more);
  };
  const std::string lines = behind(whole, "ld.param.u64 %d, [p];\n", "\t.loc 1 7 3 // k.py:7:3\n");
  std::string carried = behind(stores_77, "ld.param.u64 %d, [p];\n", "\n");
  std::ofstream(folder_ / "other.ptx") << behind(lines, "mov.b32 %r, 7", "8");
  EXPECT_EQ(toolkit::match_text(carried, "k", {folder_}).ptx, "");
  std::ofstream(folder_ / "k.ptx") << lines;
  const toolkit::Match found = toolkit::match_text(carried, "k", {folder_});
  EXPECT_EQ(found.ptx, lines);
  EXPECT_THAT(found.source, HasSubstr("/k.ptx: the text that the machine code carries"));
}

// Two kernels of one name: the one whose code was recorded is found.
TEST_F(CaptureCommand, MatchesPtxByItsCodeNotByItsName) {
  if (std::system("ptxas --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "ptxas is absent";
  const auto text = [](const char* step) {
    return std::string(
               ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 %d; "
               ".reg .b32 %r; ld.param.u64 %d, [p]; ld.global.u32 %r, [%d]; add.u32 %r, %r, ") +
           step + "; st.global.u32 [%d], %r; ret; }\n";
  };
  std::ofstream(folder_ / "wrong.ptx") << text("1");
  const std::string cubin = (folder_ / "kernel.cubin").string();
  std::ofstream(folder_ / "source.txt") << text("7");
  const std::string assemble =
      "ptxas -arch=sm_90 -O2 -o " + cubin + " " + (folder_ / "source.txt").string() + " >/dev/null 2>&1";
  ASSERT_EQ(std::system(assemble.c_str()), 0);
  const std::string bytes = contents_of(cubin);
  EXPECT_FALSE(cubin::code_of(bytes, "k").empty());
  EXPECT_THAT(toolkit::match_ptx(bytes, "k", {folder_}).why_not,
              HasSubstr("none assembles to the recorded code"));
  EXPECT_THAT(toolkit::match_ptx(bytes, "other", {folder_}).why_not, HasSubstr("no file of PTX"));
  fs::create_directories(folder_ / "deep/er");
  std::ofstream(folder_ / "deep/er/any_name.ptx") << text("7");
  const toolkit::Match found = toolkit::match_ptx(bytes, "k", {folder_});
  EXPECT_EQ(found.ptx, text("7"));
  EXPECT_THAT(found.source, HasSubstr("gives the same code"));
  // As in Triton's cache: the cubin beside the PTX has the same bytes, whatever made it.
  std::ofstream(folder_ / "deep/er/any_name.cubin") << bytes;
  EXPECT_THAT(toolkit::match_ptx(bytes, "k", {folder_}).source, HasSubstr("has the same bytes"));
}

}  // namespace
