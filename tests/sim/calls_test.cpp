// Calls: recursion, pointers to functions, parameters in registers, stack memory, the heap of kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

std::vector<RunOptions> schedules() {
  std::vector<RunOptions> all = every_schedule();
  all.emplace_back().schedule = *schedule_named("hardware");
  return all;
}

// out[tid] = f(tid), where `call` computes %r2 of %r1.
std::string kernel(const std::string& functions, const std::string& call) {
  return ptx(functions + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
)" + call + R"(
  st.global.u32 [%rd1], %r2;
  ret;
})");
}

const char* const call_f = R"(
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r2, [b]; })";

void expect(const std::string& text, uint32_t (*f)(uint32_t)) {
  for (const RunOptions& o : schedules()) {
    std::vector<uint32_t> out(64);
    PtxRunner(text).array(out).shape({1, 1, 1}, {64, 1, 1}).run_clean(o);
    for (uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], f(i)) << i << ' ' << name(o.schedule);
  }
}

uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// As nvcc writes it: parameters in memory, a register that lives across the first call.
const char* const fibonacci_ptx = R"(
.func (.param .b32 r) f(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<10>;
  ld.param.u32 %r1, [n];
  rem.u32 %r1, %r1, 11;
  setp.lt.u32 %p1, %r1, 2;
  mov.u32 %r5, %r1;
  @%p1 bra $done;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), f, (a); ld.param.b32 %r3, [b]; }
  sub.u32 %r2, %r1, 2;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), f, (a); ld.param.b32 %r4, [b]; }
  add.u32 %r5, %r3, %r4;
$done:
  st.param.b32 [r], %r5;
  ret;
})";

TEST(Calls, AFunctionThatCallsItselfTwice) {
  expect(kernel(fibonacci_ptx, call_f), [](uint32_t i) { return fibonacci(i % 11); });
}

// Each activation has a variable of its own; the next one writes to it through a pointer.
TEST(Calls, LocalVariablesOfEveryActivationHaveAPlace) {
  const char* const chain = R"(
.func f(.param .b32 n, .param .b64 to) {
  .local .align 8 .b8 own[16];
  .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %rd<6>;
  ld.param.u32 %r1, [n];
  ld.param.u64 %rd1, [to];
  mov.u64 %rd2, own;
  cvta.local.u64 %rd3, %rd2;
  mov.u32 %r3, 1;
  st.local.u32 [%rd2+8], %r3;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $done;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b64 b; st.param.b32 [a], %r2; st.param.b64 [b], %rd3; call.uni f, (a, b); }
$done:
  ld.local.u32 %r3, [own+8];
  add.u32 %r3, %r3, %r1;
  st.u32 [%rd1+8], %r3;
  ret;
})";
  const char* const call = R"(
  .local .align 8 .b8 mine[16];
  and.b32 %r3, %r1, 15;
  mov.u64 %rd3, mine;
  cvta.local.u64 %rd4, %rd3;
  { .param .b32 a; .param .b64 b; st.param.b32 [a], %r3; st.param.b64 [b], %rd4; call f, (a, b); }
  ld.u32 %r2, [%rd4+8];)";
  expect(kernel(chain, call), [](uint32_t i) { return 1 + (i & 15) * ((i & 15) + 1) / 2; });
}

TEST(Calls, RecursionWithoutEndIsAFault) {
  const char* const endless = R"(
.func (.param .b32 r) f(.param .b32 n) {
  .reg .b32 %r<10>;
  ld.param.u32 %r1, [n];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r3, [b]; }
  st.param.b32 [r], %r3;
  ret;
})";
  std::vector<uint32_t> out(32);
  const RunResult r = PtxRunner(kernel(endless, call_f)).array(out).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3013");
}

// A table of addresses; the lanes of a warp call different functions.
const char* const three_functions = R"(
.func (.param .b32 r) plus(.param .b32 n) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 100; st.param.b32 [r], %r1; ret;
}
.func (.param .b32 r) times(.param .b32 n) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [n]; mul.lo.u32 %r1, %r1, 5; st.param.b32 [r], %r1; ret;
}
.func (.param .b32 r) nothing(.param .b32 n) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [n]; st.param.b32 [r], %r1; ret;
}
.global .align 8 .u64 table[3] = {plus, times, nothing};
)";

TEST(Calls, LanesMayCallDifferentFunctions) {
  const char* const call = R"(
  rem.u32 %r3, %r1, 3;
  mov.u64 %rd3, table;
  mul.wide.u32 %rd4, %r3, 8;
  add.s64 %rd3, %rd3, %rd4;
  ld.global.u64 %rd5, [%rd3];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd5, (a), proto; ld.param.b32 %r2, [b]; })";
  expect(kernel(three_functions, call), [](uint32_t i) {
    return i % 3 == 0 ? i + 100 : i % 3 == 1 ? i * 5 : i;
  });
}

