// The command line, parsed by CLI11: command_line.cpp alone includes it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/options/command.h"

namespace palladion::cli {

struct ParsedLine {
  std::optional<std::string> text;  // --help, --version: print this and end
  Run run;                          // of the command, its options parsed and its paths examined
  Invocation invocation;            // without the kernels
};

inline constexpr const char* about_program =
    "runs Hopper kernels on a CPU, with the same bits as the chip, or on a GPU";

Outcome<ParsedLine> parse_line(std::span<const Command> commands, int argc, const char* const* argv);

// States all options of a command: its own, and those of every command.
Run state(const Command& command, Words& words);

// Of a command; of the program when there is no such command.
std::string help_text(std::span<const Command> commands, std::string_view command);

}  // namespace palladion::cli
