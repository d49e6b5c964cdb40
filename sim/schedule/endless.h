#pragma once
// Recognises warps that execute for ever and change nothing: a loop whose end never comes. What the spin
// detector proves (deadlock_spin.h), states that return, a loop that counts never shows.
#include <cstdint>
#include <optional>
#include <span>

#include "sim/launch/finding.h"
#include "sim/schedule/cluster_runner.h"

namespace palladion::sim {

// When it looks. Plain data, part of a grid's state.
struct EndlessWatch {
  uint64_t next_look = 0;                           // instructions of the grid
  uint64_t quiet_since = 0, last_progress = ~0ULL;  // instructions of the grid, its progress
  uint64_t quiet_limit = 0;                         // quiet instructions of the grid up to the next trial
  uint64_t trials = 0;
};

// Code::gave_up with the loops of all warps, when a warp has executed more than `limit` instructions, or
// `limit` / 16 in a row without a store, a barrier, a copy or a strong load; `limit` 0: never. The latter is
// tried on a copy of the warp, alone: no other warp could end its loop, because nothing that it
// reads changes. The run itself is not affected. To be called at each boundary with what the grid has
// executed and changed.
std::optional<Finding> find_endless_loop(const RunContext& context, std::span<ClusterState* const> resident,
                                         EndlessWatch& watch, uint64_t instructions, uint64_t progress,
                                         uint64_t limit);

// Whether each warp of the cluster waits, or returns to an earlier state when it executes alone, at most
// `limit` instructions, without an effect: nothing changes in the cluster any more until something changes
// outside of it. The cluster stays as it is.
bool all_repeat(const RunContext& context, ClusterState& cluster, uint64_t limit);

}  // namespace palladion::sim
