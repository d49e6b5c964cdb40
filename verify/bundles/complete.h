// The PTX of a bundle whose program had machine code alone, or machine code that carries its PTX.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isa/host/outcome.h"

namespace palladion::verify {

struct Completed {
  std::string text;        // "PTX from FILE", "without PTX: ...", "not usable: ..."
  bool lacks_ptx = false;  // of a bundle that is usable
};

// Looks for the PTX in the folders and writes it into the bundle. The error: a file could not be written.
host::Outcome<Completed> complete(const std::filesystem::path& bundle,
                                  const std::vector<std::filesystem::path>& ptx_folders);

}  // namespace palladion::verify
