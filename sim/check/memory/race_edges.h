#pragma once
// What orders the two accesses of a race, or should: the edge that is missing, and the mbarriers between
// them.
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/memory/race_kinds.h"
#include "sim/check/protocol/mbarrier.h"

namespace palladion::sim::check {

Statement missing_edge(const ClusterContext& x, const Case& c);
// Of accesses whose scopes are too narrow.
Statement missing_scope(const Case& c);
// A wait that has seen the operation's writes complete; null: there was none yet.
const Publication* completion_of(const Case& c);
// Notes at which mbarriers the two warps had last waited: one of them was to order the accesses.
void note_waits(Finding& f, const ClusterContext& x, const Case& c, const MbarrierLedger& ledger);
// A Site that only names an instruction.
Site instruction_at(const ClusterContext& x, Pc pc);

}  // namespace palladion::sim::check
