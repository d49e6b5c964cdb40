#include "sim/clock/memory/sites.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace palladion::sim::hardware {
namespace {

// First the first TPC of each GPC, then the second ones.
void number(std::vector<Site>& sites, uint32_t of_tpc) {
  std::vector<size_t> order(sites.size());
  std::vector<uint32_t> turn;
  for (size_t i = 0; i < sites.size(); ++i) {
    const bool same_gpc = i > 0 && sites[i].gpc == sites[i - 1].gpc;
    turn.push_back(same_gpc ? turn.back() + 1 : 0);
    order[i] = i;
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return turn[i] / of_tpc; });
  for (uint32_t n = 0; n < order.size(); ++n) sites[order[n]].number = n;
}

// Of each GPC as many as it has room for.
std::vector<SmPlacement> placements_by_gpc(const std::vector<Site>& sites, uint32_t size) {
  std::vector<SmPlacement> placements;
  for (uint32_t first = 0; first + size <= sites.size();) {
    const bool together = sites[first].gpc == sites[first + size - 1].gpc;
    if (together) placements.push_back({first, sites[first].gpc});
    first += together ? size : 1;
  }
  return placements;
}

// Clusters go to the GPCs in rotation.
void deal(std::vector<SmPlacement>& placements) {
  std::vector<uint32_t> turn(placements.size());
  std::vector<uint32_t> taken;
  for (size_t i = 0; i < placements.size(); ++i) {
    taken.resize(std::max<size_t>(taken.size(), placements[i].gpc + 1));
    turn[i] = taken[placements[i].gpc]++;
  }
  std::vector<size_t> order(placements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return turn[i]; });
  std::vector<SmPlacement> dealt;
  dealt.reserve(placements.size());
  for (const size_t i : order) dealt.push_back(placements[i]);
  placements = std::move(dealt);
}

// Single CTAs fill GPC after GPC. When they are fewer than the SMs: all of the first GPC's first TPCs, one SM
// of each other TPC in rotation over the GPCs, then the others.
void thin_out(std::vector<SmPlacement>& placements, uint64_t ctas, const isa::ArchSpec& arch) {
  const auto of_tpc = static_cast<uint32_t>(arch.sms_per_tpc);
  const auto whole = static_cast<size_t>(arch.first_tpcs) * of_tpc;
  if (ctas >= placements.size() || whole >= placements.size()) return;
  std::vector<SmPlacement> rest(placements.begin() + static_cast<ptrdiff_t>(whole), placements.end());
  deal(rest);
  std::ranges::stable_sort(rest, {}, [&](const SmPlacement& p) { return p.first % of_tpc; });
  placements.resize(std::min<size_t>(ctas, whole));
  for (const SmPlacement& p : rest)
    if (placements.size() < ctas) placements.push_back(p);
  std::ranges::sort(placements, {}, &SmPlacement::first);
}

}  // namespace

std::vector<Site> sites(const isa::ArchSpec& arch) {
  const auto of_tpc = static_cast<uint32_t>(arch.sms_per_tpc),
             of_cpc = static_cast<uint32_t>(arch.sms_per_cpc);
  std::vector<Site> out;
  uint32_t cpc = 0;
  for (uint32_t g = 0; g < arch.gpc_tpcs.size(); ++g) {
    const uint32_t in_gpc = of_tpc * arch.gpc_tpcs[g];
    for (uint32_t i = 0; i < in_gpc; ++i)
      out.push_back({.gpc = g,
                     .cpc = cpc + i / of_cpc,
                     .side = g % static_cast<uint32_t>(arch.l2_partitions),
                     .whole_cpc = (i / of_cpc + 1) * of_cpc <= in_gpc});
    cpc = out.empty() ? 0 : out.back().cpc + 1;
  }
  number(out, of_tpc);
  return out;
}

std::vector<SmPlacement> placements_of(const isa::ArchSpec& arch, const std::vector<Site>& sites,
                                       uint64_t clusters, uint32_t ctas, double cluster_sms) {
  std::vector<SmPlacement> placements = placements_by_gpc(sites, ctas);
  if (ctas == 1)
    thin_out(placements, clusters, arch);
  else
    deal(placements);
  if (ctas > 2)  // some SMs of a GPC take no larger clusters
    placements.resize(std::min(placements.size(), static_cast<size_t>(cluster_sms) / ctas));
  return placements;
}

bool fill_cpcs(const isa::ArchSpec& arch, const std::vector<Site>& sites, uint64_t clusters, uint32_t ctas) {
  const uint64_t cpcs = sites.back().cpc + 1;
  return clusters * ctas > cpcs * static_cast<uint64_t>(arch.sms_per_cpc - arch.sms_per_tpc);
}

}  // namespace palladion::sim::hardware
