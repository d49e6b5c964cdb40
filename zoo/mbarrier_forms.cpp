// The rarer forms of mbarrier instructions, and where an mbarrier may lie.
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

constexpr const char* met_and_tile = R"(.shared .align 8 .b64 met;
.shared .align 128 .f32 tile[64];)";

// Warp 1 writes, arrives and leaves the barrier; warp 0 goes on alone.
constexpr const char* leaving_body = R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  st.shared.f32 [%r2], %f0;
  setp.eq.u32 %p2, %warp, 1;
  @!%p2 bra stay;
  mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [met];
  bra done;
stay:
  mbarrier.arrive.release.cta.shared::cta.b64 _, [met];
until_both:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 0;
  @!%p1 bra until_both;
  xor.b32 %r0, %r0, 128;
  add.u32 %r3, %r1, %r0;
  ld.shared.f32 %f1, [%r3];
  add.f32 %f0, %f0, %f1;
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.shared::cta.b64 _, [met];  //! good
  mbarrier.arrive_drop.shared::cta.b64 _, [met];  // @1  //! broken
until_alone:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 1;
  @!%p1 bra until_alone;
  xor.b32 %r0, %r0, 132;
  add.u32 %r3, %r1, %r0;
  ld.shared.f32 %f1, [%r3];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f1;
done:)";

Pair drops_to_zero() {
  return floats_pair({.name = "mbarrier-dropped-to-zero",
                      .entry = "MB-23",
                      .title = "the last participants leave an mbarrier: it then expects no arrivals",
                      .code = "PLD4123",
                      .severity = sim::FindingSeverity::strict,
                      .on_device = OnDevice::hangs,
                      .text = entry_text(met_and_tile, leaving_body),
                      .block = {64, 1, 1}},
                     64, 32);
}

// Warp 1 writes and arrives 32 times without completing; one of its lanes arrives last.
constexpr const char* no_complete_body = R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 33;  //! good
  mbarrier.init.shared::cta.b64 [met], 32;  //! broken
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %lane, 4;
  shl.b32 %r0, %lane, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  setp.eq.u32 %p2, %warp, 0;
  @%p2 bra reader;
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd2, [met], 1;  // @1
  bar.warp.sync 0xffffffff;
  setp.eq.u32 %p3, %lane, 0;  //! good
  @%p3 mbarrier.arrive.shared::cta.b64 _, [met];  //! good
  bra done;
reader:
until_met:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [met], 0;
  @!%p1 bra until_met;
  ld.shared.f32 %f0, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;
done:)";

Pair no_complete_completes() {
  return floats_pair({.name = "mbarrier-no-complete-completes",
                      .entry = "MB-23",
                      .title = "an arrival that says .noComplete completes the phase",
                      .code = "PLD4123",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(met_and_tile, no_complete_body),
                      .block = {64, 1, 1}},
                     32, 32);
}

// Three rounds of an exchange between two warps; every round waits with the state of its arrival.
constexpr const char* token_body = R"(  .reg .b32 %k, %at, %other;
  .reg .b64 %state;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, slots;
  add.u32 %at, %r1, %r0;
  xor.b32 %r0, %r0, 128;
  add.u32 %other, %r1, %r0;
  mov.u32 %k, 0;
round:
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%at], %f0;
  setp.eq.u32 %p2, %k, 0;  //! broken
  @%p2 mbarrier.arrive.shared::cta.b64 %state, [met];  //! broken
  @!%p2 mbarrier.arrive.shared::cta.b64 _, [met];  //! broken
  mbarrier.arrive.shared::cta.b64 %state, [met];  //! good
until_met:
  mbarrier.try_wait.shared::cta.b64 %p1, [met], %state;  // @1
  @!%p1 bra until_met;
  ld.shared.f32 %f1, [%other];
  sub.f32 %f1, %f1, %f0;
  st.global.f32 [%rd2], %f1;
  add.u64 %rd1, %rd1, 256;
  add.u64 %rd2, %rd2, 256;
  add.u32 %at, %at, 256;
  add.u32 %other, %other, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 3;
  @%p0 bra round;)";

Pair old_token() {
  return floats_pair({.name = "mbarrier-old-token",
                      .entry = "MB-23",
                      .title = "every round waits with the state that the first round's arrival gave",
                      .code = "PLD4123",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 met;
.shared .align 128 .f32 slots[192];)",
                                         token_body),
                      .block = {64, 1, 1}},
                     192, 192);
}

// `first` has completed a phase more than `second` when the state of one is used for the other.
constexpr const char* two_tokens_body = R"(  .reg .b64 %state, %wrong;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [first], 64;
  mbarrier.init.shared::cta.b64 [second], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  mbarrier.arrive.shared::cta.b64 %state, [first];
until_first:
  mbarrier.try_wait.shared::cta.b64 %p1, [first], %state;
  @!%p1 bra until_first;
  mbarrier.arrive.release.cta.shared::cta.b64 %wrong, [first];
  add.u64 %rd1, %src, %rd0;
  ld.global.f32 %f0, [%rd1];
  add.u32 %r2, %r1, %r0;
  st.shared.f32 [%r2], %f0;
  mbarrier.arrive.shared::cta.b64 %state, [second];
