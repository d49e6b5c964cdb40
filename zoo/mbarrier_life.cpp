// mbarriers that are used before their life begins, or that are not let live.
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

// The flag has no order: it only makes the second warp come later, in every schedule.
Pair init_unpublished() {
  return floats_pair(
      {.name = "mbarrier-init-unpublished",
       .entry = "MB-06",
       .title = "a warp waits at an mbarrier that another initialised, with no barrier between",
       .code = "PLD4106",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 4 .u32 flag;
.shared .align 128 .f32 tile[64];)",
                          R"(  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r0, 0;
  @!%p0 st.shared.u32 [flag], %r0;
  bar.sync 0;
  setp.ne.u32 %p2, %warp, 0;
  @%p2 bra second;
  @%p0 bra first;
  mbarrier.init.shared::cta.b64 [full], 1;  // @2
  fence.mbarrier_init.release.cluster;
  mov.u32 %r0, 1;
  st.relaxed.cta.shared.u32 [flag], %r0;
first:
  barrier.sync 0;  //! good
  @%p0 bra until_full;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [full];
  bra until_full;
second:
  ld.relaxed.cta.shared.u32 %r0, [flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra second;
  barrier.sync 0;  //! good
until_there:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // @1
  @!%p1 bra until_there;
  bra read;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
read:
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)"),
       .block = {64, 1, 1}},
      64, 64);
}

Pair init_unpublished_to_cluster() {
  return floats_pair(
      {.name = "mbarrier-init-unpublished-to-cluster",
       .entry = "MB-07",
       .title = "a CTA arrives at its peer's mbarrier; nothing published the init to the cluster",
       .code = "PLD4107",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 ready;
.shared .align 128 .f32 slot[32];)",
                          R"(  mov.u32 %r0, %cluster_ctarank;
  setp.ne.u32 %p0, %r0, 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra meet;
  mbarrier.init.shared::cta.b64 [ready], 32;  // @2
  fence.mbarrier_init.release.cluster;  //! good
meet:
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;
  mul.wide.u32 %rd0, %t, 4;
  mov.u32 %r1, slot;
  mad.lo.u32 %r1, %t, 4, %r1;
  @%p0 bra send;
until_ready:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [ready], 0;
  @!%p2 bra until_ready;
  ld.shared.f32 %f0, [%r1];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
  bra done;
send:
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  mov.u32 %r2, 0;
  mapa.shared::cluster.u32 %r3, %r1, %r2;
  st.shared::cluster.f32 [%r3], %f0;
  mov.u32 %r4, ready;
  mapa.shared::cluster.u32 %r5, %r4, %r2;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];  // @1
done:)"),
       .grid = {2, 1, 1},
       .block = {32, 1, 1},
       .cluster = {2, 1, 1}},
      32, 32);
}

// Two warps meet at an mbarrier twice.
constexpr const char* meet_twice = R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  xor.b32 %r0, %r0, 128;
  add.u32 %r3, %r1, %r0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.shared::cta.b64 _, [met];
until_written:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 0;
  @!%p1 bra until_written;
  ld.shared.f32 %f1, [%r3];
  bar.sync 0;
  mbarrier.arrive.release.cta.shared::cta.b64 _, [met];
until_read:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 1;
  @!%p1 bra until_read;
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
  bar.sync 0;
  @!%p0 mbarrier.inval.shared::cta.b64 [met];)";

constexpr const char* met_and_tile = R"(.shared .align 8 .b64 met;
.shared .align 128 .f32 tile[64];)";

Pair used_after_inval() {
  return floats_pair(
      {.name = "mbarrier-used-after-inval",
       .entry = "MB-08",
       .title = "threads arrive at an mbarrier that was invalidated",
       .code = "PLD4108",
       .on_device = OnDevice::hangs,
       .text = Varied(entry_text(met_and_tile, meet_twice))
                   .breaks("@!%p0 mbarrier.inval.shared::cta.b64 [met];", "")
                   .adds_before("mbarrier.arrive.release.cta.shared::cta.b64 _, [met];",
                                "@!%p0 mbarrier.inval.shared::cta.b64 [met];  // @2\nbar.sync 0;")
                   .mark("mbarrier.arrive.release.cta.shared::cta.b64 _, [met];", 1),
       .block = {64, 1, 1}},
      64, 64);
}

