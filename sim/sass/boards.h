#pragma once
// Which scoreboard ptxas gives to each load: what waits for one of them waits for all loads that share it.
#include <span>

#include "sim/sass/price.h"

namespace palladion::sim::hardware {

void give_boards(const Program& program, std::span<Price> prices);

}  // namespace palladion::sim::hardware
