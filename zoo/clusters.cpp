// Clusters: the barrier of a cluster, shared memory of peers, multicast.
#include "zoo/groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

// Two CTAs of 32 threads. %rank is the CTA's rank, %r1 the thread's own slot, %r2 the peer's; %f0 is the
// float that the thread has read, %rd1 where it writes.
constexpr const char* peers_begin = R"(  .reg .b32 %rank, %peer;
  mov.u32 %rank, %cluster_ctarank;
  xor.b32 %peer, %rank, 1;
  mad.lo.u32 %r0, %rank, 32, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  add.u64 %rd1, %dst, %rd0;
  mov.u32 %r1, slot;
  mad.lo.u32 %r1, %t, 4, %r1;
  mapa.shared::cluster.u32 %r2, %r1, %peer;
)";

Pair peers(PtxPair pair, std::string_view body) {
  pair.text = entry_text(".shared .align 128 .f32 slot[32];\n.shared .align 8 .b64 told;",
                         peers_begin + std::string(body));
  pair.grid = pair.cluster = {2, 1, 1};
  pair.block = {32, 1, 1};
  return floats_pair(std::move(pair), 64, 64);
}

Pair store_before_start() {
  return peers({.name = "cluster-peer-not-started",
                .entry = "CL-01",
                .title = "a CTA writes to its peer's shared memory before the peer is known to run",
                .code = "PLD4801",
                .on_device = OnDevice::faults},
               R"(  barrier.cluster.arrive.release.aligned;  //! good
  barrier.cluster.wait.acquire.aligned;  //! good
  st.shared::cluster.f32 [%r2], %f0;  // @1
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ld.shared.f32 %f1, [%r1];
  st.global.f32 [%rd1], %f1;)");
}

Pair read_after_exit() {
  return peers({.name = "cluster-peer-has-left",
                .entry = "CL-02",
                .title = "a CTA reads its peer's shared memory when the peer may have ended",
                .code = "PLD4802",
                .on_device = OnDevice::faults},
               R"(  st.shared.f32 [%r1], %f0;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  setp.eq.u32 %p0, %rank, 0;
  @%p0 bra reader;
  st.global.f32 [%rd1], %f0;
  barrier.cluster.arrive.release;  //! good
  barrier.cluster.wait.acquire;  //! good
  ret;  // @2
reader:
  ld.shared::cluster.f32 %f1, [%r2];  // @1
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive.release;  //! good
  barrier.cluster.wait.acquire;  //! good)");
}

// CTA 0 loads two tiles for both; CTA 1 needs the first only.
constexpr const char* two_multicasts = R"(  .reg .b32 %rank;
  .reg .b16 %both;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %p0, %t, 0;
  @!%p0 bra meet;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 128;
meet:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  setp.eq.and.u32 %p2, %rank, 0, %p0;
  mov.u16 %both, 3;
  add.u64 %rd2, %src, 128;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tiles], [%src], 128, [full], %both;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tiles+128], [%rd2], 128, [full+8], %both;  // @1
  mov.u32 %r0, tiles;
  mad.lo.u32 %r0, %t, 4, %r0;
  mad.lo.u32 %r1, %rank, 32, %t;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd1, %dst, %rd0;
until_first:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_first;
  ld.shared.f32 %f0, [%r0];
  setp.eq.u32 %p2, %rank, 0;
  @%p2 bra until_second;
  st.global.f32 [%rd1], %f0;
until_unused:  //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;  //! good
  @!%p1 bra until_unused;  //! good
  barrier.cluster.arrive;  //! good
  barrier.cluster.wait;  //! good
  ret;  // @2
until_second:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full+8], 0;
  @!%p1 bra until_second;
  ld.shared.f32 %f1, [%r0+128];
  add.f32 %f0, %f0, %f1;
  st.global.f32 [%rd1], %f0;
  barrier.cluster.arrive;  //! good
  barrier.cluster.wait;  //! good)";

