// TM: asynchronous copies into shared memory.
#include "zoo/async_copies.h"

#include <algorithm>
#include <iterator>

#include "zoo/groups.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// 512 bytes fetched by thread 0; every thread takes one number.
Pair load_pair(std::string name, std::string entry, std::string title, std::string code, OnDevice on_device,
               std::string_view shared, std::string_view body) {
  return ptx_pair({.name = std::move(name),
                   .entry = std::move(entry),
                   .title = std::move(title),
                   .code = std::move(code),
                   .on_device = on_device,
                   .text = program({{"in"}, {"out"}}, body, shared),
                   .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128)},
                   .params = pointers(2)});
}

Pair misaligned() {
  return load_pair("async-copy-misaligned", "TM-01",
                   "a bulk copy to a shared address that is no multiple of 16", "PLD3071", OnDevice::faults,
                   ".shared .align 16 .b8 tile[528];\n.shared .align 8 .b64 full;\n", R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, tile;
  add.u32 %a0, %a0, 8;   //! broken
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mad.lo.u32 %a1, %t, 4, %a0;
  ld.shared.f32 %f0, [%a1];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;)");
}

Pair larger_than_buffer() {
  return load_pair("async-copy-larger-than-buffer", "TM-03",
                   "the copy brings 512 bytes into an array of 256: it runs over the array behind it",
                   "PLD4303", OnDevice::ends,
                   ".shared .align 128 .b8 tile[256];  //! broken\n"
                   ".shared .align 128 .b8 tile[512];  //! good\n"
                   ".shared .align 128 .b8 bias[512];\n.shared .align 8 .b64 full;\n",
                   R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mov.u32 %a1, bias;
  mad.lo.u32 %a1, %t, 4, %a1;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1+512];
  st.shared.f32 [%a1], %f0;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 512, [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f1, [%a1];
  mov.f32 %f2, 0f3F800000;
  setp.lt.u32 %p2, %t, 64;
  @%p2 ld.shared.f32 %f2, [%a0];
  add.f32 %f1, %f1, %f2;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;)");
}

Pair read_before_completion() {
  return load_pair("async-copy-read-too-early", "TM-06",
                   "the tile is read before the mbarrier says that the copy is complete", "PLD4306",
                   OnDevice::ends, ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n", R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 512, [full];  // @1
  ld.shared.f32 %f0, [%a0];  // @2   //! broken
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.f32 %f0, [%a0];          //! good
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;)");
}

// A barrier of the CTA stands where the wait should be.
Pair barrier_for_wait() {
  return load_pair("async-copy-awaited-by-bar-sync", "TM-06",
                   "bar.sync stands for the wait: it orders what threads do, not what copies do", "PLD4306",
                   OnDevice::ends, ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n", R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, tile;
  xor.b32 %r0, %t, 127;
  mad.lo.u32 %a0, %r0, 4, %a0;
  @!%leader bra FETCHED;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 512, [full];  // @1
WAIT:                                                      //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  //! good
  @!%p1 bra WAIT;                                          //! good
FETCHED:
  bar.sync 0;
  ld.shared.f32 %f0, [%a0];  // @2
LAST:                                                      //! broken
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  //! broken
  @!%p1 bra LAST;                                          //! broken
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;)");
}

// Warp 4 fetches two tiles into one buffer, warps 0 to 3 read them.
PtxPair ring(std::string name, std::string entry, std::string title, std::string code,
             std::string_view body) {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .text = program({{"in"}, {"out"}}, body,
                          ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full[2];\n"
                          ".shared .align 8 .b64 empty;\n"),
          .block = {160, 1, 1},
          .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128)},
          .params = pointers(2)};
}

Pair overwritten_while_read() {
  return ptx_pair(ring("async-copy-stage-reused", "TM-07",
                       "the producer fetches the next tile into a buffer that consumers still read",
                       "PLD4307", R"(
  mov.u32 %a0, tile;
  setp.eq.u32 %p0, %t, 128;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  @%leader mbarrier.init.shared::cta.b64 [full+8], 1;
  @%leader mbarrier.init.shared::cta.b64 [empty], 128;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p2, %t, 128;
  @!%p2 bra CONSUME;
  @!%p0 bra DONE;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];
EMPTY:                                                      //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], 0;  //! good
  @!%p1 bra EMPTY;                                          //! good
  add.u64 %rd1, %in, 512;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%rd1], 512, [full+8];  // @1
LATE:                                                       //! broken
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], 0;  //! broken
  @!%p1 bra LATE;                                           //! broken
  bra DONE;
CONSUME:
  mad.lo.u32 %a0, %t, 4, %a0;
FIRST:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra FIRST;
  ld.shared.f32 %f0, [%a0];  // @2
  fence.proxy.async.shared::cta;
  mbarrier.arrive.shared::cta.b64 _, [empty];
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;
  @!%p1 bra SECOND;
  ld.shared.f32 %f1, [%a0];
  fma.rn.f32 %f0, %f0, 0f42C80000, %f1;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;
DONE:)"));
}

Pair overwritten_without_proxy_fence() {
  return ptx_pair(ring("async-copy-no-proxy-fence-after-reads", "TM-08",
                       "consumers free the buffer without fence.proxy.async: their reads are not ordered "
                       "before the copy's writes",
                       "PLD4308", R"(
  mov.u32 %a0, tile;
  setp.eq.u32 %p0, %t, 128;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  @%leader mbarrier.init.shared::cta.b64 [full+8], 1;
  @%leader mbarrier.init.shared::cta.b64 [empty], 128;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p2, %t, 128;
  @!%p2 bra CONSUME;
  @!%p0 bra DONE;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 512, [full];
EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], 0;
  @!%p1 bra EMPTY;
  add.u64 %rd1, %in, 512;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%rd1], 512, [full+8];  // @1
  bra DONE;
CONSUME:
  mad.lo.u32 %a0, %t, 4, %a0;
FIRST:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra FIRST;
  ld.shared.f32 %f0, [%a0];  // @2
  fence.proxy.async.shared::cta;  //! good
  mbarrier.arrive.shared::cta.b64 _, [empty];
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;
  @!%p1 bra SECOND;
  ld.shared.f32 %f1, [%a0];
  fma.rn.f32 %f0, %f0, 0f42C80000, %f1;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;
DONE:)"));
}

Pair own_copies_only() {
  return load_pair("async-copy-cp-async-of-a-neighbour", "TM-22",
                   "cp.async.wait_group shows a thread its own copies; it reads its neighbour's", "PLD4322",
                   OnDevice::ends, ".shared .align 16 .b8 tile[512];\n", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  cp.async.ca.shared.global [%a1], [%rd1], 4;  // @1
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;  //! good
  xor.b32 %r0, %t, 1;
  mad.lo.u32 %a1, %r0, 4, %a0;
  ld.shared.f32 %f0, [%a1];  // @2
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)");
}

}  // namespace

std::vector<Pair> async_load_pairs() {
  return {misaligned(),       larger_than_buffer(),     read_before_completion(),
          barrier_for_wait(), overwritten_while_read(), overwritten_without_proxy_fence(),
          own_copies_only()};
}

std::vector<Pair> async_copy_pairs() {
  std::vector<Pair> all;
  for (const auto part :
       {async_load_pairs, async_store_pairs, async_global_pairs, tensor_map_pairs, multicast_pairs})
    std::ranges::move(part(), std::back_inserter(all));
  return all;
}

}  // namespace palladion::zoo
