#pragma once
// PTX text of a module: what ptxas accepts, and what parse() reads back with the same meaning.
#include <string>

#include "isa/module.h"

namespace palladion::isa {

std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace palladion::isa
