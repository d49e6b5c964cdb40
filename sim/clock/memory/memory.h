#pragma once
// L2 and HBM: queues that all SMs share. SMs hand in their requests between quanta; they are served in the
// order of their time, whatever thread simulated the SM.
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "sim/clock/memory/hbm.h"
#include "sim/clock/memory/lines.h"
#include "sim/clock/memory/merges.h"
#include "sim/clock/memory/port.h"
#include "sim/clock/memory/sites.h"
#include "sim/clock/memory/tags.h"
#include "sim/launch/clock.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::sim::hardware {

struct Request {
  enum class Kind : uint8_t { read, write, atomic };
  Kind kind = Kind::read;
  bool tma = false;
  bool pairs_of_lines = false;    // what HBM must give comes with the other line of its 256 bytes
  bool scattered = false;         // lines of more than 128 KiB, from end to end
  uint64_t time = 0;              // cycle in which the first line leaves the SM
  double step = 0;                // cycles between its lines
  uint32_t first = 0, lines = 0;  // in Batch::lines
  uint32_t sm = 0;
  double bytes_per_cycle = 0;  // that its SM takes in; 0: what loads do
  // Multicast: the receivers, by CTA of the cluster whose first SM this is; 0: its SM alone.
  uint32_t receivers = 0, first_sm = 0;
  uint64_t done = never;  // out: everything is back at the SM, or written in L2
  double accepted = 0;    // out: the SM sends nothing more before; too many of its reductions wait
};

// What one group of SMs asked for since the last quantum boundary.
struct Batch {
  std::vector<Request> requests;
  std::vector<LineAccess> lines;
  void clear() {
    requests.clear();
    lines.clear();
  }
};

class MemoryClock {
 public:
  MemoryClock(const isa::ClockParameters& parameters, const isa::ArchSpec& arch);

  // As if a kernel had just gone through all allocations, each from its beginning to its end, and written
  // those that it is known to write.
  void warm_up(const GlobalMemory& memory, std::span<const Address> written);
  void serve(std::span<Batch* const> batches);

  ClockCounters counters() const;
  double l2_busy() const { return l2_busy_; }  // cycles in which the whole L2 was occupied
  double hbm_busy() const { return hbm_.busy(); }

 private:
  // A line of a request.
  struct Entry {
    double time = 0;
    Request* request = nullptr;
    LineAccess line;
  };
  struct Slice {
    double read_free = 0, write_free = 0;
  };

  void touch(uint64_t line, bool written);
  void sort();
  void prefetch(const Entry& e) const;
  double serve(Request& r, const LineAccess& l, double time);
  double read(const Request& r, const LineAccess& l, double time);
  double write(const Request& r, const LineAccess& l, double time);
  double atomic(Request& r, const LineAccess& l, double time);
  double answer(Tag& tag, const Request& r, const LineAccess& l, double time);
  double from_home(const Request& r, uint64_t line, uint8_t sectors, double time);
  double handed(Tag& home, uint32_t side) const;
  double fill(Tag& home, const Request& r, uint8_t missing, double time);
  double fetch(Tag& home, const Request& r, uint8_t missing, double time);
  Tag& find(uint64_t line, uint32_t side, uint32_t cpc, double time);
  void leave(Tag& tag, uint32_t cpc, double time);
  void mark_dirty(Tag& tag, uint8_t sectors, uint32_t cpc, double time);
  void drop_copies(uint64_t line, uint32_t home);  // of the other partitions
  Slice& slice(uint64_t line, uint32_t side);
  double booked(uint32_t bytes) const;
  double slice_time(uint32_t bytes) const;
  double slice_read(uint64_t line, uint32_t side, double time, double cost);
  double slice_write(uint64_t line, uint32_t side, double time, uint32_t bytes);
  double way(uint32_t sm, uint64_t line) const;
  double receive(const Request& r, double time, uint32_t bytes);
  double pass(const Request& r, double time, double way, uint32_t bytes, bool merged);
  size_t atomic_unit(uint64_t line) const;
  double queue_atomic(size_t queue, const LineAccess& l, double start);
  double atomic_start(Request& r, const LineAccess& l, double time);

  const isa::ClockParameters& p_;
  const std::vector<Site> sites_;
  const Partitions partitions_;
  Tags tags_;
  std::vector<Slice> slices_;
  Merges merges_;
  // An SM's reductions that wait in front of an atomic unit, by so many lanes: when each is served, and
  // whose place the next one takes. By SM and unit.
  static constexpr uint32_t lanes_queued = 8;
  size_t queued_ = 1;
  std::vector<double> turns_;
  std::vector<uint32_t> next_turn_;
  std::vector<double> atomic_free_, gpc_free_, sm_write_free_;
  std::vector<Port> ports_;     // by SM
  std::deque<uint64_t> dirty_;  // lines, the first that became dirty first
  uint64_t dirty_bytes_ = 0;
  double requests_rest_ = 0;
  Hbm hbm_;
  double l2_busy_ = 0;
  ClockCounters counters_;
  std::vector<Entry> entries_, order_;  // of the quantum that is served
  std::vector<uint32_t> begins_;        // in `order_`, while it is sorted
};

}  // namespace palladion::sim::hardware