TEST(Calls, APointerThatIsNoFunctionIsAFault) {
  const char* const call = R"(
  mov.u64 %rd5, 64;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd5, (a), proto; ld.param.b32 %r2, [b]; })";
  std::vector<uint32_t> out(32);
  const RunResult r = PtxRunner(kernel(three_functions, call)).array(out).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3015");
}

TEST(Calls, ParametersInRegisters) {
  expect(kernel(R"(
.func (.reg .u32 sum) f(.reg .u32 a, .reg .u32 b, .reg .pred c) {
  add.u32 sum, a, b;
  @c add.u32 sum, sum, 1000;
  ret;
})",
                "setp.gt.u32 %p1, %r1, 40;\ncall (%r2), f, (%r1, 7, %p1);"),
         [](uint32_t i) { return i + 7 + (i > 40 ? 1000 : 0); });
}

TEST(Calls, AllocaTakesASizeOfEachLane) {
  const char* const f = R"(
.func (.param .b32 r) f(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %rd<10>;
  ld.param.u32 %r1, [n];
  and.b32 %r1, %r1, 7;
  add.u32 %r1, %r1, 1;
  mul.wide.u32 %rd1, %r1, 4;
  stacksave.u64 %rd5;
  alloca.u64 %rd2, %rd1, 16;
  mov.u32 %r2, 0;
  mov.u64 %rd3, %rd2;
$fill:
  st.local.u32 [%rd3], %r2;
  add.s64 %rd3, %rd3, 4;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra $fill;
  mov.u32 %r4, 0;
$sum:
  sub.s64 %rd3, %rd3, 4;
  ld.local.u32 %r3, [%rd3];
  add.u32 %r4, %r4, %r3;
  setp.ne.u64 %p1, %rd3, %rd2;
  @%p1 bra $sum;
  stackrestore.u64 %rd5;
  st.param.b32 [r], %r4;
  ret;
})";
  expect(kernel(f, call_f), [](uint32_t i) { return (i & 7) * ((i & 7) + 1) / 2; });
}

// Of the registers a function keeps those that are live across its calls, as ptxas does: 16 bytes here, with
// the return address, though it has 400 bytes of them.
TEST(Calls, TheStackOfARecursionHoldsWhatIsLiveAcrossItsCalls) {
  const char* const f = R"(
.func (.param .b32 r) f(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<20>; .reg .b64 %rd<40>;
  .local .align 8 .b8 own[64];
  ld.param.u32 %r1, [n];
  st.local.u32 [own], %r1;
  setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r2, 0;
  @%p1 bra $end;
  sub.u32 %r3, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call.uni (b), f, (a); ld.param.b32 %r2, [b]; }
  ld.local.u32 %r4, [own];
  add.u32 %r2, %r2, %r4;
  add.u32 %r2, %r2, %r1;
$end:
  st.param.b32 [r], %r2;
  ret;
})";
  const auto run = [&](uint32_t depth, uint64_t stack) {
    std::vector<uint32_t> out(1);
    PtxRunner runner(kernel(f, "mov.u32 %r1, " + std::to_string(depth) + ";" + call_f));
    runner.array(out).shape({1, 1, 1}, {1, 1, 1});
    runner.launch.stack_bytes = stack;
    const RunResult r = runner.run();
    return r.findings.empty() ? std::to_string(out[0]) : r.findings[0].code.name();
  };
  EXPECT_EQ(run(9, 1024), "90");
  EXPECT_EQ(run(11, 1024), "132");
  EXPECT_EQ(run(15, 1024), "PLD3013");
  EXPECT_EQ(run(15, 2048), "240");
}

const char* const heap = R"(
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
)";

TEST(Calls, MallocGivesEachThreadABlockAndFreeTakesItBack) {
  // Twice as much as fits without free.
  const char* const call = R"(
  mov.u32 %r5, 0;
$again:
  { .param .b64 a; .param .b64 b; st.param.b64 [a], 1024; call.uni (b), malloc, (a); ld.param.b64 %rd5, [b]; }
  setp.eq.u64 %p1, %rd5, 0;
  mov.u32 %r2, 0;
  @%p1 bra $end;
  st.u32 [%rd5+1020], %r1;
  bar.warp.sync 0xffffffff;
  ld.u32 %r2, [%rd5+1020];
  { .param .b64 a; st.param.b64 [a], %rd5; call.uni free, (a); }
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 4;
  @%p1 bra $again;
$end:)";
  for (const RunOptions& o : schedules()) {
    std::vector<uint32_t> out(64);
    PtxRunner runner(kernel(heap, call));
    runner.array(out).shape({1, 1, 1}, {64, 1, 1});
    runner.launch.heap_bytes = 128 << 10;
    runner.run_clean(o);
    for (uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i) << name(o.schedule);
  }
}

