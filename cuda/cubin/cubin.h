// The sections of a cubin, an ELF file of 64 bits. Lengths that lie find nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace palladion::cuda::cubin {

inline constexpr uint16_t machine_of_cuda = 190;  // EM_CUDA

struct Section {
  std::string_view name, bytes;
  uint32_t type = 0;
};
// The text says what is wrong: another kind of file, or one that is cut off.
tl::expected<std::vector<Section>, std::string> sections_of(std::string_view cubin);
// Empty: there is none of this name.
std::string_view section_of(std::string_view cubin, std::string_view name);
// The code of a kernel.
std::string_view code_of(std::string_view cubin, std::string_view entry);
// The functions that it has code of.
std::vector<std::string> functions_of(std::string_view cubin);

// 32-bit registers a thread of each function, as ptxas counted them; those that it notes none of are missing.
using Registers = std::map<std::string, uint32_t, std::less<>>;
Registers registers_of(std::string_view cubin);

// How ptxas was called for it, as the cubin notes: "Cuda compilation tools, release 13.0, V13.0.88" and
// {"-arch", "sm_90a"}; empty when it notes nothing.
struct MadeBy {
  std::string release;
  std::vector<std::string> options;
};
MadeBy made_by(std::string_view cubin);

}  // namespace palladion::cuda::cubin