until_second:
  mbarrier.try_wait.shared::cta.b64 %p1, [second], %state;  //! good
  mbarrier.try_wait.shared::cta.b64 %p1, [second], %wrong;  // @1  //! broken
  @!%p1 bra until_second;
  xor.b32 %r0, %r0, 128;
  add.u32 %r2, %r1, %r0;
  ld.shared.f32 %f0, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)";

Pair foreign_token() {
  return floats_pair({.name = "mbarrier-foreign-token",
                      .entry = "MB-23",
                      .title = "a wait at one mbarrier uses the state that another one gave",
                      .code = "PLD4123",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 first;
.shared .align 8 .b64 second;
.shared .align 128 .f32 tile[64];)",
                                         two_tokens_body),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair too_many_arrivals() {
  return floats_pair({.name = "mbarrier-arrives-beyond-count",
                      .entry = "MB-23",
                      .title = "an arrival counts more than the phase still expects",
                      .code = "PLD3044",
                      .on_device = OnDevice::hangs,
                      .text = Varied(load_text())
                                  .breaks("mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;",
                                          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 256;\n"
                                          "mbarrier.arrive.shared::cta.b64 _, [full], 2;  // @1"),
                      .block = {64, 1, 1}},
                     64, 64);
}

// %r1 is the address of the mbarrier.
constexpr const char* placed_body = R"(  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r1, words;
  add.u32 %r1, %r1, 8;  //! good
  add.u32 %r1, %r1, 4;  //! broken
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [%r1], 1;  // @1
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p0 bra until_full;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [%r1];
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)";

Pair misaligned() {
  return floats_pair({.name = "mbarrier-misaligned",
                      .entry = "MB-24",
                      .title = "an mbarrier at an address that is not a multiple of 8",
                      .code = "PLD3040",
                      .on_device = OnDevice::faults,
                      .text = entry_text(R"(.shared .align 8 .b32 words[4];
.shared .align 128 .f32 tile[64];)",
                                         placed_body),
                      .block = {64, 1, 1}},
                     64, 64);
}

// %rd3 is the generic address of the mbarrier.
Pair in_global_memory() {
  return floats_pair({.name = "mbarrier-in-global-memory",
                      .entry = "MB-24",
                      .title = "an mbarrier in global memory",
                      .code = "PLD3041",
                      .on_device = OnDevice::faults,
                      .text = entry_text(".shared .align 8 .b64 met;", R"(  setp.ne.u32 %p0, %t, 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  ld.global.f32 %f0, [%rd1];
  mov.u64 %rd3, met;  //! good
  cvta.shared.u64 %rd3, %rd3;  //! good
  cvta.global.u64 %rd3, %dst;  //! broken
  @!%p0 mbarrier.init.b64 [%rd3], 64;  // @1
  bar.sync 0;
  mbarrier.arrive.b64 _, [%rd3];
until_met:
  mbarrier.try_wait.parity.b64 %p1, [%rd3], 0;
  @!%p1 bra until_met;
  st.global.f32 [%rd2], %f0;)"),
                      .block = {64, 1, 1}},
                     64, 64);
}

// CTA 0 waits for what CTA 1 has done: at its own mbarrier, or at that of CTA 1.
Pair wait_at_remote() {
  return floats_pair(
      {.name = "mbarrier-wait-at-remote",
       .entry = "MB-24",
       .title = "a CTA waits at the mbarrier of its peer; only arrivals may be remote",
       .code = "PLD4124",
       .on_device = OnDevice::faults,
       .text = entry_text(".shared .align 8 .b64 done_there;", R"(  mov.u32 %r0, %cluster_ctarank;
  setp.ne.u32 %p0, %r0, 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra meet;
  mbarrier.init.shared::cta.b64 [done_there], 32;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  add.u64 %rd2, %dst, %rd0;
  ld.global.f32 %f0, [%rd1];
  mov.u32 %r1, done_there;
  mov.u32 %r2, 0;  //! good
  mov.u32 %r2, 1;  //! broken
  mapa.shared::cluster.u32 %r3, %r1, %r2;
  @%p0 bra peer;
until_done:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r3], 0;  // @1
  @!%p2 bra until_done;
  ld.global.f32 %f1, [%rd2];
  add.f32 %f1, %f1, %f0;
  st.global.f32 [%rd2], %f1;
  bra all_done;
peer:
  neg.f32 %f1, %f0;
  add.f32 %f1, %f1, 0f3F800000;
  st.global.f32 [%rd2], %f1;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
all_done:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)"),
       .grid = {2, 1, 1},
       .block = {32, 1, 1},
       .cluster = {2, 1, 1}},
      32, 32);
}

}  // namespace

std::vector<Pair> mbarrier_form_pairs() {
  return {drops_to_zero(), no_complete_completes(), old_token(),     foreign_token(), too_many_arrivals(),
          misaligned(),    in_global_memory(),      wait_at_remote()};
}

}  // namespace palladion::zoo
