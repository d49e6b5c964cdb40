// A row of a report for people.
#pragma once

#include <string>
#include <string_view>

namespace palladion::report {

// "launch      grid 132, block 384, ..." with the label in its column; further lines of `text` below it.
std::string row(std::string_view label, std::string_view text);

}  // namespace palladion::report
