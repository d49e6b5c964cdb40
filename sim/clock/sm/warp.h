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
  // Which one it is: its place in the group, its cluster's number there, its CTA's rank (which is the SM's
  // number), its number in the CTA. The pointers are these in the machine's state, see Residents::rebind.
  uint32_t index = 0;
  ClusterOfGroup cluster_number = no_cluster;
  uint32_t sm = 0;
  WarpOfCta id;
  uint64_t warpgroup = 0;  // its number in the grid
  ClusterState* cluster = nullptr;
  CtaState* cta = nullptr;
  WarpState* warp = nullptr;

  uint32_t sub_core = 0;  // of the SM
  State state = State::done;
  Cycle next;   // its next instruction issues no earlier
  Cycle since;  // of its last issue
  // What has held it up since: parts that are over, and the reason that counts from then on.
  std::vector<StallPart> stalls;
  Stall why = Stall::wait;
  uint32_t in_a_row = 0;    // instructions of one lane group beside others
  Cycle block;              // since the last branch
  Cycles busy = 0;          // by its own instructions: sequences, instruction fetches
  uint32_t iterations = 0;  // taken branches backwards
  WarpRegisters registers;

  Cycle last_store;                  // a fence of a wide scope begins when its stores have come so far
  Cycle last_async;                  // and ends no sooner than its asynchronous stores
  Cycle arrived;                     // at the cluster's barrier
  SharedAddress last_mbarrier{~0U};  // at which it arrived through the cluster's window
  Cycle fence_end;                   // of a fence that may have to wait longer
  bool fenced = false;               // the fence of the release that it is about to issue is done
  Cycle arrive_free;                 // its next mbarrier arrival issues no earlier

  // Another reason holds it up from `time` on.
  void hold(Stall reason, Cycle time) {
    if (reason == why) return;
    end_part(time);
    why = reason;
  }
  // It issues at `time`, no earlier, whatever else it did until then.
  void wait_until(Stall reason, Cycle time) {
    hold(reason, std::min(next, time));
    next = time;
  }
  // The instruction issues at `now`, and its SASS after `fetching` cycles; `gathering`: what it does before
  // its access. The next one issues after its sequence.
  void issue(const InstructionCost& cost, Cycle now, uint32_t gathering, Cycles fetching) {
    since = now;
    why = Stall::wait;
    busy = std::max(busy, time_of(now)) + cost.held + gathering;
    const Cycle issued = now + std::max(1U, cost.slots);
    if (fetching > 0) {
      hold(Stall::no_instruction, std::max(issued, cycle_of(busy)));
      busy += fetching;
    }
    next = std::max(issued, cycle_of(busy));
  }
  // The stall is over at `now`: its cycles are the instruction's.
  void charge(LineTime& line, Cycle now) {
    end_stall(now);
    line.warps |= 1U << id;
    ++line.issued;
    ++line.cycles[static_cast<size_t>(Stall::selected)];
    Cycle from = since + 1;
    for (const StallPart& part : stalls) {
      line.cycles[static_cast<size_t>(part.reason)] += part.to - from;
      from = part.to;
    }
  }

 private:
  // It issues at `time`.
  void end_stall(Cycle time) {
    while (!stalls.empty() && stalls.back().to > time) stalls.pop_back();
    end_part(time);
  }
  // The part of the stall is over at `time`; nothing if it has not lasted a cycle.
  void end_part(Cycle time) {
    if (time > (stalls.empty() ? since + 1 : stalls.back().to)) stalls.push_back({why, time});
  }
};

}  // namespace palladion::sim::hardware
