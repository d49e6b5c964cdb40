#include "sim/explore/residency.h"

#include <fmt/format.h>

#include <algorithm>
#include "sim/check/catalogue/catalogue.h"

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

std::string order_text(const Conditions& c) {
  using K = StartOrder::Kind;
  return c.order.kind == K::ascending    ? "ascending"
         : c.order.kind == K::descending ? "descending"
                                         : "another";
}

std::string counted(uint64_t n) { return fmt::format("{} CTA{}", n, n == 1 ? "" : "s"); }

// The least number of clusters with which the run ends, when more are never worse.
uint64_t least(uint64_t hangs, uint64_t ends, const ResidencyLaunch& launch) {
  while (ends - hangs > 1) {
    const uint64_t middle = hangs + (ends - hangs) / 2;
    (launch.ends_with(middle) ? ends : hangs) = middle;
  }
  return ends;
}

void needs_more_clusters(Finding& f, uint64_t hangs, uint64_t needed, const ResidencyLaunch& launch) {
  f.message =
      fmt::format("the kernel relies on {} that run at once: with {} at a time no warp can continue",
                  counted(needed * launch.ctas_per_cluster), counted(hangs * launch.ctas_per_cluster));
  f.missing = "the CTAs that could continue are not started: they wait for room";
  f.help = "use a cooperative launch, or limit the grid to the CTAs that are resident at once";
  f.rule.clear();
  complete(f, Code::spin_on_absent_cta);
}

void assumes_order(Finding& f, const Conditions& c, const ResidencyLaunch& launch) {
  f.message = fmt::format(
      "a CTA waits for one that starts later: with {} at a time in {} order no warp can continue; in "
      "other orders the run ends",
      counted(resident(c, launch) * launch.ctas_per_cluster), order_text(c));
  f.missing = "the CTA that could continue is not started: it waits for room";
  f.rule.clear();
  f.help.clear();
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