Pair never_initialised() {
  return floats_pair({.name = "mbarrier-never-initialised",
                      .entry = "MB-08",
                      .title = "an mbarrier that nobody initialised is waited at",
                      .code = "PLD3045",
                      .on_device = OnDevice::hangs,
                      .text = Varied(entry_text(R"(.shared .align 8 .b64 empty;
)" + std::string(met_and_tile),
                                                meet_twice))
                                  .breaks("mbarrier.init.shared::cta.b64 [met], 64;",
                                          "mbarrier.init.shared::cta.b64 [empty], 64;")
                                  .breaks("mbarrier.arrive.shared::cta.b64 _, [met];",
                                          "mbarrier.arrive.shared::cta.b64 _, [empty];")
                                  .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 0;", 1),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair initialised_again() {
  return floats_pair({.name = "mbarrier-initialised-again",
                      .entry = "MB-09",
                      .title = "every tile initialises the mbarrier of the one before, which is still valid",
                      .code = "PLD4109",
                      .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)",
                                         R"(  .reg .b32 %k;
  .reg .b64 %from, %to;
  setp.ne.u32 %p0, %t, 0;
  mov.u32 %k, 0;
  mov.u64 %from, %src;
  mul.wide.u32 %to, %t, 4;
  add.u64 %to, %to, %dst;
next_tile:
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;  // @1
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%from], 256, [full];
ready:
  bar.sync 0;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  fence.proxy.async.shared::cta;
  st.global.f32 [%to], %f0;
  bar.sync 0;
  @!%p0 mbarrier.inval.shared::cta.b64 [full];  //! good
  add.u64 %from, %from, 256;
  add.u64 %to, %to, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 3;
  @%p1 bra next_tile;)"),
                      .block = {64, 1, 1}},
                     192, 192);
}

Pair memory_reused() {
  return floats_pair({.name = "mbarrier-memory-reused",
                      .entry = "MB-10",
                      .title = "data is written over an mbarrier that was not invalidated",
                      .code = "PLD4110",
                      .text = entry_text(R"(.shared .align 128 .f32 arena[64];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [arena], 64;  // @2
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  mbarrier.arrive.shared::cta.b64 _, [arena];
until_met:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [arena], 0;
  @!%p1 bra until_met;
  bar.sync 0;
  @!%p0 mbarrier.inval.shared::cta.b64 [arena];  //! good
  bar.sync 0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, arena;
  add.u32 %r2, %r1, %r0;
  st.shared.f32 [%r2], %f0;  // @1
  bar.sync 0;
  xor.b32 %r0, %r0, 252;
  add.u32 %r2, %r1, %r0;
  ld.shared.f32 %f1, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

// Here too the flag orders time alone: the second warp has gone through its wait when the first invalidates.
Pair inval_before_join() {
  return floats_pair({.name = "mbarrier-inval-before-join",
                      .entry = "MB-11",
                      .title = "an mbarrier is invalidated by a thread that did not meet all who wait at it",
                      .code = "PLD4111",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 4 .u32 flag;
.shared .align 128 .f32 tile[64];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mov.u32 %r0, 0;
  st.shared.u32 [flag], %r0;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  setp.ne.u32 %p2, %warp, 0;
  @%p2 bra second;
  @%p0 bra first;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [full];
first:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra first;
until_flag:
  ld.relaxed.cta.shared.u32 %r0, [flag];
  setp.eq.u32 %p1, %r0, 0;
  @%p1 bra until_flag;
  barrier.sync 0;  //! good
  @%p0 bra read;
  mbarrier.inval.shared::cta.b64 [full];  // @1
  bra read;
second:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // @2
  @!%p1 bra second;
  setp.eq.u32 %p3, %lane, 0;
  mov.u32 %r0, 1;
  bar.warp.sync 0xffffffff;
  @%p3 st.relaxed.cta.shared.u32 [flag], %r0;
  barrier.sync 0;  //! good
read:
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

}  // namespace

std::vector<Pair> mbarrier_life_pairs() {
  return {init_unpublished(),  init_unpublished_to_cluster(), used_after_inval(),
          never_initialised(), initialised_again(),           memory_reused(),
          inval_before_join()};
}

}  // namespace palladion::zoo
