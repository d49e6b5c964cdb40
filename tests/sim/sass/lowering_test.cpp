// What ptxas makes of instructions (seen in the SASS of ptxas 13.0).
#include <gtest/gtest.h>

#include <string>

#include "isa/text/parse.h"
#include "sim/clock/sm/instruction_cost.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/lowered.h"
#include "sim/sass/pressure.h"

namespace palladion::sim::sass {
namespace {

struct Subject {
  isa::Module module;
  std::unique_ptr<Program> program;
  Lowered result;
  const LoweredInstruction& operator[](uint32_t pc) const { return result.code[pc]; }
};

std::unique_ptr<Subject> lowered(const std::string& body) {
  const std::string text = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out) {
  .reg .b32 %r<40>;
  .reg .f32 %f<40>;
  .reg .b64 %q<20>;
  .reg .pred %p<9>;
)" + body + "ret;\n}\n";
  auto parsed = isa::parse(text, "");
  EXPECT_TRUE(parsed) << isa::render(parsed.error());
  auto p = std::make_unique<Subject>();
  p->module = std::move(*parsed);
  p->program = compile(p->module, *p->module.find_entry("k"), isa::default_arch(),
                       std::vector<uint64_t>(p->module.symbols.size()));
  p->result = lower(*p->program, *isa::find_clock("h200"));
  return p;
}

// Instructions after the first, which carries the kernel's prologue.
const std::string begin = "add.f32 %f0, %f0, %f0;\n";

TEST(Lowering, AConstantIsPartOfAnAddress) {
  const auto p = lowered(begin + R"(add.s64 %q1, %q0, 128; ld.global.f32 %f1, [%q1];
    add.s64 %q2, %q0, 256; ld.global.f32 %f2, [%q2]; st.global.u64 [%q0], %q2;)");
  EXPECT_TRUE((*p)[1].is_folded());
  EXPECT_FALSE((*p)[3].is_folded());  // its value is stored
  EXPECT_EQ((*p)[3].slots, 2U);
}

TEST(Lowering, ShiftsAndProductsJoinTheirSum) {
  const auto p = lowered(begin + R"(shl.b32 %r1, %r0, 3; add.s32 %r2, %r1, %r9;
    mul.lo.s32 %r3, %r0, %r9; add.s32 %r4, %r3, %r2; st.global.u32 [%q0], %r4;)");
  EXPECT_TRUE((*p)[1].is_folded());
  EXPECT_FALSE((*p)[2].is_folded());
  EXPECT_FALSE((*p)[3].is_folded());
  EXPECT_TRUE((*p)[4].is_folded());
}

TEST(Lowering, WhatIsKnownIsComputedByPtxas) {
  const auto p = lowered(begin + R"(mov.u32 %r1, 5; and.b32 %r2, %r1, 3; shl.b32 %r3, %r2, 4;
    add.s32 %r4, %r9, 0; mul.lo.s32 %r5, %r9, 0; add.s32 %r6, %r9, %r3;
    st.global.v4.u32 [%q0], {%r3, %r4, %r5, %r6};)");
  for (const uint32_t pc : {2U, 3U, 4U, 5U}) EXPECT_TRUE((*p)[pc].is_folded()) << pc;
  EXPECT_FALSE((*p)[6].is_folded());
}

TEST(Lowering, AnotherBlockMayHaveWrittenTheRegister) {
  const auto p = lowered(begin + R"(mov.u32 %r1, 5; $again: and.b32 %r2, %r1, 3; add.s32 %r1, %r1, %r2;
    add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r9; @%p1 bra $again; st.global.u32 [%q0], %r2;)");
  EXPECT_FALSE((*p)[2].is_folded());
}

