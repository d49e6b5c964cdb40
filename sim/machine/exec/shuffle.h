#pragma once
// Orders that PTX leaves open, by a seed.
#include <cstdint>
#include <iterator>
#include <utility>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// The same order for the same seed and length.
template <class Range>
void shuffle(Range&& range, uint64_t seed) {
  for (auto left = std::ssize(range); left > 1; --left) {
    seed = scramble(seed);
    std::swap(range[static_cast<size_t>(left - 1)], range[seed % static_cast<uint64_t>(left)]);
  }
}

}  // namespace palladion::sim
