// Barriers of a CTA and of a warp.
#include "zoo/groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

// Every thread writes its float to `tile` at %r2; %r3 is where thread t ^ 32 writes.
constexpr const char* write_tile = R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  xor.b32 %r0, %r0, 128;
  add.u32 %r3, %r1, %r0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r2], %f0;
)";
constexpr const char* read_tile = R"(
  ld.shared.f32 %f1, [%r3];
  sub.f32 %f1, %f1, %f0;
  st.global.f32 [%rd2], %f1;)";

// Threads exchange their floats around `meet`; there is a tile of 256 floats and a barrier.
Pair exchange_pair(PtxPair pair, uint32_t threads, std::string_view meet) {
  pair.text = entry_text(".shared .align 128 .f32 tile[256];\n.shared .align 8 .b64 ready;",
                         write_tile + std::string(meet) + read_tile);
  pair.block = {threads, 1, 1};
  return floats_pair(std::move(pair), threads, threads);
}

Pair count_mismatch() {
  return exchange_pair({.name = "named-barrier-count-mismatch",
                        .entry = "NB-01",
                        .title = "warps meet at one barrier with different thread counts",
                        .code = "PLD3031",
                        .on_device = OnDevice::hangs},
                       128, R"(  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra leader;
  barrier.sync 1, 128;  // @2
  bra met;
leader:
  barrier.sync 1, 128;  //! good
  barrier.sync 1, 96;  // @1  //! broken
met:)");
}

Pair too_few() {
  return exchange_pair({.name = "named-barrier-too-few",
                        .entry = "NB-02",
                        .title = "a barrier counts two warpgroups, one of them comes",
                        .code = "PLD4602",
                        .on_device = OnDevice::hangs},
                       256, R"(  setp.gt.u32 %p0, %warp, 3;
  @%p0 bra second;
  barrier.sync 1, 128;  //! good
  barrier.sync 1, 256;  // @1  //! broken
  bra met;
second:
  barrier.sync 2, 128;
met:)");
}

Pair bad_operand(PtxPair pair, std::string_view id, std::string_view threads) {
  pair.entry = "NB-03";
  return exchange_pair(std::move(pair), 64, R"(  mov.u32 %r4, 1;  //! good
  mov.u32 %r5, 64;  //! good
  mov.u32 %r4, )" + std::string(id) + R"(;  //! broken
  mov.u32 %r5, )" + std::string(threads) + R"(;  //! broken
  barrier.sync %r4, %r5;  // @1)");
}

Pair arrive_without_count() {
  return exchange_pair({.name = "named-barrier-arrive-zero",
                        .entry = "NB-03",
                        .title = "an arrival with a thread count of zero",
                        .code = "PLD3033",
                        .on_device = OnDevice::hangs},
                       64,
                       R"(  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra reader;
  mov.u32 %r4, 64;  //! good
  mov.u32 %r4, 0;  //! broken
  barrier.arrive 1, %r4;  // @1
  st.global.f32 [%rd2], %f0;
  bra done;
reader:
  barrier.sync 1, 64;)" + std::string(read_tile) +
                           "\ndone:\n  ret;\n  mov.u32 %r0, 0;");
}

// Two pairs of warps exchange floats four times through two buffers each.
constexpr const char* two_roles_body = R"(  .reg .b32 %k, %mine, %other;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %mine, %r1, %r0;
  xor.b32 %r0, %r0, 128;
  add.u32 %other, %r1, %r0;
  mov.u32 %k, 0;
  setp.gt.u32 %p0, %warp, 1;
  @%p0 bra epilogue;
softmax:
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%mine], %f0;
  barrier.sync 2, 64;  // @1
  ld.shared.f32 %f1, [%other];
  sub.f32 %f1, %f1, %f0;
  st.global.f32 [%rd2], %f1;
  add.u64 %rd1, %rd1, 512;
  add.u64 %rd2, %rd2, 512;
  xor.b32 %mine, %mine, 512;
  xor.b32 %other, %other, 512;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 4;
  @%p1 bra softmax;
  bra done;
