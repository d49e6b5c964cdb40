// TM: asynchronous copies out of shared memory and what their groups say.
#include "zoo/async_copies.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// 128 threads write numbers to shared memory, thread 0 copies them out.
Pair store_pair(std::string name, std::string entry, std::string title, std::string code,
                std::string_view body, std::string_view shared = ".shared .align 128 .b8 tile[512];\n",
                int64_t numbers = 128) {
  return ptx_pair({.name = std::move(name),
                   .entry = std::move(entry),
                   .title = std::move(title),
                   .code = std::move(code),
                   .text = program({{"in"}, {"out"}}, body, shared),
                   .buffers = {counting("in", pl::f32, numbers), result("out", pl::f32, numbers)},
                   .params = pointers(2)});
}

Pair no_proxy_fence() {
  return store_pair("async-store-no-proxy-fence", "TM-09",
                    "threads write the tile, then it is copied out without fence.proxy.async", "PLD4309", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.shared.f32 [%a0], %f0;  // @2
  fence.proxy.async.shared::cta;  //! good
  bar.sync 0;
  @!%leader bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)");
}

Pair no_thread_barrier() {
  return store_pair("async-store-no-thread-barrier", "TM-10",
                    "every thread fences its own writes, but the thread that copies does not wait for them",
                    "PLD4310", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.shared.f32 [%a0], %f0;  // @2
  fence.proxy.async.shared::cta;
  bar.sync 0;  //! good
  @!%leader bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)");
}

Pair not_committed() {
  return store_pair("async-store-not-committed", "TM-11",
                    "wait_group without a commit_group before it waits for nothing", "PLD4311", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra REUSE;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  cp.async.bulk.commit_group;  //! good
  cp.async.bulk.wait_group.read 0;
REUSE:
  bar.sync 0;
  ld.global.f32 %f1, [%rd0+512];
  st.shared.f32 [%a0], %f1;  // @2
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  add.u64 %rd1, %out, 512;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)",
                    ".shared .align 128 .b8 tile[512];\n", 256);
}

Pair awaited_by_another() {
  return store_pair("async-store-awaited-by-another-thread", "TM-11",
                    "thread 1 waits for the groups of thread 0: it has none, and goes on at once", "PLD4311",
                    R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%leader cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  @%leader cp.async.bulk.commit_group;
  setp.eq.u32 %p0, %t, 0;  //! good
  setp.eq.u32 %p0, %t, 1;  //! broken
  @%p0 cp.async.bulk.wait_group.read 0;
  bar.sync 0;
  ld.global.f32 %f1, [%rd0+512];
  st.shared.f32 [%a0], %f1;  // @2
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  add.u64 %rd1, %out, 512;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)",
                    ".shared .align 128 .b8 tile[512];\n", 256);
}

Pair one_group_too_many() {
  return store_pair("async-store-wait-group-off-by-one", "TM-12",
                    "one buffer, but wait_group.read 1: the newest copy may still read it", "PLD4312", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  mov.u64 %rd1, %out;
  mov.u32 %r0, 0;
NEXT:
  ld.global.f32 %f0, [%rd0];
  add.f32 %f0, %f0, 0f3F800000;
  st.shared.f32 [%a0], %f0;  // @2
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra COPIED;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;  //! good
  cp.async.bulk.wait_group.read 1;  //! broken
COPIED:
  bar.sync 0;
  add.u64 %rd0, %rd0, 512;
  add.u64 %rd1, %rd1, 512;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 3;
  @%p0 bra NEXT;
  cp.async.bulk.wait_group 0;)",
                    ".shared .align 128 .b8 tile[512];\n", 384);
}

Pair read_milestone() {
  return store_pair("async-store-read-wait-taken-for-completion", "TM-13",
                    "wait_group.read says that shared memory was read, not that global memory is written",
                    "PLD4313", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra COPIED;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;       //! good
  cp.async.bulk.wait_group.read 0;  //! broken
COPIED:
  bar.sync 0;
  xor.b32 %r0, %t, 127;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %out, %rd2;
  ld.global.f32 %f1, [%rd2];  // @2
  add.f32 %f1, %f1, %f0;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1+512], %f1;
  cp.async.bulk.wait_group 0;)",
                    ".shared .align 128 .b8 tile[512];\n", 256);
}

Pair exit_while_read() {
  return store_pair("async-store-exit-before-read", "TM-14",
                    "the CTA ends while a copy still reads its shared memory", "PLD4314", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%leader cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @1
  @%leader cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;  //! good)");
}

Pair overlapping_stores() {
  return ptx_pair({.name = "async-store-overlapping-tiles",
                   .entry = "TM-15",
                   .title = "the tiles that two CTAs copy out overlap by half",
                   .code = "PLD4315",
                   .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  add.f32 %f0, %f0, 0f3F800000;
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  mul.wide.u32 %rd1, %cta, 512;  //! good
  mul.wide.u32 %rd1, %cta, 256;  //! broken
  add.u64 %rd1, %out, %rd1;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)",
                                   ".shared .align 128 .b8 tile[512];\n"),
                   .grid = {2, 1, 1},
                   .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 256)},
                   .params = pointers(2)});
}

Pair store_against_reduction() {
  return ptx_pair({.name = "async-store-against-reduction",
                   .entry = "TM-15",
                   .title = "one CTA stores a tile that the other adds to",
                   .code = "PLD4315",
                   .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.u32 %r1, [%rd0];
  st.shared.u32 [%a0], %r1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  setp.eq.u32 %p0, %cta, 0;
  @%p0 bra FIRST;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%out], [tile], 512;  // @1
  bra ISSUED;
FIRST:
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%out], [tile], 512;  //! good
  cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;  // @2   //! broken
ISSUED:
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)",
                                   ".shared .align 128 .b8 tile[512];\n"),
                   .grid = {2, 1, 1},
                   .buffers = {counting("in", pl::s32, 256), zeros("out", pl::s32, 128)},
                   .params = pointers(2)});
}

}  // namespace

std::vector<Pair> async_store_pairs() {
  return {no_proxy_fence(),     no_thread_barrier(),  not_committed(),
          awaited_by_another(), one_group_too_many(), read_milestone(),
          exit_while_read(),    overlapping_stores(), store_against_reduction()};
}

}  // namespace palladion::zoo
