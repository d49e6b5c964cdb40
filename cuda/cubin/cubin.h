// Sections of a cubin, an ELF file of 64 bits. Lengths that lie find nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::cubin {

// Empty: there is none of this name.
std::string_view section_of(std::string_view cubin, std::string_view name);
// The code of a kernel.
std::string_view code_of(std::string_view cubin, std::string_view entry);

// How ptxas was called for it, as the cubin notes: "Cuda compilation tools, release 13.0, V13.0.88" and
// {"-arch", "sm_90a"}; empty when it notes nothing.
struct MadeBy {
  std::string release;
  std::vector<std::string> options;
};
MadeBy made_by(std::string_view cubin);

}  // namespace palladion::cuda::cubin
