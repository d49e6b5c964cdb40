// The author's lines of a PTX text out of whose lines they were taken.
#pragma once

#include <string>
#include <string_view>

namespace palladion::cuda::cubin {

// The text with .loc in empty lines, and .file behind its end: what the tables of lines of the cubin say of
// the section `name`. Unchanged where it has .loc, or there are no tables.
std::string with_lines(std::string text, std::string_view name, std::string_view cubin);

}  // namespace palladion::cuda::cubin
