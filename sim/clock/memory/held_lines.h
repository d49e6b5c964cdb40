#pragma once
// The lines that L2 holds: which sectors are there, which of them HBM does not have, and since when.
#include <cstdint>
#include <deque>

#include "isa/arch/clock.h"
#include "sim/clock/memory/hbm.h"
#include "sim/clock/memory/request.h"
#include "sim/clock/memory/slices.h"
#include "sim/clock/memory/tags.h"

namespace palladion::sim::hardware {

// When would L2 have a line's sectors?
class HeldLines {
 public:
  HeldLines(const isa::ClockParameters& p, Partitions partitions, size_t cpcs)
      : p_(p), partitions_(partitions), tags_(static_cast<uint64_t>(p.l2_bytes), partitions), hbm_(p, cpcs) {}

  // A partition's entry of a line; a missing line replaces the least recently used one, at `time`, because of
  // an SM of this CPC.
  Tag& find(uint64_t line, uint32_t side, uint32_t cpc, Cycles time);
  // The home has asked HBM for what it lacks; returns when it is there.
  Cycles fill(Tag& home, const Request& r, uint8_t missing, uint32_t cpc, Cycles time, Slices& slices);
  // L2 keeps only so much that HBM does not have: what was written first goes first.
  void mark_dirty(Tag& tag, uint8_t sectors, uint32_t cpc, Cycles time);
  // Of the partitions that are not the line's home.
  void drop_copies(uint64_t line);
  // The host's caches: a line is about to be looked up.
  void prefetch(uint64_t line, uint32_t side) const { tags_.prefetch(line, side); }

  size_t size() const { return tags_.size(); }
  Hbm& hbm() { return hbm_; }
  const Hbm& hbm() const { return hbm_; }

 private:
  void leave(Tag& tag, uint32_t cpc, Cycles time);
  Cycles fetch(Tag& home, const Request& r, uint8_t missing, uint32_t cpc, Cycles time, Slices& slices);

  const isa::ClockParameters& p_;
  Partitions partitions_;
  Tags tags_;
  std::deque<uint64_t> dirty_;  // lines, the first that became dirty first
  uint64_t dirty_bytes_ = 0;
  Hbm hbm_;
};

}  // namespace palladion::sim::hardware
