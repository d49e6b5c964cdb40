// Registers of wgmma (WG-01 to WG-05, WG-10, WG-11), unwritten registers (UN-03), setmaxnreg (RS-02).
#include "sim/check/checker.h"
#include "tests/sim/check/registers_observer.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// One warpgroup, A and B in shared memory without swizzle. Lines that end in `// @1`, `// @2` are named in
// what is expected.
std::string register_kernel(const std::string& body, const std::string& directives = ".reqntid 128") {
  return ptx(".visible .entry k(.param .u64 out) " + directives + R"(
{
  .reg .pred %p<8>;
  .reg .b16 %h<8>;
  .reg .b32 %r<32>;
  .reg .f32 %f<32>;
  .reg .b64 %rd<16>;
  .shared .align 1024 .b8 tile[8192];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %rd1, %r1;
  or.b64 %rd1, %rd1, 0x1000080000;
  mov.b64 %rd2, %rd1;
  setp.eq.u32 %p1, %r0, %r0;
  setp.ne.u32 %p2, %r0, %r0;
)" + body + R"(
  ret;
}
)");
}

const std::string zero = "  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n";
const std::string fence = "  wgmma.fence.sync.aligned;\n";
const std::string commit = "  wgmma.commit_group.sync.aligned;\n";

std::string wait(int n) { return "  wgmma.wait_group.sync.aligned " + std::to_string(n) + ";\n"; }

std::string mma(const std::string& acc, const std::string& mark = "", const std::string& a = "%rd1",
                const std::string& scale = "%p1") {
  const bool wide = std::count(acc.begin(), acc.end(), ',') > 3;
  return "  wgmma.mma_async.sync.aligned.m64n" + std::string(wide ? "16" : "8") + "k16.f32.f16.f16 {" + acc +
         "}, " + a + ", %rd2, " + scale + ", 1, 1, 0" + (a[0] == '{' ? "" : ", 0") + ";" + mark + "\n";
}

const std::string acc = "%f0, %f1, %f2, %f3";
const std::string mma0 = mma(acc);
const std::string use = "  add.f32 %f9, %f0, %f1;";

// Marks instead of line numbers: "PLD4401 @2 @1".
std::vector<std::string> marked(const std::string& text, const std::vector<Finding>& findings) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  std::vector<std::string> out;
  for (const Finding& f : findings) {
    std::string s = f.code.name() + (f.severity == FindingSeverity::strict ? "?" : "");
    for (const Site& site : f.sites) {
      const std::string& line = lines.at(site.ptx_line == 0 ? 0 : site.ptx_line - 1);
      const size_t at = line.find("// @");
      s += at == std::string::npos ? " " + line : " " + line.substr(at + 3, 2);
    }
    out.push_back(s);
  }
  return out;
}

std::vector<std::string> check(const std::string& text, isa::Dim3 block = {128, 1, 1}) {
  std::vector<float> out(1024);
  PtxRunner runner(text);
  runner.array(out).shape({1, 1, 1}, block);
  return marked(text, findings_of(runner));
}

std::vector<std::string> run(const std::string& body) { return check(register_kernel(body)); }

TEST(WgmmaRegisters, ChainOfOneShapeNeedsOneFence) {
  EXPECT_THAT(
      run(zero + fence + mma0 + mma0 + commit + mma0 + commit + wait(1) + mma0 + commit + wait(0) + use),
      IsEmpty());
}

TEST(WgmmaRegisters, FirstWgmmaNeedsFence) {
  EXPECT_THAT(run(std::string("  mov.f32 %f0, 0f00000000; // @2\n") + zero.substr(zero.find("mov.f32 %f1")) +
                  mma(acc, "// @1") + commit + wait(0)),
              ElementsAre("PLD4401 @1 @2"));
  EXPECT_THAT(run(mma(acc, "// @1", "%rd1", "0") + mma0 + commit + wait(0)), ElementsAre("PLD4401 @1"));
}

// ptxas adds a missing fence (C7519), and shipped kernels rely on it: strict where the warp has executed one.
TEST(WgmmaRegisters, WriteBetweenFenceAndWgmma) {
  EXPECT_THAT(
      run(zero + fence + "  mov.f32 %f2, 0f3F800000; // @1\n" + mma(acc, "// @2") + mma0 + commit + wait(0)),
      ElementsAre("PLD4401? @2 @1"));
}

TEST(WgmmaRegisters, ReadAfterWaitNeedsFenceBeforeNextWgmma) {
  const std::string first = zero + fence + mma0 + commit + wait(0) + use;
  EXPECT_THAT(run(first + "// @1\n" + mma(acc, "// @2") + commit + wait(0)), ElementsAre("PLD4401? @2 @1"));
  EXPECT_THAT(run(first + "\n" + fence + mma0 + commit + wait(0)), IsEmpty());
}

