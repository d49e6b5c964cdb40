#pragma once
// The parts of async_copy_pairs().
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

std::vector<Pair> async_load_pairs();
std::vector<Pair> async_store_pairs();
std::vector<Pair> async_global_pairs();
std::vector<Pair> tensor_map_pairs();
std::vector<Pair> multicast_pairs();

}  // namespace palladion::zoo
