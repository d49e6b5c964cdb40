#pragma once
// What lanes that test a value in memory over and over wait for, for the findings of deadlocks.
#include <optional>
#include <string>
#include <vector>

#include "sim/launch/finding.h"
#include "sim/machine/state/cluster.h"
#include "sim/machine/state/global_memory.h"
#include "sim/program/program.h"

namespace palladion::sim {

// The read on which a spin loop that is now at `pc` waits: the nearest strong read or atomic before it that
// executes again (`ahead`: what control can reach from `pc`). None: the loop has no such read.
std::optional<Pc> polling_read(const Program& program, Pc pc, const std::vector<bool>& ahead);

struct Polled {
  uint64_t address = 0;  // generic, or with the CTA's rank in shared memory
  uint64_t bytes = 0;    // 0: it tests a barrier, or no address in global or shared memory
  bool shared = false;
  Object object;                  // by its address, where it is shared memory
  std::optional<uint64_t> value;  // what is there
  bool of_the_host = false;       // read at .sys scope from memory that the host can write to meanwhile
};

// What that read reads, by the registers of the first lane in `lanes`.
Polled polled_value(const Program& program, Pc read, const GlobalMemory& memory, const ClusterState& cluster,
                    const CtaState& cta, const WarpState& warp, uint32_t lanes);

// Makes a finding of a deadlock one of lanes that wait for the host: Code::wait_for_host, unsupported.
void call_wait_for_host(Finding& f);

}  // namespace palladion::sim