Pair multicast_to_exited() {
  return floats_pair({.name = "cluster-multicast-to-left-peer",
                      .entry = "CL-02",
                      .title = "a CTA ends while a multicast of its peer still writes to its shared memory",
                      .code = "PLD4802",
                      .on_device = OnDevice::faults,
                      .text = entry_text(R"(.shared .align 8 .b64 full[2];
.shared .align 128 .f32 tiles[64];)",
                                         two_multicasts),
                      .grid = {2, 1, 1},
                      .block = {32, 1, 1},
                      .cluster = {2, 1, 1}},
                     64, 64);
}

// Warp 0 writes to the peer and tells warp 1.
Pair barrier_in_one_role() {
  return floats_pair({.name = "cluster-barrier-in-one-role",
                      .entry = "CL-03",
                      .title = "one role executes the cluster barrier, the other waits for that role",
                      .code = "PLD4803",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 128 .f32 slot[32];
.shared .align 8 .b64 ready;)",
                                         R"(  .reg .b32 %rank, %peer;
  mov.u32 %rank, %cluster_ctarank;
  xor.b32 %peer, %rank, 1;
  setp.eq.u32 %p0, %t, 0;
  @%p0 mbarrier.init.shared::cta.b64 [ready], 32;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mad.lo.u32 %r0, %rank, 32, %lane;
  mul.wide.u32 %rd0, %r0, 4;
  mov.u32 %r1, slot;
  mad.lo.u32 %r1, %lane, 4, %r1;
  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra writer;
  barrier.cluster.arrive;  //! good
  barrier.cluster.wait;  //! good
until_ready:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [ready], 0;  // @2
  @!%p1 bra until_ready;
  ld.shared.f32 %f0, [%r1];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
  bra done;
writer:
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  mapa.shared::cluster.u32 %r2, %r1, %peer;
  st.shared::cluster.f32 [%r2], %f0;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;  // @1
  mbarrier.arrive.shared::cta.b64 _, [ready];
done:)"),
                      .grid = {2, 1, 1},
                      .block = {64, 1, 1},
                      .cluster = {2, 1, 1}},
                     64, 64);
}

Pair arrives_twice() {
  return peers({.name = "cluster-barrier-arrives-twice",
                .entry = "CL-04",
                .title = "threads arrive at the cluster barrier twice before they wait",
                .code = "PLD4804",
                .on_device = OnDevice::hangs},
               R"(  st.shared.f32 [%r1], %f0;
  barrier.cluster.arrive.release.aligned;  // @2
  add.f32 %f0, %f0, %f0;
  barrier.cluster.arrive.aligned;  // @1  //! broken
  barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.f32 %f1, [%r2];
  add.f32 %f1, %f1, %f0;
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)");
}

Pair waits_without_arrival() {
  return peers({.name = "cluster-barrier-wait-without-arrival",
                .entry = "CL-04",
                .title = "a CTA waits at the cluster barrier without having arrived",
                .code = "PLD4804",
                .on_device = OnDevice::hangs},
               R"(  st.shared.f32 [%r1], %f0;
  setp.eq.u32 %p0, %rank, 1;
  @%p0 bra second;
  barrier.cluster.arrive.release.aligned;
  bra wait;
second:
  barrier.cluster.arrive.release;  //! good
wait:
  barrier.cluster.wait.acquire.aligned;  // @1
  ld.shared::cluster.f32 %f1, [%r2];
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive;
  barrier.cluster.wait;)");
}

Pair relaxed_arrive() {
  return peers({.name = "cluster-barrier-relaxed-arrive",
                .entry = "CL-05",
                .title = "data are published by a cluster barrier whose arrival releases nothing",
                .code = "PLD4805"},
               R"(  st.shared.f32 [%r1], %f0;  // @2
  barrier.cluster.arrive.release.aligned;  //! good
  barrier.cluster.arrive.relaxed.aligned;  //! broken
  barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.f32 %f1, [%r2];  // @1
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive;
  barrier.cluster.wait;)");
}

