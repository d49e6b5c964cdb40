// What makes ptxas serialise wgmmas (messages C7509 to C7520): small kernels, what the rule predicts, and
// what ptxas 13.0 said of each. Where there is a ptxas it is asked again.
#include <gmock/gmock.h>

#include "sim/program/compile/compile.h"
#include "sim/program/product_stages.h"
#include "tests/sim/ptx_runner.h"
#include "tests/support/toolkit.h"

namespace palladion::sim::testing {
namespace {

using Kind = StageBreak::Kind;
using ::testing::ElementsAreArray;

const std::string fence = "wgmma.fence.sync.aligned;\n", commit = "wgmma.commit_group.sync.aligned;\n",
                  wait0 = "wgmma.wait_group.sync.aligned 0;\n", wait1 = "wgmma.wait_group.sync.aligned 1;\n";
// A in shared memory, sums in %f0 to %f3 or %f4 to %f7; A in %r0 to %r3.
const std::string first =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd1, %rd1, 1, 1, 1, 0, 0;\n";
const std::string second =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4,%f5,%f6,%f7}, %rd1, %rd1, 1, 1, 1, 0, 0;\n";
const std::string from_registers =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, %rd1, 1, 1, 1, "
    "0;\n";
const std::string read_first = "add.f32 %f20, %f0, %f1;\n", read_second = "add.f32 %f20, %f4, %f5;\n",
                  load_next = "ld.global.b32 %r10, [%rd0+200];\n", take_next = "mov.b32 %r0, %r10;\n";

std::string loop(const std::string& body) {
  return "mov.u32 %r50, 0;\nL:\n" + body +
         "add.u32 %r50, %r50, 1;\nsetp.lt.u32 %p0, %r50, %r51;\n@%p0 bra L;\n";
}
std::string where_few(const std::string& body) {
  return "setp.lt.u32 %p0, %r51, 5;\n@%p0 bra S;\n" + body + "S:\n";
}

const std::string product_function = R"(
.func w(.param .b64 x)
{
  .reg .f32 %f<4>; .reg .b64 %rd1;
  ld.param.b64 %rd1, [x];
  mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
)" + fence + first + commit + wait0 + R"(
  st.global.v4.f32 [%rd1], {%f0, %f1, %f2, %f3};
  ret;
}
)";
const std::string call_product = "{ .param .b64 x; st.param.b64 [x], %rd1; call w, (x); }\n";
const std::string print_declared =
    ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 values);\n";
const std::string print =
    "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd0; st.param.b64 [b], %rd0;\n"
    "call (r), vprintf, (a, b); }\n";

std::string kernel(const std::string& body, const std::string& functions) {
  std::string text = functions + R"(
.visible .entry k(.param .u64 out, .param .u32 n) .maxntid 128 {
  .reg .f32 %f<32>; .reg .b32 %r<64>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r51, [n];
  mov.u64 %rd1, %rd0;
  mov.f32 %f20, 0f00000000;
)";
  for (int i = 0; i < 8; ++i)
    text += "ld.global.f32 %f" + std::to_string(i) + ", [%rd0+" + std::to_string(4 * i) + "];\n" +
            "ld.global.b32 %r" + std::to_string(i) + ", [%rd0+" + std::to_string(100 + 4 * i) + "];\n";
  return ptx(text + body + wait0 + R"(
  st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%rd0+16], {%f4, %f5, %f6, %f7};
  st.global.v4.b32 [%rd0+32], {%r0, %r1, %r2, %r3};
  st.global.f32 [%rd0+64], %f20;
  ret;
}
)");
}

