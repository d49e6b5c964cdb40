#pragma once
// What the partitions of L2 hold: sets of lines with least-recently-used replacement.
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/clock/memory/lines.h"
#include "sim/clock/memory/zeroed.h"

namespace palladion::sim::hardware {

struct Tag {
  uint64_t line = never;
  Cycles filled = 0;             // cycle in which its data is there
  uint8_t valid = 0, dirty = 0;  // sectors
  uint8_t sides = 0xFF;          // bits: partitions whose SMs find its newest data there; kept at home
};

class Tags {
 public:
  Tags(uint64_t bytes, Partitions partitions);

  // A partition's entry of a line, or nullptr.
  Tag* look_up(uint64_t line, uint32_t side);
  // It has been used.
  Tag& touch(Tag& tag);
  // Whose place a line takes that is not there.
  Tag& oldest(uint64_t line, uint32_t side);
  Tag& replace(Tag& old, uint64_t line);
  void drop(Tag& tag);
  // The host's caches: a line is about to be looked up.
  void prefetch(uint64_t line, uint32_t side) const;
  size_t size() const { return tags_.size(); }

 private:
  static constexpr size_t ways = 16;
  // What a search looks at, close together.
  struct Set {
    std::array<uint64_t, ways> lines;  // and one; `never` and one is 0: no line
    std::array<uint64_t, ways> used;   // in the order of their last accesses
  };
  size_t set_of(uint64_t line, uint32_t side) const {
    return side * a_side_ + spread(partitions_.within(line), a_side_);
  }
  size_t place_of(const Tag& tag) const { return static_cast<size_t>(&tag - tags_.data()); }
  void enter(size_t place, uint64_t line, Cycle used);

  Partitions partitions_;
  uint64_t a_side_, accesses_ = 0;
  Zeroed<Set> sets_;
  Zeroed<Tag> tags_;  // those without a line have never been looked at
};

}  // namespace palladion::sim::hardware
