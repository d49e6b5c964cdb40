// Kernels that stop for ever although every barrier is used by its rules.
#include "zoo/groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

// Two warps hand each other their floats.
Pair wait_cycle() {
  return floats_pair({.name = "deadlock-wait-cycle",
                      .entry = "DL-01",
                      .title = "each of two warps waits for the other before it arrives",
                      .code = "PLD4901",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 there[2];
.shared .align 128 .f32 tile[64];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [there], 32;
  mbarrier.init.shared::cta.b64 [there+8], 32;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  xor.b32 %r0, %r0, 128;
  add.u32 %r3, %r1, %r0;
  setp.eq.u32 %p0, %warp, 0;
  @!%p0 bra second;
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.shared::cta.b64 _, [there];  //! good
until_second:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [there+8], 0;  // @1
  @!%p1 bra until_second;
  ld.shared.f32 %f1, [%r3];
  mbarrier.arrive.shared::cta.b64 _, [there];  //! broken
  bra done;
second:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [there], 0;  // @2
  @!%p1 bra second;
  ld.shared.f32 %f1, [%r3];
  add.f32 %f2, %f1, %f0;
  st.shared.f32 [%r2], %f2;
  mbarrier.arrive.shared::cta.b64 _, [there+8];
done:
  sub.f32 %f1, %f1, %f0;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair trip_count() {
  return floats_pair({.name = "deadlock-trip-count",
                      .entry = "DL-02",
                      .title = "the consumers' loop runs once more than the producer's",
                      .code = "PLD4902",
                      .on_device = OnDevice::hangs,
                      .text = Varied(ring_text())
                                  .breaks("setp.lt.u32 %p0, %k, 6;", "setp.lt.u32 %p0, %k, 7;")
                                  .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full_at], %r2;", 1),
                      .block = {96, 1, 1}},
                     384, 384);
}

Pair conditional_arrival() {
  return floats_pair(
      {.name = "deadlock-conditional-arrival",
       .entry = "DL-02",
       .title = "only threads with a valid row free the slot; its mbarrier counts all",
       .code = "PLD4902",
       .on_device = OnDevice::hangs,
       .text = Varied(ring_text())
                   .breaks("mbarrier.arrive.shared::cta.b64 _, [%empty_at];",
                           "setp.lt.u32 %p3, %t, 60;\n"
                           "@%p3 mbarrier.arrive.shared::cta.b64 _, [%empty_at];  // @2")
                   .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%empty_at], %parity;", 1),
       .block = {96, 1, 1}},
      384, 384);
}

// The consumer subtracts tile k from tile k + 1: it frees a slot when the next tile is there. %depth slots.
constexpr const char* neighbours_body =
    R"(  .reg .b32 %depth, %k, %slot, %parity, %full_at, %empty_at, %tile, %last;
  mov.u32 %depth, 2;  //! good
  mov.u32 %depth, 1;  //! broken
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [empty], 32;
  mbarrier.init.shared::cta.b64 [empty+8], 32;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %k, 0;
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra consumer;
  setp.ne.u32 %p0, %lane, 0;
  @%p0 bra done;
  mov.u64 %rd1, %src;
produce:
  rem.u32 %slot, %k, %depth;
  mov.u32 %r0, full;
  mad.lo.u32 %full_at, %slot, 8, %r0;
  mov.u32 %r0, empty;
  mad.lo.u32 %empty_at, %slot, 8, %r0;
  mov.u32 %r0, ring;
  mad.lo.u32 %tile, %slot, 128, %r0;
  div.u32 %parity, %k, %depth;
  and.b32 %parity, %parity, 1;
  xor.b32 %parity, %parity, 1;
until_empty:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%empty_at], %parity;  // @1
  @!%p1 bra until_empty;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full_at], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%rd1], 128, [%full_at];
  add.u64 %rd1, %rd1, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 6;
  @%p0 bra produce;
  bra done;
consumer:
  mul.wide.u32 %rd0, %lane, 4;
  add.u64 %rd1, %dst, %rd0;
consume:
  rem.u32 %slot, %k, %depth;
  mov.u32 %r1, full;
  mad.lo.u32 %full_at, %slot, 8, %r1;
  mov.u32 %r1, ring;
  mad.lo.u32 %tile, %slot, 128, %r1;
  mad.lo.u32 %tile, %lane, 4, %tile;
  div.u32 %parity, %k, %depth;
  and.b32 %parity, %parity, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full_at], %parity;  // @2
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%tile];
  fence.proxy.async.shared::cta;
  setp.eq.u32 %p2, %k, 0;
  @%p2 bra first;
  sub.f32 %f2, %f0, %f1;
  st.global.f32 [%rd1], %f2;
  add.u64 %rd1, %rd1, 128;
  mbarrier.arrive.shared::cta.b64 _, [%last];
