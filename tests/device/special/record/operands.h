// The operands of the recorded arithmetic: a stream of triples, the same on device and host, in which
// near-cancelling sums, results around the smallest normal number, ties and special values are frequent.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PLD_HOST_DEVICE __host__ __device__
#else
#define PLD_HOST_DEVICE
#endif

namespace operands {

PLD_HOST_DEVICE inline std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Triple {
  std::uint64_t a, b, c;
};

/// One of eight special patterns: zero, the smallest subnormal and normal, one, the largest, infinity, two
/// NaNs.
PLD_HOST_DEVICE inline std::uint64_t special(int exponent_bits, int mantissa_bits, std::uint64_t pick) {
  const std::uint64_t one_ulp = 1, normal = one_ulp << mantissa_bits;
  const std::uint64_t infinity = ((one_ulp << exponent_bits) - 1) << mantissa_bits;
  const std::uint64_t one = ((one_ulp << (exponent_bits - 1)) - 1) << mantissa_bits;
  const std::uint64_t all[8] = {
      0, 1, normal, one, infinity - 1, infinity, infinity + 1, infinity + normal / 2 + 5};
  return all[pick & 7] | (pick >> 3 & 1) << (exponent_bits + mantissa_bits);
}

PLD_HOST_DEVICE inline std::uint64_t with_exponent(std::uint64_t x, int exponent_bits, int mantissa_bits,
                                                   std::int64_t e) {
  const std::int64_t top = (std::int64_t{1} << exponent_bits) - 1;
  const std::uint64_t field = static_cast<std::uint64_t>(e < 0 ? 0 : e > top ? top : e) << mantissa_bits;
  return (x & ~(static_cast<std::uint64_t>(top) << mantissa_bits)) | field;
}

/// A few of the low mantissa bits cleared, so that products and sums are exact or tie now and then.
PLD_HOST_DEVICE inline std::uint64_t trimmed(std::uint64_t x, int mantissa_bits, std::uint64_t pick) {
  return pick & 1 ? x & ~((std::uint64_t{1} << ((pick >> 1) % static_cast<unsigned>(mantissa_bits))) - 1) : x;
}

PLD_HOST_DEVICE inline Triple triple(int exponent_bits, int mantissa_bits, std::uint64_t index) {
  const std::uint64_t s = mix64(index), t = mix64(s ^ 1), u = mix64(s ^ 2), v = mix64(s ^ 3);
  const int width = 1 + exponent_bits + mantissa_bits;
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::int64_t bias = (std::int64_t{1} << (exponent_bits - 1)) - 1;
  const std::int64_t wobble = static_cast<std::int64_t>(v >> 8 & 7) - 3;
  Triple r = {t & mask, u & mask, mix64(v) & mask};
  const auto fit = [&](std::uint64_t x, std::int64_t e) {
    return with_exponent(x, exponent_bits, mantissa_bits, e);
  };
  switch (s & 7) {
    case 0:  // random bits
      break;
    case 1:
    case 2:  // around one
      r = {fit(r.a, bias + wobble), fit(r.b, bias),
           fit(r.c, bias + wobble + static_cast<std::int64_t>(v >> 16 & 31) - 16)};
      break;
    case 3: {  // a product around the smallest normal number
      const std::int64_t e = 2 + static_cast<std::int64_t>((v >> 16) % static_cast<std::uint64_t>(bias));
      r = {fit(r.a, e), fit(r.b, bias + 1 - e + (wobble >> 1)), fit(r.c, v >> 40 & 3)};
      break;
    }
    case 4:  // sums and quotients there
      r = {fit(r.a, v >> 16 & 3), fit(r.b, v >> 18 & 3), fit(r.c, v >> 20 & 3)};
      break;
    case 5:  // b is nearly -a
      r.b = r.a ^ (std::uint64_t{1} << (width - 1)) ^ (v >> 16 & 3);
      r.c = r.a ^ (v >> 20 & 0x8007);
      break;
    case 6:  // few bits: exact results and ties
      r = {trimmed(fit(r.a, bias + wobble), mantissa_bits, v >> 16),
           trimmed(fit(r.b, bias), mantissa_bits, v >> 24),
           trimmed(fit(r.c, bias - mantissa_bits + wobble), mantissa_bits, v >> 32)};
      break;
    default:  // special values among random ones
      if (v >> 16 & 1) r.a = special(exponent_bits, mantissa_bits, v >> 20);
      if (v >> 17 & 1) r.b = special(exponent_bits, mantissa_bits, v >> 24);
      if (v >> 18 & 1) r.c = special(exponent_bits, mantissa_bits, v >> 28);
  }
  return r;
}

}  // namespace operands
