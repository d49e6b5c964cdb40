// Bugs that shipped in public projects, as small as they get.
#include "zoo/history.h"

#include <algorithm>
#include <iterator>

#include "zoo/groups.h"

namespace palladion::zoo {

std::vector<Pair> history_pairs() {
  std::vector<Pair> all;
  for (const auto part : {history_of_copies, history_of_warps, history_of_barriers, history_of_clusters})
    std::ranges::move(part(), std::back_inserter(all));
  return all;
}

}  // namespace palladion::zoo
