#pragma once
// What a machine gives to a run: all that stays as it is while the run goes on.
#include <memory>
#include <vector>

#include "isa/arch/arch.h"
#include "sim/launch/launch.h"
#include "sim/machine/exec/exec.h"
#include "sim/sass/lowered.h"

namespace palladion::sim {

struct RunParts {
  const isa::ClockParameters* clock = nullptr;  // null: a schedule without one
  GlobalMemory* memory = nullptr;
  std::unique_ptr<Program> program;
  std::unique_ptr<const sass::Lowered> lowered;  // null without a clock
  LaunchState launch;
};

}  // namespace palladion::sim
