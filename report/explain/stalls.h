// The clock's words for `palladion explain`: why warps wait.
#pragma once

#include <span>
#include <string_view>

#include "sim/launch/clock.h"

namespace palladion::report {

struct StallText {
  sim::Stall stall;
  std::string_view meaning, fix;
};

// In the order of sim::Stall.
std::span<const StallText> all_stalls();
// "long scoreboard", also with underscores or hyphens; null for other words.
const StallText* find_stall(std::string_view words);

}  // namespace palladion::report
