#include <algorithm>
#include <iterator>

#include "zoo/groups.h"
#include "zoo/mbarrier_groups.h"

namespace palladion::zoo {

std::vector<Pair> mbarrier_pairs() {
  std::vector<Pair> all;
  for (const auto part : {mbarrier_count_pairs, mbarrier_life_pairs, mbarrier_end_pairs, mbarrier_phase_pairs,
                          mbarrier_order_pairs, mbarrier_form_pairs})
    std::ranges::move(part(), std::back_inserter(all));
  return all;
}

}  // namespace palladion::zoo
