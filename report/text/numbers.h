// Numbers for people; exact ones are in the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "isa/host/numbers.h"

namespace palladion::report {

using host::human_bytes;

// "1.5 s", "312 ms", "45 us": three digits.
std::string human_seconds(double seconds);
// "1 234 567" is hard to grep: "1.23 M".
std::string human_count(double count);
// "45 210", exact.
std::string grouped(uint64_t number);
// "1 finding", "3 findings"
std::string plural(uint64_t n, std::string_view word);

}  // namespace palladion::report
