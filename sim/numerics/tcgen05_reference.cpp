#include "sim/numerics/tcgen05_reference.h"

#include <algorithm>

namespace palladion::sim::numerics::tcgen05 {
namespace {

// value * 2^shift, truncated toward zero.
std::int64_t truncated(std::int64_t value, int shift) {
  if (value == 0 || shift >= 0) return value << (value ? shift : 0);
  return shift <= -63 ? 0 : value < 0 ? -(-value >> -shift) : value >> -shift;
}

}  // namespace

std::uint32_t grouped_add(std::span<const GroupTerm> groups, const tc::Unpacked& c) {
  using Class = tc::Unpacked::Class;
  const tc::FusedDotSpec& spec = grouped_spec;
  if (c.kind == Class::nan) return 0x7FFFFFFFu;
  if (c.kind == Class::infinity) return c.negative ? 0xFF800000u : 0x7F800000u;
  int e_max = c.kind == Class::finite ? c.exponent : spec.zero_exponent;
  for (const GroupTerm& g : groups) {
    const bool counts = g.any_product && g.significand;
    e_max = std::max(e_max, counts ? g.exponent : spec.zero_exponent);
  }
  const int f = spec.fraction_bits;
  const std::int64_t significand = c.negative ? -std::int64_t{c.significand} : std::int64_t{c.significand};
  std::int64_t sum = truncated(significand, c.exponent - e_max + f - 23);
  for (const GroupTerm& g : groups)
    sum += truncated(std::int64_t{g.sum} * g.significand, g.exponent - e_max + f - 8);
  return tc::round_sum(sum, e_max, spec);
}

}  // namespace palladion::sim::numerics::tcgen05
