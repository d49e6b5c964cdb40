// Settings of the hardware schedule: --l2, --values, --sm-clock, --clock, --registers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/options/registers.h"
#include "cli/options/words.h"
#include "isa/arch/clock.h"
#include "sim/machine.h"

namespace palladion::cli {

struct ClockSettings {
  sim::L2Start l2 = sim::L2Start::cold;
  sim::Values values = sim::Values::full;
  isa::ClockParameters parameters;
  Registers registers;

  // The settings must outlive the run.
  void apply(sim::RunOptions& run) const;
};

struct ClockWords {
  std::optional<sim::L2Start> l2;
  std::optional<double> sm_clock;  // MHz
  std::string clock, registers;    // a file of parameters; estimate, ptxas or a number
  sim::Values values = sim::Values::full;

  // All but --values.
  void state(Words& words);
  void state_values(Words& words);
  // Unsupported where the architecture has no clock.
  Outcome<ClockSettings> settings(const isa::ArchSpec& arch) const;
  // The user's error where a word of the clock was given: the schedule has none.
  Outcome<void> refuse() const;
};

// An option that needs the clock, under another schedule.
tl::unexpected<Failure> needs_clock(std::string_view option);

// FNV-1a, 64 bits, over every value in the order of the file's keys.
uint64_t hash(const isa::ClockParameters& parameters);

}  // namespace palladion::cli
