#pragma once
// The numbers by which events, findings, schedules, the clock and traces name things. They do not mix:
// isa/core/index.h.
#include <bit>

#include "isa/core/index.h"

namespace palladion::sim {

using ClusterOfGrid = isa::Index<struct ClusterOfGridTag>;    // of a cluster in its grid, linear
using CtaRank = isa::Index<struct CtaRankTag, uint16_t>;      // of a CTA in its cluster
using WarpOfCta = isa::Index<struct WarpOfCtaTag, uint16_t>;  // of a warp in its CTA
using WarpOfCluster =
    isa::Index<struct WarpOfClusterTag, uint16_t>;  // rank * warps of a CTA + warp of the CTA
using Lane = isa::Index<struct LaneTag>;            // of a thread in its warp, 0 to 31
using Pc = isa::Index<struct PcTag>;                // of an instruction: indexes Program::code

using Cycle = isa::Index<struct CycleTag, uint64_t>;  // of the SM clock
using SharedAddress =
    isa::Index<struct SharedAddressTag>;  // of a byte of SMEM, with the CTA's rank (cta_rank_shift)
using Address = isa::Index<struct AddressTag, uint64_t>;  // of a byte of GMEM

// Of a mask that is not empty.
constexpr Lane lowest_lane(uint32_t lanes) { return Lane(std::countr_zero(lanes)); }

}  // namespace palladion::sim