TEST(WgmmaRegisters, OtherRegistersMayBeTouched) {
  EXPECT_THAT(run(zero + fence + mma0 + "  mov.f32 %f9, 0f3F800000;\n" + mma0 + commit + wait(0)), IsEmpty());
}

TEST(WgmmaRegisters, AccessInLoopReachesWgmmaOfNextRound) {
  EXPECT_THAT(run(zero + fence + "  mov.u32 %r5, 0;\nNEXT:\n" + mma(acc, "// @2") + commit + wait(0) + use +
                  "// @1\n  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p3, %r5, 4;\n  @%p3 bra NEXT;\n"),
              ElementsAre("PLD4401? @2 @1"));
}

TEST(WgmmaRegisters, OtherShapeNeedsFence) {
  const std::string wide = "%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7";
  const std::string more = "  mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0; mov.f32 %f7, %f0;\n";
  EXPECT_THAT(run(zero + more + fence + mma(wide, "// @1") + mma(acc, "// @2") + commit + wait(0)),
              ElementsAre("PLD4402 @2 @1"));
  EXPECT_THAT(run(zero + more + fence + mma(wide) + commit + wait(0) + mma(acc, "// @2") + commit + wait(0)),
              ElementsAre(::testing::StartsWith("PLD4402 @2")));
  EXPECT_THAT(run(zero + more + fence + mma(wide) + commit + wait(0) + fence + mma(acc) + commit + wait(0)),
              IsEmpty());
}

TEST(WgmmaRegisters, ReadBeforeWait) {
  EXPECT_THAT(run(zero + fence + mma(acc, "// @1") + commit + use + "// @2\n" + wait(0)),
              ElementsAre("PLD4403 @2 @1"));
  EXPECT_THAT(run(zero + fence + mma(acc, "// @1") + use + "// @2\n" + commit + wait(0)),
              ElementsAre("PLD4403 @2 @1"));
}

TEST(WgmmaRegisters, WaitThatDoesNotCover) {
  EXPECT_THAT(run(zero + fence + mma(acc, "// @1") + "  wgmma.wait_group.sync.aligned 0; // @3\n" + use +
                  "// @2\n" + commit + wait(0)),
              ElementsAre("PLD4405 @2 @1 @3"));
  EXPECT_THAT(run(zero + fence + mma0 + commit + mma(acc, "// @1") + commit +
                  "  wgmma.wait_group.sync.aligned 1; // @3\n" + use + "// @2\n" + wait(0)),
              ElementsAre("PLD4405 @2 @1 @3"));
}

// Compilers copy tied operands, and ptxas makes the copies vanish.
TEST(WgmmaRegisters, CopiesBreakTheLetterOnly) {
  const std::string copy = "  mov.f32 %f10, %f0; // @2\n";
  EXPECT_THAT(run(zero + fence + mma(acc, "// @1") + commit + copy + wait(0)), ElementsAre("PLD4403? @2 @1"));
  EXPECT_THAT(run(zero + fence + mma0 + commit + wait(0) + copy + mma(acc, "// @1") + commit + wait(0)),
              ElementsAre("PLD4401? @1 @2"));
  EXPECT_THAT(run(zero + fence + mma0 + commit + wait(0) + use + "// @3\n" + copy + mma(acc, "// @1") +
                  commit + wait(0)),
              ElementsAre("PLD4401? @1 @3"));
}

// Two alternating chains: wait_group 1 is enough for the older one.
TEST(WgmmaRegisters, PingPongIsSilentAndUnwatched) {
  const std::string other = "%f10, %f11, %f12, %f13";
  const std::string text = register_kernel(
      zero + "  mov.f32 %f10, %f0; mov.f32 %f11, %f0; mov.f32 %f12, %f0; mov.f32 %f13, %f0;\n" + fence +
      mma0 + commit + mma(other) + commit + wait(1) + use + wait(0));
  EXPECT_THAT(check(text), IsEmpty());
  std::vector<float> out(1024);
  PtxRunner runner(text);
  runner.array(out).shape({1, 1, 1}, {128, 1, 1});
  PartsObserver observer;
  RunOptions options;
  options.observer = &observer;
  runner.run(options);
  for (Pc pc{0}; pc < observer.instructions; ++pc) EXPECT_FALSE(observer.analysis->wgmma.watches(pc)) << pc;
}

