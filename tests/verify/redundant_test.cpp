// verify::find_redundant: what a right kernel does not need, and nothing else.
#include "verify/redundant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/verify/twins.h"

namespace palladion::verify {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Thread i stores i and gets that of thread 63 - i; `between` and `behind` stand around the loads.
struct Exchange {
  isa::Module module;
  Job job;

  Exchange(const std::string& between, const std::string& behind) {
    module = isa::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 16 .b8 tile[256];
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.u32 [%r3], %r1;
)" + between + R"(
  sub.u32 %r4, 63, %r1;
  mad.lo.u32 %r5, %r4, 4, %r2;
  ld.shared.u32 %r6, [%r5];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
)" + behind + "  ret;\n}\n")
                 .value();
    job.module = &module;
    job.entry = "k";
    job.grid = job.cluster = {1, 1, 1};
    job.block = {64, 1, 1};
    job.buffers = {
        {.name = "out", .role = Role::out, .type = {pl::u32, {64}}, .initial = {}, .variable = {}}};
    job.params = {PointerValue{0}};
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
};

std::vector<std::string> texts(const RedundancyReport& report) {
  std::vector<std::string> out;
  for (const Redundancy& r : report.redundant) out.push_back(r.mutant.before);
  return out;
}

TEST(Redundant, AMinimalKernelNeedsAllThatItHas) {
  const Exchange kernel("  bar.sync 0;\n", "");
  const auto report = find_redundant(kernel.job, isa::default_arch());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->examined, 1U);
  EXPECT_THAT(texts(*report), IsEmpty());
}

TEST(Redundant, ABarrierAndAFenceTooManyAreListedByTheirCycles) {
  const Exchange kernel("  bar.sync 0;\n  fence.acq_rel.gpu;\n", "  bar.sync 0;\n");
  const auto report = find_redundant(kernel.job, isa::default_arch());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->examined, 3U);
  EXPECT_THAT(texts(*report), testing::UnorderedElementsAre("fence.acq_rel.gpu;", "bar.sync 0;"));
  ASSERT_EQ(report->redundant.size(), 2U);
  EXPECT_GE(report->redundant[0].cycles, report->redundant[1].cycles);
  EXPECT_GT(report->redundant[0].cycles, 0);
  EXPECT_GT(report->cycles, 0U);
  EXPECT_GT(report->redundant[0].mutant.ptx_line, 0U);
  EXPECT_THAT(report->redundant[0].scope.dependences, IsEmpty());
}

TEST(Redundant, AWrongKernelHasNothingToDelete) {
  const Exchange kernel("", "  bar.sync 0;\n");
  const auto report = find_redundant(kernel.job, isa::default_arch());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().why, NoRedundancy::Why::not_right);
}

TEST(Redundant, AStopEndsIt) {
  const Exchange kernel("  bar.sync 0;\n", "");
  const std::atomic<bool> stop = true;
  const auto report = find_redundant(kernel.job, isa::default_arch(), {}, {.stop = &stop, .step = {}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().why, NoRedundancy::Why::interrupted);
}

}  // namespace
}  // namespace palladion::verify
