// Numbers of one dtype as numbers of another: constants on the host, registers by instructions.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "frontend/core/elementwise.h"

namespace palladion::frontend {

using pl::DType;

namespace {

// Rounds to nearest even with `exponent_bits` and `mantissa_bits`; overflow gives `overflow`.
uint32_t round_to_small(double v, int exponent_bits, int mantissa_bits, uint32_t overflow, uint32_t nan,
                        double largest) {
  const uint32_t sign = std::signbit(v) ? 1u << (exponent_bits + mantissa_bits) : 0;
  if (std::isnan(v)) return nan;
  const double m = std::fabs(v);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int e = 0;
  std::frexp(m, &e);
  const int exponent = std::max(e - 1, 1 - bias);
  const double unit = std::ldexp(1.0, exponent - mantissa_bits);
  const double rounded = std::nearbyint(m / unit) * unit;
  if (rounded > largest) return sign | overflow;
  if (rounded == 0) return sign;
  std::frexp(rounded, &e);
  const int stored = std::max(e - 1 + bias, 0);
  if (stored == 0 || e - 1 < 1 - bias)
    return sign | static_cast<uint32_t>(rounded / std::ldexp(1.0, 1 - bias - mantissa_bits));
  const double fraction = rounded / std::ldexp(1.0, e - 1) - 1.0;
  return sign | static_cast<uint32_t>(stored) << mantissa_bits |
         static_cast<uint32_t>(std::ldexp(fraction, mantissa_bits));
}

}  // namespace

uint64_t encode_float(DType d, double v) {
  switch (d) {
    case DType::f64:
      return std::bit_cast<uint64_t>(v);
    case DType::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(v));
    case DType::f16:
      return round_to_small(v, 5, 10, 0x7C00, 0x7FFF, 65504);
    case DType::bf16:
      return round_to_small(v, 8, 7, 0x7F80, 0x7FFF, 3.3895313892515355e38);
    case DType::e4m3:
      return round_to_small(v, 4, 3, 0x7E, 0x7F, 448);
    case DType::e5m2:
      return round_to_small(v, 5, 2, 0x7B, 0x7F, 57344);
    default:
      return 0;
  }
}

Operand constant(DType d, double v) {
  check_register_type(d);
  if (d == DType::f32) return Operand::f32(static_cast<uint32_t>(encode_float(d, v)));
  if (d == DType::f64) return Operand::f64(encode_float(d, v));
  if (pl::is_float(d)) return Operand::imm(static_cast<int64_t>(encode_float(d, v)));
  return constant(d, static_cast<int64_t>(v));
}

Operand constant(DType d, int64_t v) {
  check_register_type(d);
  if (pl::is_float(d)) return constant(d, static_cast<double>(v));
  if (d != DType::bool_) return Operand::imm(v);
  return Recorder::current().at_entry(
      "setp.ne.s32", {Recorder::current().at_entry("mov.b32", {Operand::imm(v)}, Type::b32), Operand::imm(0)},
      Type::pred);
}

namespace {

std::string_view register_int_suffix(DType d) { return arithmetic_suffix(d); }

Operand convert_ints(Recorder& r, DType from, DType to, const Operand& a) {
  const int f = std::max(16, pl::bits(from)), t = std::max(16, pl::bits(to));
  if (f == t) {
    if (pl::bits(to) == 8 && to != from) return narrow(r, to, a);
    return a;
  }
  if (t > f) {
    const char kind = pl::is_signed(from) ? 's' : 'u';
    return r.pure(fmt::format("cvt.{0}{1}.{0}{2}", kind, t, f), {a}, register_type(to));
  }
  const Operand cut = r.pure(fmt::format("cvt.u{}.u{}", t, f), {a}, register_type(to));
  return narrow(r, to, cut);
}

Operand fp8_to_f16(Recorder& r, DType from, const Operand& a) {
  const Operand pair = r.pure(fmt::format("cvt.rn.f16x2.{}x2", pl::name(from)), {a}, Type::b32);
  return unpack2(r, pair).first;
}

Operand convert_floats(Recorder& r, DType from, DType to, const Operand& a) {
  if (is_fp8(from)) return element_convert(r, DType::f16, to, fp8_to_f16(r, from, a));
  if (is_fp8(to)) {
    const Operand x = element_convert(r, from, DType::f32, a);
    return r.pure(fmt::format("cvt.rn.satfinite.{}x2.f32", pl::name(to)), {Operand::f32(0), x}, Type::b16);
  }
  if (is_half(from) && is_half(to)) {
    return element_convert(r, DType::f32, to, element_convert(r, from, DType::f32, a));
  }
  if (from == DType::bf16 && to == DType::f64) {
    return element_convert(r, DType::f32, to, element_convert(r, from, DType::f32, a));
  }
  const bool widens = pl::bits(to) > pl::bits(from);
  return r.pure(fmt::format("cvt{}.{}.{}", widens ? "" : ".rn", pl::name(to), pl::name(from)), {a},
                register_type(to));
}

Operand convert_int_to_float(Recorder& r, DType from, DType to, const Operand& a) {
  if (is_fp8(to) || to == DType::bf16) {
    return element_convert(r, DType::f32, to, element_convert(r, from, DType::f32, a));
  }
  return r.pure(fmt::format("cvt.rn.{}.{}", pl::name(to), register_int_suffix(from)), {a}, register_type(to));
}

Operand convert_float_to_int(Recorder& r, DType from, DType to, const Operand& a) {
  if (pl::bits(from) < 32) {
    return element_convert(r, DType::f32, to, element_convert(r, from, DType::f32, a));
  }
  if (pl::bits(to) >= 32) {
    return r.pure(fmt::format("cvt.rzi.{}.{}", pl::name(to), pl::name(from)), {a}, register_type(to));
  }
  const DType wide = pl::is_signed(to) ? DType::s32 : DType::u32;
  return convert_ints(r, wide, to, convert_float_to_int(r, from, wide, a));
}

}  // namespace

Operand element_convert(Recorder& r, DType from, DType to, const Operand& a) {
  check_register_type(to);
  if (from == to) return a;
  const Operand x = in_register(r, from, a);
  if (to == DType::bool_) return element_compare(r, Compare::ne, from, x, constant(from, 0.0));
  if (from == DType::bool_) return element_select(r, to, x, constant(to, 1.0), constant(to, 0.0));
  const bool f = pl::is_float(from), t = pl::is_float(to);
  if (f && t) return convert_floats(r, from, to, x);
  if (f) return convert_float_to_int(r, from, to, x);
  return t ? convert_int_to_float(r, from, to, x) : convert_ints(r, from, to, x);
}

Operand element_bitcast(Recorder& r, DType from, DType to, const Operand& a) {
  if (pl::bits(from) != pl::bits(to) || from == DType::bool_ || to == DType::bool_) {
    fail(Code::bad_conversion,
         fmt::format("a bitcast needs dtypes of one width: {} and {}", pl::name(from), pl::name(to)));
  }
  if (pl::bits(to) == 8) {
    const Operand low = from == DType::s8 ? r.pure("and.b16", {a, Operand::imm(255)}, Type::b16) : a;
    return to == DType::s8 ? r.pure("cvt.s16.s8", {low}, Type::b16) : low;
  }
  if (register_type(from) == register_type(to)) return a;
  return r.pure(fmt::format("mov.{}", bits_suffix(to)), {a}, register_type(to));
}

}  // namespace palladion::frontend
