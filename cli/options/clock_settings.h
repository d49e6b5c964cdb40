// Settings of the hardware schedule: --l2, --values, --sm-clock, --clock.
#pragma once

#include "cli/options/options.h"
#include "isa/arch/clock.h"
#include "sim/machine.h"

namespace palladion::cli {

struct ClockSettings {
  sim::L2Start l2 = sim::L2Start::cold;
  sim::Values values = sim::Values::full;
  isa::ClockParameters parameters;

  // The settings must outlive the run.
  void apply(sim::RunOptions& run) const;
};

bool on_hardware_schedule(const Options& options);
// Refuses words that do not exist, and words of the clock under another schedule.
Outcome<void> check_clock_options(const Options& options);
// From checked options; unsupported where the architecture has no clock.
Outcome<ClockSettings> clock_settings(const Options& options);

// FNV-1a, 64 bits, over every value in the order of the file's keys.
uint64_t hash(const isa::ClockParameters& parameters);

}  // namespace palladion::cli
