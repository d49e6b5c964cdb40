// What people call this program: `palladion`, or a program of their own that calls palladion::program::main.
#pragma once

#include <string>
#include <string_view>

namespace palladion::cli {

// The file's name in argv[0]; hints and commands to repeat begin with it.
void set_program_name(std::string_view path);
const std::string& program_name();

}  // namespace palladion::cli
