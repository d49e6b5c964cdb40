#include "sim/schedule/deadlock.h"

#include <map>
#include <tuple>

#include "sim/launch/fault.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"
#include "sim/program/reach.h"
#include "sim/schedule/blocked.h"
#include "sim/schedule/polled.h"

namespace palladion::sim {
namespace {

// Lanes with one key wait at one instruction in the same way.
using WaitKey = std::tuple<uint32_t, Wait::Kind, uint64_t, uint64_t, uint64_t, int64_t>;
WaitKey key_of(Pc pc, const Wait& wait, const BlockedWait& b) {
  return {
      pc, wait.kind, wait.object, wait.value, b.pending_arrivals.value_or(0), b.pending_bytes.value_or(0)};
}

bool spins(const Wait& w) {
  return w.kind == Wait::Kind::none || w.kind == Wait::Kind::quantum_boundary || w.kind == Wait::Kind::poll;
}

}  // namespace

bool some_spin(std::span<const ClusterState* const> resident) {
  for (const ClusterState* cluster : resident)
    for (const CtaState& cta : cluster->ctas)
      for (const WarpState& warp : cta.warps)
        for (const LaneGroup& g : warp.groups)
          if (g.mask != 0 && spins(g.wait)) return true;
  return false;
}

Finding describe_deadlock(const Program& program, const GlobalMemory& memory,
                          std::span<const ClusterState* const> resident, bool more_clusters) {
  constexpr size_t shown = 24;
  Finding f = fault(Code::deadlock, {});
  Deadlock& d = f.what.emplace<Deadlock>();
  d.more_clusters = more_clusters;
  bool for_host = false;
  std::map<WaitKey, Site> places;
  std::map<Pc, Pc> reads;  // by place, where lanes spin: the read on which they wait
  for (const ClusterState* cluster : resident) {
    for (const CtaState& cta : cluster->ctas) {
      for (const WarpState& warp : cta.warps) {
        d.warps += warp.finished() ? 0 : 1;
        for (const LaneGroup& g : warp.groups) {
          if (g.mask == 0) continue;
          const bool polls = spins(g.wait);
          Pc pc = g.pc;
          if (polls) {
            const auto [read, is_first] = reads.try_emplace(g.pc, g.pc);
            if (is_first)
              read->second = polling_read(program, g.pc, reachable(program, {g.pc})).value_or(g.pc);
            pc = read->second;
          }
          BlockedWait wait = blocked_wait(*cluster, cta, g.wait);
          const auto [at, is_new] = places.try_emplace(key_of(pc, g.wait, wait));
          Site& site = at->second;
          if (!is_new) {
            ++site.wait->alike;
            continue;
          }
          site = site_at(program, pc, cta.id, warp.id, g.mask);
          site.part.does = polls ? Does::spins : Does::waits;
          if (polls) {
            Polled polled = polled_value(program, pc, memory, *cluster, cta, warp, g.mask);
            wait.object = std::move(polled.object);
            wait.value = polled.value;
            for_host |= polled.of_the_host;
          }
          site.wait = std::move(wait);
        }
      }
    }
  }
  if (for_host) call_wait_for_host(f);
  for (auto& [key, site] : places)
    if (f.sites.size() < shown) f.sites.push_back(std::move(site));
  d.other_places = places.size() - f.sites.size();
  return f;
}

}  // namespace palladion::sim
