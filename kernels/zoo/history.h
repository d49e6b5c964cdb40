#pragma once
// The parts of history_pairs().
#include <vector>

#include "kernels/zoo/zoo.h"

namespace palladion::kernels::zoo {

std::vector<Pair> history_of_copies();  // recorded

}  // namespace palladion::kernels::zoo
