#pragma once
// Random elements and accumulators of the distributions that matter to a fused sum.
#include <algorithm>
#include <cstdint>
#include <random>

#include "sim/numerics/tensor_core_types.h"

namespace palladion::sim::numerics::tc {

using Rng = std::mt19937_64;

enum class Kind {
  ordinary,      // exponents within a few binades of 1
  wide,          // all finite exponents
  any_bits,      // infinities and NaNs included
  few_specials,  // ordinary, with a rare infinity or NaN
  mostly_zero,
  zero_rows,
  subnormal,
  full,        // some rows of largest significands, one exponent, one sign: sums at the edges of 32 bits
  cancelling,  // +x and -x along k
  tiny,        // products near the lower end of f32
  huge         // sums near the upper end of f32
};
inline constexpr Kind kinds[] = {Kind::ordinary,    Kind::wide,      Kind::any_bits,  Kind::few_specials,
                                 Kind::mostly_zero, Kind::zero_rows, Kind::subnormal, Kind::full,
                                 Kind::cancelling,  Kind::tiny,      Kind::huge};

struct Fields {
  int exponent_bits, fraction_bits, bias;
};
inline Fields fields_of(Element t) {
  switch (t) {
    case Element::f16:
      return {5, 10, 15};
    case Element::bf16:
      return {8, 7, 127};
    case Element::tf32:
      return {8, 23, 127};
    case Element::e4m3:
      return {4, 3, 7};
    case Element::e2m3:
      return {2, 3, 1};
    case Element::e3m2:
      return {3, 2, 3};
    case Element::e2m1:
      return {2, 1, 1};
    default:
      return {5, 2, 15};
  }
}

inline std::uint32_t make(const Fields& f, bool negative, int field, std::uint32_t fraction) {
  const int top = (1 << f.exponent_bits) - 1;
  field = std::clamp(field, 0, top);
  return (static_cast<std::uint32_t>(negative) << (f.exponent_bits + f.fraction_bits)) |
         (static_cast<std::uint32_t>(field) << f.fraction_bits) | (fraction & ((1u << f.fraction_bits) - 1));
}

inline int below(Rng& rng, int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); }

inline std::uint32_t random_element(const Fields& f, Kind kind, int row, int k, Rng& rng) {
  const bool sign = rng() & 1;
  const auto fraction = static_cast<std::uint32_t>(rng());
  const int top = (1 << f.exponent_bits) - 1;
  switch (kind) {
    case Kind::few_specials:
      if (below(rng, 300) == 0) return make(f, sign, top, below(rng, 2) ? 0 : ~0u);
      [[fallthrough]];
    case Kind::ordinary:
      return make(f, sign, f.bias + 2 - below(rng, 9), fraction);
    case Kind::wide:
      return make(f, sign, below(rng, top), fraction);
    case Kind::any_bits:
      return make(f, sign, below(rng, top + 1), fraction);
    case Kind::mostly_zero:
      return below(rng, 5) ? make(f, sign, 0, 0) : make(f, sign, below(rng, top), fraction);
    case Kind::zero_rows:
      return row % 3 ? make(f, sign, 0, 0) : make(f, sign, f.bias + 2 - below(rng, 9), fraction);
    case Kind::subnormal:
      return make(f, sign, below(rng, 4) ? 0 : below(rng, top), fraction);
    case Kind::full:
      if (row % 8 == 5) return make(f, row / 8 % 2, f.bias, ~0u << below(rng, 2));
      return make(f, sign, f.bias + 2 - below(rng, 9), fraction);
    case Kind::cancelling:
      return make(f, (row ^ k) & 1, f.bias + (k / 2) % 3, static_cast<std::uint32_t>((k / 2) * 0x9E3779B9u));
    case Kind::tiny:
      return make(f, sign, f.bias / 2 + 6 - below(rng, 14), below(rng, 4) ? fraction : 0);
    case Kind::huge:
      return make(f, false, f.bias + f.bias / 2 - 5 + row % 8, fraction);
  }
  return 0;
}

enum class CKind { zero, similar, any_bits, dominating, subnormal, tiny, nearly_infinite };
inline constexpr CKind c_kinds[] = {CKind::zero,           CKind::similar,   CKind::any_bits,
                                    CKind::dominating,     CKind::subnormal, CKind::tiny,
                                    CKind::nearly_infinite};

inline std::uint32_t random_c(Result type, CKind kind, Rng& rng) {
  const Fields f = type == Result::f16 ? Fields{5, 10, 15} : Fields{8, 23, 127};
  const int top = (1 << f.exponent_bits) - 1;
  const bool sign = rng() & 1;
  const auto fraction = static_cast<std::uint32_t>(rng());
  switch (kind) {
    case CKind::zero:
      return make(f, sign, 0, 0);
    case CKind::similar:
      return make(f, sign, f.bias + 3 - below(rng, 9), fraction);
    case CKind::any_bits:
      return make(f, sign, below(rng, top + 1), fraction);
    case CKind::dominating:
      return make(f, sign, f.bias + top / 5 - below(rng, 9), fraction);
    case CKind::subnormal:
      return make(f, sign, 0, fraction);
    case CKind::tiny:
      return make(f, sign, below(rng, f.bias / 2), fraction);
    case CKind::nearly_infinite:
      return make(f, sign, top - 1 - below(rng, 3), fraction);
  }
  return 0;
}

}  // namespace palladion::sim::numerics::tc
