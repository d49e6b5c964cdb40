#include "sim/numerics/tensor_core_reference.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

namespace palladion::sim::numerics::tc {
namespace {

using Class = Unpacked::Class;

// What an all-ones exponent means: infinity and NaN; NaN if the fraction is all ones too; a number.
enum class Top : std::uint8_t { ieee, one_nan, number };

struct Format {
  int exponent_bits;
  int fraction_bits;
  int bias;
  Top top;
};

constexpr Format f32_format{8, 23, 127, Top::ieee};
constexpr Format f16_format{5, 10, 15, Top::ieee};

Format format_of(Element type) {
  switch (type) {
    case Element::f16:
      return f16_format;
    case Element::bf16:
      return {8, 7, 127, Top::ieee};
    case Element::tf32:
      return {8, 10, 127, Top::ieee};
    case Element::e5m2:
      return {5, 2, 15, Top::ieee};
    case Element::e4m3:
      return {4, 3, 7, Top::one_nan};
    case Element::e2m3:
      return {2, 3, 1, Top::number};
    case Element::e3m2:
      return {3, 2, 3, Top::number};
    case Element::e2m1:
      return {2, 1, 1, Top::number};
    default:
      assert(!"not a small float");
      return f32_format;
  }
}

Unpacked unpack_fields(std::uint32_t bits, const Format& f) {
  const std::uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
  const std::uint32_t all_ones = (1u << f.exponent_bits) - 1;
  const std::uint32_t field = (bits >> f.fraction_bits) & all_ones;
  Unpacked out;
  out.negative = (bits >> (f.exponent_bits + f.fraction_bits)) & 1;
  const int to_23_bits = 23 - f.fraction_bits;
  if (field == all_ones && f.top == Top::ieee) {
    out.kind = fraction ? Class::nan : Class::infinity;
  } else if (field == all_ones && f.top == Top::one_nan && fraction == (1u << f.fraction_bits) - 1) {
    out.kind = Class::nan;
  } else if (field == 0) {
    out.kind = fraction ? Class::finite : Class::zero;
    out.exponent = 1 - f.bias;
    out.significand = fraction << to_23_bits;
  } else {
    out.kind = Class::finite;
    out.exponent = static_cast<int>(field) - f.bias;
    out.significand = (fraction | (1u << f.fraction_bits)) << to_23_bits;
  }
  return out;
}

struct Target {
  Format format;
  int kept_bits;
  bool nearest_even;
  std::uint32_t nan;
};

Target target_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::f16:
      return {f16_format, 10, true, 0x7FFFu};
    case Rounding::f32_13_bits:
      return {f32_format, 13, false, 0x7FFFFFFFu};
    default:
      return {f32_format, 23, false, 0x7FFFFFFFu};
  }
}

std::uint32_t infinity_bits(const Format& f, bool negative) {
  const std::uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
  return infinity | (std::uint32_t{negative} << (f.exponent_bits + f.fraction_bits));
}

struct Specials {
  bool nan = false;
  bool infinity[2] = {false, false};  // [negative]

  void add_product(const Unpacked& a, const Unpacked& b) {
    if (a.kind == Class::nan || b.kind == Class::nan) {
      nan = true;
    } else if (a.kind == Class::infinity || b.kind == Class::infinity) {
      const bool times_zero = a.kind == Class::zero || b.kind == Class::zero;
      nan |= times_zero;
      infinity[a.negative ^ b.negative] |= !times_zero;
    }
  }
  void add(const Unpacked& c) {
    nan |= c.kind == Class::nan;
    infinity[c.negative] |= c.kind == Class::infinity;
  }
  bool any() const { return nan || infinity[0] || infinity[1]; }
  std::uint32_t bits(const Target& t) const {
    return nan || (infinity[0] && infinity[1]) ? t.nan : infinity_bits(t.format, infinity[1]);
  }
};

// significand * 2^shift, truncated toward zero. Zeros may come with any exponent.
std::int64_t aligned(std::int64_t significand, int shift) {
  if (significand == 0) return 0;
  if (shift >= 0) return significand << shift;
  return shift <= -63 ? 0 : significand >> -shift;
}

}  // namespace

Unpacked unpack(Element type, std::uint32_t bits) {
  if (type == Element::tf32) bits >>= 13;
  return unpack_fields(bits, format_of(type));
}

