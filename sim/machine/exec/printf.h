#pragma once
// Strings in guest memory and the device's printf (CUDA programming guide, "Formatted Output").
#include <optional>
#include <string>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// A zero-terminated string at a generic address; nothing after a recorded fault.
std::optional<std::string> guest_string(Exec& x, uint64_t address, int lane);
// The format's text with arguments read from the block at `arguments`: each at its natural
// alignment, int 4 bytes, long long, pointers and doubles 8.
std::optional<std::string> format_guest(Exec& x, uint64_t format, uint64_t arguments, int lane);

}  // namespace palladion::sim
