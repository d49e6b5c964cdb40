// PTX instructions by name, as functions on bit patterns: how recorded results are compared with isa/num.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>

#include "isa/num/arith.h"
#include "isa/num/convert.h"
#include "isa/num/order.h"

namespace palladion::isa::num::device_tests {

using Word = std::uint64_t;
using Instruction = std::function<Word(Word a, Word b, Word c)>;
using Instructions = std::map<std::string, Instruction>;

template <class F>
bits_of<F> to(Word x) {
  return static_cast<bits_of<F>>(x);
}

template <class F, ArithMods M = ArithMods{}>
void add_arithmetic(Instructions& t, const std::string& suffix) {
  t["add." + suffix] = [](Word a, Word b, Word) { return Word{add<F, M>(to<F>(a), to<F>(b))}; };
  t["sub." + suffix] = [](Word a, Word b, Word) { return Word{sub<F, M>(to<F>(a), to<F>(b))}; };
  t["mul." + suffix] = [](Word a, Word b, Word) { return Word{mul<F, M>(to<F>(a), to<F>(b))}; };
  t["fma." + suffix] = [](Word a, Word b, Word c) { return Word{fma<F, M>(to<F>(a), to<F>(b), to<F>(c))}; };
}

template <class F, ArithMods M = ArithMods{}>
void add_division(Instructions& t, const std::string& suffix) {
  t["div." + suffix] = [](Word a, Word b, Word) { return Word{div<F, M>(to<F>(a), to<F>(b))}; };
  t["rcp." + suffix] = [](Word a, Word, Word) { return Word{rcp<F, M>(to<F>(a))}; };
  t["sqrt." + suffix] = [](Word a, Word, Word) { return Word{sqrt<F, M>(to<F>(a))}; };
}

template <class F, MinMaxMods M = MinMaxMods{}>
void add_min_max(Instructions& t, const std::string& suffix) {
  t["min." + suffix] = [](Word a, Word b, Word) { return Word{min<F, M>(to<F>(a), to<F>(b))}; };
  t["max." + suffix] = [](Word a, Word b, Word) { return Word{max<F, M>(to<F>(a), to<F>(b))}; };
}

template <class F>
void add_signs(Instructions& t, const std::string& type) {
  t["abs." + type] = [](Word a, Word, Word) { return Word{abs<F>(to<F>(a))}; };
  t["neg." + type] = [](Word a, Word, Word) { return Word{neg<F>(to<F>(a))}; };
  t["abs.ftz." + type] = [](Word a, Word, Word) { return Word{abs<F, true>(to<F>(a))}; };
  t["neg.ftz." + type] = [](Word a, Word, Word) { return Word{neg<F, true>(to<F>(a))}; };
  t["copysign." + type] = [](Word a, Word b, Word) { return Word{copysign<F>(to<F>(a), to<F>(b))}; };
}

template <class F>
void add_float(Instructions& t, const std::string& type) {
  add_arithmetic<F>(t, "rn." + type);
  add_min_max<F>(t, type);
  add_signs<F>(t, type);
  if constexpr (F::width >= 32) {
    add_arithmetic<F, ArithMods{.rounding = Rounding::rz}>(t, "rz." + type);
    add_arithmetic<F, ArithMods{.rounding = Rounding::rm}>(t, "rm." + type);
    add_arithmetic<F, ArithMods{.rounding = Rounding::rp}>(t, "rp." + type);
    add_division<F>(t, "rn." + type);
    add_division<F, ArithMods{.rounding = Rounding::rz}>(t, "rz." + type);
    add_division<F, ArithMods{.rounding = Rounding::rm}>(t, "rm." + type);
    add_division<F, ArithMods{.rounding = Rounding::rp}>(t, "rp." + type);
  }
  if constexpr (F::width <= 32) {
    add_arithmetic<F, ArithMods{.ftz = true}>(t, "rn.ftz." + type);
    add_arithmetic<F, ArithMods{.sat = true}>(t, "rn.sat." + type);
    add_arithmetic<F, ArithMods{.ftz = true, .sat = true}>(t, "rn.ftz.sat." + type);
    add_arithmetic<F, ArithMods{.relu = true}>(t, "rn.relu." + type);
    add_arithmetic<F, ArithMods{.ftz = true, .relu = true}>(t, "rn.ftz.relu." + type);
    add_min_max<F, MinMaxMods{.ftz = true}>(t, "ftz." + type);
    add_min_max<F, MinMaxMods{.nan = true}>(t, "NaN." + type);
    add_min_max<F, MinMaxMods{.xorsign_abs = true}>(t, "xorsign.abs." + type);
    add_min_max<F, MinMaxMods{.nan = true, .xorsign_abs = true}>(t, "NaN.xorsign.abs." + type);
  }
}

/// Integers narrower than a register stand in it sign- or zero-extended.
template <class To>
Word in_register(cvt_value<To> value) {
  if constexpr (To::is_float) {
    return value;
  } else if constexpr (sizeof(value) < 4) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  } else {
    return static_cast<std::make_unsigned_t<cvt_value<To>>>(value);
  }
}

template <class To, class From>
void add_cvt(Instructions& t, const std::string& name, CvtMods m) {
  t["cvt." + name] = [m](Word a, Word, Word) {
    return in_register<To>(cvt<To, From>(static_cast<cvt_value<From>>(a), m));
  };
}

/// A packed result of two operands: a in the high half.
template <class To, class From>
void add_packing_cvt(Instructions& t, const std::string& name, CvtMods m) {
  t["cvt." + name] = [m](Word a, Word b, Word) {
    return Word{cvt<To, From>(to<From>(a), m)} << To::width | Word{cvt<To, From>(to<From>(b), m)};
  };
}

