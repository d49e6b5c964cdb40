// The findings of verify/codegen/codegen.h, made of what is known.
#pragma once

#include <string_view>
#include <vector>

#include "cuda/toolkit/ptxas.h"
#include "sim/launch/finding.h"
#include "sim/program/program.h"

namespace palladion::verify {

// The PTX that ptxas was given.
struct AssembledText {
  std::string_view text;
  bool is_file = false;  // the lines of the text are known to the user
};

// Of ptxas' answer. `program`: the same PTX, compiled for the machine.
std::vector<sim::Finding> findings_of(const cuda::toolkit::PtxasAnswer& said, const sim::Program& program,
                                      const AssembledText& ptx);
// Without ptxas.
std::vector<sim::Finding> predicted_findings(const sim::Program& program);

}  // namespace palladion::verify