TEST(Lowering, DivisionsByTheSameNumberShareItsReciprocal) {
  const auto p = lowered(begin + R"(div.u32 %r1, %r0, 8; rem.u32 %r2, %r0, 8; div.u32 %r3, %r0, 10;
    setp.eq.s32 %p1, %r0, 0; @%p1 bra $skip; rem.u32 %r4, %r9, 10; div.u32 %r5, %r9, 6;
    $skip: div.u32 %r6, %r0, 10; $again: div.u32 %r7, %r7, 10; @%p1 bra $again;
    st.global.v4.u32 [%q0], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%q0+16], {%r5, %r6, %r7, %r7};)");
  const hardware::InstructionCosts costs(p->result, *isa::find_clock("h200"));
  const auto latency = [&](uint32_t pc) { return costs[Pc(pc)].latency; };
  const uint32_t alone = latency(1), again = latency(2);
  EXPECT_GT(alone, 2 * again);
  EXPECT_EQ(latency(3), alone) << "another number";
  EXPECT_EQ(latency(6), again) << "behind a branch";
  EXPECT_EQ(latency(7), alone);
  EXPECT_EQ(latency(8), alone) << "not all ways have come by one";
  EXPECT_EQ(latency(9), again) << "round a loop that has one in front";
}

TEST(Lowering, ACopyWhosePredicateABranchHasTestedNeedsNoGuard) {
  const std::string copy =
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q0], 128, [%r2];\n";
  const auto alone = lowered(begin + "setp.eq.s32 %p1, %r0, 0;\n" + copy);
  const auto settled = lowered(begin + "setp.eq.s32 %p1, %r0, 0; @!%p1 bra $end;\n" + copy + "$end:\n");
  EXPECT_GT((*alone)[2].slots, (*settled)[3].slots);
}

TEST(Lowering, ABranchBackToAWaitSpins) {
  const auto p = lowered(begin + R"($wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;
    @!%p1 bra $wait; add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra $wait; st.global.u32 [%q0], %r3;)");
  EXPECT_TRUE((*p)[2].spins);
  EXPECT_FALSE((*p)[5].spins);
}

TEST(Lowering, SumsAndLogicTakeThreeInputs) {
  const auto p = lowered(begin + R"(add.s32 %r1, %r0, %r9; add.s32 %r2, %r1, %r8; add.s32 %r3, %r2, %r7;
    xor.b32 %r4, %r0, %r9; and.b32 %r5, %r4, %r8; st.global.v2.u32 [%q0], {%r3, %r5};)");
  EXPECT_FALSE((*p)[1].is_folded());  // the sum of four takes two
  EXPECT_TRUE((*p)[2].is_folded());
  EXPECT_FALSE((*p)[3].is_folded());
  EXPECT_TRUE((*p)[4].is_folded());
  EXPECT_FALSE((*p)[5].is_folded());
}

TEST(Lowering, LogicOfThreeInputsStandsAlone) {
  const auto p = lowered(begin + R"(lop3.b32 %r1, %r0, %r9, %r8, 0x96; lop3.b32 %r2, %r1, %r7, %r6, 0x96;
    lop3.b32 %r3, %r0, %r9, %r0, 0x96; xor.b32 %r4, %r3, %r8; st.global.v2.u32 [%q0], {%r2, %r4};)");
  EXPECT_FALSE((*p)[1].is_folded());
  EXPECT_TRUE((*p)[3].is_folded());
}

TEST(Lowering, SignsAreWrittenAtOperands) {
  const auto p = lowered(begin + R"(neg.f32 %f1, %f0; fma.rn.f32 %f2, %f0, %f0, %f1;
    neg.f32 %f3, %f0; st.global.v2.f32 [%q0], {%f2, %f3};)");
  EXPECT_TRUE((*p)[1].is_folded());
  EXPECT_FALSE((*p)[3].is_folded());
}

std::string loop(int steps, const std::string& more) {
  std::string body = begin + "mov.u32 %r0, 0;\n$again:\n" + more;
  for (int i = 0; i < steps; ++i) body += "fma.rn.f32 %f1, %f1, %f2, %f1;\n";
  return body +
         "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %r9;\n@%p0 bra $again;\nst.global.f32 [%q0], %f1;\n";
}

bool unrolls(int steps, const std::string& more = "") {
  const auto p = lowered(loop(steps, more));
  for (uint32_t pc = 0; pc < p->program->code.size(); ++pc)
    if ((*p)[pc].branches) return (*p)[pc].unrolled;
  ADD_FAILURE();
  return false;
}

TEST(Lowering, ShortCountedLoopsAreUnrolled) {
  EXPECT_TRUE(unrolls(16));
  EXPECT_FALSE(unrolls(24));
  EXPECT_TRUE(unrolls(24, "ld.global.f32 %f2, [%q0];\n"));
  EXPECT_FALSE(unrolls(4, "ld.global.u32 %r9, [%q0];\n"));  // how often is not known before
  EXPECT_FALSE(unrolls(4, "bar.sync 0;\n"));
}

