// mbarriers that complete in the right phase and still order too little, or that of the wrong CTA.
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

// Warp 1 writes, warp 0 reads with the lanes swapped.
std::string hand_over(std::string_view arrivals, std::string_view arrive) {
  return entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[32];)",
                    R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], )" +
                        std::string(arrivals) + R"(;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %lane, 4;
  shl.b32 %r0, %lane, 2;
  mov.u32 %r1, tile;
  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra read;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  mul.f32 %f0, %f0, %f0;
  add.u32 %r2, %r1, %r0;
  st.shared.f32 [%r2], %f0;  // @2
)" + std::string(arrive) +
                        R"(
  bra done;
read:
until_full:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  xor.b32 %r0, %r0, 4;
  add.u32 %r2, %r1, %r0;
  ld.shared.f32 %f0, [%r2];  // @1
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
done:)");
}

Pair elected_lane_publishes() {
  return floats_pair(
      {.name = "mbarrier-elected-lane-publishes",
       .entry = "MB-05",
       .title = "one lane arrives for its warp, which has not met: the others' writes are not released",
       .code = "PLD4105",
       .text = hand_over("1", R"(  setp.eq.u32 %p2, %lane, 0;
  bar.warp.sync 0xffffffff;  //! good
  @%p2 mbarrier.arrive.release.cta.shared::cta.b64 _, [full];)"),
       .block = {64, 1, 1}},
      32, 32);
}

Pair relaxed_arrive() {
  return floats_pair(
      {.name = "mbarrier-relaxed-arrive",
       .entry = "MB-19",
       .title = "data are handed over by an arrival that releases nothing",
       .code = "PLD4119",
       .text = hand_over("32", R"(  mbarrier.arrive.release.cta.shared::cta.b64 _, [full];  //! good
  mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [full];  //! broken)"),
       .block = {64, 1, 1}},
      32, 32);
}

Pair relaxed_wait() {
  return floats_pair(
      {.name = "mbarrier-relaxed-wait",
       .entry = "MB-19",
       .title = "data are taken over by a wait that acquires nothing",
       .code = "PLD4119",
       .text = Varied(hand_over("32", "  mbarrier.arrive.release.cta.shared::cta.b64 _, [full];"))
                   .breaks("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0;",
                           "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [full], 0;"),
       .block = {64, 1, 1}},
      32, 32);
}

// CTA 1 fills its own shared memory and tells CTA 0, which reads it there.
constexpr const char* across_ctas = R"(  mov.u32 %r0, %cluster_ctarank;
  setp.ne.u32 %p0, %r0, 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra meet;
  mbarrier.init.shared::cta.b64 [ready], 32;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mul.wide.u32 %rd0, %t, 4;
  mov.u32 %r1, slot;
  mad.lo.u32 %r1, %t, 4, %r1;
  @%p0 bra fill;
until_ready:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [ready], 0;
  @!%p2 bra until_ready;
  mov.u32 %r2, 1;
  mapa.shared::cluster.u32 %r3, %r1, %r2;
  ld.shared::cluster.f32 %f0, [%r3];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
  bra done;
fill:
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r1], %f0;
  mov.u32 %r2, 0;
  mov.u32 %r4, ready;
  mapa.shared::cluster.u32 %r5, %r4, %r2;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
done:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)";

Pair scope_pair(PtxPair pair, std::string_view good, std::string_view broken) {
  pair.entry = "MB-20";
  pair.code = "PLD4120";
  pair.text = Varied(entry_text(R"(.shared .align 8 .b64 ready;
.shared .align 128 .f32 slot[32];)",
                                across_ctas))
                  .breaks(good, broken)
                  .mark("ld.shared::cluster.f32 %f0, [%r3];", 1)
                  .mark("st.shared.f32 [%r1], %f0;", 2);
  pair.grid = pair.cluster = {2, 1, 1};
  pair.block = {32, 1, 1};
  return floats_pair(std::move(pair), 32, 32);
}

Pair arrive_scope() {
  return scope_pair({.name = "mbarrier-arrive-scope-too-small",
                     .title = "an arrival at a peer's mbarrier releases to the own CTA only"},
                    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];",
                    "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r5];");
}

Pair wait_scope() {
  return scope_pair({.name = "mbarrier-wait-scope-too-small",
                     .title = "a wait for a peer's arrival acquires from the own CTA only",
                     .severity = sim::FindingSeverity::strict},
                    "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [ready], 0;",
                    "mbarrier.try_wait.parity.shared::cta.b64 %p2, [ready], 0;");
}

// CTA 0 loads tiles for both CTAs when both have freed the slot. Warp 0 copies the tile to dst, a lane of
// warp 1 announces the bytes, and in CTA 0 loads them.
constexpr const char* multicast_body = R"(  .reg .b32 %rank, %k, %parity;
  .reg .b16 %both;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %p3, %rank, 0;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra meet;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [empty], 2;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %k, 0;
  setp.ne.u32 %p4, %lane, 0;
  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra consumer;
  @%p4 bra done;
  mov.u64 %rd1, %src;
  mov.u16 %both, 3;
produce:
  and.b32 %parity, %k, 1;
  xor.b32 %r1, %parity, 1;
  @!%p3 bra announce;
until_empty:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [empty], %r1;  // @1
  @!%p1 bra until_empty;
announce:
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd1], 128, [full], %both;
until_there:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %parity;
  @!%p1 bra until_there;
  add.u64 %rd1, %rd1, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra produce;
  bra done;
consumer:
  mad.lo.u32 %r0, %rank, 128, %lane;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %dst, %rd0;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %lane, 4, %r0;
  mov.u32 %r1, empty;
  mov.u32 %r2, 0;
  mapa.shared::cluster.u32 %r3, %r1, %r2;  //! good
  mapa.shared::cluster.u32 %r3, %r1, %rank;  //! broken
consume:
  and.b32 %parity, %k, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %parity;
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%r0];
  fence.proxy.async;
  bar.warp.sync 0xffffffff;
  @!%p4 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];  // @2
  st.global.f32 [%rd1], %f0;
  add.u64 %rd1, %rd1, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra consume;
done:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)";

Pair own_barrier_instead_of_leaders() {
  return floats_pair(
      {.name = "mbarrier-own-instead-of-leaders",
       .entry = "MB-21",
       .title = "the second CTA frees the slot at its own mbarrier; the loading CTA waits at its",
       .code = "PLD4121",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 8 .b64 empty;
.shared .align 128 .f32 tile[32];)",
                          multicast_body),
       .grid = {2, 1, 1},
       .block = {64, 1, 1},
       .cluster = {2, 1, 1}},
      128, 256);
}

}  // namespace

std::vector<Pair> mbarrier_order_pairs() {
  return {elected_lane_publishes(), relaxed_arrive(), relaxed_wait(),
          arrive_scope(),           wait_scope(),     own_barrier_instead_of_leaders()};
}

}  // namespace palladion::zoo
