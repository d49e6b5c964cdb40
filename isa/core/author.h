#pragma once
// Which of the places of an inlined instruction its author wants to see.
#include <cstdint>
#include <string_view>

namespace palladion::isa {

// Whose a source file is. A line that a finding shows is the innermost of the file that stands first here.
enum class Owner : uint8_t {
  author,   // all that is not known to be a library's
  library,  // code that users may read, and did not write: CUTLASS, CUB, packages of Python
  toolkit,  // wrappers of single instructions: CUDA's headers, cutlass/arch, triton.language
};

// Decided by the components of the path.
Owner owner_of(std::string_view path);

}  // namespace palladion::isa
