#pragma once
// The groups of the zoo, a file or a few each.
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

std::vector<Pair> mbarrier_pairs();
std::vector<Pair> transaction_pairs();
std::vector<Pair> async_copy_pairs();
std::vector<Pair> wgmma_pairs();
std::vector<Pair> named_barrier_pairs();
std::vector<Pair> divergence_pairs();
std::vector<Pair> cluster_pairs();
std::vector<Pair> deadlock_pairs();
std::vector<Pair> global_memory_pairs();
std::vector<Pair> memory_use_pairs();
std::vector<Pair> resource_pairs();
std::vector<Pair> numerics_pairs();
std::vector<Pair> history_pairs();  // bugs that shipped: their entries are of any group

}  // namespace palladion::zoo
