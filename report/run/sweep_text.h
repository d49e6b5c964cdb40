// A sweep as text and as JSON.
#pragma once

#include <string>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "sim/launch/launch.h"
#include "verify/sweep/sweep.h"

namespace palladion::report {

// What was swept: the kernel, and what all configurations share.
struct Swept {
  std::string kernel;                           // its name
  std::map<std::string, int64_t> sizes;         // all
  std::map<std::string, std::string> settings;  // those that are not combined
  std::vector<std::string> fixed;               // both as "m=512", in the kernel's order
  const isa::ArchSpec* arch = nullptr;
  sim::L2Start l2 = sim::L2Start::cold;
  double sm_clock = 0;  // MHz
  std::string state;    // the file that keeps the results; empty: none
};

// `top`: configurations listed; 0: all.
std::string sweep_text(const Swept& swept, const verify::SweepReport& report, size_t top, bool color);
std::string sweep_json(const Swept& swept, const verify::SweepReport& report, int exit_code);

}  // namespace palladion::report
