#pragma once
// What the checks find out about a program before it runs, once for all clusters.
#include "sim/check/wgmma_registers.h"

namespace palladion::sim::check {

struct ProgramAnalysis {
  explicit ProgramAnalysis(const Program& program) : wgmma(program) {}
  bool watches(uint32_t pc) const { return wgmma.watches(pc); }

  WgmmaAnalysis wgmma;
};

}  // namespace palladion::sim::check
