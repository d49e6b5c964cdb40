#pragma once
// Scalar conversions, made of three steps so that their many combinations stay small: read 32 values
// from registers that may be wider than the type, convert them, write them sign- or zero-extended
// (PTX, "Operand Size Exceeding Instruction-Type Size").
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

// One file each; nullptr when there is no such conversion or a register is too narrow.
LanesFn integer_to_integer(const Request&);
LanesFn integer_to_float(const Request&);
LanesFn float_to_integer(const Request&);
LanesFn float_to_float(const Request&);
// Conversions into or out of pairs, and to tf32, have registers of the type's width (f32 sources may be
// immediates).
LanesFn packed(const Request&);
// cvt.pack.sat: `bits` of one element.
LanesFn saturating_pack(int bits, bool is_signed);

inline constexpr int warp_size = lanes::warp_size;

// --- types known at run time ----------------------------------------------------------------------
template <class T>
struct FormatOf;
template <>
struct FormatOf<uint8_t> {
  using type = num::U8;
};
template <>
struct FormatOf<int8_t> {
  using type = num::S8;
};
template <>
struct FormatOf<uint16_t> {
  using type = num::U16;
};
template <>
struct FormatOf<int16_t> {
  using type = num::S16;
};
template <>
struct FormatOf<uint32_t> {
  using type = num::U32;
};
template <>
struct FormatOf<int32_t> {
  using type = num::S32;
};
template <>
struct FormatOf<uint64_t> {
  using type = num::U64;
};
template <>
struct FormatOf<int64_t> {
  using type = num::S64;
};
template <class T>
using format_of = typename FormatOf<T>::type;

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

// Calls f.operator()<uint32_t>() with the lane type of a register, if it holds at least `needed` bits.
template <int needed, class Fn>
LanesFn for_register(int width, Fn f) {
  if constexpr (needed <= 8) {
    if (width == 8) return f.template operator()<uint8_t>();
  }
  if constexpr (needed <= 16) {
    if (width == 16) return f.template operator()<uint16_t>();
  }
  if constexpr (needed <= 32) {
    if (width == 32) return f.template operator()<uint32_t>();
  }
  return width == 64 ? f.template operator()<uint64_t>() : nullptr;
}

// bf16 has registers of its width only.
template <class Format, class Fn>
LanesFn for_float_register(int width, Fn f) {
  if constexpr (std::is_same_v<Format, num::Bf16>)
    return width == 16 ? f.template operator()<uint16_t>() : nullptr;
  else
    return for_register<Format::width>(width, f);
}

// --- reading ------------------------------------------------------------------------------------------
// Integers below 32 bits are computed with as int32_t, which holds them all.
template <class T>
using computed_t = std::conditional_t<(sizeof(T) < 4), int32_t, T>;

template <class T, class Register>
struct ReadInteger {
  using Value = computed_t<T>;
  static const Value* read(const void* s, Value* scratch) {
    if constexpr (sizeof(Register) == sizeof(Value) && sizeof(T) == sizeof(Value))
      return static_cast<const Value*>(s);
    else
      return extend(static_cast<const Register*>(s), scratch);
  }
  [[gnu::noinline]] static const Value* extend(const Register* s, Value* scratch) {
    for (int i = 0; i < warp_size; ++i) scratch[i] = static_cast<T>(s[i]);
    return scratch;
  }
};

template <class Format, class Register>
struct ReadFloat {
  using Value = num::bits_of<Format>;
  static const Value* read(const void* s, Value* scratch) {
    if constexpr (sizeof(Register) == sizeof(Value))
      return static_cast<const Value*>(s);
    else
      return truncate(static_cast<const Register*>(s), scratch);
  }
  [[gnu::noinline]] static const Value* truncate(const Register* s, Value* scratch) {
    for (int i = 0; i < warp_size; ++i) scratch[i] = static_cast<Value>(s[i]);
    return scratch;
  }
};

// --- writing ------------------------------------------------------------------------------------------
// T signed: sign-extended, else zero-extended.
template <class T, class Register>
[[gnu::noinline]] void write(const LaneArgs& a, const T* values) {
  Register t[warp_size];
  for (int i = 0; i < warp_size; ++i) t[i] = static_cast<Register>(values[i]);
  lanes::commit(a.d[0], t, a.mask);
}

// --- the three steps ------------------------------------------------------------------------------------
template <class Read, auto convert, class Out, class Register>
void steps(const LaneArgs& a) {
  alignas(32) typename Read::Value scratch[warp_size];
  alignas(32) Out out[warp_size];
  convert(Read::read(a.s[0], scratch), out);
  write<Out, Register>(a, out);
}

template <class To, class From, Rounding R, CvtMods M>
[[gnu::noinline]] void convert_lanes(const num::cvt_value<From>* in, num::cvt_value<To>* out) {
  for (int i = 0; i < warp_size; ++i) out[i] = num::cvt<To, From, R>(in[i], M);
}

}  // namespace palladion::isa::cvt
