// The files that a command line names, examined before anything runs: a report must not be lost after an
// hour.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options/words.h"

namespace palladion::cli {

struct GivenOption {
  const Option* option = nullptr;
  const std::vector<std::string>* texts = nullptr;  // that were given for it
};

// Every output can be written, none is a folder, an input or another output.
Outcome<void> check_paths(std::span<const GivenOption> given);

}  // namespace palladion::cli
