#include "sim/clock/report/relax.h"

#include <algorithm>
#include <array>
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

isa::ClockParameters relaxed(isa::ClockParameters p, const Relaxation& relaxation) {
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

bool can_matter(const Relaxation& relaxation, const ClockReport& report, LaunchUses uses) {
  if ((relaxation.needs.atomics && !uses.atomics) || (relaxation.needs.clusters && !uses.clusters))
    return false;
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

namespace {

using Members = std::vector<const Relaxation*>;

// Those that can matter, by group.
std::array<Members, relaxed_group_count> groups_of(const ClockReport& report, LaunchUses uses) {
  std::array<Members, relaxed_group_count> groups;
  for (const Relaxation& r : relaxations())
    if (can_matter(r, report, uses)) groups[static_cast<size_t>(r.group)].push_back(&r);
  return groups;
}

class RelaxSearch {
 public:
  RelaxSearch(const isa::ClockParameters& parameters, uint64_t cycles, const RunWith& run,
              const RelaxOptions& options)
      : parameters_(parameters), cycles_(static_cast<double>(cycles)), run_(run), options_(options) {}

  Relaxed find(const ClockReport& report) {
    Trials trials;
    for (Members& members : groups_of(report, options_.uses))
      if (!members.empty()) trials.push_back({std::move(members)});
    try_all(std::move(trials));
    while (GroupGain* next = most_promising()) look_into(*next);
    std::erase_if(out_.groups, [](const GroupGain& g) { return g.cycles == 0; });
    return std::move(out_);
  }

 private:
  struct Trial {
    Members relaxed;
    uint64_t cycles = 0;  // 0: no answer
  };
  using Trials = std::vector<Trial>;

  double saved(uint64_t cycles) const { return (cycles_ - static_cast<double>(cycles)) / cycles_; }

  void try_all(Trials trials) {
    const auto at_once =
        static_cast<unsigned>(std::clamp<size_t>(trials.size(), 1, std::max(1U, options_.threads)));
    WorkerPool pool(at_once);
    pool.for_each(trials.size(), [&](size_t i, unsigned) {
      isa::ClockParameters p = parameters_;
      for (const Relaxation* r : trials[i].relaxed) p = relaxed(std::move(p), *r);
      trials[i].cycles = run_(p, std::max(1U, options_.threads / at_once)).value_or(0);
      const std::lock_guard lock(mutex_);
      ++out_.runs;
      if (options_.done) options_.done(out_.runs);
    });
    for (Trial& t : trials) take(std::move(t));
  }

  // A group without an answer says nothing of its members.
  void take(Trial&& t) {
    if (t.relaxed.size() > 1)
      out_.groups.push_back({std::move(t.relaxed), t.cycles, t.cycles == 0 ? 1 : saved(t.cycles)});
    else if (t.cycles != 0)
      add(*t.relaxed.front(), t.cycles);
  }

  void add(const Relaxation& relaxation, uint64_t cycles) {
    out_.gains.push_back({&relaxation, cycles, saved(cycles)});
    std::ranges::stable_sort(out_.gains, std::greater{}, &Gain::saved);
  }

  // Of those groups whose members were not tried, the one that may hold one of the best; null: none does.
  GroupGain* most_promising() {
    double least = worth_a_change;
    if (out_.gains.size() >= most_gains) least = std::max(least, out_.gains[most_gains - 1].saved);
    GroupGain* best = nullptr;
    for (GroupGain& g : out_.groups)
      if (!g.tried_alone && g.saved > least && (best == nullptr || g.saved > best->saved)) best = &g;
    return best;
  }

  void look_into(GroupGain& group) {
    group.tried_alone = true;
    Trials trials;
    for (const Relaxation* r : group.members) trials.push_back({{r}});
    try_all(std::move(trials));
  }

  const isa::ClockParameters& parameters_;
  const double cycles_;
  const RunWith& run_;
  const RelaxOptions& options_;
  Relaxed out_;
  std::mutex mutex_;
};

}  // namespace

RelaxPlan plan_relaxations(const ClockReport& report, LaunchUses uses) {
  RelaxPlan plan;
  for (const Members& members : groups_of(report, uses)) {
    plan.least += members.empty() ? 0 : 1;
    plan.most += members.size() > 1 ? members.size() + 1 : members.size();
  }
  return plan;
}

Relaxed try_relaxations(const isa::ClockParameters& parameters, const ClockReport& report, const RunWith& run,
                        const RelaxOptions& options) {
  return RelaxSearch(parameters, report.cycles, run, options).find(report);
}

}  // namespace palladion::sim
