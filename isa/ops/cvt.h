#pragma once
// Scalar conversions, made of three steps so that their many combinations stay small: read 32 values
// from registers that may be wider than the type, convert them, write them sign- or zero-extended
// (PTX, "Operand Size Exceeding Instruction-Type Size").
#include <bit>
#include <cstdint>
#include <type_traits>

#include "isa/num/pack.h"
#include "isa/ops/floats.h"

namespace palladion::isa::cvt {

using num::CvtMods;
using num::Rounding;

struct Request {
  Type to, from;
  int to_width, from_width;  // of the registers, in bits
  Rounding rounding = Rounding::rn;
  bool integral = false, ftz = false, sat = false, satfinite = false, relu = false;
};

// One file each; their functions take the widths of the registers as their constant.
LanesFn saturated_integer(const Request&);  // nullptr when every value has its place
LanesFn integer_to_float(const Request&);
LanesFn float_to_integer(const Request&);
LanesFn float_to_float(const Request&);
// The most common ones, without a constant; nullptr when it is none of them.
LanesFn integer_to_integer(const Request&);  // without .sat
LanesFn common_halves(const Request&);
// Conversions into or out of pairs, and to tf32, have registers of the type's width (f32 sources may be
// immediates).
LanesFn packed(const Request&);
// cvt.rs, with random bits as the last source.
LanesFn stochastic(const Request&);
// cvt.pack.sat: `bits` of one element.
LanesFn saturating_pack(int bits, bool is_signed);

inline constexpr int warp_size = lanes::warp_size;

// --- types known at run time ----------------------------------------------------------------------
template <class T>
using format_of = num::IntFormat<sizeof(T) * 8, T>;

template <class Fn>
LanesFn for_float(Type type, Fn f) {
  switch (type) {
    case Type::f16:
      return f.template operator()<num::F16>();
    case Type::bf16:
      return f.template operator()<num::Bf16>();
    case Type::f32:
      return f.template operator()<num::F32>();
    case Type::f64:
      return f.template operator()<num::F64>();
    default:
      return nullptr;
  }
}

// --- the three steps ------------------------------------------------------------------------------------
struct Widths {
  uint32_t to, from;  // of the registers, in bits
};
inline uint64_t constant(const Request& r) {
  return std::bit_cast<uint64_t>(
      Widths{static_cast<uint32_t>(r.to_width), static_cast<uint32_t>(r.from_width)});
}

template <class T, class Register, class Value>
const Value* extend(const void* s, Value* scratch) {
  for (int i = 0; i < warp_size; ++i) scratch[i] = static_cast<T>(static_cast<const Register*>(s)[i]);
  return scratch;
}

template <class T, class Value>
[[gnu::noinline]] const Value* extend_from(const void* s, uint32_t width, Value* scratch) {
  if (width == 8) return extend<T, uint8_t>(s, scratch);
  if (width == 16) return extend<T, uint16_t>(s, scratch);
  return width == 32 ? extend<T, uint32_t>(s, scratch) : extend<T, uint64_t>(s, scratch);
}

// 32 values of type T as Value.
template <class T, class Value>
const Value* read(const void* s, uint32_t width, Value* scratch) {
  if (sizeof(T) == sizeof(Value) && width == 8 * sizeof(T)) return static_cast<const Value*>(s);
  return extend_from<T>(s, width, scratch);
}

// Integers below 32 bits are computed with as int32_t, which holds them all.
template <class T>
struct ReadInteger {
  using Value = std::conditional_t<(sizeof(T) < 4), int32_t, T>;
  static const Value* from(const void* s, uint32_t width, Value* scratch) {
    return read<T, Value>(s, width, scratch);
  }
};
template <class Format>
struct ReadFloat {
  using Value = num::bits_of<Format>;
  static const Value* from(const void* s, uint32_t width, Value* scratch) {
    return read<Value, Value>(s, width, scratch);
  }
};

template <class Register, class T>
void extend_into(const LaneArgs& a, const T* values) {
  Register t[warp_size];
  for (int i = 0; i < warp_size; ++i) t[i] = static_cast<Register>(values[i]);
  lanes::commit(a.d[0], t, a.mask);
}

// T signed: sign-extended, else zero-extended.
template <class T>
[[gnu::noinline]] void write(const LaneArgs& a, uint32_t width, const T* values) {
  if (width == 8 * sizeof(T)) return lanes::commit(a.d[0], values, a.mask);
  if (width == 16) return extend_into<uint16_t>(a, values);
  return width == 32 ? extend_into<uint32_t>(a, values) : extend_into<uint64_t>(a, values);
}

template <class Read, auto convert, class Out>
void steps(const LaneArgs& a) {
  const auto widths = std::bit_cast<Widths>(*lanes::source<uint64_t>(a, 0));
  alignas(32) typename Read::Value scratch[warp_size];
  alignas(32) Out out[warp_size];
  convert(Read::from(a.s[1], widths.from, scratch), out);
  write(a, widths.to, out);
}

template <class To, class From, Rounding R, CvtMods M>
[[gnu::noinline]] void convert_lanes(const num::cvt_value<From>* in, num::cvt_value<To>* out) {
  for (int i = 0; i < warp_size; ++i) out[i] = num::cvt<To, From, R>(in[i], M);
}

}  // namespace palladion::isa::cvt
