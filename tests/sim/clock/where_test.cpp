// A hand-made account of the clock, gathered by source line and by warps.
#include "sim/clock/report/where.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/text/parse.h"

namespace palladion::sim {
namespace {

// Two lines of gemm.cpp; the second has two instructions.
constexpr std::string_view text = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out) {
  .reg .b32 %r<4>;
  .reg .f32 %f<9>;
  .file 1 "gemm.cpp"
  .loc 1 10 3
  mov.u32 %r1, 5;
  .loc 1 20 3
  add.s32 %r2, %r1, 1;
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r2}, {%f1, %f2, %f3, %f4};
  ret;
}
)";

isa::Module module() {
  auto parsed = isa::parse(text, "");
  EXPECT_TRUE(parsed) << isa::render(parsed.error());
  return std::move(*parsed);
}

LineTime line(uint32_t pc, uint32_t warps, uint64_t issued,
              std::initializer_list<std::pair<Stall, uint64_t>> cycles) {
  LineTime l;
  l.pc = Pc(pc);
  l.warps = warps;
  l.issued = issued;
  for (const auto& [stall, n] : cycles) l.cycles[size_t(stall)] = n;
  return l;
}

ClockReport report() {
  ClockReport r;
  r.cycles = 500;
  r.lines = {line(0, 0xF, 4, {{Stall::selected, 4}, {Stall::wait, 6}}),
             line(1, 0x3, 2, {{Stall::selected, 2}, {Stall::math_pipe_throttle, 20}}),
             line(2, 0x3, 2, {{Stall::selected, 2}, {Stall::long_scoreboard, 60}})};
  return r;
}

TEST(Where, InstructionsOfOneSourceLineAreOneLine) {
  const isa::Module m = module();
  const Where where = where_time_went(m, "", isa::default_arch(), report());
  EXPECT_EQ(where.warp_cycles, 94u);
  ASSERT_EQ(where.lines.size(), 2u);
  const LineWhere& hot = where.lines[0];
  EXPECT_EQ(hot.source.file, "gemm.cpp");
  EXPECT_EQ(hot.source.line, 20u);
  EXPECT_EQ(hot.total(), 84u);
  EXPECT_EQ(hot.issued, 4u);
  EXPECT_EQ(hot.warps, 0x3u);
  EXPECT_EQ(hot.instruction.substr(0, 8), "mma.sync") << "the costliest one stands for the line";
  EXPECT_EQ(hot.reasons(), (std::vector{Stall::long_scoreboard, Stall::math_pipe_throttle}));
  EXPECT_EQ(where.lines[1].source.line, 10u);
}

// A wait of a function that is inlined twice, once by way of another one: `gate` into `stage` and the kernel.
TEST(Where, CallersAreChargedForWhatTheyInline) {
  constexpr std::string_view inlined = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k() {
  .reg .b32 %r<4>;
  .file 1 "k.cu"
  .file 2 "/usr/local/cuda/include/cuda/barrier"
  .loc 1 30 3
  mov.u32 %r1, 5;
  .loc 1 20 3, function_name $str, inlined_at 1 30 3
  .loc 1 10 3, function_name $str, inlined_at 1 20 3
  .loc 2 99 1, function_name $str, inlined_at 1 10 3
  add.s32 %r2, %r1, 1;
  .loc 1 40 3
  .loc 1 10 3, function_name $str, inlined_at 1 40 3
  add.s32 %r3, %r1, 1;
  ret;
}
.section .debug_str {
$str:
.b8 103
.b8 0
}
)";
  auto parsed = isa::parse(inlined, "");
  ASSERT_TRUE(parsed) << isa::render(parsed.error());
  const Where where = where_time_went(*parsed, "", isa::default_arch(), report());
  const auto gate = std::ranges::find(where.lines, 10U, [](const LineWhere& l) { return l.source.line; });
  ASSERT_NE(gate, where.lines.end());
  EXPECT_EQ(gate->source.file, "k.cu") << "the wrapper of the toolkit is not the author's line";
  EXPECT_EQ(gate->total(), 84U);
  ASSERT_EQ(gate->callers.size(), 3U);
  const auto at = [&](uint32_t line) {
    return std::ranges::find(gate->callers, line, [](const CallerWhere& c) { return c.at.line; })->total();
  };
  EXPECT_EQ(at(40), 62U);
  EXPECT_EQ(at(20), 22U);
  EXPECT_EQ(at(30), 22U) << "the whole chain";
  EXPECT_EQ(gate->callers[0].at.line, 40U) << "most cycles first";
  EXPECT_EQ(where.warp_cycles, 94U) << "shares of callers are no more cycles";
}

TEST(Where, WarpsThatShareCodeAreARole) {
  const isa::Module m = module();
  const Where where = where_time_went(m, "k", isa::default_arch(), report());
  ASSERT_EQ(where.roles.size(), 2u);
  EXPECT_EQ(where.roles[0].warps, 0x3u);
  EXPECT_EQ(where.roles[0].operations, "mma");
  EXPECT_EQ(where.roles[1].warps, 0xFu);
  EXPECT_EQ(where.roles[1].operations, "");
}

