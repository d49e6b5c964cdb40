#include "sim/explore/residency.h"

#include <algorithm>
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

uint64_t resident(const Conditions& c, const ResidencyLaunch& launch) {
  return c.resident != 0 ? c.resident : launch.room;
}

// The run was deadlocked, and some clusters were not yet resident.
bool waits_for_room(const ResidencyRun& run, const ResidencyLaunch& launch) {
  const uint64_t done = run.result->ctas / launch.ctas_per_cluster;
  return run.result->deadlocked && done + resident(run.conditions, launch) < launch.clusters;
}

// The least number of clusters with which the run ends, when more are never worse.
uint64_t least(uint64_t hangs, uint64_t ends, const ResidencyLaunch& launch) {
  while (ends - hangs > 1) {
    const uint64_t middle = hangs + (ends - hangs) / 2;
    (launch.ends_with(middle) ? ends : hangs) = middle;
  }
  return ends;
}

void needs_more_clusters(Finding& f, uint64_t hangs, uint64_t needed, const ResidencyLaunch& launch) {
  f.message = say<Phrase::relies_on_ctas>(needed * launch.ctas_per_cluster, hangs * launch.ctas_per_cluster);
  f.missing = say<Phrase::ctas_not_started>();
  f.help = say<Phrase::cooperative_launch>();
  f.rule.clear();
  complete(f, Code::spin_on_absent_cta);
}

void assumes_order(Finding& f, const Conditions& c, const ResidencyLaunch& launch) {
  using K = StartOrder::Kind;
  const uint64_t at_once = resident(c, launch) * launch.ctas_per_cluster;
  f.message = c.order.kind == K::ascending    ? say<Phrase::waits_for_later_cta>(at_once)
              : c.order.kind == K::descending ? say<Phrase::waits_for_earlier_cta>(at_once)
                                              : say<Phrase::waits_for_other_cta>(at_once);
  f.missing = say<Phrase::ctas_not_started>();
  f.rule.clear();
  f.help = {};
  complete(f, Code::assumed_cta_order);
}

}  // namespace

void judge_residency(std::span<const ResidencyRun> runs, const ResidencyLaunch& launch) {
  if (!launch.completed || runs.empty()) return;
  const uint64_t at_once = resident(runs.front().conditions, launch);
  const bool all =
      at_once < launch.room &&
      std::ranges::all_of(runs, [&](const ResidencyRun& r) { return waits_for_room(r, launch); });
  const uint64_t needed = all ? least(at_once, std::min(launch.room, launch.clusters), launch) : 0;
  for (const ResidencyRun& run : runs) {
    if (!waits_for_room(run, launch)) continue;
    const auto stopped = std::ranges::find_if(run.result->findings, &Finding::fatal);
    if (stopped == run.result->findings.end()) continue;
    stopped->severity = FindingSeverity::strict;
    all ? needs_more_clusters(*stopped, at_once, needed, launch)
        : assumes_order(*stopped, run.conditions, launch);
  }
}

}  // namespace palladion::sim::check
