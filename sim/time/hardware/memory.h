#pragma once
// L2 and HBM: queues that all SMs share. SMs hand in their requests between quanta; they are served in the
// order of their time, whatever thread simulated the SM.
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "isa/arch/arch.h"
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
  bool tma = false;
  bool pairs_of_lines = false;    // what HBM must give comes with the other line of its 256 bytes
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

inline constexpr uint32_t cpc_sms = 6;  // the last CPC of a GPC may have fewer
// Where an SM is: SMs of a CPC share their way to L2; a GPC is near one half of it.
// The chip numbers TPCs round the GPCs (%smid), the machine GPC by GPC.
struct Site {
  uint32_t gpc = 0, cpc = 0, side = 0;
  uint32_t number = 0;  // %smid
};
std::vector<Site> sites(const isa::ArchSpec& arch);

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

class MemoryClock {
 public:
  MemoryClock(const isa::ClockParameters& parameters, const isa::ArchSpec& arch);

  // As if a kernel had just gone through all allocations, each from its beginning to its end, and written
  // those that it is known to write.
  void warm_up(const GlobalMemory& memory, std::span<const Address> written);
  void serve(std::span<Batch* const> batches);

  const ClockCounters& counters() const { return counters_; }
  double l2_busy() const { return l2_busy_; }  // cycles in which the whole L2 was occupied
  double hbm_busy() const { return hbm_busy_; }

 private:
  struct Tag {
    uint64_t line = never;
    double filled = 0;             // cycle in which its data is there
    uint64_t order = 0;            // of its last access
    uint8_t valid = 0, dirty = 0;  // sectors
    uint8_t sides = 3;             // halves whose SMs find its newest data on their side; kept at home
  };
  // Requests of a GPC's SMs for the same sectors of a line, answered together.
  struct Merge {
    uint64_t line = never;
    double until = 0, answered = 0;  // it takes others; its data is in L2
    uint32_t sms = 0;                // that take part, a bit each
    uint32_t requests = 0;
    uint8_t sectors = 0;
    bool takes(const LineAccess& l, double time) const;
  };
  struct Slice {
    double read_free = 0, write_free = 0;
  };
  static constexpr size_t ways = 16;

  void touch(uint64_t line, bool written);
  double serve(Request& r, const LineAccess& l, double time);
  double read(const Request& r, const LineAccess& l, double time);
  double write(const Request& r, const LineAccess& l, double time);
  double atomic(Request& r, const LineAccess& l, double time);
  Merge& merge_of(const Site& site, uint64_t line);
  double answer(Tag& tag, const Request& r, const LineAccess& l, double time);
  double from_home(const Request& r, uint64_t line, uint8_t sectors, double time);
  double handed(Tag& home, uint32_t side) const;
  double fill(Tag& home, const Request& r, uint8_t missing, double time);
  double fetch(Tag& home, uint32_t cpc, uint8_t missing, double time);
  Tag* set_of(uint64_t line, uint32_t side);
  Tag* look_up(uint64_t line, uint32_t side);
  Tag& find(uint64_t line, uint32_t side, uint32_t cpc, double time);
  void leave(Tag& tag, uint32_t cpc, double time);
  void soil(Tag& tag, uint8_t sectors, uint32_t cpc, double time);
  Slice& slice(uint64_t line, uint32_t side);
  double booked(uint32_t bytes) const;
  double slice_time(uint32_t bytes) const;
  double slice_read(uint64_t line, uint32_t side, double time, double cost);
  double slice_write(uint64_t line, uint32_t side, double time, uint32_t bytes);
  double pass(uint32_t sm, double time, uint32_t bytes, bool merged);
  size_t atomic_unit(uint64_t line) const;
  double atomic_start(Request& r, const LineAccess& l, double time);
  double hbm(uint32_t cpc, double time, uint32_t bytes, bool is_write);
  double hbm_latency(uint64_t line) const;
  double crowding(double time);

  const isa::ClockParameters& p_;
  const std::vector<Site> sites_;
  std::vector<Tag> tags_;
  uint64_t sets_ = 1, order_ = 0;
  std::vector<Slice> slices_;
  std::vector<Merge> merges_;
  // Lines of an SM's reductions that wait in front of an atomic unit: when each has its turn, and whose place
  // the next one takes. By SM and unit.
  std::vector<double> turns_;
  std::vector<uint32_t> next_turn_;
  std::vector<double> atomic_free_, gpc_free_, sm_free_, sm_write_free_;
  std::deque<uint64_t> dirty_;  // lines, first soiled first
  uint64_t dirty_bytes_ = 0;
  double requests_rest_ = 0, merge_free_ = 0;
  SharedRate hbm_;
  double write_share_ = 0;
  double reads_ = 0, reads_at_ = 0;  // of HBM: about how many lines are under way; since when
  double hbm_busy_ = 0, l2_busy_ = 0;
  ClockCounters counters_;
};

}  // namespace palladion::sim::hardware
