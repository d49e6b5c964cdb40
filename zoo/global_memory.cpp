// GM: global memory and flags between CTAs.
#include "zoo/groups.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// Two CTAs; `mid` is written by CTA 0, `flag` tells CTA 1.
PtxPair handoff(std::string name, std::string entry, std::string title, std::string code,
                std::string_view body, std::string_view shared = "", int64_t numbers = 128) {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .text = program({{"in"}, {"out"}, {"mid"}, {"flag"}}, body, shared),
          .grid = {2, 1, 1},
          .buffers = {counting("in", pl::f32, numbers), result("out", pl::f32, numbers),
                      scratch("mid", pl::f32, numbers), scratch("flag", pl::u32, 2)},
          .params = pointers(4)};
}

Pair read_modify_write() {
  return ptx_pair({.name = "gmem-sum-without-atomics",
                   .entry = "GM-01",
                   .title = "two CTAs add to the same numbers with a load, an add and a store",
                   .code = "PLD6001",
                   .text = program({{"in"}, {"sum"}}, R"(
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.u32 %r1, [%rd0];
  mul.wide.u32 %rd1, %t, 4;
  add.u64 %rd1, %sum, %rd1;
  red.relaxed.gpu.global.add.u32 [%rd1], %r1;  //! good
  ld.global.u32 %r2, [%rd1];   // @1   //! broken
  add.u32 %r2, %r2, %r1;               //! broken
  st.global.u32 [%rd1], %r2;   // @2   //! broken)"),
                   .grid = {2, 1, 1},
                   .buffers = {counting("in", pl::u32, 256), zeros("sum", pl::u32, 128)},
                   .params = pointers(2)});
}

Pair halo() {
  return ptx_pair(
      {.name = "gmem-in-place-stencil",
       .entry = "GM-01",
       .title = "a stencil works in place: a CTA reads its neighbour's edge while that one writes it",
       .code = "PLD6001",
       .text = program({{"data"}, {"out"}}, R"(
  mad.lo.u32 %r0, %cta, 128, %t;
  add.u32 %r1, %r0, 1;
  and.b32 %r1, %r1, 255;
  mul.wide.u32 %rd0, %r0, 4;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd2, %data, %rd0;
  add.u64 %rd3, %data, %rd1;
  ld.global.f32 %f0, [%rd2];
  ld.global.f32 %f1, [%rd3];  // @1
  add.f32 %f0, %f0, %f1;
  bar.sync 0;
  add.u64 %rd2, %out, %rd0;   //! good
  st.global.f32 [%rd2], %f0;  // @2)"),
       .grid = {2, 1, 1},
       .buffers = {updated(counting("data", pl::f32, 256)), result("out", pl::f32, 256)},
       .params = pointers(2)});
}

Pair relaxed_flag() {
  return ptx_pair(handoff("gmem-flag-not-released", "GM-02",
                          "the flag is set with a relaxed store: it does not order the data before it",
                          "PLD6002", R"(
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra POLL;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %mid, %rd0;
  st.global.f32 [%rd1], %f0;  // @1
  bar.sync 0;
  @%leader st.release.gpu.global.u32 [%flag], 1;  //! good
  @%leader st.relaxed.gpu.global.u32 [%flag], 1;  //! broken
  bra DONE;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra POLL;
  add.u64 %rd1, %mid, %rd0;
  ld.global.f32 %f1, [%rd1];  // @2
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)"));
}

Pair relaxed_poll() {
  return ptx_pair(handoff("gmem-flag-not-acquired", "GM-02",
                          "the flag is polled with relaxed loads: the data may be read before it", "PLD6002",
                          R"(
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra POLL;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %mid, %rd0;
  st.global.f32 [%rd1], %f0;  // @1
  bar.sync 0;
  @%leader st.release.gpu.global.u32 [%flag], 1;
  bra DONE;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];  //! good
  ld.relaxed.gpu.global.u32 %r0, [%flag];  //! broken
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra POLL;
  add.u64 %rd1, %mid, %rd0;
  ld.global.f32 %f1, [%rd1];  // @2
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)"));
}

Pair one_thread_ordered() {
  return ptx_pair(handoff("gmem-flag-without-thread-barrier", "GM-03",
                          "thread 0 sets the flag without a barrier: only its own data is ordered before it",
                          "PLD6003", R"(
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra POLL;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %mid, %rd0;
  st.global.f32 [%rd1], %f0;  // @1
  bar.sync 0;  //! good
  @%leader red.release.gpu.global.add.u32 [%flag], 1;
  bra DONE;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra POLL;
  add.u64 %rd1, %mid, %rd0;
  ld.global.f32 %f1, [%rd1];  // @2
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)"));
}

Pair narrow_scope() {
  return ptx_pair({.name = "gmem-counter-of-cta-scope",
                   .entry = "GM-04",
                   .title = "two CTAs count with atomics that are atomic within a CTA only",
                   .code = "PLD6004",
                   .text = program({{"in"}, {"count"}}, R"(
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.u32 %r1, [%rd0];
  and.b32 %r1, %r1, 3;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %count, %rd1;
  red.relaxed.gpu.global.add.u32 [%rd1], 1;  //! good
  red.relaxed.cta.global.add.u32 [%rd1], 1;  // @1   //! broken)"),
                   .grid = {2, 1, 1},
                   .buffers = {counting("in", pl::u32, 256), zeros("count", pl::u32, 4)},
                   .params = pointers(2)});
}

Pair async_handoff() {
  return ptx_pair(handoff(
      "gmem-async-handoff-no-proxy-fence", "GM-05",
      "one CTA copies a tile out, the other fetches it after the flag, without fence.proxy.async between",
      "PLD6005", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra FETCH;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%mid], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  st.release.gpu.global.u32 [%flag], 1;
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
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%mid], 512, [full];  // @2
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f1, [%a0];
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)",
      ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n"));
}

// A relaxed word fixes the time of the second signal: after the consumer has looked once.
Pair stale_semaphore() {
  return ptx_pair(handoff("gmem-semaphore-not-reset", "GM-06",
                          "the wait for the second tile is satisfied by the first tile's signal", "PLD6006",
                          R"(
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  add.u64 %rd2, %mid, %rd0;
  add.u64 %rd3, %out, %rd0;
  mov.u32 %r1, 1;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra CONSUME;
PRODUCE:
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.global.f32 [%rd2], %f0;  // @1
  bar.sync 0;
  setp.eq.and.u32 %p2, %r1, 2, %leader;
LOOKED:
  @%p2 ld.relaxed.gpu.global.u32 %r2, [%flag+4];
  setp.eq.and.u32 %p3, %r2, 0, %p2;
  @%p3 bra LOOKED;
  @%leader red.release.gpu.global.add.u32 [%flag], 1;
  add.u64 %rd1, %rd1, 512;
  add.u64 %rd2, %rd2, 512;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p1, %r1, 2;
  @%p1 bra PRODUCE;
  bra DONE;
CONSUME:
  @!%leader bra SIGNALLED;
  setp.eq.u32 %p2, %r1, 2;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];
  @%p2 st.relaxed.gpu.global.u32 [%flag+4], 1;
  setp.lt.u32 %p1, %r0, %r1;  //! good
  setp.lt.u32 %p1, %r0, 1;    //! broken
  @%p1 bra POLL;
SIGNALLED:
  bar.sync 0;
  ld.global.f32 %f1, [%rd2];  // @2
  st.global.f32 [%rd3], %f1;
  add.u64 %rd2, %rd2, 512;
  add.u64 %rd3, %rd3, 512;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p1, %r1, 2;
  @%p1 bra CONSUME;
DONE:)",
                          "", 256));
}

Pair read_only_path() {
  return ptx_pair(handoff("gmem-read-only-load-of-fresh-data", "GM-07",
                          "ld.global.nc reads what another CTA writes during the kernel", "PLD6007", R"(
  mul.wide.u32 %rd0, %t, 4;
  setp.ne.u32 %p0, %cta, 0;
  @%p0 bra POLL;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %mid, %rd0;
  st.global.f32 [%rd1], %f0;  // @1
  bar.sync 0;
  @%leader st.release.gpu.global.u32 [%flag], 1;
  bra DONE;
POLL:
  ld.acquire.gpu.global.u32 %r0, [%flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra POLL;
  add.u64 %rd1, %mid, %rd0;
  ld.global.f32 %f1, [%rd1];             //! good
  ld.global.nc.f32 %f1, [%rd1];  // @2   //! broken
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;
DONE:)"));
}

}  // namespace

std::vector<Pair> global_memory_pairs() {
  return {read_modify_write(), halo(),          relaxed_flag(),    relaxed_poll(),  one_thread_ordered(),
          narrow_scope(),      async_handoff(), stale_semaphore(), read_only_path()};
}

}  // namespace palladion::zoo
