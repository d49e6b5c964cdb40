#pragma once
// PTX text to a module: what nvcc 13.0, LLVM's NVPTX, Triton and JAX print. All errors are
// collected, each with line, column and a hint.
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "isa/core/module.h"

namespace palladion::isa {

// `name` is the file name that diagnostics carry; empty for text in memory.
tl::expected<Module, Diagnostics> parse(std::string_view text, const std::string& name = {});

}  // namespace palladion::isa
