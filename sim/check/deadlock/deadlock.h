#pragma once
// Why no warp can continue: the wait-for graph of a stopped run, with its root.
#include <span>

#include "sim/check/protocol/ledger.h"

namespace palladion::sim::check {

// `resident`: the ledgers of all clusters on the machine, in ascending order. `more_clusters`: other clusters
// wait to become resident. The finding is fatal; sites[i] waits for notes[i], further notes describe the
// object.
Finding explain_deadlock(const RunView& run, std::span<const Ledger* const> resident, bool more_clusters);

}  // namespace palladion::sim::check
