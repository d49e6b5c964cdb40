// Files that --ptx takes: PTX, or what a compiler made that holds it, a cubin or a fatbin.
#pragma once

#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/host/outcome.h"

namespace palladion::cuda::toolkit {

// The PTX for the chip; several texts: of objects that were linked.
host::Outcome<std::vector<std::string>> ptx_of_file(const std::string& path, const isa::ArchSpec& arch);
// A chip that can run the file's `.target`; null: none, or no file of PTX that can be read twice.
const isa::ArchSpec* chip_for_file(const std::string& path);

}  // namespace palladion::cuda::toolkit