epilogue:
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%mine], %f0;
  barrier.sync 3, 64;  //! good
  barrier.sync 2, 64;  // @2  //! broken
  ld.shared.f32 %f1, [%other];
  add.f32 %f1, %f1, %f0;
  st.global.f32 [%rd2], %f1;
  add.u64 %rd1, %rd1, 512;
  add.u64 %rd2, %rd2, 512;
  xor.b32 %mine, %mine, 512;
  xor.b32 %other, %other, 512;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 4;
  @%p1 bra epilogue;
done:)";

Pair shared_id() {
  return floats_pair({.name = "named-barrier-id-shared-by-roles",
                      .entry = "NB-04",
                      .title = "two roles use the same barrier at the same time",
                      .code = "PLD4604",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(".shared .align 1024 .f32 tile[256];", two_roles_body),
                      .block = {128, 1, 1}},
                     512, 512);
}

// Warp 1 comes when warp 0 has done what it does at the barrier.
Pair double_arrival() {
  return exchange_pair(
      {.name = "named-barrier-double-arrival",
       .entry = "NB-05",
       .title = "a warp arrives at a barrier twice before the other has come: it completes alone",
       .code = "PLD4605",
       .on_device = OnDevice::hangs},
      64, R"(  setp.eq.u32 %p0, %t, 0;
  @%p0 mbarrier.init.shared::cta.b64 [ready], 32;
  bar.sync 0;
  setp.eq.u32 %p0, %warp, 0;
  @!%p0 bra second;
  barrier.arrive 1, 64;  // @1
  barrier.arrive 1, 64;  // @2  //! broken
  mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [ready];
  barrier.sync 2, 64;
  bra met;
second:
  mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [ready], 0;
  @!%p1 bra second;
  barrier.sync 1, 64;
  ld.shared.f32 %f2, [%r3];
  add.f32 %f0, %f0, %f2;
  st.shared.f32 [%r2], %f0;
  barrier.sync 2, 64;
met:)");
}

Pair one_lane() {
  return exchange_pair({.name = "named-barrier-one-lane",
                        .entry = "NB-06",
                        .title = "one lane of a warp executes a barrier that counts 32 threads",
                        .code = "PLD4606",
                        .on_device = OnDevice::hangs},
                       32, R"(  setp.eq.u32 %p0, %lane, 0;
  mov.u32 %r3, %r2;
  @!%p0 bra met;  //! broken
  barrier.sync 1, 32;  // @1
met:
  bar.warp.sync 0xffffffff;)");
}

Pair aligned_one_lane() {
  return exchange_pair({.name = "named-barrier-aligned-one-lane",
                        .entry = "NB-06",
                        .title = "an .aligned barrier is executed by one lane of each warp",
                        .code = "PLD4606",
                        .on_device = OnDevice::hangs},
                       64, R"(  setp.eq.u32 %p0, %lane, 0;
  @!%p0 bra met;  //! broken
  bar.sync 0;  // @1
met:
  bar.warp.sync 0xffffffff;)");
}

// Warp 1 waits at an mbarrier for warp 0, which waits for the whole CTA.
Pair cta_barrier_in_role() {
  return exchange_pair(
      {.name = "named-barrier-of-cta-in-role",
       .entry = "NB-07",
       .title = "one role executes a barrier of the whole CTA; the other waits for that role",
       .code = "PLD4607",
       .on_device = OnDevice::hangs},
      64, R"(  setp.eq.u32 %p0, %t, 0;
  @%p0 mbarrier.init.shared::cta.b64 [ready], 32;
  bar.sync 0;
  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra first;
until_ready:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [ready], 0;  // @2
  @!%p1 bra until_ready;
  bra met;
first:
  barrier.sync 1, 32;  //! good
  bar.sync 0;  // @1  //! broken
  mbarrier.arrive.shared::cta.b64 _, [ready];
met:)");
}

Pair red_mixed_with_sync() {
  return exchange_pair({.name = "named-barrier-red-mixed-with-sync",
                        .entry = "NB-08",
                        .title = "one warp reduces at a barrier, the other synchronises at it",
                        .code = "PLD4608",
                        .on_device = OnDevice::hangs},
                       64, R"(  setp.eq.u32 %p0, %warp, 0;
  setp.gt.f32 %p1, %f0, 0f41200000;
  @%p0 bra counts;
  barrier.red.popc.u32 %r4, 1, 64, %p1;  //! good
  barrier.sync 1, 64;  // @2  //! broken
  bra met;
counts:
  barrier.red.popc.u32 %r4, 1, 64, %p1;  // @1
  cvt.rn.f32.u32 %f0, %r4;
met:)");
}

