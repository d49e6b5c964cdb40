// All commands of the program, each stated in a file cmd_*.cpp.
#pragma once

#include <span>

#include "cli/options/command.h"

namespace palladion::cli {

// In the order of the help.
std::span<const Command> commands();

}  // namespace palladion::cli
