// Bugs of mbarriers and of what they count that shipped.
#include "zoo/history.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

PtxPair floats(std::string name, std::string entry, std::string title, std::string code, OnDevice on_device,
               std::string_view body, std::string_view shared) {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .on_device = on_device,
          .text = program({{"in"}, {"out"}}, body, shared),
          .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128)},
          .params = pointers(2)};
}

constexpr std::string_view tile_and_full = ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n";

// NVIDIA/cudnn-frontend #426: warp 0 scales a row, warps 1 to 3 use it.
Pair elected_arrival() {
  return ptx_pair(floats("cudnn-elected-lane-arrives-for-all", "MB-05",
                         "32 lanes write, one arrives: its release covers its own writes only", "PLD4105",
                         OnDevice::ends, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %lane, 4, %a0;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra USE;
  mul.f32 %f1, %f0, 0f3F000000;
  st.shared.f32 [%a1], %f1;  // @1
  bar.warp.sync 0xffffffff;  //! good
  @%leader mbarrier.arrive.shared::cta.b64 _, [full];
  bra STORE;
USE:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra USE;
  ld.shared.f32 %f1, [%a1];  // @2
STORE:
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         tile_and_full));
}

// facebookexperimental/triton #1538: elect in a warpgroup elects one lane of each warp.
Pair copy_by_every_warp() {
  return ptx_pair(floats("triton-copy-by-every-warp", "TX-08",
                         "a lane of each warp issues the copy: four times the bytes that are expected",
                         "PLD4208", OnDevice::ends, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  elect.sync _|%p0, 0xffffffff;
  setp.eq.and.u32 %p0, %warp, 0, %p0;  //! good
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         tile_and_full));
}

// triton-lang/triton #10106.
Pair barrier_memory() {
  return ptx_pair(floats("triton-barrier-memory-reused", "MB-10",
                         "the memory of an mbarrier is used for data without mbarrier.inval", "PLD4110",
                         OnDevice::ends, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mov.u32 %a2, pool;
  mad.lo.u32 %a3, %t, 4, %a2;
  @%leader mbarrier.init.shared::cta.b64 [pool], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [pool], 512;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [pool];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [pool], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
  bar.sync 0;
  @%leader mbarrier.inval.shared::cta.b64 [pool];  //! good
  bar.sync 0;
  st.shared.f32 [%a3], %f0;  // @1
  bar.sync 0;
  xor.b32 %r0, %t, 127;
  mad.lo.u32 %a3, %r0, 4, %a2;
  ld.shared.f32 %f1, [%a3];
  fma.rn.f32 %f0, %f0, 0f43000000, %f1;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 pool[512];\n"));
}

// tile-ai/tilelang #2566: the loop of one trip.
Pair expect_without_arrive() {
  return ptx_pair(floats("tilelang-expect-without-arrive", "TX-02",
                         "expect_tx announces bytes and does not arrive: the phase never completes",
                         "PLD4202", OnDevice::hangs, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;               //! good
  @%leader mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 512;             //! broken
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // @1
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         tile_and_full));
}

// tile-ai/tilelang #3030: a count that is computed, and comes out as 0.
Pair zero_arrivals() {
  return ptx_pair(floats("tilelang-barrier-of-no-arrivals", "MB-03",
                         "the number of producers is rounded down to 0, and an mbarrier is made for so many",
                         "PLD3042", OnDevice::hangs, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mov.u32 %r0, %ntid.x;
  shr.u32 %r0, %r0, 7;  //! good
  shr.u32 %r0, %r0, 8;  //! broken
  @%leader mbarrier.init.shared::cta.b64 [full], %r0;  // @1
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         tile_and_full));
}

// jax-ml/jax 3f708b0535: one step, two slots.
Pair prologue() {
  return ptx_pair(floats("jax-prologue-longer-than-grid", "MB-18",
                         "the prologue fetches for both slots of a grid with one step; nobody waits for the "
                         "second",
                         "PLD4118", OnDevice::faults, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mov.u32 %a2, full;
  mov.u64 %rd2, %in;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  @%leader mbarrier.init.shared::cta.b64 [full+8], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %r1, 1;  //! good
  mov.u32 %r1, 2;  //! broken
  mov.u32 %r0, 0;
  @!%leader bra WAIT;
PROLOGUE:
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%a2], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%rd2], 512, [%a2];  // @1
  add.u32 %a0, %a0, 512;
  add.u32 %a2, %a2, 8;
  add.u64 %rd2, %rd2, 512;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, %r1;
  @%p0 bra PROLOGUE;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                         ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 full[2];\n"));
}

// jax-ml/jax 27a568a3de: 320 numbers, 128 a CTA.
Pair past_the_end() {
  PtxPair pair = floats("jax-bulk-copy-past-the-end", "UN-04",
                        "the last CTA's bulk copy is as long as the others', the array is not", "PLD3022",
                        OnDevice::faults, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mul.lo.u32 %r0, %cta, 128;
  mov.u32 %r1, 512;
  setp.eq.u32 %p0, %cta, 2;    //! good
  @%p0 mov.u32 %r1, 256;       //! good
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %in, %rd2;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %r1;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%rd2], %r1, [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  add.u32 %r2, %r0, %t;
  setp.ge.u32 %p2, %r2, 320;
  @%p2 bra DONE;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %r2, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;
DONE:)",
                        tile_and_full);
  pair.grid = {3, 1, 1};
  pair.buffers = {counting("in", pl::f32, 320), result("out", pl::f32, 320)};
  return ptx_pair(std::move(pair));
}

}  // namespace

std::vector<Pair> history_of_barriers() {
  return {elected_arrival(), copy_by_every_warp(), barrier_memory(), expect_without_arrive(),
          zero_arrivals(),   prologue(),           past_the_end()};
}

}  // namespace palladion::zoo
