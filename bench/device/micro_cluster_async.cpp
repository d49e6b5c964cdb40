// What lands in another CTA's shared memory asynchronously and signals an mbarrier there: st.async,
// red.async, bulk copies.
#include <fmt/format.h>

#include "bench/device/micro_route.h"

namespace palladion::bench {
namespace {

using Way = Route::Way;

// A round: each sender issues `count` of them, shared out among its targets, then waits until all targets
// have signalled that all data have landed.
struct Round {
  std::string name;
  std::string step;  // <to>: the target's window, <at>: of the sender's own, offset <i>
  int bytes;         // of a lane's, or of a copy
  int count = 16;
  int warps = 1;
  Route route;
  int lanes = 32;
  int stride = 0;  // bytes between lanes; 0: those of one
};

// [%s] completes when all has come, [%s+8] when all targets have said so.
std::string mbarriers(const Route& r) {
  return fmt::format(
      "setp.eq.u32 %p15, %me, 0;\n@%p15 mbarrier.init.shared::cta.b64 [%s], 1;\n"
      "@%p15 mbarrier.init.shared::cta.b64 [%s+8], {};\nfence.mbarrier_init.release.cluster;\n",
      r.targets());
}

constexpr int data_at = 1024;  // of the window

std::string senders_body(const Round& r) {
  std::string out;
  for (int i = 0; i < r.count; ++i)
    out += fill(r.step, {{"to", "%to" + std::to_string(i % r.route.targets())},
                         {"place", "%x" + std::to_string(20 + i % r.route.targets())},
                         {"i", std::to_string(data_at + i * r.bytes)}}) +
           "\n";
  if (r.lanes != 32) out = "@!%p13 bra $idle;\n" + out + "$idle:\n";
  return out +
         "and.b32 %x0, %i, 1;\n$echo: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s+8], %x0;\n@!%p14 "
         "bra $echo;\n";
}

std::string receivers_body(const Round& r) {
  const int bytes = r.bytes * r.lanes * r.warps * r.count * r.route.sources() / r.route.targets();
  std::string out =
      fmt::format("@%p12 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], {};\nand.b32 %x0, %i, 1;\n",
                  bytes) +
      "$full: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], %x0;\n@!%p14 bra $full;\n";
  for (int j = 0; j < r.route.sources(); ++j)
    out += fmt::format("@%p12 mbarrier.arrive.shared::cluster.b64 _, [%from{}+8];\n", j);
  return out;
}

Case round(const Round& r) {
  Part sender, receiver;
  sender.warps = r.warps;
  sender.before = only("%sends") +
                  fmt::format("mad.lo.u32 %x9, %me, {}, {};\n", r.stride != 0 ? r.stride : r.bytes, data_at);
  for (int j = 0; j < r.route.targets(); ++j)
    sender.before += fmt::format("add.u32 %x{}, %to{}, %x9;\n", 20 + j, j);
  sender.body = senders_body(r);
  receiver.first_warp = r.warps;
  receiver.before = only("%receives");
  receiver.body = receivers_body(r);
  receiver.timed = false;
  KernelText k{.directives = ".maxnreg 64"};
  k.prologue =
      mbarriers(r.route) + fmt::format("setp.lt.u32 %p13, %lane, {}; setp.eq.u32 %p12, %lane, 0;\n", r.lanes);
  k.parts = {sender, receiver};
  std::string parameters = fmt::format("warps={} count={}", r.warps, r.count);
  if (r.lanes != 32) parameters += fmt::format(" lanes={}", r.lanes);
  if (r.stride != 0) parameters += fmt::format(" stride={}", r.stride);
  Case c = cluster_case("dsmem." + r.name, parameters, k, r.route, r.warps + 1);
  c.unit = "cycles/round";
  c.shorter = 16;
  c.longer = 80;
  return c;
}

const char* const store_b32 =
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [<place>], %c0, [<to>];";
const char* const store_b64 =
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [<place>], %k0, [<to>];";
const char* const store_v4 =
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [<place>], {%c0, %c1, %c2, %c3}, "
    "[<to>];";
const char* const reduce =
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [<place>], %c0, "
    "[<to>];";

Round b32(int warps, int count, const Route& route, int lanes = 32, int stride = 0) {
  return {"st.async.b32", store_b32, 4, count, warps, route, lanes, stride};
}
Round v4(int warps, int count, const Route& route, int lanes = 32) {
  return {"st.async.v4", store_v4, 16, count, warps, route, lanes, 0};
}
Round red(int warps, int count, const Route& route, int lanes = 32) {
  return {"red.async", reduce, 4, count, warps, route, lanes, 0};
}

void add_stores(std::vector<Case>& out) {
  const auto add = [&](const Round& r) { out.push_back(round(r)); };
  for (const int lanes : {1, 2, 8, 16, 20, 32}) add(b32(1, 16, {}, lanes));
  for (const int count : {1, 4, 64}) add(b32(1, count, {}));
  add(b32(1, 1, {}, 1));
  add(b32(1, 64, {}, 1));
  add({"st.async.b64", store_b64, 8, 16, 1, {}});
  for (const int lanes : {1, 8, 32}) add(v4(1, 16, {}, lanes));
  for (const int stride : {8, 16, 32, 128}) add(b32(1, 16, {}, 32, stride));
  for (const Way way : {Way::both_ways, Way::self}) add(b32(4, 16, {.way = way}, 32, 16));
  add(b32(4, 12, {Way::all_to_all, 4}, 32, 16));
  add(b32(4, 16, {Way::everyone, 2}, 32, 16));
  add(b32(4, 16, {Way::everyone, 2}));
  add(b32(4, 16, {Way::everyone, 2, 66}, 32, 16));
  add(b32(4, 16, {Way::both_ways, 2, 66}, 32, 16));
  add(b32(4, 16, {Way::self, 2, 66}, 32, 16));
  add(b32(4, 12, {Way::all_to_all, 4, 30}, 32, 16));
  add(b32(4, 64, {.way = Way::both_ways}, 32, 16));
  add(b32(4, 64, {Way::both_ways, 2, 66}, 32, 16));
  add(b32(4, 64, {Way::everyone, 2, 66}, 32, 16));
  for (const int clusters : {8, 16, 33}) add(b32(4, 16, {Way::both_ways, 2, clusters}));
  add(v4(4, 16, {Way::both_ways, 2, 66}));
  for (const int warps : {4, 8}) add(b32(warps, 16, {}));
  add(b32(4, 16, {}, 1));
  add(v4(4, 16, {}));
  for (const Way way : {Way::both_ways, Way::self}) {
    add(b32(1, 16, {.way = way}));
    add(b32(4, 16, {.way = way}));
    add(b32(1, 16, {.way = way}, 1));
    add(v4(4, 16, {.way = way}));
  }
  for (const Way way : {Way::ring, Way::all_to_all, Way::to_one, Way::from_one}) add(b32(4, 12, {way, 4}));
  for (const Way way : {Way::ring, Way::all_to_all}) add(b32(4, 14, {way, 8}));
  add(b32(4, 16, {Way::both_ways, 2, 66}));
  add(b32(4, 12, {Way::all_to_all, 4, 30}));
  for (const int lanes : {1, 32}) add(red(1, 16, {}, lanes));
  add(red(4, 16, {}));
  add(red(4, 16, {.way = Way::both_ways}));
  add(red(4, 16, {.way = Way::self}));
}

// By one lane.
Round copies(int bytes, int in_flight, const Route& route) {
  const std::string step = fmt::format(
      "add.u32 %x1, <to>, <i>; add.u32 %x2, %s, <i>;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%x1], [%x2], {}, [<to>];",
      bytes);
  return {"bulk", step, bytes, in_flight, 1, route, 1};
}

Case bulk(int bytes, int in_flight, const Route& route) {
  Case c = round(copies(bytes, in_flight, route));
  c.parameters = fmt::format("bytes={} in_flight={} {}", bytes, in_flight, route.describe());
  return c;
}

// How long the issue of `count` of them, and of `last` after them, holds the warp.
Case held(const Round& r, const std::string& last = "") {
  const int bytes = r.bytes * r.lanes * r.count;
  KernelText k;
  k.prologue = mbarriers({}) + "setp.eq.u32 %p12, %lane, 0;\n";
  Part part;
  part.before = only("%sends") + fmt::format("setp.lt.u32 %p13, %lane, {};\n", r.lanes);
  part.before += fmt::format("mad.lo.u32 %x9, %me, {}, {}; add.u32 %x20, %to0, %x9;\n",
                             r.stride != 0 ? r.stride : r.bytes, data_at);
  part.before += "setp.ne.and.u32 %p11, %n, 0, %p13;\n@!%p11 bra $idle;\nmov.u64 %q10, %clock64;\n";
  for (int i = 0; i < r.count; ++i)
    part.before +=
        fill(r.step, {{"to", "%to0"}, {"place", "%x20"}, {"i", std::to_string(data_at + i % 8 * r.bytes)}}) +
        "\n";
  part.before += last + "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\n$idle:\n";
  part.before += fmt::format(
      "@%receives mov.u32 %n, 1;\n@%sends bra $gone;\n@%p12 mbarrier.arrive.expect_tx.shared::cta.b64 _, "
      "[%s], {};\n$full: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], 0;\n@!%p14 bra "
      "$full;\n$gone:\n",
      bytes);
  k.parts = {part};
  std::string parameters = fmt::format("count={}", r.count);
  if (r.lanes == 1) parameters = fmt::format("bytes={} {}", r.bytes, parameters);
  if (r.stride != 0) parameters += fmt::format(" stride={}", r.stride);
  Case c = cluster_case(fmt::format("dsmem.{}.held", r.name), parameters + (last.empty() ? "" : " fence"), k,
                        {}, 1);
  c.unit = "cycles";
  c.shorter = 0;
  c.longer = 1;
  c.measure = extra;
  return c;
}

void add_bulk(std::vector<Case>& out) {
  for (const auto& [bytes, in_flight] : {std::pair{128, 1}, {2048, 1}, {2048, 8}, {16384, 1}, {16384, 4}})
    for (const Way way : {Way::one_way, Way::both_ways, Way::self})
      out.push_back(bulk(bytes, in_flight, {.way = way}));
  for (const auto& [bytes, in_flight] : {std::pair{16, 16}, {128, 4}, {128, 16}, {512, 16}, {1024, 16}})
    out.push_back(bulk(bytes, in_flight, {}));
  for (const int ctas : {4, 8, 16}) {
    out.push_back(bulk(4096, 12, {Way::ring, ctas}));
    out.push_back(bulk(4096, ctas == 4 ? 12 : ctas == 8 ? 14 : 15, {Way::all_to_all, ctas}));
  }
  for (const Way way : {Way::to_one, Way::from_one}) out.push_back(bulk(4096, 12, {way, 4}));
  out.push_back(bulk(16384, 4, {Way::both_ways, 2, 66}));
  out.push_back(bulk(4096, 12, {Way::all_to_all, 4, 30}));
}

// st.async into the other CTA and an echo: half a round trip.
Case store_async() {
  KernelText k;
  k.prologue =
      "setp.eq.u32 %p15, %me, 0;\n@%p15 mbarrier.init.shared::cta.b64 [%s], "
      "1;\nfence.mbarrier_init.release.cluster;\n";
  const std::string send =
      "@%p13 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%to0+64], %c0, [%to0];\n";
  const std::string expect =
      "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 4;\nand.b32 %x0, %i, 1;\n";
  const std::string wait =
      "$<l>: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], %x0;\n@!%p14 bra $<l>;\n";
  Part part;
  part.before = "setp.eq.u32 %p13, %lane, 0; setp.eq.u32 %p12, %rank, 0;\n";
  part.body = "@!%p12 bra $second;\n" + send + expect + fill(wait, {{"l", "a"}}) +
              "bra $turned;\n$second:\n" + expect + fill(wait, {{"l", "b"}}) + send + "$turned:\n";
  k.parts = {part};
  Case c = cluster_case("dsmem.st.async", "", k, {.way = Way::both_ways}, 1);
  c.parameters = "";
  c.unit = "cycles one way";
  c.shorter = 16;
  c.longer = 80;
  c.operations = 2;
  return c;
}

}  // namespace

std::vector<Case> cluster_async_cases() {
  std::vector<Case> out;
  add_stores(out);
  add_bulk(out);
  for (const int count : {1, 4, 16, 64}) {
    out.push_back(held(b32(1, count, {})));
    out.push_back(held(b32(1, count, {}, 32, 16)));
    out.push_back(held(v4(1, count, {})));
    for (const int bytes : {128, 4096}) out.push_back(held(copies(bytes, count, {})));
  }
  for (const int count : {1, 16}) out.push_back(held(b32(1, count, {}), "fence.acq_rel.cluster;\n"));
  out.push_back(held(b32(1, 16, {}, 32, 16), "fence.acq_rel.cluster;\n"));
  out.push_back(store_async());
  return out;
}

}  // namespace palladion::bench
