// What `palladion list NAME` says: of a kernel, a chip, a pair of the zoo.
#pragma once

#include <string>
#include <string_view>

#include "isa/arch/arch.h"
#include "kernels/frame/spec.h"
#include "kernels/zoo/zoo.h"
#include "report/json/document.h"

namespace palladion::report {

// All sizes and settings with what they may be; in one line with their defaults.
std::string kernel_text(const kernels::KernelSpec& spec, bool color);
std::string settings_text(const kernels::KernelSpec& spec);
// " (128 to 1024, a multiple of 128)"; empty: any value.
std::string range_text(const kernels::Range& range);
json::object kernel_json(const kernels::KernelSpec& spec);

// Facts with their sources, and the file of the clock's parameters.
std::string arch_text(const isa::ArchSpec& arch, bool color);
// `program`: what commands to try are called by.
std::string pair_text(const kernels::zoo::Pair& pair, std::string_view program, bool color);

}  // namespace palladion::report
