#pragma once
// An independent model of tcgen05.mma's sums, written from the published description in doubles, which hold
// every product, unit and sum exactly: as a check on the integers of tensor_core_reference.h and
// tcgen05_reference.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "sim/numerics/tcgen05.h"
#include "tests/sim/numerics/random_elements.h"

namespace palladion::sim::numerics::tcgen05::model {

struct Value {
  double value = 0;   // infinite or a NaN as the element
  int alignment = 0;  // field exponent; of zeros it does not count
};

inline Value element(Element type, std::uint32_t bits) {
  if (type == Element::tf32) bits &= ~0x1FFFu;
  const tc::Fields f = tc::fields_of(type);
  const int field = static_cast<int>(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
  const double fraction = bits & ((1u << f.fraction_bits) - 1);
  const double sign = (bits >> (f.exponent_bits + f.fraction_bits)) & 1 ? -1 : 1;
  const int top = (1 << f.exponent_bits) - 1;
  const bool ieee =
      type == Element::f16 || type == Element::bf16 || type == Element::tf32 || type == Element::e5m2;
  const bool nan =
      ieee ? field == top && fraction != 0 : type == Element::e4m3 && field == top && fraction == 7;
  const int exponent = std::max(field, 1) - f.bias;
  if (nan) return {std::numeric_limits<double>::quiet_NaN()};
  if (ieee && field == top) return {sign * std::numeric_limits<double>::infinity()};
  return {
      sign * std::ldexp(fraction + (field ? std::ldexp(1, f.fraction_bits) : 0), exponent - f.fraction_bits),
      exponent};
}

inline Value accumulator(Result type, std::uint32_t bits, int divided_by) {
  const double value = type == Result::f16
                           ? static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)))
                           : static_cast<double>(std::bit_cast<float>(bits));
  if (value == 0 || !std::isfinite(value)) return {value};
  const int smallest = type == Result::f16 ? -14 : -126;
  return {std::ldexp(value, -divided_by), std::max(std::ilogb(value), smallest) - divided_by};
}

// Toward zero to f32, or to the nearest f16; never -0.
inline std::uint32_t rounded(double sum, Result type) {
  if (std::isnan(sum)) return type == Result::f16 ? 0x7FFF : 0x7FFFFFFF;
  if (type == Result::f16) {
    const auto half = std::bit_cast<std::uint16_t>(static_cast<_Float16>(sum));
    return half == 0x8000 ? 0 : half;
  }
  float f = static_cast<float>(sum);
  if (std::abs(sum) < 0x1p128 && std::abs(static_cast<double>(f)) > std::abs(sum))
    f = std::nextafter(f, 0.0F);
  return f == 0 ? 0 : std::bit_cast<std::uint32_t>(f);
}

// Terms in whole units of 2^(largest alignment - fraction_bits).
class Sum {
 public:
  Sum(int fraction_bits, int zero) : fraction_bits_(fraction_bits), largest_(zero) {}

  void align(bool counts, int alignment) {
    if (counts) largest_ = std::max(largest_, alignment);
  }
  void add(double term) {
    sum_ += std::isfinite(term) ? std::trunc(std::ldexp(term, fraction_bits_ - largest_)) : term;
  }
  std::uint32_t result(Result type) const {
    return rounded(std::isfinite(sum_) ? std::ldexp(sum_, largest_ - fraction_bits_) : sum_, type);
  }

 private:
  int fraction_bits_, largest_;
  double sum_ = 0;
};

// Products of two rows of values, all scaled by 2^scale, and C.
inline std::uint32_t fused(std::span<const Value> a, std::span<const Value> b, Value c, int scale,
                           Result type) {
  Sum sum(25, type == Result::f16 ? -21 : -133);
  sum.align(c.value != 0, c.alignment);
  for (std::size_t i = 0; i < a.size(); ++i)
    sum.align(a[i].value * b[i].value != 0, a[i].alignment + b[i].alignment + scale);
  sum.add(c.value);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = a[i].value * b[i].value;
    sum.add(std::isfinite(product) ? std::ldexp(product, scale) : product);
  }
  return sum.result(type);
}

struct ScaleFactor {
  double significand;  // NaN too
  int exponent;
};
inline ScaleFactor scale_factor(Scale type, std::uint8_t byte) {
  if (type == Scale::ue8m0) return {byte == 255 ? std::nan("") : 1.0, byte - 127};
  const Value v = element(Element::e4m3, byte & 0x7F);
  return {std::isnan(v.value) ? v.value : std::ldexp(v.value, -v.alignment), v.alignment};
}

// Four groups of values, each summed exactly before it meets its scale.
inline std::uint32_t grouped(std::span<const Value> a, std::span<const Value> b, Value c,
                             std::span<const ScaleFactor> a_scales, std::span<const ScaleFactor> b_scales) {
  Sum sum(35, -139);
  double term[4];
  const std::size_t length = a.size() / 4;
  sum.align(c.value != 0, c.alignment);
  for (std::size_t g = 0; g < 4; ++g) {
    const ScaleFactor x = a_scales[g * a_scales.size() / 4], y = b_scales[g * b_scales.size() / 4];
    const double significand = x.significand * y.significand;
    double products = 0, magnitudes = 0;
    for (std::size_t i = g * length; i < (g + 1) * length; ++i) {
      products += a[i].value * b[i].value;
      magnitudes += std::abs(a[i].value * b[i].value);
    }
    sum.align(magnitudes * significand != 0, x.exponent + y.exponent);
    term[g] = std::ldexp(products * significand, x.exponent + y.exponent);
  }
  sum.add(c.value);
  for (const double t : term) sum.add(t);
  return sum.result(Result::f32);
}

}  // namespace palladion::sim::numerics::tcgen05::model
