// WG: wgmma, its registers, its groups, its descriptors.
#include <algorithm>
#include <iterator>

#include "zoo/groups.h"
#include "zoo/wgmma.h"

namespace palladion::zoo {
namespace {

// --- the accumulator's registers --------------------------------------------------------------------
Pair no_fence() {
  return wgmma_pair("wgmma-no-fence", "WG-01",
                    "registers are written, then wgmma uses them without a wgmma.fence between", "PLD4401",
                    R"(
  mul.wide.u32 %rd4, %t, 16;
  add.u64 %rd4, %bias, %rd4;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd4];  // @1
  wgmma.fence.sync.aligned;  //! good
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @2
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)");
}

Pair other_shape() {
  return wgmma_pair("wgmma-other-shape-same-registers", "WG-02",
                    "wgmmas of two shapes accumulate in the same registers without a fence between",
                    "PLD4402",
                    R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.f32 %f4, 0f00000000;
  mov.f32 %f5, 0f00000000;
  mov.f32 %f6, 0f00000000;
  mov.f32 %f7, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;  //! good
  wgmma.wait_group.sync.aligned 0;  //! good
  wgmma.fence.sync.aligned;         //! good
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd3, %p4, 1, 1, 0, 0;  // @2
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.f32 %f0, %f0, %f4;
)");
}

Pair accumulator_too_early() {
  return wgmma_pair("wgmma-accumulator-read-too-early", "WG-03",
                    "the accumulator is read before wgmma.wait_group", "PLD4403", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;  //! good
  add.f32 %f4, %f0, %f1;  // @2
  wgmma.wait_group.sync.aligned 0;  //! broken
  mov.f32 %f0, %f4;
)");
}

Pair fragment_overwritten() {
  return wgmma_pair("wgmma-a-fragment-overwritten", "WG-04",
                    "registers with a fragment of A are loaded anew while a wgmma may still read them",
                    "PLD4404", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mul.wide.u32 %rd4, %t, 16;
  add.u64 %rd4, %in, %rd4;
  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd4];
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %rd2, %p4, 1, 1, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;  //! good
  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd4+512];  // @2
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %rd3, %p4, 1, 1, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)");
}

Pair not_committed() {
  return wgmma_pair("wgmma-not-committed", "WG-05",
                    "wgmma.wait_group without a commit_group before it waits for nothing", "PLD4405", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;  //! good
  wgmma.wait_group.sync.aligned 0;
  add.f32 %f4, %f0, %f1;  // @2
  wgmma.commit_group.sync.aligned;  //! broken
  wgmma.wait_group.sync.aligned 0;
  mov.f32 %f0, %f4;
)");
}

Pair one_group_too_many() {
  return wgmma_pair("wgmma-wait-group-off-by-one", "WG-05",
                    "wgmma.wait_group 1 leaves the newest group running; its result is used", "PLD4405", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd3, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;  //! good
  wgmma.wait_group.sync.aligned 1;  //! broken
  add.f32 %f4, %f0, %f1;  // @2
  wgmma.wait_group.sync.aligned 0;
  mov.f32 %f0, %f4;
)");
}

Pair accumulates_on_garbage() {
  return wgmma_pair("wgmma-accumulates-on-garbage", "WG-11",
                    "the first wgmma adds to registers that nothing was written to", "PLD4411", R"(
  setp.ne.u32 %p4, %r1, 0;  //! good
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)");
}

// --- who executes it, on what -----------------------------------------------------------------------
Pair two_warps() {
  return wgmma_pair("wgmma-by-two-warps", "WG-10",
                    "two of the warpgroup's four warps execute the wgmma: it is a matter of all 128 threads",
                    "PLD4410", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  setp.lt.u32 %p3, %warp, 4;  //! good
  setp.lt.u32 %p3, %warp, 2;  //! broken
  wgmma.fence.sync.aligned;
  @%p3 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)",
                    OnDevice::hangs);
}

Pair wrong_stride() {
  return wgmma_pair(
      "wgmma-descriptor-beyond-tile", "WG-08",
      "the descriptor's stride is twice the tile's: it reads what lies behind the tile, where nobody wrote",
      "PLD6101", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  add.u64 %rd1, %rd1, 0x1000000000;  //! broken
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)");
}

Pair stride_in_bytes() {
  return wgmma_pair(
      "wgmma-descriptor-beyond-shared-memory", "WG-08",
      "the descriptor's stride is given in bytes, not in units of 16: it leaves the CTA's shared memory",
      "PLD4408", R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  add.u64 %rd1, %rd1, 0xF000000000;  //! broken
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)",
      OnDevice::faults);
}

Pair descriptor_of_warp() {
  return wgmma_pair("wgmma-descriptor-differs-by-warp", "WG-09",
                    "each warp gives the descriptor of its own rows: all four must give the same", "PLD4409",
                    R"(
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mul.wide.u32 %rd4, %warp, 32;  //! broken
  add.u64 %rd1, %rd1, %rd4;      //! broken
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)");
}

}  // namespace

std::vector<Pair> wgmma_pairs() {
  std::vector<Pair> all = {
      no_fence(),      other_shape(),        accumulator_too_early(),  fragment_overwritten(),
      not_committed(), one_group_too_many(), accumulates_on_garbage(), two_warps(),
      wrong_stride(),  stride_in_bytes(),    descriptor_of_warp()};
  std::ranges::move(wgmma_operand_pairs(), std::back_inserter(all));
  return all;
}

}  // namespace palladion::zoo
