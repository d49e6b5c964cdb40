// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace palladion::host {

// Three significant digits, never in exponent form.
std::string three_digits(double number);
// "384 MiB"
std::string human_bytes(uint64_t bytes);

}  // namespace palladion::host
