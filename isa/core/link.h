#pragma once
// Several modules become one, as nvlink does with relocatable objects: `.extern` names reach the definitions
// in other modules.
#include <span>

#include <tl/expected.hpp>

#include "isa/core/module.h"

namespace palladion::isa {

// Version and target are the highest of the parts. Variables and functions without linkage are a part's own;
// where two have one name, the later one gets a suffix. Of several `.weak` or `.common` definitions the first
// one stays; two strong ones, or a declaration with other parameters than its definition, are errors. What no
// part defines stays `.extern` (vprintf).
tl::expected<Module, Diagnostics> link(std::span<const Module* const> parts);

}  // namespace palladion::isa
