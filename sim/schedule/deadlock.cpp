#include "sim/schedule/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/pairs.h"
#include "sim/machine/exec/place.h"
#include "sim/machine/state/mbarrier.h"
#include "sim/program/reach.h"
#include "sim/schedule/blocked.h"
#include "sim/schedule/polled.h"

namespace palladion::sim {
namespace {

std::string describe_mbarrier(const ClusterState& cluster, const Wait& w) {
  const auto a = static_cast<uint32_t>(w.object);
  uint64_t word = 0;
  const CtaState& cta = cluster.ctas[a >> cta_rank_shift];
  std::memcpy(&word, cta.shared.data() + (a & shared_offset_mask), 8);
  const MbarrierState s = MbarrierState::decode(word);
  std::string out = fmt::format(
      "the mbarrier at shared address 0x{:x} of CTA rank {}: it waits for a phase of parity {} to complete; "
      "the current phase has parity {}, {} of {} arrivals have come",
      a & shared_offset_mask, a >> cta_rank_shift, w.value, static_cast<int>(s.parity),
      s.expected - std::min(s.expected, s.pending), std::max(s.expected, s.pending));
  if (s.tx > 0) out += fmt::format(", {} announced bytes are outstanding", s.tx);
  if (s.tx < 0) out += fmt::format(", {} bytes have landed that no expect_tx announced", -s.tx);
  return out;
}

std::string describe(const ClusterState& cluster, const CtaState& cta, const LaneGroup& g) {
  using K = Wait::Kind;
  const Wait& w = g.wait;
  switch (w.kind) {
    case K::convergence:
      return fmt::format("lanes {:08x} of its warp, which are elsewhere", w.object);
    case K::mbarrier:
      return describe_mbarrier(cluster, w);
    case K::cta_barrier: {
      const NamedBarrier& b = cta.barriers[w.object];
      return fmt::format("barrier {}: {} of {} threads have arrived", w.object, b.arrived,
                         b.expected != 0 ? b.expected : cta.alive_threads);
    }
    case K::cluster_barrier:
      return fmt::format("the cluster barrier: {} threads have arrived", cluster.barrier.arrived);
    case K::bulk_group:
      return "its bulk async-groups";
    case K::cp_async_group:
      return "its cp.async groups";
    case K::wgmma_group:
      return "its wgmma groups: another warp of the warpgroup has not issued the same wgmma";
    case K::registers:
      return fmt::format("{} registers (setmaxnreg): the CTA has {} free", w.object, cta.free_registers);
    case K::tensor_memory:
      return describe_allocation(cluster, cta, w);
    case K::none:
    case K::quantum_boundary:
    case K::poll:
      break;
  }
  return "a value in memory or a barrier that it tests over and over";
}

bool spins(const Wait& w) {
  return w.kind == Wait::Kind::none || w.kind == Wait::Kind::quantum_boundary || w.kind == Wait::Kind::poll;
}

}  // namespace

Finding describe_deadlock(const Program& program, const GlobalMemory& memory,
                          std::span<const ClusterState* const> resident, bool more_clusters) {
  Finding f;
  f.code = "PLD3080";
  f.fatal = true;
  struct Place {
    Site site;
    BlockedWait wait;
    Polled polled;  // of the first group of lanes
  };
  std::map<std::pair<uint32_t, std::string>, Place> waits;
  std::map<uint32_t, uint32_t> reads;  // by pc, where lanes spin: the read on which they wait
  uint64_t waiting = 0;
  for (const ClusterState* cluster : resident) {
    for (const CtaState& cta : cluster->ctas) {
      for (const WarpState& warp : cta.warps) {
        waiting += warp.finished() ? 0 : 1;
        for (const LaneGroup& g : warp.groups) {
          if (g.mask == 0) continue;
          const bool polls = spins(g.wait);
          uint32_t pc = g.pc;
          if (polls) {
            const auto [read, is_first] = reads.try_emplace(g.pc, g.pc);
            if (is_first)
              read->second = polling_read(program, g.pc, reachable(program, {g.pc})).value_or(g.pc);
            pc = read->second;
          }
          const auto [at, is_new] = waits.try_emplace({pc, describe(*cluster, cta, g)});
          if (is_new)
            at->second = {site_at(program, pc, cta.id, warp.id, g.mask), blocked_wait(*cluster, cta, g.wait),
                          polls ? polled_value(program, pc, memory, *cluster, cta, warp, g.mask) : Polled{}};
          else
            ++at->second.wait.alike;
        }
      }
    }
  }
  f.message =
      fmt::format("deadlock: no warp can continue; {} warp{}", waiting, waiting == 1 ? " waits" : "s wait");
  if (std::ranges::any_of(waits, [](const auto& w) { return w.second.polled.of_the_host; }))
    call_wait_for_host(f, waiting);
  constexpr size_t shown = 24;
  for (auto& [key, place] : waits) {
    if (f.sites.size() == shown) break;
    f.sites.push_back(std::move(place.site));
    f.notes.push_back(
        fmt::format("{}{}", place.polled.text.empty() ? key.second : "a change of " + place.polled.text,
                    place.wait.alike > 1 ? fmt::format(" ({} warps like this one)", place.wait.alike) : ""));
    f.waits.push_back(std::move(place.wait));
  }
  if (waits.size() > shown) f.notes.push_back(fmt::format("and {} other places", waits.size() - shown));
  if (more_clusters) f.notes.emplace_back("CTAs that are not yet resident wait for room on the SMs");
  return f;
}

}  // namespace palladion::sim
