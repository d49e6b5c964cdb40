// What `palladion explain` says of a finding code, a stall reason and a verb, and what it can explain.
#pragma once

#include <string>
#include <string_view>

#include "report/explain/codes.h"
#include "report/explain/stalls.h"
#include "report/explain/verbs.h"

namespace palladion::report {

// `program`: what commands to try are called by.
std::string code_text(const CodeText& code, std::string_view program);
std::string stall_text(const StallText& stall, bool color);
std::string verb_text(const VerbText& verb, bool color);
// All codes, instructions and stall reasons by name.
std::string topics_text(bool color);

}  // namespace palladion::report
