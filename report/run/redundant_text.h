// Synchronisation that a program can do without, for people and for programs.
#pragma once

#include <string>

#include "report/run/launched.h"
#include "verify/redundant.h"

namespace palladion::report {

std::string redundant_text(const Launched& launched, const verify::RedundancyReport& report);
// `seed`: of the inputs.
std::string redundant_json(const Launched& launched, const verify::RedundancyReport& report, uint64_t seed);

}  // namespace palladion::report
