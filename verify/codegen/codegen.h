// What ptxas does to a kernel that takes time on the chip and not on the clock: registers in local memory,
// wgmmas that it serialises.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/host/outcome.h"
#include "sim/launch/finding.h"
#include "verify/launch/job.h"

namespace palladion::verify {

// Who is asked.
enum class Codegen : uint8_t {
  automatic,  // ptxas where there is one that takes the PTX, else the prediction
  ptxas,
  predicted,  // from the PTX alone: the same on every host
  none,
};

// Of the entry of a job that the machine accepts; all are strict. With `ptxas` an error where there is none,
// or where it refuses the PTX: unsupported, or a user's error with its words.
host::Outcome<std::vector<sim::Finding>> examine_codegen(const Job& job, const isa::ArchSpec& arch,
                                                         Codegen who = Codegen::automatic);
// A text that differs when another ptxas would be asked; empty: none would be.
std::string codegen_identity(Codegen who);

}  // namespace palladion::verify
