#include "bench/clock/validation.h"

#include <algorithm>

#include "isa/core/diagnostic.h"

namespace palladion::bench {
namespace {

Replayed replay_at(const kernels::Case& c, const Measured& device, sim::L2Start l2,
                   const ValidationOptions& options) {
  try {
    return replay(
        c, {.l2 = l2, .sm_clock_mhz = options.recorded_clock ? device.mhz : 0, .threads = options.threads});
  } catch (const isa::Error& e) {
    return {.refused = e.diagnostics().front().message};
  }
}

ErrorSummary summary_of(std::span<const Judged> cases, sim::L2Start l2) {
  return summarize(cycle_errors(cases, l2));
}

Family family_of(std::string name, std::span<const Judged> cases) {
  std::vector<double> both = cycle_errors(cases, sim::L2Start::cold);
  const std::vector<double> warm = cycle_errors(cases, sim::L2Start::warm);
  both.insert(both.end(), warm.begin(), warm.end());
  return {std::move(name), summary_of(cases, sim::L2Start::cold), summarize(warm), summarize(both)};
}

// Below this a counter is noise: what a few warps, or the driver around the launch, add.
double least_of(const std::string& counter) {
  return counter.starts_with("dram") ? 4e6 : counter.starts_with("sm__pipe") ? 1e3 : 1e5;
}

}  // namespace

const Measured& measured(const Judged& judged, sim::L2Start l2) {
  return l2 == sim::L2Start::cold ? judged.device.cold : judged.device.warm;
}
const Replayed& replayed(const Judged& judged, sim::L2Start l2) {
  return l2 == sim::L2Start::cold ? judged.cold : judged.warm;
}

std::vector<double> cycle_errors(std::span<const Judged> cases, sim::L2Start l2) {
  std::vector<double> errors;
  for (const Judged& j : cases) {
    const uint64_t cycles = replayed(j, l2).clock.cycles;
    if (cycles > 0) errors.push_back(relative_error(static_cast<double>(cycles), measured(j, l2).cycles));
  }
  return errors;
}

std::vector<Family> families(std::span<const Judged> cases) {
  std::vector<std::string> names;
  for (const Judged& j : cases)
    if (std::ranges::find(names, j.family) == names.end()) names.push_back(j.family);
  std::vector<Family> out;
  for (const std::string& name : names) {
    std::vector<Judged> members;
    std::ranges::copy_if(cases, std::back_inserter(members),
                         [&](const Judged& j) { return j.family == name; });
    out.push_back(family_of(name, members));
  }
  out.push_back(family_of("all", cases));
  return out;
}

std::vector<CounterErrors> counter_errors(std::span<const Judged> cases) {
  std::vector<CounterErrors> out;
  std::map<std::string, std::vector<double>> errors;
  for (const Judged& j : cases) {
    if (j.cold.clock.cycles == 0) continue;
    for (const CounterPair& p : counters(j.device, j.cold.clock.counters)) {
      if (!errors.contains(p.name)) out.push_back({p.name, least_of(p.name), {}});
      std::vector<double>& all = errors[p.name];
      if (p.device && *p.device >= least_of(p.name)) all.push_back(relative_error(p.simulated, *p.device));
    }
  }
  for (CounterErrors& c : out) c.errors = summarize(errors[c.name]);
  return out;
}

SweepVerdict judge_sweep(std::span<const Judged> cases, sim::L2Start l2) {
  std::vector<double> device, simulated;
  std::vector<const Judged*> known;
  for (const Judged& j : cases) {
    if (replayed(j, l2).clock.cycles == 0) continue;
    known.push_back(&j);
    device.push_back(measured(j, l2).cycles);
    simulated.push_back(static_cast<double>(replayed(j, l2).clock.cycles));
  }
  if (known.empty()) return {};
  const auto best = static_cast<size_t>(std::ranges::min_element(device) - device.begin());
  const auto chosen = static_cast<size_t>(std::ranges::min_element(simulated) - simulated.begin());
  return {known[best]->text, known[chosen]->text, device[chosen] / device[best] - 1,
          rank_correlation(device, simulated)};
}

std::vector<Judged> judge(const std::string& cases, const std::map<std::string, Recorded>& recorded,
                          const ValidationOptions& options,
                          const std::function<void(const Judged&)>& report) {
  std::vector<Judged> out;
  for (const kernels::Case& c : kernels::read_cases(cases)) {
    const auto device = recorded.find(c.text);
    if (device == recorded.end() || c.text.find(options.only) == std::string::npos) continue;
    Judged j{c.text, c.spec->name, device->second, {}, {}};
    j.cold = replay_at(c, j.device.cold, sim::L2Start::cold, options);
    if (options.warm) j.warm = replay_at(c, j.device.warm, sim::L2Start::warm, options);
    report(j);
    out.push_back(std::move(j));
  }
  return out;
}

}  // namespace palladion::bench
