#pragma once
// Texts of the program's kernels that are in no file: what NVRTC compiled, as its PTX brings it.
#include <cstdint>
#include <string>
#include <string_view>

namespace palladion::cuda::driver {

void keep_sources(std::string_view ptx);
// A line (from 1) of such a text, else of the file; empty when there is none.
std::string source_line(const std::string& file, uint32_t line);

}  // namespace palladion::cuda::driver