first:
  mov.f32 %f1, %f0;
  mov.u32 %r1, empty;
  mad.lo.u32 %last, %slot, 8, %r1;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 6;
  @%p0 bra consume;
done:)";

Pair too_shallow() {
  return floats_pair(
      {.name = "deadlock-ring-too-shallow",
       .entry = "DL-03",
       .title = "the consumer needs the next tile before it frees this one; the ring has one slot",
       .code = "PLD4903",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty[2];
.shared .align 128 .f32 ring[64];)",
                          neighbours_body),
       .block = {64, 1, 1}},
      192, 160);
}

// Two warps take turns in adding to a running sum.
constexpr const char* turns_body = R"(  .reg .b32 %k;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  mov.u32 %r0, sum;
  mad.lo.u32 %r0, %lane, 4, %r0;
  mov.u32 %k, 0;
  setp.ne.u32 %p0, %warp, 0;
  @!%p0 st.shared.f32 [%r0], 0f00000000;
  bar.sync 0;
  @%p0 bra second;
first:
  barrier.sync 1, 64;  // @1
  ld.global.f32 %f0, [%rd1];
  ld.shared.f32 %f1, [%r0];
  add.f32 %f1, %f1, %f0;
  st.shared.f32 [%r0], %f1;
  barrier.arrive 2, 64;
  st.global.f32 [%rd2], %f1;
  add.u64 %rd1, %rd1, 256;
  add.u64 %rd2, %rd2, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 4;
  @%p1 bra first;
  bra done;
second:
  barrier.arrive 1, 64;  //! good
turn:
  barrier.sync 2, 64;  // @2
  ld.global.f32 %f0, [%rd1];
  ld.shared.f32 %f1, [%r0];
  add.f32 %f1, %f1, %f0;
  st.shared.f32 [%r0], %f1;
  st.global.f32 [%rd2], %f1;
  add.u64 %rd1, %rd1, 256;
  add.u64 %rd2, %rd2, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 4;
  @!%p1 bra done;
  barrier.arrive 1, 64;
  bra turn;
done:)";

Pair no_first_turn() {
  return floats_pair({.name = "deadlock-no-first-turn",
                      .entry = "DL-04",
                      .title = "two warps take turns by named barriers; nobody gives the first turn",
                      .code = "PLD4904",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(".shared .align 128 .f32 sum[32];", turns_body),
                      .block = {64, 1, 1}},
                     256, 256);
}

// CTAs that meet in global memory: `count` starts as zero.
PtxPair grid_pair(PtxPair pair, uint32_t ctas, int64_t results) {
  pair.buffers = {{"out", Role::out, {pl::u32, {results}}, {}},
                  {"parts", Role::scratch, {pl::u32, {int64_t(ctas)}}, {}},
                  {"count", Role::scratch, {pl::u32, {1}}, {}}};
  pair.params = {PointerValue{0}, PointerValue{1}, PointerValue{2}};
  pair.grid = {ctas, 1, 1};
  pair.block = {32, 1, 1};
  return pair;
}

std::string grid_text(std::string_view body) {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry zoo(.param .u64 out, .param .u64 parts, .param .u64 count)
{
  .reg .pred %p<4>;
  .reg .b32 %r<12>, %cta, %ctas;
  .reg .b64 %rd<8>, %out, %parts, %count;
  ld.param.u64 %out, [out];
  ld.param.u64 %parts, [parts];
  ld.param.u64 %count, [count];
  cvta.to.global.u64 %out, %out;
  cvta.to.global.u64 %parts, %parts;
  cvta.to.global.u64 %count, %count;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %ctas, %nctaid.x;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra done;
)" + std::string(body) +
         R"(
done:
  ret;
}
)";
}

