// Barriers of all threads of a CTA, some of which have exited.
#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

using testing::every_schedule;
using testing::ptx;
using testing::PtxRunner;

// Lanes 8 to 31 of each warp leave first; the others exchange values through shared memory, round after
// round.
const char* const rounds = R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 sm[1024];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.ge.u32 %p1, %r2, 8;
  @%p1 bra $leave;
  mov.u32 %r3, sm;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r4, %r3;
  add.u32 %r5, %r1, 32;
  and.b32 %r5, %r5, 255;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r3;
  mov.u32 %r6, %r1;
  mov.u32 %r7, 0;
$round:
  st.shared.u32 [%r4], %r6;
  BARRIER
  ld.shared.u32 %r6, [%r5];
  BARRIER
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 8;
  @%p2 bra $round;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r6;
$leave:
  ret;
})";

void expect_rounds(const std::string& barrier) {
  std::string text = rounds;
  for (size_t at; (at = text.find("BARRIER")) != std::string::npos;) text.replace(at, 7, barrier);
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> out(256, ~0U);
    PtxRunner(ptx(text)).array(out).shape({1, 1, 1}, {256, 1, 1}).run_clean(o);
    for (uint32_t t = 0; t < 256; ++t)
      EXPECT_EQ(out[t], t % 32 < 8 ? t : ~0U) << barrier << " thread " << t;  // eight rounds of eight warps
  }
}

TEST(CtaBarrier, WaitsForTheThreadsThatHaveNotExited) {
  expect_rounds("bar.sync 0;");
  expect_rounds("barrier.sync 0;");
}

// A barrier with a count counts a warp's exited lanes too.
TEST(CtaBarrier, CountsWholeWarpsWhenItHasACount) { expect_rounds("bar.sync 1, 256;"); }

// The last lanes that a barrier waits for exit, in a warp that has arrived with others.
TEST(CtaBarrier, CompletesWhenLanesExitThatItWaitsFor) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> out(64, ~0U);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  setp.lt.u32 %p1, %r1, 40;
  @%p1 bra $meet;
  mov.u32 %r2, 0;
$spin:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 50;
  @%p2 bra $spin;
  exit;
$meet:
  barrier.sync 0;
  st.global.u32 [%rd1], %r1;
  ret;
})"))
        .array(out)
        .shape({1, 1, 1}, {64, 1, 1})
        .run_clean(o);
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 40 ? t : ~0U) << t;
  }
}

}  // namespace
}  // namespace palladion::sim
