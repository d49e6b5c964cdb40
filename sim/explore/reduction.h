#pragma once
// Which of the enabled operations must be tried: a persistent set (Godefroid). No operation outside it, now
// or later, depends on the order in which it and the members of the set are executed.
#include <cstdint>
#include <vector>

#include "sim/explore/reach.h"

namespace palladion::sim::check {

class Reduction {
 public:
  explicit Reduction(const Model& model) : model_(model), reach_(model) {}

  // A subset of `enabled` (ascending, not empty). `last` is tried first: the thread that executed the
  // previous operation.
  std::vector<uint32_t> choose(const SyncState& s, const std::vector<uint32_t>& enabled, uint32_t last);

 private:
  bool grow(const SyncState& s, const std::vector<uint32_t>& enabled, std::vector<uint32_t>& set);
  // True when the next operation of `thread` commutes with all that `reach_` holds; else the threads that
  // conflict with it are added to `blamed_`.
  bool independent(const SyncState& s, uint32_t thread);
  bool arrival_independent(const ObjectState& o, const SyncOp& op);
  bool wait_independent(const ObjectState& o, const SyncOp& op);
  bool barrier_independent(const ObjectState& o, const SyncOp& op);
  template <class Predicate>
  bool blame(uint32_t object, Predicate culprit);

  const Model& model_;
  Reachability reach_;
  std::vector<uint32_t> blamed_;
};

}  // namespace palladion::sim::check
