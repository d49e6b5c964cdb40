#pragma once
// Reads whose values another access may change: what an experiment with other values changes in their place.
#include <optional>

#include "sim/check/core/context.h"
#include "sim/check/memory/races.h"

namespace palladion::sim::check {

// The read of the two, when it is a load of lanes or a wgmma that is being issued and the other one writes.
// Of a wgmma, `warp` is the first of its warpgroup, and `lanes` are the warps whose part of D depends on the
// bytes.
std::optional<RacingRead> racing_read(const ClusterContext& context, const Actor& later,
                                      const Conflict& conflict, const Record& now, const Record& then);

}  // namespace palladion::sim::check