// 200 KB of shared memory leave room for one CTA on each of the 132 SMs.
Pair waits_for_nonresident() {
  return ptx_pair(
      grid_pair({.name = "deadlock-not-resident",
                 .entry = "DL-05",
                 .title = "a barrier of the whole grid, which has one CTA more than the GPU holds",
                 .code = "PLD4905",
                 .on_device = OnDevice::hangs,
                 .text = grid_text(R"(  mul.lo.u32 %r1, %cta, 2;
  mul.wide.u32 %rd0, %cta, 4;
  add.u64 %rd0, %parts, %rd0;
  st.global.u32 [%rd0], %r1;
  atom.acq_rel.gpu.global.add.u32 %r2, [%count], 1;
  add.u32 %r2, %r2, 1;  //! good
  setp.lt.u32 %p1, %r2, %ctas;  //! good
  @%p1 bra done;  //! good
until_all:  //! broken
  ld.acquire.gpu.global.u32 %r2, [%count];  // @1  //! broken
  setp.lt.u32 %p1, %r2, %ctas;  //! broken
  @%p1 bra until_all;  //! broken
  setp.ne.u32 %p1, %cta, 0;  //! broken
  @%p1 bra done;  //! broken
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
sum:
  ld.global.u32 %r1, [%parts];
  add.u32 %r3, %r3, %r1;
  add.u64 %parts, %parts, 4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %ctas;
  @%p1 bra sum;
  st.global.u32 [%out], %r3;)"),
                 .dynamic_shared = 200 * 1024},
                133, 1));
}

// Sums from the right: every CTA adds to what its right neighbour gives it. CTAs that take their numbers as
// they start, from the right, wait only for those that already run.
Pair waits_for_later() {
  return ptx_pair(grid_pair({.name = "deadlock-launch-order",
                             .entry = "DL-06",
                             .title = "a CTA waits for one with a higher index, which may start later",
                             .code = "PLD4906",
                             .severity = sim::FindingSeverity::strict,
                             .on_device = OnDevice::ends,
                             .needs_exploration = true,
                             .text = grid_text(R"(  sub.u32 %r6, %ctas, 1;
  atom.relaxed.gpu.global.add.u32 %r1, [%count], 1;  //! good
  sub.u32 %cta, %r6, %r1;  //! good
  mov.u32 %r2, 1;
  mul.wide.u32 %rd0, %cta, 4;
  add.u64 %rd1, %parts, %rd0;
  add.u64 %rd2, %out, %rd0;
  setp.eq.u32 %p1, %cta, %r6;
  @%p1 bra add;
until_neighbour:
  ld.acquire.gpu.global.u32 %r2, [%rd1+4];  // @1
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra until_neighbour;
add:
  add.u32 %r2, %r2, %cta;
  st.global.u32 [%rd2], %r2;
  st.release.gpu.global.u32 [%rd1], %r2;)")},
                            8, 8));
}

Pair register_pool() {
  return floats_pair({.name = "deadlock-register-pool",
                      .entry = "DL-07",
                      .title = "two warpgroups ask for more registers, the third gives none back",
                      .code = "PLD4907",
                      .on_device = OnDevice::hangs,
                      .text = entry_text("", R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.gt.u32 %p0, %warp, 3;
  @%p0 bra computes;
  setmaxnreg.dec.sync.aligned.u32 24;  //! good
  neg.f32 %f0, %f0;
  bra store;
computes:
  setmaxnreg.inc.sync.aligned.u32 240;  // @1
  add.f32 %f0, %f0, %f0;
store:
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)",
                                         ".maxntid 384, 1, 1 .maxnreg 168"),
                      .block = {384, 1, 1}},
                     384, 384);
}

// Lane 1 sets the flag that lane 0 waits for.
Pair lane_spins() {
  return floats_pair({.name = "deadlock-lane-spins",
                      .entry = "DL-08",
                      .title = "a lane spins on a flag that its sibling sets after a barrier of both",
                      .code = "PLD4908",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(".shared .align 4 .u32 flag;", R"(  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.eq.u32 %p0, %lane, 0;
  setp.eq.u32 %p1, %lane, 1;
  mov.u32 %r0, 0;
  @%p0 st.shared.u32 [flag], %r0;
  bar.warp.sync 0xffffffff;
  mov.u32 %r0, 1;
  @%p0 bra spin;
  @%p1 st.relaxed.cta.shared.u32 [flag], %r0;  //! good
  bra met;
spin:
  ld.relaxed.cta.shared.u32 %r1, [flag];  // @1
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra spin;
met:
  bar.warp.sync 0xffffffff;  // @2
  @%p1 st.relaxed.cta.shared.u32 [flag], %r0;  //! broken
  add.f32 %f0, %f0, %f0;
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)"),
                      .block = {32, 1, 1}},
                     32, 32);
}

}  // namespace

std::vector<Pair> deadlock_pairs() {
  return {wait_cycle(),      trip_count(),    conditional_arrival(),
          too_shallow(),     no_first_turn(), waits_for_nonresident(),
          waits_for_later(), register_pool(), lane_spins()};
}

}  // namespace palladion::zoo