Pair arrive_then_read() {
  return floats_pair({.name = "named-barrier-arrive-then-read",
                      .entry = "NB-09",
                      .title = "a warp arrives, does not wait, and reads what the other wrote",
                      .code = "PLD4609",
                      .text = entry_text(".shared .align 128 .f32 tile[32];",
                                         R"(  and.b32 %r0, %t, 31;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %r0, 4, %r1;
  shl.b32 %r2, %t, 2;
  cvt.u64.u32 %rd0, %r2;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.lt.u32 %p0, %t, 32;
  @%p0 bra reader;
  mul.f32 %f0, %f0, %f0;
  st.shared.f32 [%r1], %f0;  // @2
  barrier.sync 1, 64;
  bra met;
reader:
  barrier.sync 1, 64;  //! good
  barrier.arrive 1, 64;  //! broken
  ld.shared.f32 %f1, [%r1];  // @1
  sub.f32 %f0, %f1, %f0;
met:
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair does_not_cover_copies() {
  return floats_pair({.name = "named-barrier-does-not-cover-copies",
                      .entry = "NB-10",
                      .title = "a barrier of the CTA is taken for the end of an asynchronous copy",
                      .code = "PLD4610",
                      .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p0 bra issued;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [full];  // @2
issued:
until_full:  //! good
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0;  //! good
  @!%p1 bra until_full;  //! good
  bar.sync 0;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];  // @1
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;
until_end:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_end;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

// A warp's lanes exchange floats; `meet` comes between.
Pair warp_exchange(PtxPair pair, std::string_view partner, std::string_view meet) {
  pair.entry = "NB-11";
  pair.code = "PLD4611";
  pair.text = entry_text(".shared .align 128 .f32 tile[32];", R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  shl.b32 %r0, %lane, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  xor.b32 %r0, %r0, )" + std::string(partner) + R"(;
  add.u32 %r3, %r1, %r0;
  st.shared.f32 [%r2], %f0;  // @2
)" + std::string(meet) + R"(
  ld.shared.f32 %f1, [%r3];  // @1
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;)");
  pair.block = {32, 1, 1};
  return floats_pair(std::move(pair), 32, 32);
}

Pair implicit_warp_synchrony() {
  return warp_exchange({.name = "warp-barrier-missing",
                        .title = "lanes read what their neighbours wrote, without a barrier of the warp"},
                       "4", "  bar.warp.sync 0xffffffff;  //! good");
}

Pair mask_without_partner() {
  return warp_exchange(
      {.name = "warp-barrier-mask-without-partner",
       .title = "each half of a warp synchronises with itself and reads the other half's data"},
      "64", R"(  setp.lt.u32 %p0, %lane, 16;
  selp.b32 %r4, 0x0000ffff, 0xffff0000, %p0;  //! broken
  mov.b32 %r4, 0xffffffff;  //! good
  bar.warp.sync %r4;)");
}

}  // namespace

std::vector<Pair> named_barrier_pairs() {
  return {count_mismatch(),
          too_few(),
          bad_operand({.name = "named-barrier-odd-count",
                       .title = "a thread count that is not a multiple of 32",
                       .code = "PLD3033",
                       .on_device = OnDevice::faults},
                      "1", "50"),
          bad_operand({.name = "named-barrier-id-16",
                       .title = "a barrier that does not exist: a CTA has 16",
                       .code = "PLD3030",
                       .on_device = OnDevice::faults},
                      "16", "64"),
          arrive_without_count(),
          shared_id(),
          double_arrival(),
          one_lane(),
          aligned_one_lane(),
          cta_barrier_in_role(),
          red_mixed_with_sync(),
          arrive_then_read(),
          does_not_cover_copies(),
          implicit_warp_synchrony(),
          mask_without_partner()};
}

}  // namespace palladion::zoo
