// --registers: how many registers a thread of the kernel takes. They limit how many CTAs an SM holds.
#pragma once

#include "cli/options/options.h"
#include "isa/arch/arch.h"
#include "report/run/time.h"
#include "verify/launch/job.h"

namespace palladion::cli {

// Refuses words that do not exist, and ptxas where there is none.
Outcome<void> check_registers(const Options& options);
// With ptxas' result where it was requested.
Outcome<Registers> registers_of(const Options& options, const isa::ArchSpec& arch, const Job& job);

}  // namespace palladion::cli
