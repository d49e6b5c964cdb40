#pragma once
// The PTX of what a program gives to a driver, for one chip.
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "cuda/cubin/cubin.h"
#include "cuda/fatbin/fatbin.h"

namespace palladion::cuda::fatbin {

struct Program {
  std::vector<std::string> texts;  // several: objects that were linked
  bool newer = false;              // for a newer chip alone: a driver would refuse it
};
// Of a fatbin: the PTX for the chip (`compute`: 90), else what its machine code for the chip carries, else
// the newest older PTX, else the oldest newer one that is not for one chip or family alone. The error says
// why there is none.
tl::expected<Program, std::string> program_for(Bytes fatbin, uint32_t compute);

// Of a file: PTX, a cubin or a fatbin.
tl::expected<Program, std::string> program_in(std::string_view file, uint32_t compute);

// Registers of the functions in a fatbin's machine code for the chip, as ptxas counted them.
cubin::Registers registers_for(Bytes fatbin, uint32_t compute);

// Whether a chip runs machine code for `arch`: the same generation, not newer.
bool runs_code(uint32_t compute, uint32_t arch);

}  // namespace palladion::cuda::fatbin
