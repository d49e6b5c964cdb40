#pragma once
// All schedules of a skeleton: every interleaving of its threads, every moment at which a signal can land.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/explore/model.h"

namespace palladion::sim::check {

struct ExploreOptions {
  uint64_t budget = 1'000'000;  // states
  // States after the first problem: one wrong order soon has very many schedules. `budget` when larger.
  uint64_t budget_after_problem = ~0ULL;
  bool reduce = true;  // false: every interleaving, for tests
};

// An operation of a skeleton.
struct OpRef {
  uint32_t thread = 0;
  uint32_t position = 0;
  friend auto operator<=>(const OpRef&, const OpRef&) = default;
};

struct Problem {
  enum class Kind : uint8_t {
    deadlock,   // `op` and all of `blocked` are blocked forever
    ambiguous,  // `op` meets `phase` in one schedule and `other_phase` in another
    overrun,    // `op` arrives in `phase`, and no wait has observed the one before
    error,      // `op` fails
  };
  Kind kind = Kind::deadlock;
  SyncError error = SyncError::none;
  OpRef op;
  uint32_t phase = 0, other_phase = 0;
  std::vector<OpRef> blocked;
  std::vector<uint32_t> blocked_phase;  // of the object of each
  // deadlock: `op` is a wait that returns in other schedules, for a phase that completed here before it was
  // executed.
  bool missed = false;
  std::vector<uint32_t> witness;  // threads in the order in which they move; ends with `op`'s move
};

// The phases or generations that one operation met.
struct Labels {
  static constexpr uint32_t unseen = ~0U;
  uint32_t first = unseen, second = unseen;  // the first two that differ
};

struct Exploration {
  bool complete = false;  // false: the budget ran out
  bool stopped = false;   // ... the budget after a problem
  uint64_t states = 0;    // distinct
  uint64_t classes = 0;   // runs that the search followed to an end or to a state that it knew
  uint64_t ends = 0;      // distinct states in which nothing is enabled
  uint64_t deadlocked_ends = 0;
  std::vector<Problem> problems;            // the first of each kind and operation
  std::vector<std::vector<Labels>> labels;  // by thread and position
  bool deadlocks() const { return deadlocked_ends != 0; }
  bool ambiguous() const;
};

Exploration explore(const Skeleton& skeleton, const ExploreOptions& options = {});

}  // namespace palladion::sim::check
