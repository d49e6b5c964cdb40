#include "sim/clock/memory/slices.h"

namespace palladion::sim::hardware {

Slices::Slices(const isa::ClockParameters& p, Partitions partitions)
    : p_(p),
      partitions_(partitions),
      slices_(partitions.count() *
              std::max<size_t>(1, static_cast<size_t>(p.l2_slices) / partitions.count())) {}

Slices::Slice& Slices::slice(uint64_t line, uint32_t side) {
  const size_t of_side = slices_.size() / partitions_.count();
  return slices_[side * of_side + spread(partitions_.within(line), of_side)];
}

Cycles Slices::read(uint64_t line, uint32_t side, Cycles time, Cycles cycles) {
  Cycles& free = slice(line, side).read_free;
  const Cycles start = std::max(time, free);
  free = start + cycles;
  busy_ += cycles / count();
  return start;
}

Cycles Slices::write(uint64_t line, uint32_t side, Cycles time, uint32_t bytes) {
  Cycles& free = slice(line, side).write_free;
  const Cycles start = std::max(time, free);
  free = start + bytes * count() / p_.l2_write_bytes_per_cycle;
  return start;
}

// It takes less of what reads need than a read does: together they do more than one after the other.
Cycles Slices::store(uint64_t line, uint32_t side, Cycles time, uint32_t bytes) {
  const double passes = 2 - 1.0 / partitions_.count();  // of a store, on average: not all lines' home is near
  const double shared = (2 / p_.l2_mixed_bytes_per_cycle - 1 / p_.l2_bytes_per_cycle) / passes;
  return std::max(write(line, side, time, bytes), read(line, side, time, bytes * count() * shared));
}

}  // namespace palladion::sim::hardware
