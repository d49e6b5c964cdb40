#pragma once
// Executes one cluster for a quantum under a schedule: which lane group is next, and when asynchronous work
// advances.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/launch/schedule.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

struct RunContext {
  const Program& program;
  const LaunchState& launch;
  GlobalMemory& memory;
  Schedule schedule;
  Observer* observer = nullptr;
  const uint8_t* watch = nullptr;  // by pc, see Observer::watches
  const std::atomic<bool>* stop = nullptr;
  std::span<std::unique_ptr<ClusterEvents>> events;  // by cluster; empty: no observer
  UnstartedClusters* unstarted = nullptr;

  ClusterRun run_of(ClusterState& cluster) const {
    return {program, launch,   memory, cluster, events.empty() ? nullptr : events[cluster.index].get(),
            false,   unstarted};
  }
};

// What a cluster does in a quantum; it may pause and go on.
struct Quantum {
  uint64_t executed = 0;                  // warp instructions
  bool useful = false;                    // something other than polling was executed
  bool repeats = false;                   // it returns to states that it had, until something outside changes
  bool paused = false;                    // an observer wants a pause: run_quantum is to be called again
  uint64_t progress = 0, changed_at = 0;  // the cluster's progress, and `executed` when it last changed
  static constexpr uint64_t first_look = 1 << 12;
  uint64_t look_at = first_look;  // instructions without a change, up to the next look at states
  bool repeated = false;          // all clusters repeated their states before the boundary
  uint32_t idle = 0;              // rounds in a row of nothing but polling
};

// Creates the CTAs of a cluster in their initial state.
void start_cluster(const RunContext& context, ClusterState& cluster);
// Executes until every group waits, the cluster ends, `budget` warp instructions are done, or an observer
// wants a pause.
void run_quantum(const RunContext& context, ClusterState& cluster, uint64_t budget, Quantum& quantum);
// Performs the strong GMEM accesses that groups wait with, in warp order, one each.
bool run_quantum_boundary(const RunContext& context, ClusterState& cluster);

// mbarrier.try_wait returns after a system-dependent time: each waiting group gets one `false` until
// something has changed, or one more each time if `again`. False when no group waits so.
bool time_out_waits(ClusterState& cluster, bool again = false);

// Merges groups at the same pc and drops empty ones; returns the group to run, or -1.
int choose_group(ClusterState& cluster, CtaState& cta, WarpState& warp, bool polls);

}  // namespace palladion::sim
