// Element types for host arrays: a bit pattern that converts exactly to float and, explicitly, from it.
#pragma once

#include "isa/num/round.h"

namespace palladion::isa::num {

template <class F>
struct Storage {
  using format = F;
  bits_of<F> bits;

  Storage() = default;
  /// Rounds to nearest even; formats of 8 bits and less saturate, as PTX' conversions do.
  constexpr explicit Storage(float x)
      : bits(encode_f32<F>(std::bit_cast<std::uint32_t>(x), /*satfinite=*/F::width <= 8)) {}
  constexpr operator float() const { return to_float<F>(bits); }
  constexpr Storage& operator=(float x) { return *this = Storage(x); }
  constexpr Storage& operator=(const Storage&) = default;
  constexpr Storage(const Storage&) = default;

  static constexpr Storage from_bits(bits_of<F> b) {
    Storage s{};
    s.bits = b;
    return s;
  }
};

using f16_t = Storage<F16>;
using bf16_t = Storage<Bf16>;
using tf32_t = Storage<Tf32>;
using e4m3_t = Storage<E4m3>;
using e5m2_t = Storage<E5m2>;
using e2m3_t = Storage<E2m3>;
using e3m2_t = Storage<E3m2>;
using e2m1_t = Storage<E2m1>;

static_assert(sizeof(f16_t) == 2 && std::is_trivially_copyable_v<f16_t> &&
              std::is_trivially_default_constructible_v<f16_t>);
static_assert(sizeof(e4m3_t) == 1);

}  // namespace palladion::isa::num