TEST(WgmmaRegisters, FragmentOfAInFlight) {
  const std::string a = "{%r4, %r5, %r6, %r7}";
  const std::string fill = "  mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;\n";
  EXPECT_THAT(
      run(zero + fill + fence + mma(acc, "// @1", a) + commit + "  mov.u32 %r5, 1; // @2\n" + wait(0)),
      ElementsAre("PLD4404 @2 @1"));
  EXPECT_THAT(
      run(zero + fill + fence + mma(acc, "// @1", a) + commit + "  add.u32 %r8, %r5, 1; // @2\n" + wait(0)),
      ElementsAre("PLD4403? @2 @1"));
  EXPECT_THAT(run(zero + fill + fence + mma(acc, "", a) + commit + wait(0) + "  mov.u32 %r5, 1;\n"),
              IsEmpty());
}

TEST(WgmmaRegisters, WarpsThatDiffer) {
  const std::string warp = "  shr.u32 %r3, %r0, 5;\n  setp.eq.u32 %p3, %r3, 1;\n";
  EXPECT_THAT(run(warp + zero + fence + "  @%p3 bra EXTRA;\nBACK:\n" + mma(acc, "// @1") + commit + wait(0) +
                  "  ret;\nEXTRA:\n  wgmma.fence.sync.aligned;\n  bra BACK;\n"),
              ElementsAre("PLD4410 @1 @1"));
  EXPECT_THAT(run(warp + zero + fence + "  @!%p3 bra SAME;\n" + mma0 + "  bra BACK;\nSAME:\n" + mma0 +
                  "BACK:\n" + commit + wait(0)),
              IsEmpty());
  EXPECT_THAT(
      run(warp + zero + fence + "  @%p3 bra END;\n" + mma(acc, "// @1") + commit + wait(0) + "END:\n"),
      ElementsAre("PLD4410 @1"));
}

