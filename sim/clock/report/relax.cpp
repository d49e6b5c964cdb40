#include "sim/clock/report/relax.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "sim/schedule/worker_pool.h"

namespace palladion::sim {
namespace {

// "op.ffma.latency" as a member of its OpCost.
double* find_op_parameter(isa::ClockParameters& p, std::string_view key) {
  const size_t dot = key.rfind('.');
  const int op = key.starts_with("op.") && dot > 3 ? isa::op_key(key.substr(3, dot - 3)) : -1;
  if (op < 0 || static_cast<size_t>(op) >= p.ops.size()) return nullptr;
  isa::OpCost& cost = p.ops[static_cast<size_t>(op)];
  const std::string_view part = key.substr(dot + 1);
  return part == "slots"      ? &cost.slots
         : part == "interval" ? &cost.interval
         : part == "latency"  ? &cost.latency
                              : nullptr;
}

}  // namespace

double* find_parameter(isa::ClockParameters& parameters, std::string_view key) {
  const auto fields = isa::clock_fields();
  const auto at = std::ranges::find(fields, key, &isa::ClockField::key);
  return at != fields.end() ? &(parameters.*at->member) : find_op_parameter(parameters, key);
}

isa::ClockParameters relaxed(const isa::ClockParameters& parameters, const Relaxation& relaxation) {
  isa::ClockParameters p = parameters;
  if (relaxation.no_bank_conflicts) p.bank_conflicts = false;
  for (const RelaxedKey& k : relaxation.keys)
    if (double* value = find_parameter(p, k.key)) *value *= k.factor;
  const RelaxedOps& ops = relaxation.ops;
  for (const std::string_view key : ops.keys) {
    const int op = isa::op_key(key);
    if (op < 0 || static_cast<size_t>(op) >= p.ops.size()) continue;
    isa::OpCost& cost = p.ops[static_cast<size_t>(op)];
    cost.slots *= ops.slots;
    cost.interval *= ops.interval;
    cost.latency *= ops.latency;
  }
  return p;
}

bool can_matter(const Relaxation& relaxation, const ClockReport& report) {
  if (relaxation.no_bank_conflicts) return report.counters.smem_bank_conflicts > 0;
  if (relaxation.resources.empty() && relaxation.stalls.empty()) return true;
  const bool used = std::ranges::any_of(relaxation.resources,
                                        [&](Resource r) { return report.busy[static_cast<size_t>(r)] > 0; });
  const auto waited = [&](Stall s) {
    return std::ranges::any_of(report.lines,
                               [&](const LineTime& l) { return l.cycles[static_cast<size_t>(s)] > 0; });
  };
  return used || std::ranges::any_of(relaxation.stalls, waited);
}

std::vector<Gain> try_relaxations(const isa::ClockParameters& parameters, const ClockReport& report,
                                  const RunWith& run, const RelaxOptions& options) {
  std::vector<Gain> all;
  for (const Relaxation& r : relaxations())
    if (can_matter(r, report)) all.push_back({&r, 0, 0});
  std::mutex mutex;
  uint64_t done = 0;
  WorkerPool pool(std::max(1U, options.threads));
  pool.for_each(all.size(), [&](size_t i, unsigned) {
    all[i].cycles = run(relaxed(parameters, *all[i].relaxation)).value_or(0);
    const std::lock_guard lock(mutex);
    if (options.progress) options.progress(++done, all.size());
  });
  std::erase_if(all, [](const Gain& g) { return g.cycles == 0; });
  const double before = static_cast<double>(report.cycles);
  for (Gain& g : all) g.saved = (before - static_cast<double>(g.cycles)) / before;
  std::ranges::stable_sort(all, std::greater{}, &Gain::saved);
  return all;
}

}  // namespace palladion::sim
