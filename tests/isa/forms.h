#pragma once
// An instance of every form of every op with dummy operands, for round trips and for ptxas.
#include <string>
#include <vector>

#include "isa/core/op.h"

namespace palladion::isa::forms {

struct Instance {
  const Form* form = nullptr;
  std::string text;  // one instruction, on the names that `preamble` declares
};

// Every word of every slot, one slot varied at a time, and each optional operand once left out.
std::vector<Instance> instances_of(const Form& form);

// A kernel around instructions, which may use the registers and variables of `instances_of`.
std::string module_text(const std::vector<std::string>& instructions, std::string_view target = "sm_90a",
                        std::string_view version = "9.0");

// Each instruction in a kernel of its own.
std::string one_kernel_each(const std::vector<std::string>& instructions, std::string_view target = "sm_90a");

}  // namespace palladion::isa::forms
