// The processor and the memory of this host.
#pragma once

#include <cstdint>
#include <string>

namespace palladion::host {

std::string processor_name();  // as Linux has it; "unknown" where it says none
// "AVX2, FMA; without AVX-512"
std::string vector_units();
uint64_t memory_bytes();
uint64_t free_memory_bytes();

}  // namespace palladion::host
