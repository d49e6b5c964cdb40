#pragma once
// The parts of mbarrier_pairs().
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

std::vector<Pair> mbarrier_count_pairs();
std::vector<Pair> mbarrier_life_pairs();
std::vector<Pair> mbarrier_end_pairs();
std::vector<Pair> mbarrier_phase_pairs();
std::vector<Pair> mbarrier_order_pairs();
std::vector<Pair> mbarrier_form_pairs();

}  // namespace palladion::zoo