Unpacked unpack_c(Result type, std::uint32_t bits) {
  return unpack_fields(bits, type == Result::f16 ? f16_format : f32_format);
}

Unpacked unpack_value(std::uint32_t f32_bits, int min_exponent) {
  Unpacked out = unpack_fields(f32_bits, f32_format);
  if (out.kind == Class::finite && out.exponent < min_exponent) {
    out.significand >>= min_exponent - out.exponent;
    out.exponent = min_exponent;
  }
  return out;
}

std::uint32_t fused_dot_add(std::span<const Unpacked> a, std::span<const Unpacked> b, const Unpacked& c,
                            const FusedDotSpec& spec, int scale) {
  Specials specials;
  specials.add(c);
  int e_max = c.kind == Class::finite ? c.exponent : spec.zero_exponent;
  for (std::size_t i = 0; i < a.size(); ++i) {
    specials.add_product(a[i], b[i]);
    const bool zero = a[i].significand == 0 || b[i].significand == 0;
    e_max = std::max(e_max, zero ? spec.zero_exponent : a[i].exponent + b[i].exponent + scale);
  }
  if (specials.any()) return specials.bits(target_of(spec.rounding));

  const int f = spec.fraction_bits;
  std::int64_t sum = aligned(c.significand, c.exponent - e_max + f - 23);
  if (c.negative) sum = -sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t product = std::int64_t{a[i].significand} * b[i].significand;
    const std::int64_t term = aligned(product, a[i].exponent + b[i].exponent + scale - e_max + f - 46);
    sum += a[i].negative != b[i].negative ? -term : term;
  }
  return round_sum(sum, e_max, spec);
}

std::uint32_t dot_chain(std::span<const Unpacked> a, std::span<const Unpacked> b, std::uint32_t c,
                        Result type, const FusedDotSpec& spec) {
  const auto step = static_cast<std::size_t>(spec.products);
  for (std::size_t k = 0; k < a.size(); k += step) {
    const std::size_t length = std::min(step, a.size() - k);
    c = fused_dot_add(a.subspan(k, length), b.subspan(k, length), unpack_c(type, c), spec);
  }
  return c;
}

std::uint32_t round_sum(std::int64_t sum, int exponent, const FusedDotSpec& spec) {
  if (sum == 0) return 0;
  const Target target = target_of(spec.rounding);
  const Format& f = target.format;
  const bool negative = sum < 0;
  const std::uint64_t magnitude =
      negative ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  const int unit = exponent - spec.fraction_bits;  // weight of the sum's lowest bit
  int leading = std::max(unit + 63 - std::countl_zero(magnitude), 1 - f.bias);
  const int drop = leading - target.kept_bits - unit;
  std::uint64_t kept = drop <= 0 ? magnitude << -drop : drop < 64 ? magnitude >> drop : 0;
  if (target.nearest_even && drop > 0 && drop < 64) {
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
  }
  if (kept >> (target.kept_bits + 1)) {
    kept >>= 1;
    ++leading;
  }
  if (kept == 0) return 0;
  kept <<= f.fraction_bits - target.kept_bits;
  const std::uint32_t sign = std::uint32_t{negative} << (f.exponent_bits + f.fraction_bits);
  if (!(kept >> f.fraction_bits)) return sign | static_cast<std::uint32_t>(kept);  // subnormal
  const int field = leading + f.bias;
  if (field >= (1 << f.exponent_bits) - 1) return infinity_bits(f, negative);
  const std::uint32_t fraction = static_cast<std::uint32_t>(kept) & ((1u << f.fraction_bits) - 1);
  return sign | (static_cast<std::uint32_t>(field) << f.fraction_bits) | fraction;
}

std::int32_t integer_value(Element type, std::uint32_t bits) {
  switch (type) {
    case Element::s8:
      return static_cast<std::int8_t>(bits);
    case Element::u8:
      return static_cast<std::uint8_t>(bits);
    case Element::s4:
      return static_cast<std::int8_t>(bits << 4) >> 4;
    case Element::u4:
      return static_cast<std::int32_t>(bits & 0xF);
    default:
      return static_cast<std::int32_t>(bits & 1);
  }
}

std::int32_t add_integer_sum(std::int64_t sum, std::int32_t c, bool saturate) {
  const std::int64_t exact = sum + c;
  if (!saturate) return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(exact, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

}  // namespace palladion::sim::numerics::tc
