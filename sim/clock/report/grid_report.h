#pragma once
// What a grid's clock says when the grid has ended: cycles, counters, shares, every instruction's account.
#include <cstdint>
#include <span>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "sim/clock/group/group.h"
#include "sim/clock/memory/memory.h"
#include "sim/launch/clock.h"

namespace palladion::sim::hardware {

// From when to when there was work.
struct Course {
  Cycle first_start = never, last_end = Cycle(0);
  std::vector<Cycle> gpc_ends;  // when its last CTA has ended; 0: it had none
  double ctas_an_sm = 0;        // of the whole grid
};

// All but the lines.
ClockReport report_of(const isa::ArchSpec& arch, const isa::ClockParameters& parameters, const Course& course,
                      std::span<const SmGroup> groups, const MemoryClock& memory);
// Sums over host threads.
std::vector<LineTime> lines_of(std::span<const std::vector<LineTime>> by_thread);

}  // namespace palladion::sim::hardware
