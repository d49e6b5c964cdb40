// Waits for the wrong phase of an mbarrier, and arrivals that come a phase too early.
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

constexpr isa::Dim3 ring_block{96, 1, 1};
constexpr int64_t ring_floats = 6 * 64;

// Every tile has a slot of its own, two mbarriers serve all: the data do not race, the phases do.
Pair arrives_ahead() {
  return floats_pair(
      {.name = "mbarrier-arrives-ahead",
       .entry = "MB-12",
       .title = "a producer arrives for the next phase before anybody has seen the last one complete",
       .code = "PLD4112",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty[2];
.shared .align 128 .f32 tiles[192];)",
                          R"(  .reg .b32 %k, %at, %parity, %mine;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 32;
  mbarrier.init.shared::cta.b64 [full+8], 32;
  mbarrier.init.shared::cta.b64 [empty], 32;
  mbarrier.init.shared::cta.b64 [empty+8], 32;
ready:
  bar.sync 0;
  mov.u32 %mine, tiles;
  mad.lo.u32 %mine, %lane, 4, %mine;
  mul.wide.u32 %rd0, %lane, 4;
  mov.u32 %k, 0;
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra consumer;
  add.u64 %rd1, %src, %rd0;
produce:
  and.b32 %r0, %k, 1;
  shr.u32 %parity, %k, 1;
  and.b32 %parity, %parity, 1;
  xor.b32 %parity, %parity, 1;
  mov.u32 %at, empty;
  mad.lo.u32 %at, %r0, 8, %at;
until_empty:  //! good
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%at], %parity;  //! good
  @!%p1 bra until_empty;  //! good
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%mine], %f0;
  mov.u32 %at, full;
  mad.lo.u32 %at, %r0, 8, %at;
  mbarrier.arrive.shared::cta.b64 _, [%at];  // @1
  add.u64 %rd1, %rd1, 128;
  add.u32 %mine, %mine, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 6;
  @%p0 bra produce;
  bra done;
consumer:
  add.u64 %rd1, %dst, %rd0;
consume:
  and.b32 %r0, %k, 1;
  shr.u32 %parity, %k, 1;
  and.b32 %parity, %parity, 1;
  mov.u32 %at, full;
  mad.lo.u32 %at, %r0, 8, %at;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%at], %parity;
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%mine];
  mov.u32 %at, empty;
  mad.lo.u32 %at, %r0, 8, %at;
  mbarrier.arrive.shared::cta.b64 _, [%at];
  st.global.f32 [%rd1], %f0;
  add.u64 %rd1, %rd1, 128;
  add.u32 %mine, %mine, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 6;
  @%p0 bra consume;
done:)"),
       .block = {64, 1, 1}},
      192, 192);
}

Pair producer_first_parity() {
  return floats_pair(
      {.name = "mbarrier-producer-first-parity",
       .entry = "MB-13",
       .title = "the producer waits for the first phase of `empty`, which only consumers complete",
       .code = "PLD4113",
       .on_device = OnDevice::hangs,
       .text = Varied(ring_text())
                   .breaks("xor.b32 %parity, %parity, 1;", "")
                   .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%empty_at], %parity;", 1),
       .block = ring_block},
      ring_floats, ring_floats);
}

// Whether the wait passes too early or stands for ever depends on when the copy lands: the wait is wrong in
// both.
Pair wrong_parity(PtxPair pair, Varied text) {
  pair.on_device = OnDevice::hangs;
  pair.text = text.mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full_at], %parity;", 1);
  pair.block = {64, 1, 1};
  return floats_pair(std::move(pair), ring_floats, ring_floats);
}

Pair consumer_first_parity() {
  return wrong_parity(
      {.name = "mbarrier-consumer-first-parity",
       .entry = "MB-13",
       .title = "the consumer waits with parity 1 first: a fresh mbarrier lets it pass at once",
       .code = "PLD4113"},
      Varied(prefetch_text()).adds_before("and.b32 %parity, %parity, 1;", "add.u32 %parity, %parity, 1;"));
}

Pair parity_never_flips() {
  return wrong_parity({.name = "mbarrier-parity-never-flips",
                       .entry = "MB-14",
                       .title = "every round through the slots waits with parity 0",
                       .code = "PLD4114"},
                      Varied(prefetch_text()).breaks("and.b32 %parity, %parity, 1;", "mov.u32 %parity, 0;"));
}

// Warp 1 wants every tile, warp 2 every second one. A parity tells two phases apart, not three.
Pair skips_a_phase() {
  return floats_pair(
      {.name = "mbarrier-skips-a-phase",
       .entry = "MB-15",
       .title = "a warp takes part in every second phase only: its wait cannot tell phase 2 from phase 0",
       .code = "PLD4115",
       .on_device = OnDevice::hangs,
       .also = "PLD4114",
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 8 .b64 empty[2];
.shared .align 128 .f32 tile[32];)",
                          R"(  .reg .b32 %k, %parity, %mine, %at;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
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
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [full];  // @2
  and.b32 %parity, %k, 1;
until_one:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], %parity;
  @!%p1 bra until_one;
  setp.eq.u32 %p2, %parity, 1;  //! broken
  @%p2 bra next;  //! broken
  shr.u32 %parity, %k, 1;  //! broken
  and.b32 %parity, %parity, 1;  //! broken
until_two:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty+8], %parity;
  @!%p1 bra until_two;
next:
  add.u64 %rd1, %rd1, 128;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra produce;
  bra done;
consumer:
  sub.u32 %r0, %warp, 1;
  mov.u32 %at, empty;
  mad.lo.u32 %at, %r0, 8, %at;
  mad.lo.u32 %r1, %r0, 128, %lane;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd1, %dst, %rd0;
  mov.u32 %mine, tile;
  mad.lo.u32 %mine, %lane, 4, %mine;
  setp.eq.u32 %p2, %r0, 1;
consume:
  and.b32 %parity, %k, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %parity;  // @1
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%mine];
  fence.proxy.async.shared::cta;
  mbarrier.arrive.shared::cta.b64 _, [%at];
  st.global.f32 [%rd1], %f0;
  add.u64 %rd1, %rd1, 128;
  add.u32 %k, %k, 1;
  @%p2 add.u64 %rd1, %rd1, 128;  //! broken
  @%p2 add.u32 %k, %k, 1;  //! broken
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra consume;
done:)"),
       .block = {96, 1, 1}},
      128, 256);
}

Pair try_wait_once() {
  return floats_pair({.name = "mbarrier-try-wait-once",
                      .entry = "MB-16",
                      .title = "try_wait may come back early with `false`; nobody looks at its answer",
                      .code = "PLD4116",
                      .on_device = OnDevice::faults,
                      .text = Varied(load_text())
                                  .breaks("@!%p1 bra until_full;", "")
                                  .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;", 1),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair test_wait_once() {
  return floats_pair({.name = "mbarrier-test-wait-once",
                      .entry = "MB-16",
                      .title = "test_wait does not wait; nobody looks at its answer",
                      .code = "PLD4116",
                      .on_device = OnDevice::faults,
                      .text = Varied(load_text())
                                  .breaks("mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;",
                                          "mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;  // @1")
                                  .breaks("@!%p1 bra until_full;", ""),
                      .block = {64, 1, 1}},
                     64, 64);
}

}  // namespace

std::vector<Pair> mbarrier_phase_pairs() {
  return {arrives_ahead(), producer_first_parity(), consumer_first_parity(), parity_never_flips(),
          skips_a_phase(), try_wait_once(),         test_wait_once()};
}

}  // namespace palladion::zoo
