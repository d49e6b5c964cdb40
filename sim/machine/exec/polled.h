#pragma once
// What lanes that test a value in memory over and over wait for, for the findings of deadlocks.
#include <optional>
#include <string>

#include "sim/machine/state/cluster.h"
#include "sim/machine/state/global_memory.h"
#include "sim/program/program.h"

namespace palladion::sim {

// The read on which a spin loop that is now at `pc` waits: the nearest strong read or atomic before it that
// executes again. None: the loop has no such read.
std::optional<uint32_t> polling_read(const Program& program, uint32_t pc);

// "global address 0x7f0000000004 (`flags` byte 4), which holds 0x0": what that read reads, by the registers
// of the first lane in `lanes`. Empty where it tests a barrier, or no address
// in global or shared memory.
std::string polled_value(const Program& program, uint32_t read, const GlobalMemory& memory,
                         const ClusterState& cluster, const CtaState& cta, const WarpState& warp,
                         uint32_t lanes);

}  // namespace palladion::sim
