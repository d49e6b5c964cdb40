#pragma once
// An instance of every form of every op with dummy operands, for round trips and for ptxas.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/op.h"

namespace palladion::isa::forms {

struct Instance {
  const Form* form = nullptr;
  std::string text;  // one instruction, on the names that `preamble` declares
};

// Every word of every slot, one slot varied at a time, and each optional operand once left out.
std::vector<Instance> instances_of(const Form& form);

inline constexpr std::array<std::string_view, 4> blackwell = {"sm_100a", "sm_103a", "sm_100f", "sm_120a"};
bool is_later_than_hopper(const Form& form);
// Those of Blackwell that have the form, or Hopper's, or an old one's.
std::vector<std::string> targets_of(const Instance& i);
// The PTX version of a module for such a target.
std::string version_for(const std::string& target);

// A kernel around instructions, which may use the registers and variables of `instances_of`.
std::string module_text(const std::vector<std::string>& instructions, std::string_view target = "sm_90a",
                        std::string_view version = "9.1");

// Each instruction in a kernel of its own.
std::string one_kernel_each(const std::vector<std::string>& instructions, std::string_view target = "sm_90a");

}  // namespace palladion::isa::forms
