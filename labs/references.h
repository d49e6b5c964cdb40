#pragma once
// What the kernels of the labs compute. Only the program knows these functions: a submission cannot reach
// them.
#include <string_view>
#include <vector>

#include "labs/lab.h"

namespace palladion::labs {

bool has_reference(std::string_view name);
// The expected outputs, of the types that the lab states.
std::vector<Array> expected(const Lab& lab, const Case& one, const std::vector<Array>& inputs);

// The inputs of a case.
std::vector<Array> inputs_of(const Lab& lab, const Case& one);

}  // namespace palladion::labs
