#pragma once
// HBM: its bus, which the CPCs share, and how long its answers take.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

// A rate that several ports share: of those with work waiting, each gets the same part.
class SharedRate {
 public:
  explicit SharedRate(size_t ports) : free_(ports, 0) {}
  // When work is done that takes `cost` cycles of the whole rate.
  Cycles take(size_t port, Cycles time, Cycles cost);
  Cycles free(size_t port) const { return free_[port]; }

 private:
  std::vector<Cycles> free_;
  Cycles all_ = 0;
};

class Hbm {
 public:
  Hbm(const isa::ClockParameters& parameters, size_t cpcs) : p_(parameters), bus_(cpcs), cpcs_(cpcs) {}

  // A CPC's bytes; when they have moved.
  Cycles read(size_t cpc, Cycles time, uint64_t line, uint32_t bytes);
  Cycles write(size_t cpc, Cycles time, uint32_t bytes);
  // From when the bytes of a read that begins at `time` have moved until they are in L2.
  Cycles latency(uint64_t line, Cycles time, bool scattered) {
    return page_latency(line) + congestion(time) + (scattered ? p_.hbm_scattered : 0);
  }
  // When a writer need not wait any more.
  Cycles accepts(size_t cpc) const { return bus_.free(cpc) - p_.hbm_write_queue; }

  // Everything has moved and nothing of it is counted. The mixture of reads and writes goes on.
  void rest();
  Cycles busy() const { return busy_; }
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  Cycles move(size_t cpc, Cycles time, double bytes, bool is_write);
  bool open(uint64_t page);
  Cycles page_latency(uint64_t line) const;
  Cycles congestion(Cycles time);

  const isa::ClockParameters& p_;
  SharedRate bus_;
  size_t cpcs_;
  std::vector<uint64_t> pages_ = std::vector<uint64_t>(2048, ~0ULL);  // open ones
  double write_share_ = 0;
  double under_way_ = 0, counted_at_ = 0;  // about how many lines are read; since when
  Cycles busy_ = 0;
  uint64_t read_bytes_ = 0, written_bytes_ = 0;
};

}  // namespace palladion::sim::hardware
