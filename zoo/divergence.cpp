// Collective instructions that not all of the warp, the warpgroup or the CTA execute.
#include "zoo/groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

Pair registers_in_half_a_warp() {
  return floats_pair({.name = "divergent-setmaxnreg",
                      .entry = "DV-01",
                      .title = "half of each warp executes setmaxnreg, which is for whole warpgroups",
                      .code = "PLD4701",
                      .on_device = OnDevice::hangs,
                      .text = entry_text("", R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.gt.u32 %p0, %lane, 15;
  @%p0 bra skipped;  //! broken
  setmaxnreg.dec.sync.aligned.u32 40;  // @1
skipped:
  bar.warp.sync 0xffffffff;
  add.f32 %f0, %f0, %f0;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)",
                                         ".maxntid 128, 1, 1 .maxnreg 128"),
                      .block = {128, 1, 1}},
                     128, 128);
}

// Both halves of the warp arrive, each at its own instruction.
Pair aligned_cluster_barrier() {
  return floats_pair(
      {.name = "divergent-cluster-barrier",
       .entry = "DV-01",
       .title = "the halves of a warp arrive at the cluster barrier by different .aligned instructions",
       .code = "PLD4701",
       .on_device = OnDevice::hangs,
       .text = entry_text(".shared .align 128 .f32 slot[32];", R"(  mov.u32 %r0, %cluster_ctarank;
  mad.lo.u32 %r1, %r0, 32, %t;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  mov.u32 %r2, slot;
  mad.lo.u32 %r2, %t, 4, %r2;
  setp.gt.u32 %p0, %lane, 15;
  @%p0 bra upper;
  st.shared.f32 [%r2], %f0;
  barrier.cluster.arrive.release;  //! good
  barrier.cluster.arrive.release.aligned;  // @1  //! broken
  bra arrived;
upper:
  neg.f32 %f0, %f0;
  st.shared.f32 [%r2], %f0;
  barrier.cluster.arrive.release;  //! good
  barrier.cluster.arrive.release.aligned;  // @2  //! broken
arrived:
  barrier.cluster.wait.acquire;
  xor.b32 %r0, %r0, 1;
  mapa.shared::cluster.u32 %r3, %r2, %r0;
  ld.shared::cluster.f32 %f1, [%r3];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)"),
       .grid = {2, 1, 1},
       .block = {32, 1, 1},
       .cluster = {2, 1, 1}},
      64, 64);
}

Pair shuffle_in_half_a_warp() {
  return floats_pair({.name = "divergent-shuffle",
                      .entry = "DV-01",
                      .title = "half a warp shuffles with a mask that names all lanes",
                      .code = "PLD4701",
                      .on_device = OnDevice::hangs,
                      .text = entry_text("", R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.gt.u32 %p0, %lane, 15;
  @%p0 bra skipped;
  mov.b32 %r0, %f0;
  shfl.sync.bfly.b32 %r1|%p1, %r0, 1, 31, 0x0000ffff;  //! good
  shfl.sync.bfly.b32 %r1|%p1, %r0, 1, 31, 0xffffffff;  // @1  //! broken
  mov.b32 %f1, %r1;
  add.f32 %f0, %f0, %f1;
skipped:
  bar.warp.sync 0xffffffff;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)"),
                      .block = {32, 1, 1}},
                     32, 32);
}

// Two tiles go out through one buffer; groups of bulk copies belong to the thread that issued them.
constexpr const char* two_stores_body = R"(  .reg .b32 %k, %mine;
  mul.wide.u32 %rd0, %lane, 4;
  add.u64 %rd1, %src, %rd0;
  mov.u64 %rd2, %dst;
  mov.u32 %mine, tile;
  mad.lo.u32 %mine, %lane, 4, %mine;
  setp.eq.u32 %p0, %lane, 0;
  setp.eq.u32 %p1, %lane, 0;  //! good
  setp.eq.u32 %p1, %lane, 1;  //! broken
  mov.u32 %k, 0;
next:
  ld.global.f32 %f0, [%rd1];
  add.f32 %f0, %f0, %f0;
  st.shared.f32 [%mine], %f0;
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 128;  // @1
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;  // @2
  bar.warp.sync 0xffffffff;
  add.u64 %rd1, %rd1, 128;
  add.u64 %rd2, %rd2, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p2, %k, 3;
  @%p2 bra next;)";

Pair other_lane_commits() {
  return floats_pair(
      {.name = "divergent-commit",
       .entry = "DV-02",
       .title = "one lane issues bulk stores, another commits and waits for its own, empty groups",
       .code = "PLD4311",
       .text = entry_text(".shared .align 128 .f32 tile[32];", two_stores_body),
       .block = {32, 1, 1}},
      96, 96);
}

Pair early_return() {
  return floats_pair({.name = "early-return-before-arrival",
                      .entry = "DV-03",
                      .title = "threads without work return; an mbarrier waits for their arrivals",
                      .code = "PLD4703",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 met;
.shared .align 128 .f32 tile[64];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  setp.lt.u32 %p2, %t, 48;
  @%p2 bra work;
  mbarrier.arrive.shared::cta.b64 _, [met];  //! good
  ret;  // @2
work:
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.release.cta.shared::cta.b64 _, [met];
until_met:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 0;  // @1
  @!%p1 bra until_met;
  mov.u32 %r3, 47;
  sub.u32 %r3, %r3, %t;
  mad.lo.u32 %r3, %r3, 4, %r1;
  ld.shared.f32 %f1, [%r3];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;)"),
                      .block = {64, 1, 1}},
                     48, 48);
}

Pair early_return_of_warp() {
  return floats_pair({.name = "early-return-before-barrier",
                      .entry = "DV-03",
                      .title = "a warp without work returns; a barrier with a thread count waits for it",
                      .code = "PLD4703",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(".shared .align 128 .f32 tile[64];", R"(  mul.wide.u32 %rd0, %t, 4;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  setp.lt.u32 %p2, %warp, 2;
  @%p2 bra work;
  barrier.sync 1, 96;  //! good
  ret;  // @2
work:
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r2], %f0;
  barrier.sync 1, 96;  // @1
  xor.b32 %r0, %r0, 252;
  add.u32 %r2, %r1, %r0;
  ld.shared.f32 %f1, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;)"),
                      .block = {96, 1, 1}},
                     64, 64);
}

}  // namespace

std::vector<Pair> divergence_pairs() {
  return {registers_in_half_a_warp(),
          aligned_cluster_barrier(),
          shuffle_in_half_a_warp(),
          other_lane_commits(),
          early_return(),
          early_return_of_warp()};
}

}  // namespace palladion::zoo
