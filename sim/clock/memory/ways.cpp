#include "sim/clock/memory/ways.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace palladion::sim::hardware {

Ways::Ways(const isa::ClockParameters& p, std::vector<Site> sites, Partitions partitions)
    : p_(p),
      sites_(std::move(sites)),
      partitions_(partitions),
      ports_(sites_.size()),
      gpc_free_(sites_.back().gpc + 1),
      store_free_(sites_.size()) {}

Cycles Ways::distance(uint32_t sm, uint64_t line) const {
  const auto place = static_cast<double>(mixed(line + 977 * uint64_t{sm}) >> 40 & 0xFF) / 255;
  return (partitions_.home_of(line) != sites_[sm].side ? 2 * p_.l2_spread : 0) +
         2 * p_.l2_slice_spread * place;
}

// When all SMs that receive it have room.
Cycles Ways::receive(const Request& r, Cycles time, uint32_t bytes) {
  const Cycles cycles = bytes / (r.bytes_per_cycle != 0 ? r.bytes_per_cycle : p_.l2_sm_bytes_per_cycle);
  if (std::popcount(r.receivers) < 2) return ports_[r.sm].take(time, cycles);
  Cycles last = time;
  for (uint32_t m = r.receivers; m != 0; m &= m - 1)
    last = std::max(last, ports_[r.first_sm + static_cast<uint32_t>(std::countr_zero(m))].take(time, cycles));
  return last;
}

// An answer for several SMs takes the way into the GPC once; each further one of them takes less.
Cycles Ways::pass(const Request& r, Cycles time, Cycles distance, uint32_t bytes, bool merged) {
  Cycles& shared = gpc_free_[sites_[r.sm].gpc];
  // Each queue by itself: a request that waits for one does not hold up the other.
  const Cycles own = receive(r, time + distance, bytes), common = std::max(time, shared);
  const int further = std::max(1, std::popcount(r.receivers)) - (merged ? 0 : 1);
  shared = common + (merged ? 0 : bytes / p_.l2_gpc_bytes_per_cycle) +
           further * (bytes / p_.l2_gpc_shared_bytes_per_cycle);
  return std::max(own, common + distance);
}

Ways::Sent Ways::send(uint32_t sm, Cycles time, uint32_t pieces) {
  Cycles& free = store_free_[sm];
  const Cycles from = std::max(free, time);
  free = from + pieces * sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  return {from, free};
}

}  // namespace palladion::sim::hardware