TEST(WgmmaRegisters, AccumulatesOnGarbage) {
  EXPECT_THAT(run(fence + mma(acc, "// @1") + commit + wait(0)), ElementsAre("PLD4411 @1"));
  EXPECT_THAT(run(fence + mma(acc, "", "%rd1", "%p2") + mma0 + commit + wait(0)), IsEmpty());
  EXPECT_THAT(run(fence + mma(acc, "", "%rd1", "0") + mma0 + commit + wait(0)), IsEmpty());
  const std::string text = register_kernel(fence + mma0 + commit + wait(0));
  std::vector<float> out(1024);
  PtxRunner runner(text);
  runner.array(out).shape({1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(findings_of(runner).at(0).count, 1u) << "one wgmma, whatever its warps and registers";
}

// --- registers that were never written
// ----------------------------------------------------------------------

const std::string store = "  mul.wide.u32 %rd4, %r0, 4;\n  add.u64 %rd4, %rd0, %rd4;\n";

TEST(UnwrittenRegisters, WhatIsStoredOrSteersMustBeWritten) {
  EXPECT_THAT(run(store + "  st.global.f32 [%rd4], %f7; // @1\n"), ElementsAre("PLD6103? @1"));
  EXPECT_THAT(
      run(store +
          "  add.f32 %f8, %f7, %f7;\n  add.f32 %f8, %f7, 0f3F800000;\n  st.global.f32 [%rd4], %f8; // @1\n"),
      ElementsAre("PLD6103? @1"));
  EXPECT_THAT(run("  setp.lt.u32 %p5, %r9, 3;\n  @%p5 bra END; // @1\n  mov.u32 %r8, 0;\nEND:\n"),
              ElementsAre("PLD6103 @1"));
  EXPECT_THAT(run("  @%p6 mov.u32 %r8, 0; // @1\n"), ElementsAre("PLD6103 @1"));
}

TEST(UnwrittenRegisters, AnAddressInAnUnwrittenRegister) {
  EXPECT_THAT(
      run("  cvt.u64.u32 %rd5, %r9;\n  add.u64 %rd5, %rd5, %rd0;\n  ld.global.f32 %f1, [%rd5]; // @1\n"),
      ElementsAre("PLD6103 @1"));
}

// A call writes the parameters of a function that are registers; what else its way lacks is found.
TEST(UnwrittenRegisters, ParametersOfAFunctionAreWritten) {
  const auto function = [](const std::string& limit) {
    return check(ptx(R"(
.func (.reg .u32 %sum) clamp(.reg .u32 %value, .reg .u64 %at) {
  .reg .pred %big, %none; .reg .u32 %other; .reg .u64 %next;
  setp.gt.u32 %big, %value, 3;
  add.u64 %next, %at, 4;
  mov.u32 %sum, %value;
  @)" + limit + R"( ld.global.u32 %sum, [%next]; // @1
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .u32 %r<4>; .reg .u64 %rd<4>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  call (%r1), clamp, (%r0, %rd0);
  ret;
}
)"));
  };
  EXPECT_THAT(function("%big"), IsEmpty());
  EXPECT_THAT(function("%none"), ElementsAre("PLD6103 @1"));
}

// What tensormap.replace writes into a tensor map, copies will depend on.
TEST(UnwrittenRegisters, FieldsOfATensorMap) {
  EXPECT_THAT(run("  tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd9; // @1\n"),
              ElementsAre("PLD6103? @1"));
  EXPECT_THAT(run("  tensormap.replace.tile.box_dim.global.b1024.b32 [%rd0], 0, %r9; // @1\n"),
              ElementsAre("PLD6103? @1"));
  EXPECT_THAT(run("  mov.b64 %rd9, %rd0;\n"
                  "  tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd9;\n"),
              IsEmpty());
}

// Written on one way through the code, used on both.
TEST(UnwrittenRegisters, LaneByLane) {
  const std::string some = "  setp.lt.u32 %p3, %r0, 16;\n  @%p3 mov.f32 %f7, 0f3F800000;\n" + store;
  EXPECT_THAT(run(some + "  @%p3 st.global.f32 [%rd4], %f7;\n"), IsEmpty());
  EXPECT_THAT(run(some + "  st.global.f32 [%rd4], %f7; // @1\n"), ElementsAre("PLD6103? @1"));
  EXPECT_THAT(run(some + "  mov.f32 %f8, %f7;\n  mov.f32 %f9, 0f00000000;\n  selp.f32 %f8, %f8, %f9, %p3;\n"
                         "  st.global.f32 [%rd4], %f8;\n"),
              IsEmpty());
}

TEST(UnwrittenRegisters, CopiesAndIdiomsAreSilent) {
  EXPECT_THAT(run("  mov.u32 %r9, %r8;\n"), IsEmpty());
  EXPECT_THAT(run(store + "  xor.b32 %r8, %r8, %r8;\n  st.global.u32 [%rd4], %r8;\n"), IsEmpty());
  EXPECT_THAT(run(store + "  sub.u32 %r8, %r8, %r8;\n  st.global.u32 [%rd4], %r8;\n"), IsEmpty());
  EXPECT_THAT(run(store + "  bfi.b32 %r8, %r0, %r8, 0, 16;\n  st.global.u32 [%rd4], %r8;\n"), IsEmpty());
  EXPECT_THAT(run(store + "  mov.b16 %h1, 1;\n  mov.b32 %r8, {%h1, %h2};\n  st.global.u32 [%rd4], %r8;\n"),
              IsEmpty());
  EXPECT_THAT(run(store + "  mov.b32 %r8, {%h1, %h2};\n  st.global.u32 [%rd4], %r8; // @1\n"),
              ElementsAre("PLD6103? @1"));
  // One of two values is packed beside what nothing has written; its byte is stored alone.
  const std::string pack = "  cvt.rn.satfinite.e4m3x2.f32 %h1, %f7, ";
  EXPECT_THAT(run(store + "  mov.f32 %f6, 0f3F800000;\n" + pack + "%f6;\n  st.global.b8 [%rd4], %h1;\n"),
              IsEmpty());
  EXPECT_THAT(run(store + pack + "%f7;\n  st.global.b8 [%rd4], %h1; // @1\n"), ElementsAre("PLD6103? @1"));
}

// --- setmaxnreg -----------------------------------------------------------------------------------------

TEST(RegisterPool, KernelSaysHowManyItStartsWith) {
  const std::string body = "  setmaxnreg.dec.sync.aligned.u32 40; // @1\n";
  EXPECT_THAT(check(register_kernel(body, "")), ElementsAre("PLD6202? @1"));
  EXPECT_THAT(check(register_kernel(body, ".maxntid 128")), IsEmpty());
}

// The chip counts registers warp by warp, PTX by warpgroup.
TEST(RegisterPool, WarpsOfOneGroupWithSetmaxnregOfTheirOwnAreStrict) {
  const auto findings = [](const std::string& others) {
    PtxRunner k(ptx(R"(
.visible .entry k() .reqntid 128 {
  .reg .pred %p<2>; .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra FIRST;
)" + others + R"(
  ret;
FIRST:
  setmaxnreg.dec.sync.aligned.u32 32;
  ret;
}
)"));
    k.shape({}, {128, 1, 1});
    check::Checker checker;
    RunOptions options;
    options.observer = &checker;
    std::vector<std::pair<std::string, FindingSeverity>> out;
    for (const Finding& f : k.run(options).findings) out.emplace_back(f.code.name(), f.severity);
    return out;
  };
  EXPECT_THAT(findings("  setmaxnreg.dec.sync.aligned.u32 32;"), IsEmpty());
  EXPECT_THAT(findings("  setmaxnreg.dec.sync.aligned.u32 24;"),
              ElementsAre(Pair("PLD6202", FindingSeverity::strict)));
  EXPECT_THAT(findings(""), ElementsAre(Pair("PLD6202", FindingSeverity::error)));
}

}  // namespace
}  // namespace palladion::sim::testing
