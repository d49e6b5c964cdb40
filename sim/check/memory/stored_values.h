#pragma once
// The values that the lanes of a plain store write, as bytes of memory.
#include "sim/check/core/context.h"
#include "sim/program/program.h"

namespace palladion::sim::check {

class StoredValues {
 public:
  static constexpr size_t most_bytes = 64;  // of a lane

  StoredValues(const ClusterContext& context, const Access& access);
  // False of accesses that are no `st`, and in runs without values.
  bool known() const { return store_ != nullptr; }
  // The `access.size` bytes of one lane, or of `lanes` from it on, one after the other.
  void read(Lane lane, uint8_t* bytes, uint32_t lanes = 1) const;

 private:
  const MicroOp& op_;
  const isa::Store* store_;
  const uint8_t* constants_;
  const uint8_t* registers_;
};

}  // namespace palladion::sim::check
