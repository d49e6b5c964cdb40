#pragma once
// Reachability: what could still happen while some threads are blocked, an over-approximation in one sweep.
// No step is ever undone (a barrier may have completed any number of phases that its possible arrivals
// allow), so it includes whatever some schedule can do.
#include <cstdint>
#include <vector>

#include "sim/explore/model.h"

namespace palladion::sim::check {

struct Possible {
  uint32_t thread = 0;
  const SyncOp* op = nullptr;
};

// What may happen at one object.
struct PossibleUse {
  uint64_t arrivals = 0;           // mbarrier and barrier: summed counts
  uint64_t announced = 0;          // bytes, by arrivals and expect_tx
  uint64_t delivered = 0;          // bytes
  uint64_t deferred = 0;           // arrivals more that phases may await
  uint64_t freed = 0, wanted = 0;  // registers
  bool dropped = false;            // the expected count may change
  bool bare_expect = false;        // an expect_tx or a defer without an arrival of its own
  bool reset = false;              // init or inval
  bool waits_now = false;          // a wait that the phase before the current one satisfies
  bool other_threads = false;      // barrier arrivals that do not agree on the thread count
  uint32_t least_needed = 0;       // the smallest of these counts; 0: no arrival
  std::vector<Possible> uses;
};

class Reachability {
 public:
  explicit Reachability(const Model& model) : model_(model) {}

  // From `s`, with the threads of `frozen` (ascending) blocked.
  void run(const SyncState& s, const std::vector<uint32_t>& frozen);
  const PossibleUse& at(uint32_t object) const { return use_[object]; }
  // The object's current phase may complete.
  bool may_complete(uint32_t object) const { return completions(object) != 0; }

 private:
  bool advance(uint32_t thread);
  bool may(uint32_t thread, const SyncOp& op) const;
  void take(uint32_t thread, const SyncOp& op);
  uint64_t completions(uint32_t object) const;
  uint32_t generation_of(uint32_t thread, const SyncOp& pass) const;

  const Model& model_;
  const SyncState* state_ = nullptr;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> movers_;
  std::vector<PossibleUse> use_;
};

}  // namespace palladion::sim::check
