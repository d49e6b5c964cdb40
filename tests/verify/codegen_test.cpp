// What ptxas does to a kernel, as findings: by prediction, and by the toolkit's ptxas where there is one.
#include "verify/codegen/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/plgpu.h"
#include "report/text/finding_text.h"
#include "tests/support/toolkit.h"
#include "verify/launch/runner.h"

namespace palladion::verify {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const plgpu::SmemType tile = plgpu::SMEM(
    {64, 64}, pl::f16, {.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}});
uint32_t line_of_next = 0;

// x = x b, eight times, and the sum of all. `early`: the next x is rounded while the product that reads the
// last one runs.
plgpu::Kernel powers(bool early) {
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out, plgpu::Scratch& s) {
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        const auto rounded = [](const plgpu::Array& x) {
          line_of_next = __LINE__ + 1;
          return plgpu::exp2(x).astype(pl::f16);
        };
        const auto step = [&](const plgpu::Ref& sum, const plgpu::Array& x) {
          return pl::run_scoped(
              [&](const plgpu::Ref& next) {
                plgpu::wgmma(next, x, s["b"]);
                plgpu::wgmma(sum, x, s["b"]);
                const plgpu::Array made = plgpu::wgmma_accumulator_load(next, 1);
                const plgpu::Array now = early ? rounded(made) : x;
                plgpu::wgmma_wait(0);
                return early ? now : rounded(made);
              },
              plgpu::ACC({64, 64}, pl::f32));
        };
        out.store(pl::run_scoped(
            [&](const plgpu::Ref& sum) {
              pl::fori_loop(
                  0, 8, [&](const pl::Scalar&, const plgpu::Array& x) { return step(sum, x); },
                  a.load(plgpu::Layout::WGMMA));
              return sum.load();
            },
            plgpu::ACC({64, 64}, pl::f32)));
      },
      {.in_types = {{pl::f16, {64, 64}}, {pl::f16, {64, 64}}},
       .out_type = {pl::f32, {64, 64}},
       .scratch_types = {{"b", tile}, {"full", plgpu::Barrier()}},
       .name = "powers"});
}

// c + a b of 64 x n in one warpgroup of `threads`: n / 2 registers a thread for the product, as many for c.
plgpu::Kernel wide(int64_t n, int threads, int registers) {
  const plgpu::SmemType b = plgpu::SMEM(
      {64, n}, pl::f16, {.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}});
  return plgpu::kernel(
      [&](const plgpu::Ref& c, const plgpu::Ref& out, plgpu::Scratch& s) {
        pl::when(pl::axis_index("wg") == 0, [&] {
          if (registers != 0) plgpu::set_max_registers(registers, "decrease");
          const plgpu::Array more = c.load(plgpu::Layout::WGMMA);
          plgpu::commit_smem();
          out.store(more + pl::run_scoped(
                               [&](const plgpu::Ref& acc) {
                                 plgpu::wgmma(acc, s["a"], s["b"]);
                                 return acc.load();
                               },
                               plgpu::ACC({64, n}, pl::f32)));
        });
      },
      {.in_types = {{pl::f32, {64, n}}},
       .out_type = {pl::f32, {64, n}},
       .scratch_types = {{"a", tile}, {"b", b}},
       .num_threads = threads,
       .thread_name = "wg",
       .name = "wide"});
}

std::vector<sim::Finding> findings_of(const plgpu::Kernel& kernel, Codegen who) {
  const Job job = job_of(kernel, blank_inputs(kernel));
  auto found = examine_codegen(job, isa::default_arch(), who);
  EXPECT_TRUE(found) << found.error().text;
  return found ? std::move(*found) : std::vector<sim::Finding>();
}

std::vector<Codegen> everyone() {
  std::vector<Codegen> out = {Codegen::predicted};
  if (toolkit::find_tool("ptxas")) out.push_back(Codegen::ptxas);
  return out;
}

TEST(Codegen, AnInputMadeInFlightSerialisesTheProductsAtTheAuthorsLine) {
  for (const Codegen who : everyone()) {
    const auto found = findings_of(powers(true), who);
    ASSERT_THAT(found, SizeIs(1)) << int(who);
    EXPECT_EQ(found[0].code.name(), "PLD6206");
    EXPECT_EQ(found[0].severity, sim::FindingSeverity::strict);
    EXPECT_EQ(found[0].kernel, "powers");
    ASSERT_THAT(found[0].sites, SizeIs(2));
    EXPECT_EQ(found[0].sites[0].source.line, line_of_next);
    EXPECT_THAT(found[0].sites[1].instruction, HasSubstr("wgmma.mma_async"));
    EXPECT_THAT(report::message_text(found[0]), HasSubstr("C7513"));
    EXPECT_THAT(report::finding_text(found[0]), testing::Not(HasSubstr("warp 0"))) << "no warp executed it";
  }
}

TEST(Codegen, AnInputMadeBehindTheWaitDoesNot) {
  for (const Codegen who : everyone()) EXPECT_THAT(findings_of(powers(false), who), IsEmpty()) << int(who);
}

TEST(Codegen, SumsThatDoNotFitAreSpilled) {
  for (const Codegen who : everyone()) {
    const auto found = findings_of(wide(192, 4, 0), who);  // 128 registers a thread
    ASSERT_FALSE(found.empty()) << int(who);
    EXPECT_EQ(found[0].code.name(), "PLD6205");
    ASSERT_THAT(found[0].sites, SizeIs(1));
    EXPECT_TRUE(found[0].sites[0].source.known());
  }
  EXPECT_THAT(report::finding_text(findings_of(wide(192, 4, 0), Codegen::predicted)[0]),
              HasSubstr("the launch bounds give that many"));
}

TEST(Codegen, SumsThatFitAreNot) {
  for (const Codegen who : everyone()) EXPECT_THAT(findings_of(wide(64, 2, 0), who), IsEmpty()) << int(who);
}

TEST(Codegen, SetmaxnregLimitsWhatAWarpgroupHas) {
  const auto found = findings_of(wide(64, 2, 40), Codegen::predicted);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code.name(), "PLD6205");
  EXPECT_THAT(report::finding_text(found[0]), HasSubstr("setmaxnreg gives that many"));
}

TEST(Codegen, NobodyIsAskedWhereNobodyShall) {
  EXPECT_THAT(findings_of(powers(true), Codegen::none), IsEmpty());
  EXPECT_EQ(codegen_identity(Codegen::none), "");
  EXPECT_NE(codegen_identity(Codegen::predicted), codegen_identity(Codegen::none));
}

}  // namespace
}  // namespace palladion::verify
