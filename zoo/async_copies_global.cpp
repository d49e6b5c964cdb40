// TM: asynchronous copies of global memory that threads of the same kernel write.
#include "zoo/async_copies.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// CTA 0 writes `mid`, CTA 1 fetches it once the flag says so.
Pair written_by_threads() {
  return ptx_pair({.name = "async-copy-of-fresh-global-data",
                   .entry = "TM-16",
                   .title = "global memory that threads wrote is fetched without fence.proxy.async",
                   .code = "PLD4316",
                   .text = program({{"in"}, {"out"}, {"mid"}, {"flag"}}, R"(
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra FETCH;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %mid, %rd0;
  st.global.f32 [%rd1], %f0;  // @2
  bar.sync 0;
  @%leader st.release.gpu.global.u32 [%flag], 1;
  bra DONE;
FETCH:
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%leader bra WAIT;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra POLL;
  fence.proxy.async;  //! good
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%mid], 512, [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  ld.shared.f32 %f1, [%a0];
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)",
                                   ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n"),
                   .grid = {2, 1, 1},
                   .buffers = {counting("in", pl::f32, 128), result("out", pl::f32, 128),
                               scratch("mid", pl::f32, 128), scratch("flag", pl::u32, 1)},
                   .params = pointers(4)});
}

}  // namespace

std::vector<Pair> async_global_pairs() { return {written_by_threads()}; }

}  // namespace palladion::zoo
