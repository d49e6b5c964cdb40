#include "sim/clock/memory/sites.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace palladion::sim::hardware {
namespace {

// First the first TPC of each GPC, then the second ones.
void number(std::vector<Site>& sites) {
  std::vector<size_t> order(sites.size());
  std::vector<uint32_t> turn;
  for (size_t i = 0; i < sites.size(); ++i) {
    const bool same_gpc = i > 0 && sites[i].gpc == sites[i - 1].gpc;
    turn.push_back(same_gpc ? turn.back() + 1 : 0);
    order[i] = i;
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return turn[i] / 2; });
  for (uint32_t n = 0; n < order.size(); ++n) sites[order[n]].number = n;
}

// Of each GPC as many as it has room for.
std::vector<Seat> seats_by_gpc(const std::vector<Site>& sites, uint32_t size) {
  std::vector<Seat> seats;
  for (uint32_t first = 0; first + size <= sites.size();) {
    const bool together = sites[first].gpc == sites[first + size - 1].gpc;
    if (together) seats.push_back({first, sites[first].gpc});
    first += together ? size : 1;
  }
  return seats;
}

// Clusters go to the GPCs in turn.
void deal(std::vector<Seat>& seats) {
  std::vector<uint32_t> turn(seats.size());
  std::vector<uint32_t> taken;
  for (size_t i = 0; i < seats.size(); ++i) {
    taken.resize(std::max<size_t>(taken.size(), seats[i].gpc + 1));
    turn[i] = taken[seats[i].gpc]++;
  }
  std::vector<size_t> order(seats.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return turn[i]; });
  std::vector<Seat> dealt;
  dealt.reserve(seats.size());
  for (const size_t i : order) dealt.push_back(seats[i]);
  seats = std::move(dealt);
}

// Single CTAs fill GPC after GPC. When they are fewer than the SMs: all of the first GPC's first four TPCs,
// one SM of each other TPC in turn over the GPCs, then the others.
void thin_out(std::vector<Seat>& seats, uint64_t ctas) {
  constexpr uint32_t whole = 8;
  if (ctas >= seats.size()) return;
  std::vector<Seat> rest(seats.begin() + whole, seats.end());
  deal(rest);
  std::ranges::stable_sort(rest, {}, [](const Seat& s) { return s.first % 2; });
  seats.resize(std::min<size_t>(ctas, whole));
  for (const Seat& s : rest)
    if (seats.size() < ctas) seats.push_back(s);
  std::ranges::sort(seats, {}, &Seat::first);
}

}  // namespace

std::vector<Site> sites(const isa::ArchSpec& arch) {
  const auto sms = static_cast<uint32_t>(arch.sm_count), gpcs = static_cast<uint32_t>(arch.gpc_count);
  const uint32_t pairs = sms / 2, with_more = pairs % gpcs;
  std::vector<Site> out;
  uint32_t cpc = 0;
  for (uint32_t g = 0; g < gpcs; ++g) {
    const uint32_t in_gpc = 2 * (pairs / gpcs + (g < with_more ? 1 : 0));
    for (uint32_t i = 0; i < in_gpc; ++i) out.push_back({.gpc = g, .cpc = cpc + i / cpc_sms, .side = g & 1});
    cpc = out.empty() ? 0 : out.back().cpc + 1;
  }
  number(out);
  return out;
}

std::vector<Seat> seats_of(const std::vector<Site>& sites, uint64_t clusters, uint32_t ctas,
                           double cluster_sms) {
  std::vector<Seat> seats = seats_by_gpc(sites, ctas);
  if (ctas == 1)
    thin_out(seats, clusters);
  else
    deal(seats);
  if (ctas > 2)  // some SMs of a GPC take no larger clusters
    seats.resize(std::min(seats.size(), static_cast<size_t>(cluster_sms) / ctas));
  return seats;
}

}  // namespace palladion::sim::hardware
