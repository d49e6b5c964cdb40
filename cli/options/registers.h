// --registers: how many registers a thread of the kernel takes. They limit how many CTAs an SM holds.
#pragma once

#include <string>

#include "cli/support/exit_code.h"
#include "isa/arch/arch.h"
#include "report/run/time.h"
#include "verify/launch/job.h"

namespace palladion::cli {

// What --registers says: "estimate" or nothing, "ptxas" where there is one, or a number.
Outcome<Registers> registers_named(const std::string& word, const isa::ArchSpec& arch);
// With ptxas' result where it was requested.
Outcome<Registers> registers_of(const Registers& wanted, const isa::ArchSpec& arch, const Job& job);

}  // namespace palladion::cli
