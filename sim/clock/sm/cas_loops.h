#pragma once
// Atomics of shared memory that ptxas makes loops around a compare-and-swap of.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

// When would such a loop be left? In each round one lane of each bank comes through, unless another warp has
// just changed its word.
class CasLoops {
 public:
  explicit CasLoops(const isa::ClockParameters& p) : interval_(p.smem_cas_interval) {}

  // `round` cycles each; `cta` distinguishes the words of different CTAs.
  Cycles done(uint64_t cta, const uint64_t* addresses, uint32_t lanes, Cycles round, Cycles now) {
    std::array<Cycles, 32> bank{};
    Cycles end = 0;
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const uint64_t word = addresses[std::countr_zero(m)] / 4;
      Cycles& changed = changed_[cta ^ word];
      Cycles start = std::max(bank[word % 32], now);
      if (std::abs(start - changed) < interval_) start += round;
      changed = start;
      end = std::max(end, bank[word % 32] = start + round);
    }
    return end;
  }
  void clear() { changed_.clear(); }

 private:
  Cycles interval_;
  std::unordered_map<uint64_t, Cycles> changed_;  // by word: when a compare-and-swap changed it
};

}  // namespace palladion::sim::hardware