struct Case {
  std::string name, body;
  std::vector<Kind> predicted;
  std::string ptxas;  // its message; empty: none
  std::string functions = {};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"nothing between", fence + first + commit, {}, ""},
      {"an accumulator is written",
       fence + first + commit + "mov.f32 %f0, 0f00000000;\n",
       {Kind::accumulator_written},
       "C7515"},
      {"an accumulator is written under a predicate",
       fence + first + commit + "setp.lt.u32 %p0, %r51, 5;\n@%p0 add.f32 %f0, %f4, %f5;\n",
       {Kind::accumulator_written},
       "C7515"},
      {"an accumulator is read", fence + first + commit + read_first, {Kind::accumulator_read}, "C7517"},
      {"an accumulator is read in a branch",
       fence + first + commit + where_few(read_first),
       {Kind::accumulator_read},
       "C7517"},
      {"the first of two is read behind the wait for it",
       fence + first + commit + fence + second + commit + wait1 + read_first,
       {},
       ""},
      {"the second of two is read behind the wait for the first",
       fence + first + commit + fence + second + commit + wait1 + read_second,
       {Kind::accumulator_read},
       "C7514"},
      {"an accumulator is read round a loop",
       loop(fence + first + commit + wait1 + "add.f32 %f20, %f20, %f0;\n"),
       {Kind::accumulator_read},
       "C7514"},
      {"a product is waited for in the next pass", loop(fence + first + commit + wait1), {}, ""},
      {"a register of A is written in flight",
       loop(fence + from_registers + commit + "ld.global.b32 %r0, [%rd0+200];\n" + wait0),
       {Kind::input_defined},
       "C7513"},
      {"a register of A is written behind the wait",
       loop(fence + from_registers + commit + wait0 + "ld.global.b32 %r0, [%rd0+200];\n"),
       {},
       ""},
      {"the next register of A is loaded in flight and copied behind the wait",
       loop(fence + from_registers + commit + load_next + wait0 + take_next),
       {Kind::input_defined},
       "C7513"},
      {"the next register of A is loaded and copied behind the wait",
       loop(fence + from_registers + commit + wait0 + load_next + take_next),
       {},
       ""},
      {"two copies lie between",
       loop(fence + from_registers + commit + load_next + "mov.b32 %r11, %r10;\n" + wait0 +
            "mov.b32 %r0, %r11;\n"),
       {Kind::input_defined, Kind::input_defined},
       "C7513"},
      {"a function with a product is called",
       call_product,
       {Kind::call_of_products},
       "C7510",
       product_function},
      {"a function of elsewhere is called",
       fence + first + commit + wait0 + print,
       {Kind::call_of_extern},
       "C7510",
       print_declared},
      {"a function of elsewhere is called, without products", print, {}, "", print_declared},
  };
  return all;
}

std::vector<Kind> predicted(const std::string& text) {
  auto module = isa::parse(text);
  if (!module) {
    ADD_FAILURE() << isa::render(module.error(), text);
    return {};
  }
  const auto program = compile(*module, *module->find_entry("k"), isa::default_arch(),
                               std::vector<uint64_t>(module->symbols.size()));
  std::vector<Kind> kinds;
  for (const StageBreak& b : stage_breaks(*program)) kinds.push_back(b.kind);
  return kinds;
}

TEST(ProductStages, ThePredictionNamesWhatStandsBetweenIssueAndWait) {
  for (const Case& c : cases())
    EXPECT_THAT(predicted(kernel(c.body, c.functions)), ElementsAreArray(c.predicted)) << c.name;
}

TEST(ProductStages, PtxasSaysTheSame) {
  PLD_NEEDS_TOOL("ptxas");
  for (const Case& c : cases()) {
    const toolkit::Assembly made = toolkit::assemble(kernel(c.body, c.functions));
    ASSERT_TRUE(made.ok) << c.name << "\n" << made.log;
    const size_t at = made.log.find("(C75");
    EXPECT_EQ(at == std::string::npos ? "" : made.log.substr(at + 1, 5), c.ptxas) << c.name;
  }
}

// A copy is told from a write of the register itself.
TEST(ProductStages, TheRegisterIsTheOneThatTheInstructionNames) {
  const std::string text = kernel(loop(fence + from_registers + commit + load_next + wait0 + take_next), "");
  auto module = isa::parse(text);
  ASSERT_TRUE(module);
  const auto program = compile(*module, *module->find_entry("k"), isa::default_arch(),
                               std::vector<uint64_t>(module->symbols.size()));
  const auto breaks = stage_breaks(*program);
  ASSERT_EQ(breaks.size(), 1U);
  EXPECT_TRUE(breaks[0].copied);
  EXPECT_EQ(program->entry->registers[breaks[0].reg].name, "%r10");
  EXPECT_TRUE(std::holds_alternative<isa::Wgmma>(*program->code[breaks[0].product].effect));
}

}  // namespace
}  // namespace palladion::sim::testing