TEST(Lowering, ComparisonsAreMadeEarly) {
  const auto p = lowered(loop(24, ""));
  uint32_t early = 0;
  for (uint32_t pc = 0; pc < p->program->code.size(); ++pc) early += (*p)[pc].early;
  EXPECT_EQ(early, 2U);  // the sum and the comparison
}

uint32_t gathered(const std::string& body) {
  const auto p = lowered(begin + body);
  uint32_t count = 0;
  for (uint32_t pc = 0; pc < p->program->code.size(); ++pc) count += (*p)[pc].gather != Gather::none;
  return count;
}

TEST(Lowering, LanesAreAddedUpBeforeAnAtomicOnOneAddress) {
  const std::string value = "ld.param.u64 %q0, [k_out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n";
  EXPECT_EQ(gathered(value + "red.global.add.u32 [%q0], %r0;"), 1U);
  EXPECT_EQ(gathered(value + "atom.global.add.u32 %r2, [%q0], %r0;"), 1U);
  EXPECT_EQ(gathered(value + "red.global.max.s32 [%q0], %r0;"), 1U);
  EXPECT_EQ(gathered(value + "atom.global.max.s32 %r2, [%q0], %r0;"), 0U);
  EXPECT_EQ(gathered(value + "red.global.add.f32 [%q0], %f0;"), 0U);
  EXPECT_EQ(gathered(value + "red.global.inc.u32 [%q0], %r0;"), 0U);
  EXPECT_EQ(gathered(value + "mad.wide.u32 %q1, %r1, 4, %q0; red.global.add.u32 [%q1], %r0;"), 1U);
  EXPECT_EQ(gathered(value + "mad.wide.u32 %q1, %r0, 4, %q0; red.global.add.u32 [%q1], %r0;"), 0U);
  EXPECT_EQ(gathered(value + "ld.global.u32 %r3, [%q0]; mad.wide.u32 %q1, %r3, 4, %q0; red.global.add.u32 "
                             "[%q1], %r0;"),
            1U);
  // Values of two definitions meet where lanes of different ways do.
  const std::string meet =
      "mov.u32 %r4, 0;\n@%p0 bra $on;\nmov.u32 %r4, 1;\n$on:\nmad.wide.u32 %q1, %r4, 4, %q0; "
      "red.global.add.u32 [%q1], %r0;";
  EXPECT_EQ(gathered(value + "setp.eq.u32 %p0, %r1, 3;\n" + meet), 1U);
  EXPECT_EQ(gathered(value + "setp.eq.u32 %p0, %r0, 3;\n" + meet), 0U);
}

std::vector<int> scoreboards(const std::string& body) {
  const auto p = lowered(begin + body);
  std::vector<int> out;
  for (uint32_t pc = 0; pc < p->program->code.size(); ++pc)
    if ((*p)[pc].path == Path::global_load) out.push_back((*p)[pc].scoreboard);
  return out;
}

