// Words shared by the scalar reference and the fast tile kernels of the tensor core.
#pragma once

#include <cstdint>

namespace palladion::sim::numerics::tc {

// Element types of A and B. tf32 lives in 32-bit containers (the low 13 bits are ignored), the 6-bit and
// 4-bit floats e2m3, e3m2, e2m1 in the low bits of a byte (the others are ignored); s4, u4 and b1 are packed,
// low bits first.
enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, s8, u8, s4, u4, b1, f64 };

// Type of C and D.
enum class Result : std::uint8_t { f32, f16, s32, f64 };

// How the exact integer sum becomes D.
//   f32: truncate to 23 fraction bits.   f32_13_bits: truncate to 13 fraction bits, stored as f32.   f16:
//   nearest even.
enum class Rounding : std::uint8_t { f32, f32_13_bits, f16 };

// One fused step: L products and C are truncated to multiples of 2^(e_max - fraction_bits), summed exactly
// and rounded once. e_max is the largest *field* exponent sum; terms that are zero count with zero_exponent.
struct FusedDotSpec {
  int products;       // L: longer K is a chain of steps, k ascending
  int fraction_bits;  // F
  Rounding rounding;
  int zero_exponent;
};

constexpr int element_bits(Element e) {
  switch (e) {
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::tf32:
      return 32;
    case Element::s4:
    case Element::u4:
      return 4;
    case Element::b1:
      return 1;
    case Element::f64:
      return 64;
    default:
      return 8;
  }
}

constexpr bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }
constexpr bool is_byte_float(Element e) { return e >= Element::e4m3 && e <= Element::e2m1; }
constexpr bool is_small_float(Element e) { return e <= Element::e2m1; }
constexpr bool is_integer(Element e) { return e >= Element::s8 && e <= Element::b1; }

// Smallest field exponent of a finite number of this type (that of its subnormals).
constexpr int min_exponent(Element e) {
  switch (e) {
    case Element::f16:
    case Element::e5m2:
      return -14;
    case Element::e4m3:
      return -6;
    case Element::e3m2:
      return -2;
    case Element::e2m3:
    case Element::e2m1:
      return 0;
    default:
      return -126;
  }
}

// wgmma on sm_90a: every instruction is one step, since L equals its K. Zero exponents, +0 for an exact zero
// sum and C cut to 13 bits for fp8 were measured on an H200 (0 mismatches in 21.5 million outputs).
constexpr FusedDotSpec hopper_wgmma(Element a, Result d) {
  if (is_fp8(a)) {
    return d == Result::f16 ? FusedDotSpec{32, 13, Rounding::f16, -21}
                            : FusedDotSpec{32, 13, Rounding::f32_13_bits, -133};
  }
  const int products = a == Element::tf32 ? 8 : 16;
  return d == Result::f16 ? FusedDotSpec{products, 25, Rounding::f16, -21}
                          : FusedDotSpec{products, 25, Rounding::f32, -133};
}

// tcgen05.mma of kinds f16, tf32, f8f6f4 and mxf8f6f4: a published model (MMA-Sim), whose f16 zeros count as
// 2^-21 since they were measured to do so on an H200.
constexpr FusedDotSpec blackwell_tcgen05(Element a, Result d) {
  const int products = a == Element::tf32 ? 8 : is_byte_float(a) ? 32 : 16;
  return d == Result::f16 ? FusedDotSpec{products, 25, Rounding::f16, -21}
                          : FusedDotSpec{products, 25, Rounding::f32, -133};
}

}  // namespace palladion::sim::numerics::tc
