// The tensor core's fused dot product, one output at a time, in plain integers: the definition that the fast
// kernels are held to, and their way out for rare inputs (infinities, NaNs, exponents near the limits of
// f32).
#pragma once

#include <cstdint>
#include <span>

#include "sim/numerics/tensor_core_types.h"

namespace palladion::sim::numerics::tc {

// A decoded number: (-1)^negative * significand * 2^(exponent - 23). The exponent is the *field* exponent:
// subnormals keep the smallest one and a significand below 2^23; nothing is ever renormalised.
struct Unpacked {
  enum class Class : std::uint8_t { zero, finite, infinity, nan };
  Class kind = Class::zero;
  bool negative = false;
  std::int32_t exponent = 0;
  std::uint32_t significand = 0;
};

// Raw bits of a float element, or of C (f32, f16).
Unpacked unpack(Element type, std::uint32_t bits);
Unpacked unpack_c(Result type, std::uint32_t bits);

// The same from an element's exact value as f32 bits; min_exponent is that of the element's own type.
Unpacked unpack_value(std::uint32_t f32_bits, int min_exponent);

// One step: rho(trunc-sum(a[i] * b[i] * 2^scale, c)). Returns f32 or f16 bits. Any length; spec.products is
// not consulted.
std::uint32_t fused_dot_add(std::span<const Unpacked> a, std::span<const Unpacked> b, const Unpacked& c,
                            const FusedDotSpec& spec, int scale = 0);

// K products as a chain of steps of spec.products; c and the result are bits of `type` (f32 or f16).
std::uint32_t dot_chain(std::span<const Unpacked> a, std::span<const Unpacked> b, std::uint32_t c,
                        Result type, const FusedDotSpec& spec);

// sum * 2^(exponent - spec.fraction_bits) rounded as spec says. An exact zero and a negative result that
// underflows to nothing are +0 (measured).
std::uint32_t round_sum(std::int64_t sum, int exponent, const FusedDotSpec& spec);

// Value of an integer element (s8, u8, s4, u4) from its low bits.
std::int32_t integer_value(Element type, std::uint32_t bits);

// c + sum, wrapping modulo 2^32, or clamped once to the s32 range.
std::int32_t add_integer_sum(std::int64_t sum, std::int32_t c, bool saturate);

}  // namespace palladion::sim::numerics::tc
