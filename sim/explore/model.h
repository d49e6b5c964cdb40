#pragma once
// What an operation of a skeleton does: the semantics that the explorer, its oracle and the forced-phase
// decision share.
#include <cstdint>
#include <vector>

#include "sim/explore/skeleton.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim::check {

// An mbarrier: the machine's state of it, and phase = phases completed: the explorer executes what the
// machine has not. A CTA or cluster barrier: phase = generation, pending = threads arrived, expected =
// threads needed, 0 when idle. A register pool: pending = free registers. After an inval the phases of the
// next life begin at an even number that was not yet used, so that a phase number names one phase forever.
struct ObjectState : MbarrierState {
  uint32_t phase = 0;
  uint32_t first = 0;    // phase in which this life of an mbarrier began
  bool observed = true;  // a wait has returned for the phase before this one, or there is none
  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

struct SyncState {
  std::vector<uint32_t> position;    // by thread: operations executed
  std::vector<uint8_t> halted;       // by thread: its operation failed, it executes no more
  std::vector<uint32_t> generation;  // by thread * objects + object of bar_arrive: see Model::slot
  std::vector<ObjectState> objects;
  std::vector<uint32_t> flying;  // agents issued and not landed, ascending
};

enum class SyncError : uint8_t {
  none,
  uninitialised,      // an operation on an mbarrier that does not exist
  too_many_arrivals,  // more than the phase has pending
  tx_range,           // the transaction count leaves its range
  barrier_threads,    // the thread count of a barrier differs from that of the waiting threads
  barrier_overflow,   // more threads than the barrier needs
};

struct StepResult {
  SyncError error = SyncError::none;
  uint32_t label = 0;      // phase or generation that the operation met
  bool completed = false;  // it completed that phase
  bool overrun = false;    // an arrival in a phase whose predecessor no wait has observed
};

// What a step of `thread` changes, as it was before.
struct Undo {
  uint32_t thread = 0;
  uint32_t generation = 0;
  ObjectState object;
};

class Model {
 public:
  explicit Model(const Skeleton& skeleton);

  const Skeleton& skeleton() const { return skeleton_; }
  uint32_t threads() const { return static_cast<uint32_t>(skeleton_.threads.size()); }
  // Threads that are no agents: the first ones.
  uint32_t lanes() const { return lanes_; }
  SyncState initial() const;
  bool finished(const SyncState& s, uint32_t thread) const {
    return s.position[thread] == skeleton_.threads[thread].ops.size();
  }
  const SyncOp& next(const SyncState& s, uint32_t thread) const {
    return skeleton_.threads[thread].ops[s.position[thread]];
  }
  bool met(const SyncState& s, const SyncOp& op) const;
  // The thread has an operation that can be executed now, perhaps with an error.
  bool enabled(const SyncState& s, uint32_t thread) const;
  StepResult step(SyncState& s, uint32_t thread) const;
  Undo before_step(const SyncState& s, uint32_t thread) const;
  void undo(SyncState& s, const Undo& u) const;
  // Every agent that begins once `thread` has executed `position` operations.
  const std::vector<uint32_t>& begun(uint32_t thread, uint32_t position) const;
  // Where a thread remembers the generation that it last arrived in: one slot for CTA barriers, one for
  // the cluster's.
  size_t slot(uint32_t thread, uint32_t object) const {
    return size_t{thread} * 2 + (skeleton_.objects[object].kind == SyncObject::Kind::cluster_barrier ? 1 : 0);
  }

 private:
  const Skeleton& skeleton_;
  uint32_t lanes_ = 0;
  std::vector<std::vector<std::vector<uint32_t>>> begun_;  // by thread, by position
  std::vector<uint32_t> none_;
};

}  // namespace palladion::sim::check
