// RS: more than an SM has, or a launch that no GPU takes.
#include <functional>

#include "zoo/groups.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// A pair whose twins are one program, launched in two ways.
Pair launch_pair(PtxPair pair, const std::function<void(Job&)>& mistake) {
  Pair out = ptx_pair(std::move(pair));
  out.make = [make = std::move(out.make), mistake](bool broken) {
    Specimen twin = make(broken);
    if (broken) mistake(twin.job);
    return twin;
  };
  return out;
}

constexpr int kib = 1024;

// Stages of 48 KiB; only the first numbers of each are used.
Pair too_many_stages() {
  return launch_pair({.name = "resources-too-much-shared-memory",
                      .entry = "RS-01",
                      .title = "five stages of 48 KiB: a CTA has 227 KiB",
                      .code = "PLD3108",
                      .on_device = OnDevice::no,
                      .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, stages;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a0], %f0;
  ld.global.f32 %f1, [%rd1+512];
  st.shared.f32 [%a0+49152], %f1;
  bar.sync 0;
  ld.shared.f32 %f0, [%a0];
  ld.shared.f32 %f1, [%a0+49152];
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                                      ".extern .shared .align 16 .b8 stages[];\n"),
                      .dynamic_shared = 4 * 48 * kib,
                      .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128)},
                      .params = pointers(2)},
                     [](Job& job) { job.dynamic_shared = 5 * 48 * kib; });
}

Pair grid_not_whole_clusters() {
  return launch_pair({.name = "resources-grid-of-broken-clusters",
                      .entry = "RS-04",
                      .title = "a grid of 6 CTAs in clusters of 4",
                      .code = "PLD3103",
                      .on_device = OnDevice::no,
                      .text = program({{"in"}, {"out"}}, R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a1], %f0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  xor.b32 %r1, %rank, 1;
  mapa.shared::cluster.u32 %a2, %a1, %r1;
  ld.shared::cluster.f32 %f1, [%a2];
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                                      ".shared .align 16 .b8 tile[512];\n"),
                      .grid = {8, 1, 1},
                      .cluster = {4, 1, 1},
                      .buffers = {counting("in", pl::f32, 1024), result("out", pl::f32, 1024)},
                      .params = pointers(2)},
                     [](Job& job) { job.grid = {6, 1, 1}; });
}

// Warpgroups that give registers to one another; each adds a constant of its own.
PtxPair register_roles(std::string name, std::string title, std::string code, OnDevice on_device,
                       std::string_view roles, uint32_t warpgroups, std::string_view directives) {
  return {.name = std::move(name),
          .entry = "RS-02",
          .title = std::move(title),
          .code = std::move(code),
          .on_device = on_device,
          .text = program({{"in"}, {"out"}}, std::string(R"(
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  add.u64 %rd1, %out, %rd0;
  shr.u32 %r0, %t, 7;
)") + std::string(roles) + R"(
  cvt.rn.f32.u32 %f1, %r0;
  add.f32 %f0, %f0, %f1;
  st.global.f32 [%rd1], %f0;)",
                          "", directives),
          .block = {128 * warpgroups, 1, 1},
          .buffers = {counting("in", pl::f32, 128 * warpgroups), result("out", pl::f32, 128 * warpgroups)},
          .params = pointers(2)};
}

Pair wrong_direction() {
  return ptx_pair(register_roles("resources-setmaxnreg-wrong-direction",
                                 "setmaxnreg.inc to fewer registers than the warps have", "PLD3051",
                                 OnDevice::faults, R"(
  setp.eq.u32 %p0, %r0, 0;
  @%p0 bra FEW;
  setmaxnreg.inc.sync.aligned.u32 216;
  barrier.sync 1, 128;
  setmaxnreg.dec.sync.aligned.u32 192;  //! good
  setmaxnreg.inc.sync.aligned.u32 192;  // @1   //! broken
  bra STORE;
FEW:
  setmaxnreg.dec.sync.aligned.u32 120;
STORE:)",
                                 2, ".maxntid 256, 1, 1 .maxnreg 168"));
}

Pair over_budget() {
  return ptx_pair(register_roles("resources-registers-over-budget",
                                 "three roles want 240 + 240 + 40 registers a thread, launched with 3 x 168",
                                 "PLD4907", OnDevice::hangs, R"(
  setp.eq.u32 %p0, %r0, 0;
  @%p0 bra FEW;
  setmaxnreg.inc.sync.aligned.u32 240;  // @1
  bra STORE;
FEW:
  setmaxnreg.dec.sync.aligned.u32 24;  //! good
  setmaxnreg.dec.sync.aligned.u32 40;  //! broken
STORE:)",
                                 3, ".maxntid 384, 1, 1 .maxnreg 168"));
}

}  // namespace

std::vector<Pair> resource_pairs() {
  return {too_many_stages(), wrong_direction(), over_budget(), grid_not_whole_clusters()};
}

}  // namespace palladion::zoo
