#pragma once
// A warp, as the clock sees it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/clock/sm/registers.h"
#include "sim/launch/event.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::hardware {

struct Warp {
  enum class State : uint8_t {
    done,
    queued,    // an event is under way
    slot,      // waits for its sub-core's issue slot
    memory,    // for L2's answer
    blocked,   // for a barrier or an asynchronous operation
    boundary,  // for the quantum boundary, where its strong access is performed
  };
  // Which one it is: its cluster's number in the group, its CTA's rank (which is the SM's number), its number
  // in the CTA. The pointers are these in the machine's state, see SmGroup::rebind.
  uint32_t cluster_number = no_cluster, sm = 0, id = 0;
  ClusterState* cluster = nullptr;
  CtaState* cta = nullptr;
  WarpState* warp = nullptr;

  uint32_t sub_core = 0;  // of the group
  State state = State::done;
  uint64_t next = 0;   // its next instruction issues no earlier
  uint64_t since = 0;  // of its last issue
  // What has held it up since: parts that are over, and the reason that counts from then on.
  std::vector<StallPart> stalls;
  Stall why = Stall::wait;
  uint32_t turns = 0;       // instructions in a row of one lane group beside others
  uint64_t block = 0;       // since the last branch
  double busy = 0;          // by its own instructions: sequences, instruction fetches
  uint32_t iterations = 0;  // taken branches backwards
  WarpRegisters registers;

  uint64_t last_store = 0;       // a fence of a wide scope begins when its stores have come so far
  uint64_t last_async = 0;       // and ends no sooner than its asynchronous stores
  uint64_t arrived = 0;          // at the cluster's barrier
  uint32_t last_mbarrier = ~0U;  // at which it arrived through the cluster's window
  uint64_t fence_end = 0;        // of a fence that may have to wait longer
  bool fenced = false;           // the fence of the release that it is about to issue is done
  uint64_t arrive_free = 0;      // its next mbarrier arrival issues no earlier

  // Another reason holds it up from `time` on.
  void hold(Stall reason, uint64_t time) {
    if (reason == why) return;
    end_part(time);
    why = reason;
  }
  // It issues at `time`, no earlier, whatever else it did until then.
  void wait_until(Stall reason, uint64_t time) {
    hold(reason, std::min(next, time));
    next = time;
  }
  // It issues at `time`.
  void end_stall(uint64_t time) {
    while (!stalls.empty() && stalls.back().to > time) stalls.pop_back();
    end_part(time);
  }

 private:
  // The part of the stall is over at `time`; nothing if it has not lasted a cycle.
  void end_part(uint64_t time) {
    if (time > (stalls.empty() ? since + 1 : stalls.back().to)) stalls.push_back({why, time});
  }
};

}  // namespace palladion::sim::hardware
