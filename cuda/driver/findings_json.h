#pragma once
// Findings as members of the JSON of `palladion exec`.
#include <span>
#include <string>
#include <string_view>

#include "sim/launch/finding.h"

namespace palladion::cuda::driver {

// The text between the quotes of a JSON string.
std::string escaped(std::string_view text);
// One object a finding, separated by commas, each on a line of its own.
std::string findings_json(std::string_view kernel, std::span<const sim::Finding> findings);

}  // namespace palladion::cuda::driver
