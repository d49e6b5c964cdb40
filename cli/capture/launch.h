// A program with the capture library in front of it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isa/host/outcome.h"

namespace palladion::cli {

// libpalladion_capture.so: beside this program, or where it was installed to.
std::optional<std::filesystem::path> capture_library();

// Runs `command` with these variables added to the environment and our three streams, to its end. Its exit
// code; 128 + N when signal N ended it. A user's error when it cannot be started.
Outcome<int> run_with(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables);

}  // namespace palladion::cli
