#pragma once
// What the machine itself reports: findings that stop the grid, and launches that it refuses.
#include <string>

#include "sim/launch/codes.h"
#include "sim/launch/finding.h"

namespace palladion::sim {

// Without a place. No message: the code's title; no help: the code's fix.
Finding fault(Code code, Statement message = {}, Statement help = {},
              FindingSeverity severity = FindingSeverity::error);
isa::Diagnostic refusal(Code code, std::string message, std::string help = {},
                        isa::Severity severity = isa::Severity::error);

}  // namespace palladion::sim
