// One output of one tcgen05.mma in plain integers: the definition that the fast kernels are held to, and
// their way out for rare inputs. Kinds that are not packed are
// tc::fused_dot_add with tc::blackwell_tcgen05.
#pragma once

#include <cstdint>
#include <span>

#include "sim/numerics/tensor_core_reference.h"

namespace palladion::sim::numerics::tcgen05 {

// A group of packed e2m1 products: sum * significand * 2^(exponent - fraction_bits), sum in quarters and
// significand in 64ths (together 8 bits), aligned by the scales' exponent alone.
struct GroupTerm {
  std::int32_t sum = 0;
  std::int32_t significand = 64;
  std::int32_t exponent = 0;
  bool any_product = false;  // not zero: a sum that cancels keeps its exponent
};

inline constexpr tc::FusedDotSpec grouped_spec{64, 35, tc::Rounding::f32, -139};

// rho(trunc-sum(groups, c)) as f32 bits.
std::uint32_t grouped_add(std::span<const GroupTerm> groups, const tc::Unpacked& c);

}  // namespace palladion::sim::numerics::tcgen05