Pair store_after_arrival() {
  return peers({.name = "cluster-barrier-store-after-arrival",
                .entry = "CL-05",
                .title = "data are written between the arrival at the cluster barrier and the wait",
                .code = "PLD4805"},
               R"(  st.shared.f32 [%r1], %f0;  //! good
  barrier.cluster.arrive.release.aligned;
  st.shared.f32 [%r1], %f0;  // @2  //! broken
  barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.f32 %f1, [%r2];  // @1
  st.global.f32 [%rd1], %f1;
  barrier.cluster.arrive;
  barrier.cluster.wait;)");
}

constexpr const char* one_multicast = R"(  .reg .b32 %rank;
  .reg .b16 %both;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %p0, %t, 0;
  @!%p0 bra meet;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
meet:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  setp.eq.and.u32 %p2, %rank, 0, %p0;
  mov.u16 %both, 3;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%src], 128, [full], %both;  // @2
until_full:  //! good
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0;  //! good
  @!%p1 bra until_full;  //! good
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];  // @1
  mad.lo.u32 %r1, %rank, 32, %t;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
until_end:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_end;
  barrier.cluster.arrive;
  barrier.cluster.wait;)";

Pair does_not_cover_copies() {
  return floats_pair({.name = "cluster-barrier-does-not-cover-copies",
                      .entry = "CL-06",
                      .title = "a cluster barrier is taken for the end of a multicast",
                      .code = "PLD4806",
                      .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[32];)",
                                         one_multicast),
                      .grid = {2, 1, 1},
                      .block = {32, 1, 1},
                      .cluster = {2, 1, 1}},
                     32, 64);
}

Pair wrong_rank() {
  return peers({.name = "cluster-wrong-rank",
                .entry = "CL-07",
                .title = "a CTA arrives at its own mbarrier when it means its peer's",
                .code = "PLD4807",
                .on_device = OnDevice::hangs},
               R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra meet;
  mbarrier.init.shared::cta.b64 [told], 32;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %r3, told;
  mapa.shared::cluster.u32 %r4, %r3, %peer;  //! good
  mapa.shared::cluster.u32 %r4, %r3, %rank;  //! broken
  setp.eq.u32 %p0, %rank, 0;
  @%p0 bra sender;
until_told:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [told], 0;  // @1
  @!%p1 bra until_told;
  ld.shared.f32 %f0, [%r1];
  st.global.f32 [%rd1], %f0;
  bra done;
sender:
  st.shared::cluster.f32 [%r2], %f0;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];  // @2
  st.global.f32 [%rd1], %f0;
done:
  barrier.cluster.arrive;
  barrier.cluster.wait;)");
}

// Two clusters; every CTA loads a tile for itself through a multicast with one bit.
Pair mask_of_grid_index() {
  return floats_pair(
      {.name = "cluster-mask-of-grid-index",
       .entry = "CL-07",
       .title = "the mask of a multicast is made from the CTA's index in the grid, not in the cluster",
       .code = "PLD3073",
       .on_device = OnDevice::faults,
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[32];)",
                          R"(  .reg .b32 %cta, %rank;
  .reg .b16 %mask;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %rank, %cluster_ctarank;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra meet;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mad.lo.u32 %r0, %cta, 32, %t;
  mul.wide.u32 %rd0, %r0, 4;
  mul.wide.u32 %rd1, %cta, 128;
  add.u64 %rd1, %src, %rd1;
  mov.u32 %r1, 1;
  shl.b32 %r1, %r1, %rank;  //! good
  shl.b32 %r1, %r1, %cta;  //! broken
  cvt.u16.u32 %mask, %r1;
  @%p0 bra until_full;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd1], 128, [full], %mask;  // @1
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r2, tile;
  mad.lo.u32 %r2, %t, 4, %r2;
  ld.shared.f32 %f0, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)"),
       .grid = {4, 1, 1},
       .block = {32, 1, 1},
       .cluster = {2, 1, 1}},
      128, 128);
}

}  // namespace

std::vector<Pair> cluster_pairs() {
  return {store_before_start(),  read_after_exit(),     multicast_to_exited(),
          barrier_in_one_role(), arrives_twice(),       waits_without_arrival(),
          relaxed_arrive(),      store_after_arrival(), does_not_cover_copies(),
          wrong_rank(),          mask_of_grid_index()};
}

}  // namespace palladion::zoo
