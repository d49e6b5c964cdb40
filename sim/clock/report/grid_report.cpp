#include "sim/clock/report/grid_report.h"

#include <algorithm>

namespace palladion::sim::hardware {
namespace {

// What sm__cycles_elapsed.max shows: the launch around the work, and the most that any GPC counts. One whose
// tensor cores work lowers its clock, one without CTAs counts on at the higher one, and no two are quite
// alike.
uint64_t elapsed(const isa::ClockParameters& p, const Course& c, double tensor_share) {
  const double busy = std::min(1.0, 2 * tensor_share);
  const auto work = static_cast<double>(c.last_end);
  const auto first_idle = static_cast<double>(std::min(c.last_end, std::ranges::min(c.gpc_ends)));
  const double idle = (work - first_idle) * (p.launch_idle_clock - 1) * busy;
  const auto used = static_cast<double>(std::ranges::count_if(c.gpc_ends, [](uint64_t e) { return e != 0; }));
  const double full = std::clamp(2 * c.ctas_an_sm - 1, 0.0, 1.0);
  const double spread = first_idle * (p.launch_clock_spread - 1) * busy * full;
  return static_cast<uint64_t>(p.launch_overhead +
                               p.launch_full * used / static_cast<double>(c.gpc_ends.size()) + work + idle +
                               spread);
}

ClockCounters counters_of(std::span<const SmGroup> groups, const MemoryClock& memory) {
  ClockCounters all = memory.counters();
  for (const SmGroup& g : groups) {
    for (const Sm& sm : g.sms()) {
      all.instructions += sm.usage.instructions;
      all.smem_bank_conflicts += sm.usage.bank_conflicts;
      all.tcgen05_products += sm.usage.tcgen05_products;
      all.tensor_cycles += static_cast<uint64_t>(sm.usage.of(Resource::tensor));
    }
  }
  return all;
}

// Of `span` cycles.
std::array<double, resource_count> shares_of(std::span<const SmGroup> groups, const MemoryClock& memory,
                                             double span, int sub_cores) {
  std::array<double, resource_count> busy{};
  const auto share = [&](Resource x) -> double& { return busy[static_cast<size_t>(x)]; };
  size_t sms = 0;
  for (const SmGroup& g : groups) {
    sms += g.sms().size();
    for (const Sm& sm : g.sms())
      for (size_t i = 0; i < resource_count; ++i) busy[i] += sm.usage.busy[i] / span;
  }
  for (double& b : busy) b /= static_cast<double>(std::max<size_t>(1, sms));
  for (const Resource per_sub_core :
       {Resource::issue, Resource::alu, Resource::fma, Resource::fp64, Resource::sfu})
    share(per_sub_core) /= sub_cores;
  share(Resource::l2) = memory.l2_busy() / span;
  share(Resource::hbm) = memory.hbm_busy() / span;
  return busy;
}

}  // namespace

ClockReport report_of(const isa::ArchSpec& arch, const isa::ClockParameters& parameters, const Course& course,
                      std::span<const SmGroup> groups, const MemoryClock& memory) {
  const uint64_t start = std::min(course.first_start, course.last_end);
  const double span = std::max<double>(1, static_cast<double>(course.last_end - start));
  double most_tensor = 0;  // cycles of the SM whose tensor core works longest
  for (const SmGroup& g : groups)
    for (const Sm& sm : g.sms()) most_tensor = std::max(most_tensor, sm.usage.of(Resource::tensor));
  ClockReport r;
  r.sm_clock_mhz = parameters.sm_clock;
  r.cycles = elapsed(parameters, course, most_tensor / span);
  r.counters = counters_of(groups, memory);
  r.busy = shares_of(groups, memory, span, arch.sub_cores);
  return r;
}

std::vector<LineTime> lines_of(std::span<const std::vector<LineTime>> by_thread) {
  std::vector<LineTime> out;
  for (Pc pc{0}; pc < by_thread.front().size(); ++pc) {
    LineTime sum{.pc = pc};
    for (const std::vector<LineTime>& lines : by_thread) {
      sum.warps |= lines[pc].warps;
      sum.issued += lines[pc].issued;
      for (size_t s = 0; s < stall_count; ++s) sum.cycles[s] += lines[pc].cycles[s];
    }
    if (sum.issued != 0) out.push_back(sum);
  }
  return out;
}

}  // namespace palladion::sim::hardware
