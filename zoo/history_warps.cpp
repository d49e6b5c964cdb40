// Bugs between the warps and lanes of a CTA that shipped.
#include "zoo/history.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

PtxPair integers(std::string name, std::string entry, std::string title, std::string code,
                 std::string_view body, std::string_view shared, uint32_t threads) {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .text = program({{"in"}, {"out"}}, body, shared),
          .block = {threads, 1, 1},
          .buffers = {counting("in", pl::u32, 256), result("out", pl::u32, 128)},
          .params = pointers(2)};
}

// NVIDIA/cutlass #3597.
Pair reduction_scratch() {
  return ptx_pair(integers("cutlass-reduction-scratch-reused", "SM-02",
                           "a second reduction writes its scratch while warps still read the first one's",
                           "PLD4001", R"(
  mov.u32 %a0, partial;
  mad.lo.u32 %a1, %warp, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.u32 %r0, [%rd1];
  redux.sync.add.u32 %r1, %r0, 0xffffffff;
  setp.eq.u32 %p0, %lane, 0;
  @%p0 st.shared.u32 [%a1], %r1;
  bar.sync 0;
  ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%a0];  // @1
  add.u32 %r2, %r2, %r3;
  add.u32 %r4, %r4, %r5;
  add.u32 %r2, %r2, %r4;
  mul.lo.u32 %r6, %r0, %r0;
  redux.sync.add.u32 %r1, %r6, 0xffffffff;
  bar.sync 0;  //! good
  @%p0 st.shared.u32 [%a1], %r1;  // @2
  bar.sync 0;
  ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%a0];
  add.u32 %r3, %r3, %r4;
  add.u32 %r5, %r5, %r6;
  add.u32 %r3, %r3, %r5;
  add.u32 %r2, %r2, %r3;
  add.u32 %r2, %r2, %r0;
  add.u64 %rd1, %out, %rd0;
  st.global.u32 [%rd1], %r2;)",
                           ".shared .align 16 .b8 partial[16];\n", 128));
}

// JustVugg/colibri #1099.
Pair stmatrix_readback() {
  return ptx_pair(integers("colibri-stmatrix-read-without-syncwarp", "NB-11",
                           "lanes read what stmatrix wrote for other lanes, without a warp barrier",
                           "PLD4611",
                           R"(
  mov.u32 %a0, rows;
  mad.lo.u32 %a1, %lane, 16, %a0;
  mul.wide.u32 %rd0, %t, 16;
  add.u64 %rd1, %in, %rd0;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];
  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a1], {%r0, %r1, %r2, %r3};  // @1
  bar.warp.sync 0xffffffff;  //! good
  xor.b32 %r4, %lane, 1;
  mad.lo.u32 %a2, %r4, 16, %a0;
  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%a2];  // @2
  add.u64 %rd1, %out, %rd0;
  st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};)",
                           ".shared .align 128 .b8 rows[512];\n", 32));
}

// flashinfer-ai/flashinfer #4533. Warp 0 hands a row to warp 1, warp 2 to warp 3. The relaxed words fix
// what comes first: both that hand over, then both that take.
Pair shared_barrier_id() {
  return ptx_pair(integers("flashinfer-barrier-id-of-two-roles", "NB-04",
                           "two roles of two warps use the same named barrier at the same time", "PLD4604",
                           R"(
  mov.u32 %a0, tile;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.u32 %r1, [%rd1];
  @%leader st.shared.u32 [first], 0;
  @%leader st.shared.u32 [second], 0;
  bar.sync 0;
  and.b32 %r0, %t, 95;
  mad.lo.u32 %a1, %r0, 4, %a0;
  and.b32 %r2, %warp, 1;
  setp.eq.u32 %p0, %r2, 1;
  setp.ge.u32 %p1, %warp, 2;
  @%p0 bra TAKE;
  st.shared.u32 [%a1], %r1;
  @%p1 bra HAND_OVER;
  barrier.arrive 2, 64;  // @1
  st.relaxed.cta.shared.u32 [first], 1;
  bra STORE;
HAND_OVER:
  ld.relaxed.cta.shared.u32 %r3, [first];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra HAND_OVER;
  barrier.arrive 3, 64;          //! good
  barrier.arrive 2, 64;  // @2   //! broken
  st.relaxed.cta.shared.u32 [second], 1;
  bra STORE;
TAKE:
  ld.relaxed.cta.shared.u32 %r3, [second];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra TAKE;
  @%p1 bra TAKE_SECOND;
  barrier.sync 2, 64;
  bra LOAD;
TAKE_SECOND:
  barrier.sync 3, 64;  //! good
  barrier.sync 2, 64;  // @2  //! broken
LOAD:
  ld.shared.u32 %r4, [%a1];
  add.u32 %r1, %r1, %r4;
STORE:
  add.u64 %rd1, %out, %rd0;
  st.global.u32 [%rd1], %r1;)",
                           ".shared .align 128 .b8 tile[512];\n.shared .align 4 .b32 first;\n"
                           ".shared .align 4 .b32 second;\n",
                           128));
}

