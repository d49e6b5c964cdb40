#pragma once
// Pairs of CTAs, of which tcgen05 instructions with .cta_group::2 are.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// The first CTA of an operation of `ctas` CTAs: of the pair of the issuing one, or that itself. False after a
// fault.
bool find_pair(Exec& x, int ctas, const char* what, uint32_t& leader);

// Whether the allocation of tensor memory that a CTA waits with can go on; `ctas`: 1 or 2.
bool can_allocate(const ClusterState& cluster, const CtaState& cta, uint64_t ctas, uint64_t columns);

}  // namespace palladion::sim
