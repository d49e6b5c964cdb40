#pragma once
// Accesses that leave the array they begin in: hardware detects none of them inside the CTA's memory (UN-04,
// TM-03).
#include <vector>

#include "sim/check/core/context.h"

namespace palladion::sim::check {

// Which instructions name a shared array in their address, and the arrays; once a program.
class ArrayBounds {
 public:
  explicit ArrayBounds(const RunView& run);

  // The array that the instruction's address names; null when it names none.
  const SharedObject* named_by(Pc pc) const { return by_pc_[pc] < 0 ? nullptr : &objects_[by_pc_[pc]]; }
  // True when some array holds all of the bytes, or none holds the first of them.
  bool inside(uint64_t offset, uint64_t bytes) const;

 private:
  std::vector<SharedObject> objects_;
  std::vector<int> by_pc_;
};

class Bounds {
 public:
  Bounds(const ClusterContext& context, const ArrayBounds& arrays) : context_(context), arrays_(arrays) {}
  void on(const Access& a);
  void on(const AsyncIssue& e);

 private:
  bool ends_behind_memory(const Access& a);
  void report(const Origin& origin, Code code, SharedAddress address, uint64_t bytes, Statement message,
              FindingSeverity severity = FindingSeverity::error);

  const ClusterContext& context_;
  const ArrayBounds& arrays_;
};

}  // namespace palladion::sim::check