// deepseek-ai/DeepEP #549 and #399.
Pair groups_of_lanes() {
  return ptx_pair(integers("deepep-groups-of-every-lane", "TM-11",
                           "every lane copies its 16 bytes out, lane 0 alone waits: for its own group",
                           "PLD4311", R"(
  mov.u32 %a0, row;
  mad.lo.u32 %a1, %lane, 16, %a0;
  mul.wide.u32 %rd0, %t, 16;
  add.u64 %rd1, %in, %rd0;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];
  st.shared.v4.u32 [%a1], {%r0, %r1, %r2, %r3};
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
  add.u64 %rd2, %out, %rd0;
  setp.lt.u32 %p1, %lane, 16;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%a1], 16;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;           //! good
  @%leader cp.async.bulk.wait_group.read 0;  //! broken
  bar.warp.sync 0xffffffff;
  xor.b32 %r4, %lane, 16;
  mad.lo.u32 %a2, %r4, 16, %a0;
  st.shared.v4.u32 [%a2], {%r3, %r2, %r1, %r0};  // @2
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
  @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%a1], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                           ".shared .align 128 .b8 row[512];\n", 32));
}

// jax-ml/jax 84a33c08c5: warp 4 draws two tiles from a counter and hands them out through one word.
Pair scheduler() {
  return ptx_pair(
      {.name = "jax-scheduler-without-backpressure",
       .entry = "SM-02",
       .title = "the scheduler overwrites the tile's number before all threads have read it",
       .code = "PLD4001",
       .text = program({{"in"}, {"out"}, {"next"}}, R"(
  setp.eq.u32 %p0, %t, 128;
  @%leader mbarrier.init.shared::cta.b64 [drawn], 1;
  @%leader mbarrier.init.shared::cta.b64 [drawn+8], 1;
  @%leader mbarrier.init.shared::cta.b64 [taken], 128;
  bar.sync 0;
  setp.ge.u32 %p2, %t, 128;
  @!%p2 bra WORK;
  @!%p0 bra DONE;
  atom.relaxed.gpu.global.add.u32 %r0, [%next], 1;
  st.shared.u32 [tile], %r0;
  mbarrier.arrive.shared::cta.b64 _, [drawn];
TAKEN:                                                     //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [taken], 0;  //! good
  @!%p1 bra TAKEN;                                         //! good
  atom.relaxed.gpu.global.add.u32 %r0, [%next], 1;
  st.shared.u32 [tile], %r0;  // @2
  mbarrier.arrive.shared::cta.b64 _, [drawn+8];
LATE:                                                      //! broken
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [taken], 0;  //! broken
  @!%p1 bra LATE;                                          //! broken
  bra DONE;
WORK:
  mul.wide.u32 %rd0, %t, 4;
FIRST:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [drawn], 0;
  @!%p1 bra FIRST;
  ld.shared.u32 %r1, [tile];  // @1
  mbarrier.arrive.shared::cta.b64 _, [taken];
  mad.wide.u32 %rd1, %r1, 512, %rd0;
  add.u64 %rd2, %in, %rd1;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  add.u64 %rd2, %out, %rd1;
  st.global.u32 [%rd2], %r2;
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [drawn+8], 0;
  @!%p1 bra SECOND;
  ld.shared.u32 %r1, [tile];
  mad.wide.u32 %rd1, %r1, 512, %rd0;
  add.u64 %rd2, %in, %rd1;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  add.u64 %rd2, %out, %rd1;
  st.global.u32 [%rd2], %r2;
DONE:)",
                       ".shared .align 4 .b32 tile;\n.shared .align 8 .b64 drawn[2];\n"
                       ".shared .align 8 .b64 taken;\n"),
       .block = {160, 1, 1},
       .buffers = {counting("in", pl::u32, 256), result("out", pl::u32, 256), scratch("next", pl::u32, 1)},
       .params = pointers(3)});
}

}  // namespace

std::vector<Pair> history_of_warps() {
  return {reduction_scratch(), stmatrix_readback(), shared_barrier_id(), groups_of_lanes(), scheduler()};
}

}  // namespace palladion::zoo
