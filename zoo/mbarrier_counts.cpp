// mbarriers that are told to expect a wrong number of arrivals.
#include "frontend/plgpu.h"
#include "zoo/mbarrier_groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

using plgpu::Ref;
using plgpu::Scratch;

Array rounds_of_256() { return filled({pl::f32, {4, 256}}, {.kind = Fill::Kind::iota}); }

Pair count_too_large() {
  return recorded_pair(
      {.name = "mbarrier-count-too-large",
       .entry = "MB-01",
       .title = "an mbarrier expects two arrivals, one thread arrives",
       .code = "PLD4101",
       .on_device = OnDevice::hangs,
       .record =
           [](bool broken) {
             return plgpu::kernel(
                 [](const Ref& a, const Ref& o, Scratch& s) {
                   const pl::Index t = pl::axis_index("t");
                   pl::when(t == 0, [&] {
                     pl::fori_loop(0, 4, [&](pl::Index i) {
                       s["x"].store(a.at(i).load() * 2);
                       plgpu::barrier_arrive(s.barrier("filled"));
                       plgpu::barrier_wait(s.barrier("drained"));  // @1
                     });
                   });
                   pl::when(t == 1, [&] {
                     pl::fori_loop(0, 4, [&](pl::Index i) {
                       plgpu::barrier_wait(s.barrier("filled"));  // @2
                       o.at(i).store(s["x"].load());
                       plgpu::barrier_arrive(s.barrier("drained"));
                     });
                   });
                 },
                 {.in_types = {{pl::f32, {4, 256}}},
                  .out_type = {pl::f32, {4, 256}},
                  .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)},
                                    {"filled", plgpu::Barrier()},
                                    {"drained", plgpu::Barrier({.num_arrivals = broken ? 2 : 1})}},
                  .num_threads = 2,
                  .thread_name = "t",
                  .name = "count_too_large"});
           },
       .inputs = [] { return std::vector{rounds_of_256()}; }});
}

Pair count_too_small() {
  return recorded_pair(
      {.name = "mbarrier-count-too-small",
       .entry = "MB-02",
       .title = "two threads free a buffer, its mbarrier expects one: the next copy overwrites what the "
                "other still reads",
       .code = "PLD4102",
       .on_device = OnDevice::hangs,
       .record =
           [](bool broken) {
             return plgpu::kernel(
                 [](const Ref& a, const Ref& o, Scratch& s) {
                   const pl::Index t = pl::axis_index("t");
                   pl::when(t == 2, [&] {
                     pl::fori_loop(0, 4, [&](pl::Index i) {
                       plgpu::copy_gmem_to_smem(a.at(i), s["x"], s.barrier("full"));
                       plgpu::barrier_wait(s.barrier("empty"));
                     });
                   });
                   pl::when(t < 2, [&] {
                     pl::fori_loop(0, 4, [&](pl::Index i) {
                       plgpu::barrier_wait(s.barrier("full"));
                       o.at(i, t).store(s["x"].load() + t.astype(pl::f32));
                       plgpu::commit_smem();
                       plgpu::barrier_arrive(s.barrier("empty"));  // @1
                     });
                   });
                 },
                 {.in_types = {{pl::f32, {4, 256}}},
                  .out_type = {pl::f32, {4, 2, 256}},
                  .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)},
                                    {"full", plgpu::Barrier()},
                                    {"empty", plgpu::Barrier({.num_arrivals = broken ? 1 : 2})}},
                  .num_threads = 3,
                  .thread_name = "t",
                  .name = "count_too_small"});
           },
       .inputs = [] { return std::vector{rounds_of_256()}; }});
}

