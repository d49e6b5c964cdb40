#pragma once
// L2 and HBM, which all SMs share. SMs leave their requests until the end of a quantum; they are served in
// the order of their time, whatever thread simulated the SM.
#include <cstdint>
#include <span>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "sim/clock/memory/atomic_units.h"
#include "sim/clock/memory/held_lines.h"
#include "sim/clock/memory/merges.h"
#include "sim/clock/memory/order.h"
#include "sim/clock/memory/request.h"
#include "sim/clock/memory/slices.h"
#include "sim/clock/memory/ways.h"
#include "sim/launch/clock.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::sim::hardware {

// The ways of requests from unit to unit.
class MemoryClock {
 public:
  MemoryClock(const isa::ClockParameters& parameters, const isa::ArchSpec& arch);

  // As if a kernel had just gone through all allocations, each from its beginning to its end, and written
  // those that it is known to write.
  void warm_up(const GlobalMemory& memory, std::span<const Address> written);
  // Sets `done` and `accepted` of every request.
  void serve(std::span<Batch* const> batches);

  ClockCounters counters() const;
  Cycles l2_busy() const { return slices_.busy(); }  // cycles in which the whole L2 was occupied
  Cycles hbm_busy() const { return held_.hbm().busy(); }

 private:
  void touch(uint64_t line, bool written);
  void prefetch(const LineOrder::Entry& e) const;
  Cycles serve(Request& r, const LineAccess& l, Cycles time);
  Cycles read(const Request& r, const LineAccess& l, Cycles time);
  Cycles write(const Request& r, const LineAccess& l, Cycles time);
  Cycles atomic(Request& r, const LineAccess& l, Cycles time);
  Cycles answer(Tag& tag, const Request& r, const LineAccess& l, Cycles time);
  Cycles from_home(const Request& r, uint64_t line, uint8_t sectors, Cycles time);
  void count_reads(const Request& r, uint32_t sectors, uint32_t missing);
  Cycles written_far(Tag& home, uint32_t side) const;

  const isa::ClockParameters& p_;
  Partitions partitions_;
  LineOrder order_;
  Ways ways_;
  Slices slices_;
  HeldLines held_;
  Merges merges_;
  AtomicUnits atomics_;
  double requests_rest_ = 0;
  ClockCounters counters_;
};

}  // namespace palladion::sim::hardware
