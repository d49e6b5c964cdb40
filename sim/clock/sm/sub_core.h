#pragma once
// A sub-core: the issue slot of its warp scheduler, and its execution pipes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "isa/arch/clock.h"
#include "sim/clock/sm/instruction_cost.h"

namespace palladion::sim::hardware {

// When would the scheduler issue the next instruction? Warps that are ready while it is occupied wait here
// and are served in the order in which they came.
class IssueSlot {
 public:
  Cycle opens() const { return free_; }
  void take(Cycle now, uint32_t cycles) { free_ = now + cycles; }

  void wait(uint32_t warp) { waiting_.push_back(warp); }
  // The warp that issues at `now`; none while the slot is occupied.
  std::optional<uint32_t> next(Cycle now) {
    if (waiting_.empty() || free_ > now) return std::nullopt;
    const uint32_t warp = waiting_.front();
    waiting_.pop_front();
    return warp;
  }
  // Whether an event has to be sent for when the slot opens: one at a time, while warps wait.
  bool needs_event() { return !waiting_.empty() && !std::exchange(event_sent_, true); }
  void event_came() { event_sent_ = false; }

 private:
  Cycle free_;
  std::deque<uint32_t> waiting_;
  bool event_sent_ = false;
};

// When would a pipe take an instruction?
class Pipes {
 public:
  explicit Pipes(const isa::ClockParameters& p) : queue_(p.issue_queue) {}

  // When the instruction may issue: `queued` ones as soon as the queue in front of the pipe has room.
  Cycle opens(Resource pipe, bool queued) const {
    return cycle_of(std::max(0.0, std::ceil(at(pipe) - (queued ? queue_ : 0))));
  }
  // The pipe is occupied for `cycles` from the time that is returned.
  Cycles take(Resource pipe, Cycles now, Cycles cycles) {
    const Cycles start = std::max(at(pipe), now);
    free_[static_cast<size_t>(pipe)] = start + cycles;
    return start;
  }
  void hold(Resource pipe, Cycles until) { free_[static_cast<size_t>(pipe)] = std::max(at(pipe), until); }

 private:
  Cycles at(Resource pipe) const { return free_[static_cast<size_t>(pipe)]; }
  Cycles queue_;
  std::array<Cycles, resource_count> free_{};
};

struct SubCore {
  explicit SubCore(const isa::ClockParameters& p) : pipes(p) {}
  IssueSlot slot;
  Pipes pipes;
};

}  // namespace palladion::sim::hardware
