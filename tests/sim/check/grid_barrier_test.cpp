// CTAs that spin at the barrier of a cooperative grid, which others have left.
#include <gmock/gmock.h>

#include "sim/check/checker.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing::grid_barrier {
namespace {

// Thread 0 of each CTA but the last `absent` ones counts itself in word 1 of the workspace, and waits for
// all.
RunResult grid_sync(uint32_t ctas, uint32_t absent, bool cooperative) {
  std::vector<uint32_t> workspace(1024);
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 workspace) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [workspace];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  sub.u32 %r3, %r2, )" +
                       std::to_string(absent) +
                       R"(;
  setp.ge.u32 %p1, %r1, %r3;
  @%p1 ret;
  atom.add.release.gpu.global.u32 %r4, [%rd1+4], 1;
SPIN:
  ld.acquire.gpu.global.u32 %r4, [%rd1+4];
  setp.ne.u32 %p2, %r4, %r2;
  @%p2 bra SPIN;
  ret;
})"));
  runner.array(workspace).shape({ctas, 1, 1}, {1, 1, 1});
  uint64_t at = 0;
  std::memcpy(&at, runner.launch.params.data(), sizeof at);
  if (cooperative) {
    runner.launch.environment[1] = static_cast<uint32_t>(at >> 32);
    runner.launch.environment[2] = static_cast<uint32_t>(at);
  }
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  how.resident_clusters = ctas;
  how.threads = 1;
  return runner.run(how);
}

TEST(GridBarrier, CtasThatHaveExitedAreTheCause) {
  const RunResult r = grid_sync(4, 2, true);
  ASSERT_EQ(r.findings.size(), 1U);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.code, "PLD4703");
  EXPECT_TRUE(f.fatal);
  ASSERT_EQ(f.message.phrase, Phrase::grid_sync_without_exited);
  ASSERT_EQ(f.message.values.size(), 5U);
  EXPECT_EQ(std::get<int64_t>(f.message.values[1]), 2);
  EXPECT_EQ(std::get<int64_t>(f.message.values[2]), 4);
  EXPECT_EQ(std::get<Statement>(f.message.values[3]), say<Phrase::cta_of_grid>(2, 0, 0));
  EXPECT_EQ(f.help.phrase, Phrase::sync_before_return);
  EXPECT_TRUE(grid_sync(4, 0, true).findings.empty());
}

TEST(GridBarrier, AnotherWordInMemoryIsASpin) {
  const RunResult r = grid_sync(4, 1, false);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
}

}  // namespace
}  // namespace palladion::sim::testing::grid_barrier