TEST(Calls, AFullHeapGivesNull) {
  const char* const call = R"(
  { .param .b64 a; .param .b64 b; st.param.b64 [a], 1000; call.uni (b), malloc, (a); ld.param.b64 %rd5, [b]; }
  setp.ne.u64 %p1, %rd5, 0;
  selp.u32 %r2, 1, 0, %p1;)";
  std::vector<uint32_t> out(64);
  PtxRunner runner(kernel(heap, call));
  runner.array(out).shape({1, 1, 1}, {64, 1, 1});
  runner.launch.heap_bytes = 8 << 10;
  runner.run_clean();
  EXPECT_EQ(std::count(out.begin(), out.end(), 1U), 7);
}

TEST(Calls, FreeOfWhatMallocDidNotGiveIsAFault) {
  const char* const call = R"(
  { .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }
  mov.u32 %r2, 0;)";
  std::vector<uint32_t> out(32);
  const RunResult r = PtxRunner(kernel(heap, call)).array(out).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3014");
}

TEST(Calls, AChainOf50000FunctionsRuns) {
  constexpr int count = 50000;
  std::string functions = ".func (.reg .u32 r) f0(.reg .u32 n) { add.u32 r, n, 1; ret; }\n";
  for (int i = 1; i < count; ++i)
    functions +=
        fmt::format(".func (.reg .u32 r) f{}(.reg .u32 n) {{ call (r), f{}, (n); ret; }}\n", i, i - 1);
  std::vector<uint32_t> out(32);
  PtxRunner(kernel(functions, fmt::format("call (%r2), f{}, (%r1);", count - 1))).array(out).run_clean();
  EXPECT_EQ(out[5], 6U);
}

// Static shared memory is that of the functions that a kernel reaches; a kernel whose address alone is taken
// is none of them.
TEST(Calls, TheAddressOfAKernelDoesNotMakeItAPartOfAnother) {
  const std::string text = ptx(R"(
.visible .entry other(.param .u64 out) { .shared .align 16 .b8 large[40000]; .reg .b32 %r<2>;
  mov.u32 %r1, large; ret; }
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b8 small[16];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, other;
  mov.u32 %r1, small;
  st.shared.u32 [%r1], 3;
  mov.u32 %r2, %total_smem_size;
  st.global.u32 [%rd1], %r2;
  ret;
})");
  std::vector<uint32_t> out(1);
  PtxRunner runner(text);
  runner.array(out);
  runner.launch.entry = "k";
  runner.run_clean();
  EXPECT_LT(out[0], 4096U);
}

TEST(Calls, EnvironmentRegistersComeFromTheLaunch) {
  std::vector<uint32_t> out(32);
  PtxRunner runner(kernel("", "mov.u32 %r2, %envreg2;\nmov.u32 %r3, %envreg1;\nadd.u32 %r2, %r2, %r3;"));
  runner.array(out);
  runner.launch.environment[1] = 7;
  runner.launch.environment[2] = 1000;
  runner.run_clean();
  EXPECT_EQ(out[3], 1007U);
}

// cooperative_groups traps when the launch has no workspace for the grid's barrier.
TEST(Calls, AGridsBarrierNeedsACooperativeLaunch) {
  const auto code = [](const std::string& question, bool cooperative) {
    std::vector<uint32_t> out(32);
    PtxRunner runner(kernel("", question + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $on;\ntrap;\n$on:"));
    runner.array(out);
    if (cooperative) runner.launch.environment[1] = 7;
    const RunResult r = runner.run();
    return r.findings.empty() ? std::string("none") : r.findings.front().code.name();
  };
  EXPECT_EQ(code("mov.u32 %r2, %envreg1;\n", false), "PLD3018");
  EXPECT_EQ(code("mov.u32 %r2, %envreg1;\n", true), "none");
  EXPECT_EQ(code("mov.u32 %r2, 0;\n", false), "PLD3011");
}

TEST(Calls, WithoutGraphsSettingAConditionIsUnsupportedByName) {
  PtxRunner runner(ptx(R"(
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry k(.param .u64 out) {
  { .param .b64 a; .param .b32 b;
    st.param.b64 [a], 16; st.param.b32 [b], 1;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
})"));
  std::vector<uint32_t> out(1);
  const RunResult r = runner.array(out).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::unsupported);
  EXPECT_EQ(r.findings[0].message, say<Phrase::graph_outside_exec>("cudaGraphSetConditional"));
}

}  // namespace
}  // namespace palladion::sim::testing
