// Sizes, times and frequencies as people write them. Nothing for other words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace palladion::host {

// "65536", "500MB", "2 G" (decimal, as disks are sold), "48KiB", "4 GiB"; at most 2^63.
std::optional<uint64_t> bytes_in(std::string_view text);
// "10" (seconds), "500ms", "2min", "1h".
std::optional<std::chrono::milliseconds> time_in(std::string_view text);
// "1755" (MHz), "1.98GHz".
std::optional<double> megahertz_in(std::string_view text);

}  // namespace palladion::host
