#pragma once
// Where the chip's SMs are, and which of them take a cluster. All numbers are isa::ArchSpec's.
#include <cstdint>
#include <vector>

#include "isa/arch/arch.h"

namespace palladion::sim::hardware {

// Where an SM is: SMs of a CPC share their way to L2; a GPC is near one partition of it.
// The chip numbers TPCs round the GPCs (%smid), the machine GPC by GPC.
struct Site {
  uint32_t gpc = 0, cpc = 0, side = 0;
  uint32_t number = 0;     // %smid
  bool whole_cpc = false;  // its CPC has as many SMs as a CPC can have
};
std::vector<Site> sites(const isa::ArchSpec& arch);

// The SMs of a cluster: as many neighbours from `first` on, of one GPC.
struct SmPlacement {
  uint32_t first = 0, gpc = 0;
};
// In the order in which `clusters` of `ctas` are given to them; larger ones find `cluster_sms` SMs at most.
std::vector<SmPlacement> placements_of(const isa::ArchSpec& arch, const std::vector<Site>& sites,
                                       uint64_t clusters, uint32_t ctas, double cluster_sms);

// Whether so many clusters at once work on all TPCs of the CPCs that are whole. Clusters go round the GPCs,
// and in a GPC round its CPCs.
bool fill_cpcs(const isa::ArchSpec& arch, const std::vector<Site>& sites, uint64_t clusters, uint32_t ctas);

}  // namespace palladion::sim::hardware
