// Launch: when the CTAs of a grid start, where, and how soon one follows another on its SM.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/device/micro.h"
#include "bench/device/micro_wgmma.h"

namespace palladion::bench {
namespace {

struct Grid {
  int ctas, threads, cluster = 1;
  uint32_t shared = 0;
  int busy = 2000;                         // cycles that each CTA stays
  const char* directives = ".maxnreg 32";  // what ptxas needs
};

std::string describe(const Grid& g) {
  return fmt::format("ctas={} threads={} shared={} cluster={}", g.ctas, g.threads, g.shared, g.cluster);
}

Case frame(const char* name, const Grid& g, const char* unit, Measure measure) {
  Part part;
  part.warps = (g.threads + 31) / 32;
  part.before = "mov.u64 %q0, %clock64;\n";
  part.drain = fmt::format(
      "$stay: mov.u64 %q1, %clock64; sub.u64 %q1, %q1, %q0; setp.lt.u64 %p0, %q1, {};\n@%p0 bra $stay;\n",
      g.busy);
  Case c;
  c.name = name;
  c.parameters = describe(g);
  c.unit = unit;
  c.text = text({.directives = g.directives, .parts = {part}});
  c.grid = {uint32_t(g.ctas), 1, 1};
  c.block = {uint32_t(g.threads), 1, 1};
  c.cluster = {uint32_t(g.cluster), 1, 1};
  c.shared_bytes = g.shared;
  c.shorter = 0;
  c.longer = 1;
  c.needs_clock = true;
  c.measure = std::move(measure);
  return c;
}

struct Stay {
  uint64_t start, end;
};

// CTAs by SM, in the order of their starts.
std::map<uint32_t, std::vector<Stay>> by_sm(const Outcome& o, int warps) {
  std::map<uint32_t, std::vector<Stay>> out;
  for (size_t i = 0; i < o.stamps.size(); i += size_t(warps)) {
    Stay stay{~0ull, 0};
    for (int w = 0; w < warps; ++w) {
      stay.start = std::min(stay.start, o.stamps[i + size_t(w)].start);
      stay.end = std::max(stay.end, o.stamps[i + size_t(w)].end);
    }
    out[uint32_t(o.stamps[i].smid)].push_back(stay);
  }
  for (auto& [sm, stays] : out) std::ranges::sort(stays, {}, &Stay::start);
  return out;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The median over neighbouring stays on an SM.
Measure between_neighbours(int warps, double (*gap)(const Stay& before, const Stay& after)) {
  return [=](const Outcome& o) {
    std::vector<double> gaps;
    for (const auto& [sm, stays] : by_sm(o, warps))
      for (size_t i = 1; i < stays.size(); ++i) gaps.push_back(gap(stays[i - 1], stays[i]));
    return median_of(gaps);
  };
}

// From the end of a CTA to the start of the next on its SM, where one fits at a time.
Measure replacement(int warps) {
  return between_neighbours(
      warps, [](const Stay& before, const Stay& after) { return double(after.start) - double(before.end); });
}

// Between starts on one SM that are not waiting for room.
Measure start_interval(int warps) {
  return between_neighbours(warps, [](const Stay& before, const Stay& after) {
    return double(after.start) - double(before.start);
  });
}

// The same over all of a grid whose CTAs leave at once: as fast as an SM is given new ones.
Measure start_rate(int warps) {
  return [=](const Outcome& o) {
    std::vector<double> rates;
    for (const auto& [sm, stays] : by_sm(o, warps))
      if (stays.size() > 1)
        rates.push_back(double(stays.back().start - stays.front().start) / double(stays.size() - 1));
    return median_of(rates);
  };
}

// Between the first and the last start of the grid, ns.
double skew(const Outcome& o) {
  uint64_t first = ~0ull, last = 0;
  for (const Stamp& s : o.stamps) first = std::min(first, s.start_time), last = std::max(last, s.start_time);
  return double(last - first);
}

// CTAs that were there before the first left.
double resident(const Outcome& o, int warps) {
  uint64_t first_end = ~0ull;
  for (const Stamp& s : o.stamps) first_end = std::min(first_end, s.end_time);
  double count = 0;
  for (size_t i = 0; i < o.stamps.size(); i += size_t(warps)) count += o.stamps[i].start_time < first_end;
  return count;
}

// The most CTAs that an SM has at once, all being there together.
double most_on_an_sm(const Outcome& o, int warps) {
  std::map<uint64_t, int> count;
  int most = 0;
  for (size_t i = 0; i < o.stamps.size(); i += size_t(warps))
    most = std::max(most, ++count[o.stamps[i].smid]);
  return most;
}

double used_sms(const Outcome& o) {
  std::set<uint64_t> sms;
  for (const Stamp& s : o.stamps) sms.insert(s.smid);
  return double(sms.size());
}

// Registers change hands: three warpgroups; %e0 is what the instruction took in the warp.
Case registers(bool increase) {
  KernelText k{.directives = ".reqntid 384, 1, 1 .maxnreg 168"};
  const char* const timed =
      "bar.sync 1, <threads>;\nmov.u64 %q0, %clock64;\nsetmaxnreg.<how>.sync.aligned.u32 <count>;\nmov.u64 "
      "%q1, %clock64; sub.u64 %e0, %q1, %q0;\n";
  Part giver{.warps = 4}, taker{.first_warp = 4, .warps = 8};
  giver.before = fill(timed, {{"threads", "384"}, {"how", "dec"}, {"count", "40"}});
  taker.before = fill(timed, {{"threads", "384"}, {"how", "inc"}, {"count", "232"}});
  k.parts = {giver, taker};
  Case c = frame("launch.setmaxnreg", {.ctas = 1, .threads = 384}, "cycles", extra);
  c.parameters = increase ? "inc 232" : "dec 40";
  c.text = text(k);
  if (increase) c.measure = [](const Outcome& o) { return double(o.stamps[4].extra0); };
  return c;
}

// A grid that does nothing but write its stamps: how long it takes as a whole, as Nsight Compute counts it.
Case nothing(const Grid& g) {
  Case c = frame("launch.elapsed", g, "sm__cycles_elapsed.max", used_sms);
  c.text = text({.directives = g.directives, .parts = {{.warps = (g.threads + 31) / 32}}});
  c.elapsed = true;
  return c;
}

// The same around the tensor cores of `ctas` SMs at work: rounds of 4096 cycles.
Case products(int ctas, uint32_t rounds) {
  const WgmmaShape shape{.n = 256};
  Case c = frame("launch.tensor", {.ctas = ctas, .threads = 256, .shared = 96 << 10},
                 "sm__cycles_elapsed.max", used_sms);
  c.text = text(wgmma_kernel(shape, wgmma_chain(shape, 16) + "wgmma.wait_group.sync.aligned 1;\n", 2));
  c.parameters = fmt::format("ctas={} rounds={}", ctas, rounds);
  c.longer = rounds;
  c.data.bytes = 8192;
  c.elapsed = true;
  c.values = ctas == 1;
  return c;
}

// A full chip that runs straight code once, which is in L2 or is not.
Case code(bool cold, int instructions) {
  const Grid g{.ctas = 132, .threads = 128, .directives = ""};
  Case c = frame(cold ? "launch.code.cold" : "launch.code.warm", g, "sm__cycles_elapsed.max", used_sms);
  c.parameters = fmt::format("instructions={}", instructions);
  Part part{.warps = 4, .use = {"%x0"}};
  part.before = "mov.f32 %f0, %g0;\n";
  part.body = repeat("fma.rn.f32 %f0, %f0, %f0, %g1;", instructions);
  part.after = "mov.b32 %x0, %f0;\n";
  c.text = text({.parts = {part}});
  c.cold = cold;
  c.elapsed = true;
  return c;
}

}  // namespace

std::vector<Case> launch_cases() {
  std::vector<Case> out;
  for (const int ctas : {1, 8, 16, 32, 64, 128, 132})
    for (const uint32_t rounds : {2, 8, 64}) out.push_back(products(ctas, rounds));
  for (const bool cold : {false, true})
    for (const int instructions : {1, 512, 1024, 2048, 4096}) out.push_back(code(cold, instructions));
  for (const int ctas : {1, 132, 264, 1320, 13200}) out.push_back(nothing({.ctas = ctas, .threads = 128}));
  for (const int ctas : {132, 264, 1320})
    out.push_back(nothing({.ctas = ctas, .threads = 384, .shared = 200 << 10}));
  for (const int cluster : {2, 4, 8})
    out.push_back(nothing({.ctas = 128, .threads = 384, .cluster = cluster, .shared = 200 << 10}));
  for (const int threads : {32, 128, 384, 1024})
    out.push_back(frame("launch.replace", {.ctas = 528, .threads = threads, .shared = 200 << 10}, "cycles",
                        replacement(threads / 32)));
  for (const auto& [threads, cluster] : {std::pair{384, 2}, {384, 4}, {384, 8}, {32, 2}, {128, 2}, {1024, 2}})
    out.push_back(frame("launch.replace",
                        {.ctas = 528, .threads = threads, .cluster = cluster, .shared = 200 << 10}, "cycles",
                        replacement(threads / 32)));
  for (const int threads : {32, 128, 256, 512, 1024})
    out.push_back(frame("launch.rate", {.ctas = 132 * 64, .threads = threads, .busy = 0}, "cycles",
                        start_rate(threads / 32)));
  for (const int threads : {32, 128})
    out.push_back(frame("launch.start_interval", {.ctas = 132 * 16, .threads = threads, .busy = 100000},
                        "cycles", start_interval(threads / 32)));
  for (const int ctas : {132, 2112})
    out.push_back(frame("launch.skew", {.ctas = ctas, .threads = 128, .busy = 100000}, "ns", skew));
  out.push_back(
      frame("launch.skew", {.ctas = 132, .threads = 384, .shared = 200 << 10, .busy = 100000}, "ns", skew));
  for (const int cluster : {2, 4, 8})
    out.push_back(frame("launch.skew",
                        {.ctas = 96, .threads = 384, .cluster = cluster, .shared = 200 << 10, .busy = 100000},
                        "ns", skew));
  for (const int cluster : {1, 2, 4, 8, 16})
    out.push_back(frame("launch.resident",
                        {.ctas = 272 / cluster * cluster,
                         .threads = 128,
                         .cluster = cluster,
                         .shared = 200 << 10,
                         .busy = 200000},
                        "CTAs", [](const Outcome& o) { return resident(o, 4); }));
  for (const auto& [ctas, cluster, shared] : {std::tuple{132, 1, 32 << 10},
                                              {132, 2, 32 << 10},
                                              {132, 2, 8 << 10},
                                              {132, 2, 100 << 10},
                                              {96, 2, 32 << 10},
                                              {264, 2, 8 << 10},
                                              {264, 2, 32 << 10},
                                              {120, 4, 32 << 10},
                                              {128, 4, 32 << 10},
                                              {132, 4, 32 << 10},
                                              {120, 8, 32 << 10},
                                              {128, 8, 32 << 10},
                                              {64, 8, 32 << 10}})
    out.push_back(
        frame("launch.imbalance",
              {.ctas = ctas, .threads = 128, .cluster = cluster, .shared = uint32_t(shared), .busy = 100000},
              "CTAs", [](const Outcome& o) { return most_on_an_sm(o, 4); }));
  for (const bool increase : {false, true}) out.push_back(registers(increase));
  return out;
}

}  // namespace palladion::bench
