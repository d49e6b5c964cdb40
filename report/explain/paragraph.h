// Text of `palladion explain` and `list`, wrapped for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace palladion::report {

// Lines of at most 100 columns, each behind `indent`.
std::string wrapped(std::string_view text, std::string_view indent);
// Lines of a listing; the first one behind `label`. Empty for no text.
std::string labelled(std::string_view label, std::string_view listing);
// A label, and the text below it. Empty for no text.
std::string labelled_part(std::string_view label, std::string_view text);

}  // namespace palladion::report
