#pragma once
// Where the chip's SMs are, and which of them take a cluster.
#include <cstdint>
#include <vector>

#include "isa/arch/arch.h"

namespace palladion::sim::hardware {

inline constexpr uint32_t cpc_sms = 6;  // the last CPC of a GPC may have fewer
// Where an SM is: SMs of a CPC share their way to L2; a GPC is near one half of it.
// The chip numbers TPCs round the GPCs (%smid), the machine GPC by GPC.
struct Site {
  uint32_t gpc = 0, cpc = 0, side = 0;
  uint32_t number = 0;  // %smid
};
std::vector<Site> sites(const isa::ArchSpec& arch);

// The SMs of a cluster: as many neighbours from `first` on, of one GPC.
struct Seat {
  uint32_t first = 0, gpc = 0;
};
// In the order in which `clusters` of `ctas` are given to them; larger ones find `cluster_sms` SMs at most.
std::vector<Seat> seats_of(const std::vector<Site>& sites, uint64_t clusters, uint32_t ctas,
                           double cluster_sms);

}  // namespace palladion::sim::hardware