Pair bad_count(std::string name, std::string title, std::string_view count) {
  return floats_pair({.name = std::move(name),
                      .entry = "MB-03",
                      .title = std::move(title),
                      .code = "PLD3042",
                      .on_device = OnDevice::hangs,
                      .text = Varied(load_text())
                                  .breaks("mbarrier.init.shared::cta.b64 [full], 1;",
                                          "mov.u32 %r1, " + std::string(count) +
                                              ";\nmbarrier.init.shared::cta.b64 [full], %r1;")
                                  .mark("mbarrier.init.shared::cta.b64 [full], %r1;", 1),
                      .block = {64, 1, 1}},
                     64, 64);
}

// Four warps read a tile, one thread loads the next when all have.
constexpr const char* lanes_arrive_shared = R"(.shared .align 8 .b64 full;
.shared .align 8 .b64 empty;
.shared .align 128 .f32 tile[128];)";
constexpr const char* lanes_arrive_body = R"(  .reg .b32 %k, %parity;
  .reg .b64 %from, %to;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [empty], 4;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %k, 0;
  setp.ne.u32 %p2, %lane, 0;
  setp.ne.u32 %p0, %warp, 4;
  @%p0 bra consumer;
  @%p2 bra done;
  mov.u64 %from, %src;
produce:
  and.b32 %parity, %k, 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%from], 512, [full];
until_empty:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], %parity;
  @!%p1 bra until_empty;
  add.u64 %from, %from, 512;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra produce;
  bra done;
consumer:
  mul.wide.u32 %to, %t, 4;
  add.u64 %to, %to, %dst;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
consume:
  and.b32 %r2, %k, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r2;
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%r1];
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
  @!%p2 mbarrier.arrive.shared::cta.b64 _, [empty];
  st.global.f32 [%to], %f0;
  add.u64 %to, %to, 512;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 4;
  @%p0 bra consume;
done:)";

Pair lanes_arrive() {
  return floats_pair({.name = "mbarrier-lanes-arrive",
                      .entry = "MB-04",
                      .title = "all lanes of a warp arrive at an mbarrier that counts warps",
                      .code = "PLD4104",
                      .on_device = OnDevice::hangs,
                      .text = Varied(entry_text(lanes_arrive_shared, lanes_arrive_body))
                                  .breaks("@!%p2 mbarrier.arrive.shared::cta.b64 _, [empty];",
                                          "mbarrier.arrive.shared::cta.b64 _, [empty];")
                                  .mark("mbarrier.arrive.shared::cta.b64 _, [empty];", 1),
                      .block = {160, 1, 1}},
                     512, 512);
}

// 64 threads copy four bytes each; then each counts in the phase twice, once when its copy has landed.
constexpr const char* deferred_body = R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 64;
ready:
  bar.sync 0;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.mbarrier.arrive.shared::cta.b64 [full];
  mbarrier.arrive.shared::cta.b64 _, [full];
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  xor.b32 %r0, %r0, 128;
  add.u32 %r2, %r1, %r0;
  ld.shared.f32 %f0, [%r2];
  add.u64 %rd1, %dst, %rd0;
  st.global.f32 [%rd1], %f0;)";
constexpr const char* deferred_shared = R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)";

Pair deferred_arrival_counted_twice() {
  return floats_pair({.name = "mbarrier-noinc-counted-twice",
                      .entry = "MB-25",
                      .title = "cp.async.mbarrier.arrive.noinc takes the place of the threads' own arrivals",
                      .code = "PLD4125",
                      .on_device = OnDevice::hangs,
                      .also = "PLD4322",
                      .text = Varied(entry_text(deferred_shared, deferred_body))
                                  .breaks("cp.async.mbarrier.arrive.shared::cta.b64 [full];",
                                          "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full];")
                                  .mark("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full];", 1)
                                  .mark("ld.shared.f32 %f0, [%r2];", 1),
                      .block = {64, 1, 1}},
                     64, 64);
}

