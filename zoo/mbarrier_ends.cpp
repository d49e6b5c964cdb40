// mbarriers, and whole CTAs, that end before what is on its way to them.
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

constexpr const char* prefetch_shared = R"(.shared .align 8 .b64 full[2];
.shared .align 128 .f32 tiles[128];)";

Pair leftover_at_scope_end() {
  return floats_pair(
      {.name = "mbarrier-leftover-at-scope-end",
       .entry = "MB-17",
       .title = "the mbarrier of a prefetched tile is invalidated before anybody waited for it",
       .code = "PLD4117",
       .on_device = OnDevice::faults,
       .text = entry_text(prefetch_shared, R"(  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r0, tiles;
  mad.lo.u32 %r0, %t, 4, %r0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %dst, %rd0;
  add.u64 %rd2, %src, 256;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tiles], [%src], 256, [full];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tiles+256], [%rd2], 256, [full+8];  // @2
ready:
  bar.sync 0;
until_first:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_first;
  ld.shared.f32 %f0, [%r0];
  st.global.f32 [%rd1], %f0;
until_second:  //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;  //! good
  @!%p1 bra until_second;  //! good
  bar.sync 0;
  @%p0 bra gone;
  mbarrier.inval.shared::cta.b64 [full];
  mbarrier.inval.shared::cta.b64 [full+8];  // @1
gone:
  bar.sync 0;
  st.shared.f32 [%r0+256], %f0;
  bar.sync 0;
  xor.b32 %r1, %t, 63;
  mov.u32 %r2, tiles;
  mad.lo.u32 %r2, %r1, 4, %r2;
  ld.shared.f32 %f1, [%r2+256];
  st.global.f32 [%rd1+256], %f1;)"),
       .block = {64, 1, 1}},
      128, 128);
}

Pair in_flight_at_exit() {
  return floats_pair({.name = "mbarrier-in-flight-at-exit",
                      .entry = "MB-18",
                      .title = "a CTA ends while a copy into its shared memory is still on its way",
                      .code = "PLD4118",
                      .on_device = OnDevice::faults,
                      .text = entry_text(prefetch_shared, R"(  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r0, tiles;
  mad.lo.u32 %r0, %t, 4, %r0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %dst, %rd0;
  add.u64 %rd2, %src, 256;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tiles], [%src], 256, [full];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tiles+256], [%rd2], 256, [full+8];  // @1
ready:
  bar.sync 0;
until_first:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_first;
  ld.shared.f32 %f0, [%r0];
  st.global.f32 [%rd1], %f0;
until_second:  //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;  //! good
  @!%p1 bra until_second;  //! good)"),
                      .block = {64, 1, 1}},
                     128, 64);
}

Pair arrival_at_exited_cta() {
  return floats_pair({.name = "mbarrier-of-exited-cta",
                      .entry = "MB-22",
                      .title = "a CTA arrives at the mbarrier of a peer that may have ended",
                      .code = "PLD4122",
                      .on_device = OnDevice::faults,
                      .text = entry_text(R"(.shared .align 8 .b64 told;)",
                                         R"(  mov.u32 %r0, %cluster_ctarank;
  setp.ne.u32 %p0, %r0, 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra meet;
  mbarrier.init.shared::cta.b64 [told], 32;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mad.lo.u32 %r1, %r0, 32, %t;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  ld.global.f32 %f0, [%rd1];
  @%p0 bra peer;
  st.global.f32 [%rd2], %f0;
  mov.u32 %r2, told;
  mov.u32 %r3, 1;
  mapa.shared::cluster.u32 %r4, %r2, %r3;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];  // @1
  barrier.cluster.arrive.release.aligned;  //! good
  barrier.cluster.wait.acquire.aligned;  //! good
  bra done;
peer:
  neg.f32 %f0, %f0;
  st.global.f32 [%rd2], %f0;
  barrier.cluster.arrive.release.aligned;  //! good
  barrier.cluster.wait.acquire.aligned;  //! good
  ret;  // @2
done:)"),
                      .grid = {2, 1, 1},
                      .block = {32, 1, 1},
                      .cluster = {2, 1, 1}},
                     64, 64);
}

}  // namespace

std::vector<Pair> mbarrier_end_pairs() {
  return {leftover_at_scope_end(), in_flight_at_exit(), arrival_at_exited_cta()};
}

}  // namespace palladion::zoo
