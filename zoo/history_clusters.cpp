// Bugs between the CTAs of a cluster that shipped.
#include "zoo/history.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

PtxPair two_ctas(std::string name, std::string entry, std::string title, std::string code, OnDevice on_device,
                 std::string_view body) {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .on_device = on_device,
          .text = program({{"in"}, {"out"}}, body,
                          ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full[2];\n"
                          ".shared .align 8 .b64 empty;\n"),
          .grid = {2, 1, 1},
          .cluster = {2, 1, 1},
          .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 256)},
          .params = pointers(2)};
}

// NVIDIA/cutlass #3643: CTA 1 tells CTA 0 that its tile is written.
Pair narrow_arrival() {
  return ptx_pair(two_ctas("cutlass-peer-arrival-of-cta-scope", "MB-20",
                           "the arrival at the other CTA's mbarrier releases at CTA scope only", "PLD4120",
                           OnDevice::ends, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  @%leader mbarrier.init.shared::cta.b64 [full], 128;
  @%leader fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  mov.f32 %f1, 0f00000000;
  setp.eq.u32 %p0, %rank, 0;
  @%p0 bra WAIT;
  st.shared.f32 [%a1], %f0;  // @1
  mov.u32 %a2, full;
  mapa.shared::cluster.u32 %a2, %a2, 0;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a2];  //! good
  mbarrier.arrive.release.cta.shared::cluster.b64 _, [%a2];      //! broken
  bra STORE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mapa.shared::cluster.u32 %a3, %a1, 1;
  ld.shared::cluster.f32 %f1, [%a3];  // @2
STORE:
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)"));
}

// facebookexperimental/triton #1105, triton-lang/triton #11731.
Pair peer_exits() {
  return ptx_pair(two_ctas("triton-peer-exits-before-multicast", "CL-02",
                           "a CTA leaves while a multicast to it is on its way", "PLD4802", OnDevice::faults,
                           R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mov.u16 %h0, 3;
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
  mov.f32 %f0, 0f00000000;
  setp.eq.u32 %p2, %rank, 1;  //! broken
  @%p2 bra STORE;             //! broken
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a1];
STORE:
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;
  barrier.cluster.arrive.release;  //! good
  barrier.cluster.wait.acquire;    //! good)"));
}

// apache/tvm #20074: the consumer in CTA 1 frees a buffer that CTA 0 fills.
Pair local_arrival() {
  return ptx_pair(two_ctas("tvm-buffer-freed-at-own-barrier", "MB-21",
                           "a consumer arrives at its own CTA's mbarrier, the producer waits at its own",
                           "PLD4121", OnDevice::hangs, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mov.u16 %h0, 3;
  setp.eq.u32 %p0, %rank, 0;
  and.pred %p0, %p0, %leader;
  @!%leader bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [empty], 2;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 512;
READY:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a0], [%in], 512, [full], %h0;
FIRST:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra FIRST;
  ld.shared.f32 %f0, [%a1];
  fence.proxy.async;
  bar.sync 0;
  mov.u32 %a2, empty;
  mapa.shared::cluster.u32 %a2, %a2, 0;      //! good
  mapa.shared::cluster.u32 %a2, %a2, %rank;  //! broken
  @%leader mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a2];
  @!%p0 bra SECOND;
EMPTY:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [empty], 0;  // @1
  @!%p1 bra EMPTY;
  add.u64 %rd1, %in, 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a0], [%rd1], 512, [full+8], %h0;
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
  barrier.cluster.wait.acquire;)"));
}

}  // namespace

std::vector<Pair> history_of_clusters() { return {narrow_arrival(), peer_exits(), local_arrival()}; }

}  // namespace palladion::zoo