template <class F>
void add_integral(Instructions& t, const std::string& type) {
  const std::string both = type + "." + type;
  add_cvt<F, F>(t, "rni." + both, {.rounding = Rounding::rn, .integral = true});
  add_cvt<F, F>(t, "rzi." + both, {.rounding = Rounding::rz, .integral = true});
  add_cvt<F, F>(t, "rzi.ftz." + both, {.rounding = Rounding::rz, .integral = true, .ftz = true});
  add_cvt<F, F>(t, "rmi." + both, {.rounding = Rounding::rm, .integral = true});
  add_cvt<F, F>(t, "rpi." + both, {.rounding = Rounding::rp, .integral = true});
  add_cvt<F, F>(t, "sat." + both, {.sat = true});
  add_cvt<F, F>(t, "ftz." + both, {.ftz = true});
}

template <class From>
void add_to_integers(Instructions& t, const std::string& type) {
  const std::map<std::string, Rounding> modes = {
      {"rni.", Rounding::rn}, {"rzi.", Rounding::rz}, {"rmi.", Rounding::rm}, {"rpi.", Rounding::rp}};
  for (const auto& [name, mode] : modes) {
    for (bool ftz : {false, true}) {
      const std::string prefix = name + (ftz ? "ftz." : "");
      const CvtMods m{.rounding = mode, .ftz = ftz};
      add_cvt<S8, From>(t, prefix + "s8." + type, m);
      add_cvt<U8, From>(t, prefix + "u8." + type, m);
      add_cvt<S16, From>(t, prefix + "s16." + type, m);
      add_cvt<S32, From>(t, prefix + "s32." + type, m);
      add_cvt<U32, From>(t, prefix + "u32." + type, m);
      add_cvt<S64, From>(t, prefix + "s64." + type, m);
      add_cvt<U64, From>(t, prefix + "u64." + type, m);
    }
  }
}

/// Every float conversion with these modifiers, whether PTX has it or not.
inline void add_float_cvts(Instructions& t, const std::string& mods, CvtMods m) {
  add_cvt<Tf32, F32>(t, mods + "tf32.f32", m);
  add_cvt<F16, F32>(t, mods + "f16.f32", m);
  add_cvt<Bf16, F32>(t, mods + "bf16.f32", m);
  add_cvt<F64, F32>(t, mods + "f64.f32", m);
  add_cvt<F32, F64>(t, mods + "f32.f64", m);
  add_cvt<F16, F64>(t, mods + "f16.f64", m);
  add_cvt<Bf16, F64>(t, mods + "bf16.f64", m);
  add_cvt<F32, F16>(t, mods + "f32.f16", m);
  add_cvt<F64, F16>(t, mods + "f64.f16", m);
  add_cvt<Bf16, F16>(t, mods + "bf16.f16", m);
  add_cvt<F32, Bf16>(t, mods + "f32.bf16", m);
  add_cvt<F64, Bf16>(t, mods + "f64.bf16", m);
  add_cvt<F16, Bf16>(t, mods + "f16.bf16", m);
  add_cvt<F32, S32>(t, mods + "f32.s32", m);
  add_cvt<F32, U32>(t, mods + "f32.u32", m);
  add_cvt<F16, S32>(t, mods + "f16.s32", m);
  add_cvt<Bf16, S32>(t, mods + "bf16.s32", m);
  add_packing_cvt<F16, F32>(t, mods + "f16x2.f32", m);
  add_packing_cvt<Bf16, F32>(t, mods + "bf16x2.f32", m);
  add_packing_cvt<E4m3, F32>(t, mods + "e4m3x2.f32", m);
  add_packing_cvt<E5m2, F32>(t, mods + "e5m2x2.f32", m);
}

inline Instructions all_instructions() {
  Instructions t;
  add_float<F32>(t, "f32");
  add_float<F64>(t, "f64");
  add_float<F16>(t, "f16");
  add_float<Bf16>(t, "bf16");
  add_arithmetic<F32, ArithMods{.rounding = Rounding::rz, .ftz = true}>(t, "rz.ftz.f32");
  add_arithmetic<F32, ArithMods{.rounding = Rounding::rp, .ftz = true}>(t, "rp.ftz.f32");
  add_division<F32, ArithMods{.ftz = true}>(t, "rn.ftz.f32");
  add_integral<F32>(t, "f32");
  add_integral<F64>(t, "f64");
  add_integral<F16>(t, "f16");
  add_integral<Bf16>(t, "bf16");
  add_to_integers<F32>(t, "f32");
  add_to_integers<F64>(t, "f64");
  add_to_integers<F16>(t, "f16");
  add_to_integers<Bf16>(t, "bf16");
  const std::map<std::string, CvtMods> modifiers = {
      {"", {}},
      {"ftz.", {.ftz = true}},
      {"rn.", {}},
      {"rn.ftz.", {.ftz = true}},
      {"rn.relu.", {.relu = true}},
      {"rn.satfinite.", {.satfinite = true}},
      {"rn.satfinite.relu.", {.satfinite = true, .relu = true}},
      {"rz.", {.rounding = Rounding::rz}},
      {"rz.relu.", {.rounding = Rounding::rz, .relu = true}},
      {"rm.", {.rounding = Rounding::rm}},
      {"rp.", {.rounding = Rounding::rp}},
      {"rna.", {.rounding = Rounding::rna}},
      {"rna.satfinite.", {.rounding = Rounding::rna, .satfinite = true}}};
  for (const auto& [name, m] : modifiers) add_float_cvts(t, name, m);
  return t;
}

}  // namespace palladion::isa::num::device_tests
