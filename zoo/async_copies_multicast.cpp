// TM: copies to other CTAs of the cluster.
#include "zoo/async_copies.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// CTA 0 fetches two tiles, one after the other, into the same buffer of both CTAs.
Pair peer_still_reads() {
  return ptx_pair(
      {.name = "multicast-while-peer-reads",
       .entry = "TM-17",
       .title = "the buffer is refilled when the own CTA is done with it; the other one still reads",
       .code = "PLD4317",
       .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mov.u16 %h0, 3;
  setp.eq.u32 %p0, %rank, 0;
  and.pred %p0, %p0, %leader;
  @!%leader bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [empty], 2;  //! good
  mbarrier.init.shared::cta.b64 [empty], 1;  //! broken
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 512;
READY:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a0], [%in], 512, [full], %h0;
  mad.lo.u32 %a1, %t, 4, %a0;
FIRST:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra FIRST;
  ld.shared.f32 %f0, [%a1];  // @2
  fence.proxy.async;
  bar.sync 0;
  mov.u32 %a2, empty;
  mapa.shared::cluster.u32 %a2, %a2, 0;
  mov.pred %p2, %leader;  //! good
  mov.pred %p2, %p0;      //! broken
  @%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a2];
  @!%p0 bra SECOND;
EMPTY:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [empty], 0;
  @!%p1 bra EMPTY;
  add.u64 %rd1, %in, 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a0], [%rd1], 512, [full+8], %h0;  // @1
SECOND:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full+8], 0;
  @!%p1 bra SECOND;
  ld.shared.f32 %f1, [%a1];
  fma.rn.f32 %f0, %f0, 0f42C80000, %f1;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)",
                       ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full[2];\n"
                       ".shared .align 8 .b64 empty;\n"),
       .grid = {2, 1, 1},
       .cluster = {2, 1, 1},
       .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 256)},
       .params = pointers(2)});
}

Pair mask_beyond_cluster() {
  return ptx_pair({.name = "multicast-mask-beyond-cluster",
                   .entry = "TM-18",
                   .title = "the multicast's mask names CTAs 0 and 2 of a cluster of two",
                   .code = "PLD3073",
                   .on_device = OnDevice::faults,
                   .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mov.u16 %h0, 3;  //! good
  mov.u16 %h0, 5;  //! broken
  setp.eq.u32 %p0, %rank, 0;
  and.pred %p0, %p0, %leader;
  @!%leader bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
READY:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a0], [%in], 512, [full], %h0;  // @1
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mad.lo.u32 %a1, %t, 4, %a0;
  ld.shared.f32 %f0, [%a1];
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)",
                                   ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n"),
                   .grid = {2, 1, 1},
                   .cluster = {2, 1, 1},
                   .buffers = {counting("in", pl::f32, 128), result("out", pl::f32, 256)},
                   .params = pointers(2)});
}

Pair copy_to_own_cta() {
  return ptx_pair({.name = "shared-copy-to-own-cta",
                   .entry = "TM-23",
                   .title = "a copy from shared memory to shared memory whose destination is the CTA itself",
                   .code = "PLD4323",
                   .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a1], %f0;
  fence.proxy.async.shared::cta;
  @!%leader bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
READY:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r1, %rank;         //! broken
  xor.b32 %r1, %rank, 1;      //! good
  mov.u32 %a2, inbox;
  mapa.shared::cluster.u32 %a2, %a2, %r1;
  mov.u32 %a3, full;
  mapa.shared::cluster.u32 %a3, %a3, %r1;
  @%leader cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%a2], [%a0], 512, [%a3];  // @1
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mov.u32 %a4, inbox;
  mad.lo.u32 %a4, %t, 4, %a4;
  ld.shared.f32 %f1, [%a4];
  fma.rn.f32 %f0, %f0, 0f42C80000, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)",
                                   ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 inbox[512];\n"
                                   ".shared .align 8 .b64 full;\n"),
                   .grid = {2, 1, 1},
                   .cluster = {2, 1, 1},
                   .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 256)},
                   .params = pointers(2)});
}

}  // namespace

std::vector<Pair> multicast_pairs() { return {peer_still_reads(), mask_beyond_cluster(), copy_to_own_cta()}; }

}  // namespace palladion::zoo
