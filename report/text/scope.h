#pragma once
// For which data a verdict holds, in words.
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/data_dependence.h"

namespace palladion::report {

// "all data of this shape", "... that stay in bounds", "these data".
std::string_view scope_name(const sim::check::DataScope& scope);
// What it rests on, a sentence each: "the address of `st.global.u32 [%rd2], %r1` (line 12) is made of what
// `ld.global.u32 %r2, [%rd0]` (line 11) loads".
std::vector<std::string> scope_reasons(const sim::check::DataScope& scope, std::string_view ptx_name);
// Both, with the first reasons.
std::string scope_text(const sim::check::DataScope& scope, std::string_view ptx_name);

}  // namespace palladion::report
