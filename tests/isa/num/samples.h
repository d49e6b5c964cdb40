// Operands that reach every special case and every rounding boundary.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "isa/num/formats.h"

namespace palladion::isa::num::test {

/// Bit patterns of F: every exponent and sign with mantissas at the ends and around single bits, then random
/// ones.
template <class F>
std::vector<bits_of<F>> stratified(std::size_t random_count, unsigned seed = 1) {
  std::vector<std::uint64_t> mantissas{0, 1, 2, 3, F::man_mask, F::man_mask - 1, F::man_mask / 3};
  for (int bit = 0; bit < F::man_bits; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    for (const std::uint64_t m : {one, one + 1, one - 1, F::man_mask & ~one, F::man_mask & ~(one - 1)})
      mantissas.push_back(m & F::man_mask);
  }
  std::vector<bits_of<F>> out;
  for (std::uint64_t field = 0; field <= F::exp_field_max; ++field) {
    for (const std::uint64_t m : mantissas) {
      const auto b = static_cast<bits_of<F>>((field << F::man_bits | m) << F::pad);
      out.push_back(b);
      out.push_back(b | F::sign_mask);
    }
  }
  std::mt19937_64 rng(seed);
  for (std::size_t i = 0; i < random_count; ++i) out.push_back(static_cast<bits_of<F>>(rng()));
  return out;
}

/// A short list for cross products: specials, ends of ranges, numbers near one.
template <class F>
std::vector<bits_of<F>> corners() {
  const auto one = F::one;
  const auto smallest_normal = static_cast<bits_of<F>>(bits_of<F>{1} << F::man_bits);
  std::vector<bits_of<F>> out;
  for (const std::uint64_t m :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
        std::uint64_t{smallest_normal} - 1, std::uint64_t{smallest_normal},
        std::uint64_t{smallest_normal} + 1, std::uint64_t{one}, std::uint64_t{one} - 1,
        std::uint64_t{one} + 1, std::uint64_t{one} + F::man_mask, std::uint64_t{one} / 2 + 5,
        std::uint64_t{F::max_finite}, std::uint64_t{F::max_finite} - 1, std::uint64_t{F::infinity},
        std::uint64_t{F::infinity} + 1, std::uint64_t{F::magnitude_mask},
        std::uint64_t{F::infinity} + (F::man_mask + 1) / 2}) {
    out.push_back(static_cast<bits_of<F>>(m));
    out.push_back(static_cast<bits_of<F>>(m | F::sign_mask));
  }
  return out;
}

/// A random operand whose exponent lies near that of `near`, so that sums cancel and align in every way.
template <class F>
bits_of<F> neighbour(bits_of<F> near, std::mt19937_64& rng, int spread) {
  const auto field = static_cast<int>((near & F::magnitude_mask) >> F::man_bits);
  const int wanted = field + static_cast<int>(rng() % (2 * spread + 1)) - spread;
  const int limit = static_cast<int>(F::exp_field_max) - 1;
  const int clamped = wanted < 0 ? 0 : wanted > limit ? limit : wanted;
  std::uint64_t man = rng() & F::man_mask;
  if (rng() % 4 == 0) man &= ~(F::man_mask >> (rng() % F::man_bits));  // few bits: ties
  const auto sign = (rng() & 1) != 0 ? F::sign_mask : bits_of<F>{0};
  return static_cast<bits_of<F>>(sign | static_cast<bits_of<F>>(clamped) << F::man_bits |
                                 static_cast<bits_of<F>>(man));
}

}  // namespace palladion::isa::num::test
