#include "bench/device/micro.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace palladion::bench {

double longest(const Outcome& outcome) {
  uint64_t first = std::numeric_limits<uint64_t>::max(), last = 0;
  for (const Stamp& s : outcome.stamps) {
    if (s.end == 0) continue;  // not timed
    first = std::min(first, s.start);
    last = std::max(last, s.end);
  }
  return double(last) - double(first);
}

double mean_of_ctas(const Outcome& outcome, int warps_per_cta) {
  double sum = 0;
  size_t timed = 0;
  const auto warps = size_t(warps_per_cta);
  for (size_t first = 0; first + warps <= outcome.stamps.size(); first += warps) {
    const auto cta = outcome.stamps.subspan(first, warps);
    if (std::ranges::all_of(cta, [](const Stamp& s) { return s.end == 0; })) continue;
    sum += longest({cta, {}});
    ++timed;
  }
  return sum / double(timed);
}

Measure mean_over(int warps_per_cta) {
  return [=](const Outcome& outcome) { return mean_of_ctas(outcome, warps_per_cta); };
}

Measure first_cta(int warps) {
  return [=](const Outcome& outcome) { return longest({outcome.stamps.first(size_t(warps)), {}}); };
}

Measure warp(int index) {
  return [=](const Outcome& outcome) {
    const Stamp& s = outcome.stamps[size_t(index)];
    return double(s.end) - double(s.start);
  };
}

double extra(const Outcome& outcome) { return double(outcome.stamps[0].extra0); }

Measure quantile(double share) {
  return [=](const Outcome& outcome) {
    std::vector<uint32_t> sorted;
    for (const uint32_t s : outcome.samples)
      if (s != 0) sorted.push_back(s);
    std::ranges::sort(sorted);
    return sorted.empty() ? 0.0 : double(sorted[size_t(share * double(sorted.size() - 1))]);
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const auto& make : {pipe_cases, wgmma_cases, barrier_cases, shared_cases, tma_cases, row_cases,
                           global_cases, bandwidth_cases, stream_cases, port_cases, ring_cases,
                           throttled_cases, cluster_cases, launch_cases}) {
    std::vector<Case> some = make();
    out.insert(out.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return out;
}

Case clock_during(Case c, std::string name) {
  c.name = std::move(name);
  c.unit = "MHz";
  c.shorter = 0;
  c.operations = 1;
  c.per_cycle = false;
  c.needs_clock = true;
  c.measure = [](const Outcome& o) {
    const Stamp& s = o.stamps[0];
    return double(s.end - s.start) * 1e3 / double(s.end_time - s.start_time);
  };
  return c;
}

double value_of(const Case& c, double shorter, double longer) {
  if (c.shorter == 0) return longer / c.operations;
  const double count = double(c.longer - c.shorter) * c.operations;
  return c.per_cycle ? count / (longer - shorter) : (longer - shorter) / count;
}

}  // namespace palladion::bench
