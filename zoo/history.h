#pragma once
// The parts of history_pairs().
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

std::vector<Pair> history_of_copies();    // recorded
std::vector<Pair> history_of_warps();     // within a CTA
std::vector<Pair> history_of_barriers();  // mbarriers and what they count
std::vector<Pair> history_of_clusters();

}  // namespace palladion::zoo
