#pragma once
// What the text of a kernel depends on, beside its data: instructions and special registers decide.
#include "sim/program/program.h"

namespace palladion::sim::check {

// A CTA can know how many others the grid has, or which of them run.
bool depends_on_grid(const Program& program);

// Results can differ between schedules under which every thread executes the same and nothing races: floats
// that are added in memory, old values of atomics, clocks, numbers of SMs, answers of the system.
bool depends_on_order(const Program& program);

// `elect.sync` chooses a lane: PTX says that it is the same one for the same members, and not which.
bool elects_lanes(const Program& program);

}  // namespace palladion::sim::check
