// Distributed shared memory, loads, stores and atomics: latency and throughput between the CTAs of a
// cluster, one way, both ways, among many.
#include <fmt/format.h>

#include "bench/device/micro_route.h"

namespace palladion::bench {
namespace {

using Way = Route::Way;

struct Op {
  const char* name;
  const char* step;  // %x<i>: a place in another CTA that holds its own address
  int bytes;         // of a lane
};

const Op ld_b32{"ld.b32", "ld.volatile.shared::cluster.u32 %x<i>, [%x<i>];", 4};
const Op ld_v4{"ld.v4", "ld.volatile.shared::cluster.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];", 16};
const Op ld_weak{"ld.weak.b32", "ld.shared::cluster.u32 %x<i>, [%x<i>];", 4};
const Op st_b32{"st.b32", "st.volatile.shared::cluster.u32 [%x<i>], %x<i>;", 4};
const Op st_v4{"st.v4", "st.volatile.shared::cluster.v4.u32 [%x<i>], {%x<i>, %c1, %c2, %c3};", 16};
const Op atom{"atom.add", "atom.shared::cluster.add.u32 %x<i>, [%x<i>], %x99;", 4};

struct Access {
  Op op;
  int warps = 1, chains = 1;
  Route route;
  int lanes = 32;
  int stride = 0;  // bytes between lanes; 0: those of the op
};

std::string describe(const Access& a) {
  std::string out = fmt::format("warps={} chains={}", a.warps, a.chains);
  if (a.lanes != 32) out += fmt::format(" lanes={}", a.lanes);
  if (a.stride != 0) out += fmt::format(" stride={}", a.stride);
  return out;
}

// Each thread has a place that holds the place's own address: a thread that loads it can load from there
// again.
std::string places(const Access& a) {
  return fmt::format(
      "mul.lo.u32 %x90, %me, {}; add.u32 %x93, %x90, %s; mapa.shared::cluster.u32 %x91, %x93, %rank;\n"
      "st.shared.u32 [%x93], %x91;\nsetp.lt.u32 %p9, %lane, {};\n"
      "setp.eq.u32 %p0, %c0, 0x12345; selp.u32 %x99, 1, 0, %p0;\n",
      a.stride != 0 ? a.stride : a.op.bytes, a.lanes);
}

Case access(const Access& a) {
  const int steps = 64;
  Part part;
  part.warps = a.warps;
  part.before = only("%sends");
  for (int i = 0; i < a.chains; ++i)
    part.before += fmt::format("add.u32 %x{}, %to{}, %x90;\n", i, i % a.route.targets());
  for (int i = 0; i < steps / a.chains; ++i) part.body += repeat(a.op.step, a.chains);
  if (a.lanes != 32) part.body = "@!%p9 bra $idle;\n" + part.body + "$idle:\n";
  for (int i = 0; i < a.chains; ++i) part.use.push_back("%x" + std::to_string(i));
  KernelText k{.prologue = places(a), .parts = {part}};
  Case c = cluster_case(std::string("dsmem.") + a.op.name, describe(a), k, a.route, a.warps);
  c.unit = "cycles/instruction/SM";
  c.operations = double(steps) * a.warps;
  return c;
}

// How long `count` stores hold the warp that issues them.
Case held(const Op& op, int count) {
  const Access a{.op = op};
  Part part;
  part.before = only("%sends") + "add.u32 %x0, %to0, %x90;\n";
  part.before += "mov.u64 %q10, %clock64;\n" + repeat(fill(op.step, {{"i", "0"}}), count) +
                 "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\n";
  KernelText k{.prologue = places(a), .parts = {part}};
  Case c = cluster_case(fmt::format("dsmem.{}.held", op.name), fmt::format("count={}", count), k, a.route, 1);
  c.unit = "cycles";
  c.shorter = 0;
  c.longer = 1;
  c.measure = extra;
  return c;
}

// Loads of the CTA's own shared memory while other warps go to the cluster's.
Case beside(const char* what, const Op& op, int chains) {
  KernelText k{.prologue = places({.op = op}) + "add.u32 %x94, %x93, 16384; st.shared.u32 [%x94], %x94;\n"};
  Part own{.warps = 4, .before = only("%sends")};
  for (int i = 0; i < chains; ++i) own.before += fmt::format("mov.u32 %x{}, %x94;\n", 20 + i);
  for (int i = 0; i < 64; ++i)
    own.body += fmt::format("ld.volatile.shared.u32 %x{0}, [%x{0}];\n", 20 + i % chains);
  for (int i = 0; i < chains; ++i) own.use.push_back("%x" + std::to_string(20 + i));
  Part others{.first_warp = 4, .warps = 4, .timed = false, .background = true};
  for (int i = 0; i < 4; ++i) others.before += fmt::format("add.u32 %x{}, %to0, %x90;\n", i);
  for (int i = 0; i < 4; ++i) others.body += repeat(op.step, 4);
  k.parts = {own, others};
  Case c = cluster_case("dsmem.beside", fmt::format("ld.shared {}", what), k, {}, 8);
  c.unit = "cycles/instruction/SM";
  c.operations = 64 * 4;
  return c;
}

// Fences of four warps while four others are busy with `step`.
Case fence_beside(const char* what, const std::string& step) {
  // Behind the flag that ends the background.
  KernelText k{.prologue =
                   places({.op = ld_b32}) +
                   "add.u32 %x94, %x93, 4096; add.u32 %x95, %x91, 4096; st.shared.u32 [%x94], %x95;\n"};
  Part fences{.warps = 4, .before = only("%sends"), .body = repeat("fence.acq_rel.cluster;", 8)};
  Part others{.first_warp = 4, .warps = 4, .timed = false, .background = true};
  others.before = "add.u32 %x0, %to0, %x90; add.u32 %x0, %x0, 4096;\n";
  others.body = repeat(fill(step, {{"i", "0"}}), 4);
  k.parts = {fences, others};
  Case c = cluster_case("dsmem.beside", std::string("fence.cluster beside ") + what, k, {}, 8);
  c.unit = "cycles";
  c.operations = 8;
  return c;
}

// A flag from SM to SM: a store into the other's shared memory, where it polls. Half a round trip.
Case flag() {
  KernelText k{.prologue = "mov.u32 %x5, 0; st.shared.u32 [%s], %x5;\n"};
  const char* const send = "add.u32 %x1, %i, 1;\nst.volatile.shared::cluster.u32 [%to0], %x1;\n";
  const auto wait = [](const char* label) {
    return fill("$<l>: ld.volatile.shared.u32 %x2, [%s];\nsetp.le.u32 %p14, %x2, %i;\n@%p14 bra $<l>;\n",
                {{"l", label}});
  };
  k.parts = {{.before = "setp.eq.u32 %p12, %rank, 0;\n",
              .body = std::string("@!%p12 bra $second;\n") + send + wait("a") + "bra $turned;\n$second:\n" +
                      wait("b") + send + "$turned:\n"}};
  Case c = cluster_case("dsmem.flag", "", k, {.way = Way::both_ways}, 1);
  c.unit = "cycles one way";
  c.operations = 2;
  return c;
}

void add_pairs(std::vector<Case>& out) {
  for (const Op& op : {ld_b32, ld_v4, st_b32, st_v4, atom}) {
    for (const auto& [warps, chains, way] : {std::tuple{1, 1, Way::one_way},
                                             {1, 8, Way::one_way},
                                             {16, 4, Way::one_way},
                                             {16, 4, Way::both_ways},
                                             {1, 1, Way::self},
                                             {16, 4, Way::self}})
      out.push_back(access({op, warps, chains, {.way = way}}));
  }
  for (const Op& op : {ld_b32, ld_v4})
    for (const auto& [warps, chains] : {std::pair{1, 2}, {1, 4}, {4, 4}})
      out.push_back(access({op, warps, chains, {}}));
  for (const auto& [warps, chains] : {std::pair{1, 1}, {16, 4}}) {
    out.push_back(access({ld_weak, warps, chains, {}}));
    out.push_back(access({ld_weak, warps, chains, {.way = Way::self}}));
  }
}

void add_shapes(std::vector<Case>& out) {
  for (const Op& op : {ld_b32, st_b32, atom}) {
    for (const int lanes : {1, 8, 20}) out.push_back(access({op, 16, 4, {}, lanes}));
    for (const int stride : {8, 16, 32, 128}) out.push_back(access({op, 16, 4, {}, 32, stride}));
    for (const int stride : {16, 128})
      out.push_back(access({op, 16, 4, {.way = Way::both_ways}, 32, stride}));
  }
  for (const int lanes : {1, 8}) {
    out.push_back(access({ld_v4, 16, 4, {}, lanes}));
    out.push_back(access({st_v4, 16, 4, {}, lanes}));
  }
  out.push_back(access({ld_b32, 1, 1, {}, 32, 128}));
}

void add_contention(std::vector<Case>& out) {
  for (const Op& op : {ld_v4, st_v4}) {
    for (const int ctas : {4, 8, 16})
      for (const Way way : {Way::ring, Way::all_to_all}) out.push_back(access({op, 16, 4, {way, ctas}}));
    out.push_back(access({op, 16, 4, {Way::to_one, 4}}));
    out.push_back(access({op, 16, 4, {Way::from_one, 4}}));
    for (const int clusters : {2, 8, 16, 24, 33, 48, 66})
      out.push_back(access({op, 16, 4, {Way::both_ways, 2, clusters}}));
    out.push_back(access({op, 16, 4, {Way::one_way, 2, 66}}));
    out.push_back(access({op, 16, 4, {Way::all_to_all, 4, 30}}));
  }
  out.push_back(access({st_b32, 16, 4, {Way::both_ways, 2, 66}, 32, 16}));
  out.push_back(access({ld_b32, 16, 4, {Way::both_ways, 2, 66}}));
  out.push_back(access({st_b32, 16, 4, {Way::both_ways, 2, 66}}));
}

}  // namespace

std::vector<Case> cluster_cases() {
  std::vector<Case> out;
  add_pairs(out);
  add_shapes(out);
  add_contention(out);
  for (const int count : {1, 4, 16, 64})
    for (const Op& op : {st_b32, st_v4}) out.push_back(held(op, count));
  out.push_back(beside("beside st.b32", st_b32, 1));
  out.push_back(beside("beside st.v4", st_v4, 1));
  out.push_back(beside("beside ld.v4", ld_v4, 1));
  out.push_back(fence_beside("ld.b32", ld_b32.step));
  out.push_back(fence_beside("st.b32", st_b32.step));
  out.push_back(
      fence_beside("ld.shared", "ld.volatile.shared.u32 %x1, [%x93+32768]; add.u32 %x2, %x2, %x1;"));
  out.push_back(fence_beside("fence.cluster", "fence.acq_rel.cluster;"));
  out.push_back(flag());
  for (std::vector<Case> more : {cluster_async_cases(), exchange_cases()})
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return out;
}

}  // namespace palladion::bench
