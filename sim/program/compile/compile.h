#pragma once
// From an entry of a module to the program that the machine executes.
#include <memory>

#include "sim/program/program.h"

namespace palladion::sim {

// Decodes `entry` and all it calls for a chip, and transforms the result as ptxas would. `global_addresses`:
// by SymbolId. `fmad` false: as after ptxas --fmad=false. An instruction that the machine does not support is
// a fatal finding when it is executed, not earlier.
std::unique_ptr<Program> compile(const isa::Module& module, const isa::Function& entry,
                                 const isa::ArchSpec& arch, const std::vector<uint64_t>& global_addresses,
                                 bool fmad = true);

}  // namespace palladion::sim
