#pragma once
// What a run did to synchronisation objects, warp by warp, before lanes are made into threads.
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/explore/skeleton.h"

namespace palladion::sim::check {

struct RawEvent {
  enum class Kind : uint8_t {
    op,
    converged,    // all lanes of the warp executed this together
    met,          // the lanes of `lanes` were
    issue,        // of the asynchronous operation `id`, which signals mbarriers
    wgmma_issue,  // the warp's part of wgmma `id`
    wgmma_wait,   // until wgmma `id` and those before it have completed
  };
  Kind kind = Kind::op;
  bool per_lane = false;  // every lane does `op`
  bool by_lane = false;  // of an issue, and of what announces it: each lane issues a part, by a signal of its
                         // own or one that counts once for each
  bool completed = false;
  uint32_t lanes = 0;
  uint64_t id = 0;  // of an operation; of a barrier's arrival: index in RawRun::generations
  uint32_t committer = 0, commit = 0;  // of an issue: see SyncThread
  SyncOp op;
};

// A use of a CTA or cluster barrier, from its first arrival to its completion.
struct BarrierUse {
  uint32_t threads = 0;  // that arrived
  bool completed = false;
  uint32_t expected = 0;  // threads, as the instruction says
};

struct RawRun {
  std::vector<std::vector<RawEvent>> warps;  // by CTA rank * warps of a CTA + warp
  uint32_t warps_per_cta = 0;
  std::map<uint64_t, std::vector<SyncOp>> signals;  // by asynchronous operation: what it does on landing
  std::vector<BarrierUse> generations;
};

// Lanes of a warp that do the same between two points at which the warp is together become one thread. Fills
// `skeleton.threads`; docs/concepts/all_schedules.md says what is merged, and why that loses nothing.
void make_threads(const RawRun& run, Skeleton& skeleton);

}  // namespace palladion::sim::check