TEST(Where, TheWorkOfTheTensorCoresIsCounted) {
  const isa::Module m = module();
  EXPECT_EQ(where_time_went(m, "", isa::default_arch(), report()).tensor_flops, 2 * 2.0 * 16 * 8 * 8);
}

TEST(Where, WhatBelongsToNoInstructionIsLeftOut) {
  const isa::Module m = module();
  ClockReport r = report();
  r.lines.push_back(line(99, 1, 1, {{Stall::wait, 1000}}));
  EXPECT_EQ(where_time_went(m, "", isa::default_arch(), r).warp_cycles, 94u);
  EXPECT_EQ(where_time_went(m, "no_such_entry", isa::default_arch(), r).lines.size(), 0u);
}

TEST(Where, SetsOfWarpsInWords) {
  EXPECT_EQ(warps_text(0xF, 4), "all warps");
  EXPECT_EQ(warps_text(0xFFFFFFFF, 32), "all warps");
  EXPECT_EQ(warps_text(0x100, 12), "warp 8");
  EXPECT_EQ(warps_text(0xFF, 12), "warps 0-7");
  EXPECT_EQ(warps_text(0x11, 12), "warps 0, 4");
  EXPECT_EQ(warps_text(0x80000001, 32), "warps 0, 31");
}

TEST(Where, TheLimitIsAResourceOrTheLongestWait) {
  ClockReport r = report();
  r.busy[size_t(Resource::tensor)] = 0.8;
  r.busy[size_t(Resource::hbm)] = 0.3;
  EXPECT_EQ(critical(r), Resource::tensor);
  EXPECT_EQ(limit_text(r), "tensor core");
  r.busy[size_t(Resource::tensor)] = 0.2;
  EXPECT_EQ(critical(r), Resource::hbm);
  EXPECT_EQ(limit_text(r), "waiting: long scoreboard");
  r.lines.clear();
  EXPECT_EQ(limit_text(r), "HBM") << "no warp waited";
}

RoleWhere role(uint32_t warps, const char* operations, uint64_t waits, uint64_t works) {
  RoleWhere r;
  r.warps = warps;
  r.operations = operations;
  r.cycles[size_t(Stall::mbarrier)] = waits;
  r.cycles[size_t(Stall::selected)] = works;
  return r;
}

TEST(Where, APipelineHasWarpsThatMultiplyAndOthersThatFetch) {
  Where where;
  where.roles = {role(0xF, "TMA stores, wgmma", 20, 80), role(0xF0, "wgmma", 40, 60),
                 role(0x100, "TMA loads", 30, 70)};
  LineWhere wait;
  wait.warps = 0xF0;
  wait.source.file = "gemm.cpp";
  wait.source.line = 7;
  wait.cycles[size_t(Stall::mbarrier)] = 40;
  LineWhere other = wait;
  other.warps = 0x100;
  other.source.line = 9;
  other.cycles[size_t(Stall::mbarrier)] = 90;
  where.lines = {other, wait};
  const auto waits = pipeline_waits(where);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->consumers, 0xFFu);
  EXPECT_EQ(waits->producers, 0x100u);
  EXPECT_DOUBLE_EQ(waits->for_full, 0.3);
  EXPECT_DOUBLE_EQ(waits->for_free, 0.3);
  EXPECT_EQ(waits->line.line, 7u);
  where.roles = {role(0xF, "TMA loads, wgmma", 20, 80)};
  EXPECT_FALSE(pipeline_waits(where)) << "the same warps do both";
  where.roles = {role(0xF, "wgmma", 20, 80)};
  EXPECT_FALSE(pipeline_waits(where)) << "nobody fetches";
}

TEST(Where, AtomicsOfGlobalMemoryAreSeen) {
  const auto has_atomics = [](const std::string& instruction) {
    auto parsed = isa::parse(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
        ".reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n" +
            instruction + "\nret;\n}\n",
        "");
    EXPECT_TRUE(parsed) << isa::render(parsed.error());
    return where_time_went(*parsed, "", isa::default_arch(), {}).atomics;
  };
  EXPECT_TRUE(has_atomics("red.global.add.u32 [%rd1], %r1;"));
  EXPECT_TRUE(has_atomics("atom.add.u32 %r2, [%rd1], %r1;"));
  EXPECT_TRUE(has_atomics("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64;"));
  EXPECT_FALSE(has_atomics("red.shared.add.u32 [%r1], %r1;"));
  EXPECT_FALSE(has_atomics("st.global.u32 [%rd1], %r1;"));
}

TEST(Where, NarrowOperandsHaveAHigherPeak) {
  EXPECT_EQ(where_time_went(module(), "", isa::default_arch(), {}).operand_bits, 32);
  const isa::ClockParameters& clock = *isa::find_clock("h200");
  const double peak = peak_tflops(isa::default_arch(), clock, 16);
  EXPECT_NEAR(peak, 2 * clock.wgmma_macs_per_cycle * 132 * clock.sm_clock * 1e-6, 1e-6);
  EXPECT_DOUBLE_EQ(peak_tflops(isa::default_arch(), clock, 8), 2 * peak);
}

}  // namespace
}  // namespace palladion::sim
