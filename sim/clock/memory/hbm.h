#pragma once
// HBM: its bus, which the CPCs share, and how long its answers take.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"

namespace palladion::sim::hardware {

// A rate that several ports share: of those with work waiting, each gets the same part.
class SharedRate {
 public:
  explicit SharedRate(size_t ports) : free_(ports, 0) {}
  // When work is done that takes `cost` cycles of the whole rate.
  double take(size_t port, double time, double cost);
  double free(size_t port) const { return free_[port]; }

 private:
  std::vector<double> free_;
  double all_ = 0;
};

class Hbm {
 public:
  Hbm(const isa::ClockParameters& parameters, size_t cpcs) : p_(parameters), bus_(cpcs), cpcs_(cpcs) {}

  // A CPC's bytes; when they have moved.
  double read(size_t cpc, double time, uint64_t line, uint32_t bytes);
  double write(size_t cpc, double time, uint32_t bytes);
  // From when the bytes of a read that begins at `time` have moved until they are in L2.
  double latency(uint64_t line, double time, bool scattered) {
    return page_latency(line) + crowding(time) + (scattered ? p_.hbm_scattered : 0);
  }
  // When a writer need not wait any more.
  double accepts(size_t cpc) const { return bus_.free(cpc) - p_.hbm_write_queue; }

  // Everything has moved and nothing of it is counted. The mixture of reads and writes goes on.
  void rest();
  double busy() const { return busy_; }
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  double move(size_t cpc, double time, double bytes, bool is_write);
  bool open(uint64_t page);
  double page_latency(uint64_t line) const;
  double crowding(double time);

  const isa::ClockParameters& p_;
  SharedRate bus_;
  size_t cpcs_;
  std::vector<uint64_t> pages_ = std::vector<uint64_t>(2048, ~0ULL);  // open ones
  double write_share_ = 0;
  double under_way_ = 0, counted_at_ = 0;  // about how many lines are read; since when
  double busy_ = 0;
  uint64_t read_bytes_ = 0, written_bytes_ = 0;
};

}  // namespace palladion::sim::hardware
