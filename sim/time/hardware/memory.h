#pragma once
// L2 and HBM: queues that all SMs share. SMs hand in their requests between quanta; they are served in the
// order of their time, whatever thread simulated the SM.
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/state/global_memory.h"
#include "sim/time/clock.h"

namespace palladion::sim::hardware {

inline constexpr uint64_t never = ~0ULL;
inline constexpr uint32_t line_bytes = 128, sector_bytes = 32;

struct LineAccess {
  uint64_t line = 0;     // address / line_bytes
  uint8_t sectors = 0;   // mask
  uint8_t alike = 1;     // of an atomic: the most lanes that want one word
  uint32_t words = ~0U;  // mask
  bool whole() const;    // all words of its sectors
};

// 32-byte pieces that the access takes on its way to L2: what does not write whole sectors says which bytes.
uint32_t write_pieces(const LineAccess& l);
uint32_t atomic_pieces(const LineAccess& l);

struct Request {
  enum class Kind : uint8_t { read, write, atomic };
  Kind kind = Kind::read;
  uint64_t time = 0;              // cycle in which the first line leaves the SM
  double step = 0;                // cycles between its lines
  uint32_t first = 0, lines = 0;  // in Batch::lines
  uint32_t sm = 0;
  uint32_t copies = 1;    // SMs that receive it (multicast)
  uint64_t done = never;  // out: everything is back at the SM, or written in L2
  double accepted = 0;    // out: the SM sends nothing more before; too many of its reductions wait
};

// What one group of SMs asked for since the last edge.
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
  MemoryClock(const isa::ClockParameters& parameters, uint32_t sms, uint32_t gpcs);

  // As if a kernel had just read and written these allocations, one after the other.
  void warm_up(const GlobalMemory& memory);
  void serve(std::span<Batch* const> batches);

  const ClockCounters& counters() const { return counters_; }
  double l2_busy() const { return l2_busy_; }  // cycles in which the whole L2 was occupied
  double hbm_busy() const { return hbm_busy_; }

 private:
  struct Tag {
    uint64_t line = never;
    uint64_t filled = 0;           // cycle in which its data is there
    uint64_t used = 0;             // last access, for merging
    uint32_t sm = 0;               // that asked last
    uint8_t valid = 0, dirty = 0;  // sectors
    uint8_t sides = 3;             // partitions whose SMs find its newest data on their side
  };
  static constexpr size_t ways = 16;

  void serve(Request& r, const LineAccess* lines);
  double read(const Request& r, const LineAccess& l, double time);
  double write(const Request& r, const LineAccess& l, double time);
  double atomic(Request& r, const LineAccess& l, double time);
  Tag& find(uint64_t line, bool& hit);
  double slice_start(uint64_t line, double time, double cost);
  double merge(double time, uint32_t bytes);
  // Lines of one SM's reductions that wait in front of one unit: when each has its turn.
  struct Waiting {
    std::array<double, 30> turns{};  // as many: global.red.queued
    uint8_t next = 0;
  };
  size_t atomic_unit(uint64_t line) const;
  double atomic_start(Request& r, const LineAccess& l, double time);
  double hbm(double time, uint32_t bytes, bool is_write);
  double distance(uint32_t sm, uint64_t line) const;
  double hbm_latency(uint64_t line) const;
  void soil(Tag& tag, uint8_t sectors);
  uint64_t shown(uint32_t sectors);

  const isa::ClockParameters& p_;
  std::vector<uint8_t> sides_;  // by SM
  std::vector<Tag> tags_;
  uint64_t sets_ = 1;
  std::vector<Waiting> waiting_;  // by SM and atomic unit
  std::vector<double> slice_free_, atomic_free_, sm_free_, sm_write_free_;
  std::deque<uint64_t> dirty_;  // lines, first soiled first
  uint64_t dirty_bytes_ = 0;
  double shown_rest_ = 0, merge_free_ = 0;
  double hbm_free_ = 0, write_share_ = 0;
  double hbm_busy_ = 0, l2_busy_ = 0;
  ClockCounters counters_;
};

}  // namespace palladion::sim::hardware