TEST(Lowering, LoadsShareScoreboards) {
  std::string loads, uses;
  for (int i = 0; i < 6; ++i) {
    loads += "ld.global.f32 %f" + std::to_string(i) + ", [%q0+" + std::to_string(128 * i) + "];\n";
    uses += "ex2.approx.ftz.f32 %f1" + std::to_string(i) + ", %f" + std::to_string(i) + ";\n";
  }
  EXPECT_EQ(scoreboards(loads + uses), (std::vector{1, 2, 3, 4, 4, 4}));
  EXPECT_EQ(scoreboards(loads + "add.f32 %f10, %f0, %f1; add.f32 %f11, %f2, %f3; add.f32 %f12, %f4, %f5;\n"),
            (std::vector{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(scoreboards(loads + "bra $on;\n$on:\n" + uses),
            (std::vector{4, 4, 4, 4, 4, 4}));  // another block
  EXPECT_EQ(
      scoreboards("ld.global.f32 %f0, [%q0]; add.f32 %f1, %f0, %f0; ld.global.f32 %f2, [%q0+4]; add.f32 %f3, "
                  "%f2, %f2;\n"),
      (std::vector{1, 1}));
}

TEST(Lowering, SaysWhatAnInstructionFoldsInto) {
  const auto p = lowered(begin + R"(mul.lo.s32 %r3, %r0, %r9; add.s32 %r4, %r3, %r8; mov.u32 %r5, %r4;
    add.s64 %q1, %q0, 128; st.global.u32 [%q1], %r5;)");
  EXPECT_EQ((*p)[2].fold, Fold::imad);
  EXPECT_EQ((*p)[2].into, 1U);
  EXPECT_EQ((*p)[3].fold, Fold::renamed);
  EXPECT_EQ((*p)[4].fold, Fold::offset);
  EXPECT_EQ((*p)[4].into, 5U);
  EXPECT_EQ((*p)[5].fold, Fold::none);
}

TEST(Lowering, AccessesTakeThePathOfTheirSpace) {
  const auto p = lowered(begin + R"(ld.global.f32 %f1, [%q0]; ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [%r0];
    st.shared::cluster.u32 [%r1], %r2; red.global.add.u32 [%q1], %r3; atom.shared.add.u32 %r4, [%r0], %r3;
    bar.sync 0; fence.acq_rel.gpu; st.release.gpu.u32 [%q0], %r3; ld.acquire.gpu.u32 %r5, [%q0];)");
  const Path paths[] = {Path::plain,         Path::global_load, Path::shared_load, Path::cluster_store,
                        Path::global_atomic, Path::shared_load, Path::waits,       Path::fence,
                        Path::global_store,  Path::global_load, Path::exit};
  for (uint32_t pc = 0; pc < std::size(paths); ++pc) EXPECT_EQ((*p)[pc].path, paths[pc]) << pc;
  EXPECT_EQ((*p)[2].bytes, 16U);
  EXPECT_TRUE((*p)[5].serialised);
  EXPECT_TRUE((*p)[7].drains);
  EXPECT_TRUE((*p)[7].acquires);
  EXPECT_FALSE((*p)[7].releases) << "a fence needs none in front";
  EXPECT_TRUE((*p)[8].releases);
  EXPECT_TRUE((*p)[9].acquires);
}

TEST(Lowering, AFenceOfTheWarpgroupTakesTheWayOfItsProducts) {
  const auto p = lowered(begin + R"(wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %q0, %q1, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;)");
  EXPECT_EQ((*p)[1].pipe, isa::Unit::tensor);
  EXPECT_EQ((*p)[2].path, Path::async);
  EXPECT_EQ((*p)[2].columns, 8U);
  EXPECT_EQ((*p)[3].fold, Fold::marked);
  EXPECT_EQ((*p)[4].path, Path::waits);
}

TEST(Cost, IsTheRowOfTheArchitecture) {
  const auto p = lowered(begin + "xor.b64 %q1, %q0, %q2; st.shared.u32 [%r0], %r1; ex2.approx.f32 %f1, %f0;");
  const isa::ClockParameters& h200 = *isa::find_clock("h200");
  const hardware::InstructionCosts costs(p->result, h200);
  const isa::OpCost& alu = h200.cost("alu");
  EXPECT_EQ(costs[Pc(1)].interval, 2 * alu.interval);  // half by half
  EXPECT_EQ(costs[Pc(1)].slots, 2 * alu.slots);
  EXPECT_EQ(costs[Pc(1)].latency, alu.latency);
  EXPECT_EQ(costs[Pc(1)].occupies, Resource::alu);
  EXPECT_EQ(costs[Pc(2)].occupies, Resource::smem);
  EXPECT_EQ(costs[Pc(3)].occupies, Resource::sfu);
  EXPECT_EQ(costs[Pc(3)].result, Stall::short_scoreboard);
  EXPECT_EQ(costs.hand_over(Resource::alu, Resource::fma), h200.issue_other_pipe);
  EXPECT_EQ(costs.hand_over(Resource::alu, Resource::alu), 0U);
}

TEST(Lowering, ARegisterThatNamesABarrierTakesAll) {
  EXPECT_EQ(named_barriers(*lowered("bar.sync 0;\n")->program), 1U);
  EXPECT_EQ(named_barriers(*lowered("bar.sync 3, 64;\n")->program), 4U);
  EXPECT_EQ(named_barriers(*lowered("bar.sync %r0, 64;\n")->program), 16U);
  EXPECT_EQ(named_barriers(*lowered("")->program), 0U);
}

}  // namespace
}  // namespace palladion::sim::sass