Pair deferred_arrival_not_counted() {
  return floats_pair({.name = "mbarrier-deferred-arrival-not-counted",
                      .entry = "MB-25",
                      .title = "cp.async.mbarrier.arrive without .noinc is the only arrival of a thread",
                      .code = "PLD4125",
                      .on_device = OnDevice::hangs,
                      .text = Varied(entry_text(deferred_shared, deferred_body))
                                  .breaks("mbarrier.arrive.shared::cta.b64 _, [full];", "")
                                  .mark("cp.async.mbarrier.arrive.shared::cta.b64 [full];", 2)
                                  .mark("mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;", 1),
                      .block = {64, 1, 1}},
                     64, 64);
}

// A leader and a follower meet three times; the follower runs ahead with its arrivals.
constexpr const char* rendezvous_shared = R"(.shared .align 8 .b64 met[3];
.shared .align 128 .f32 slots[192];)";
constexpr const char* rendezvous_body = R"(  .reg .b32 %k, %at, %mine;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [met], 64;
  mbarrier.init.shared::cta.b64 [met+8], 64;
  mbarrier.init.shared::cta.b64 [met+16], 64;
ready:
  bar.sync 0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %src, %rd0;
  shl.b32 %r0, %t, 2;
  mov.u32 %mine, slots;
  add.u32 %mine, %mine, %r0;
  mov.u32 %k, 0;
  mov.u32 %at, met;
  setp.eq.u32 %p0, %warp, 0;
  @%p0 bra lead;
follow:
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%mine], %f0;
  mbarrier.arrive.shared::cta.b64 _, [%at];  // @1
  add.u64 %rd1, %rd1, 256;
  add.u32 %mine, %mine, 256;
  add.u32 %at, %at, 8;  //! good
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 3;
  @%p1 bra follow;
  bra read;
lead:
  ld.global.f32 %f0, [%rd1];
  add.f32 %f0, %f0, %f0;
  st.shared.f32 [%mine], %f0;
  mbarrier.arrive.shared::cta.b64 _, [%at];
  and.b32 %r2, %k, 1;  //! broken
  mov.u32 %r2, 0;  //! good
until_met:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%at], %r2;
  @!%p1 bra until_met;
  add.u64 %rd1, %rd1, 256;
  add.u32 %mine, %mine, 256;
  add.u32 %at, %at, 8;  //! good
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 3;
  @%p1 bra lead;
read:
  sub.u32 %mine, %mine, 768;
  xor.b32 %r0, %r0, 128;
  mov.u32 %mine, slots;
  add.u32 %mine, %mine, %r0;
  add.u64 %rd2, %dst, %rd0;
  mov.u32 %at, met;
  mov.u32 %k, 0;
exchange:
  and.b32 %r2, %k, 1;  //! broken
  mov.u32 %r2, 0;  //! good
  @%p0 bra take;
until_both:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%at], %r2;
  @!%p1 bra until_both;
take:
  ld.shared.f32 %f0, [%mine];
  st.global.f32 [%rd2], %f0;
  add.u32 %mine, %mine, 256;
  add.u64 %rd2, %rd2, 256;
  add.u32 %at, %at, 8;  //! good
  add.u32 %k, %k, 1;
  setp.lt.u32 %p1, %k, 3;
  @%p1 bra exchange;)";

Pair rendezvous_too_shallow() {
  return floats_pair({.name = "mbarrier-rendezvous-too-shallow",
                      .entry = "MB-26",
                      .title = "one mbarrier for three rounds: a warp that runs ahead completes phases alone",
                      .code = "PLD4126",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(rendezvous_shared, rendezvous_body),
                      .block = {64, 1, 1}},
                     192, 192);
}

}  // namespace

std::vector<Pair> mbarrier_count_pairs() {
  return {count_too_large(),
          count_too_small(),
          bad_count("mbarrier-count-zero", "an mbarrier that expects no arrivals", "0"),
          bad_count("mbarrier-count-too-big", "an mbarrier that expects more arrivals than it can count",
                    "1048576"),
          lanes_arrive(),
          deferred_arrival_counted_twice(),
          deferred_arrival_not_counted(),
          rendezvous_too_shallow()};
}

}  // namespace palladion::zoo
