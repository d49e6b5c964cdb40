#include "tests/property/random/random_values.h"

#include <algorithm>

namespace palladion::random_program {
namespace {

constexpr uint64_t int_edges[] = {0,
                                  1,
                                  2,
                                  7,
                                  8,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  127,
                                  128,
                                  255,
                                  256,
                                  0x7fff,
                                  0x8000,
                                  0xffff,
                                  0x10000,
                                  0x7fffffff,
                                  0x80000000,
                                  0xfffffffe,
                                  0xffffffff,
                                  0x100000000,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xfffffffffffffffe,
                                  0xffffffffffffffff};
constexpr uint16_t f16_edges[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400,
                                  0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x3800, 0x7bff, 0xfbff,
                                  0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe55, 0x5bff, 0x6400};
constexpr uint32_t f32_edges[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
                                  0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001,
                                  0x3f000000, 0x40490fdb, 0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000,
                                  0x4f800000, 0x5f000000, 0x5f800000, 0x477fe000, 0x477ff000, 0x43e00000,
                                  0x47600000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fffffff,
                                  0x7f800001, 0xffc12345, 0x7effffff, 0x0d800000, 0x42fe0000, 0xc3160000};
constexpr uint64_t f64_edges[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
    0x3fe0000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
    0x43f0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, only_nan64,
    0x47efffffe0000000, 0x47effffff0000000, 0x3810000000000000, 0x36a0000000000000};

template <class T, size_t n>
T edge(Rng& rng, const T (&from)[n]) {
  return from[rng.below(static_cast<uint32_t>(n))];
}

// A number of `mantissa` fraction bits whose exponent is within `range` below or above 1.
uint64_t near_one(Rng& rng, int exponent_bits, int mantissa, int range) {
  const uint64_t bias = (uint64_t{1} << (exponent_bits - 1)) - 1;
  const uint64_t exponent =
      bias - static_cast<uint64_t>(range) + rng.below(static_cast<uint32_t>(2 * range + 1));
  const uint64_t sign = rng.below(2);
  uint64_t fraction = rng.next() & ((uint64_t{1} << mantissa) - 1);
  if (rng.one_in(4)) fraction &= ~((uint64_t{1} << (mantissa / 2)) - 1);  // ties
  return sign << (exponent_bits + mantissa) | exponent << mantissa | fraction;
}

uint64_t half(Rng& rng) {
  const uint32_t kind = rng.below(4);
  return kind == 0 ? edge(rng, f16_edges) : kind == 1 ? rng.next() & 0xffff : near_one(rng, 5, 10, 6);
}

uint64_t single(Rng& rng) {
  const uint32_t kind = rng.below(4);
  return kind == 0   ? edge(rng, f32_edges)
         : kind == 1 ? rng.next() & 0xffffffff
                     : near_one(rng, 8, 23, rng.one_in(2) ? 3 : 30);
}

uint64_t twin(uint64_t a, uint64_t b) { return a | b << 32; }
template <class F>
uint64_t four(F f) {
  uint64_t word = 0;
  for (int i = 0; i < 4; ++i) word |= f() << (16 * i);
  return word;
}

uint64_t integer(Rng& rng) {
  const uint32_t kind = rng.below(6);
  if (kind == 0) return edge(rng, int_edges);
  if (kind == 1) return rng.below(2) == 0 ? rng.below(64) : ~uint64_t{rng.below(64)};
  if (kind == 2) return twin(edge(rng, int_edges), edge(rng, int_edges));
  if (kind == 3) return rng.next() >> rng.below(64);
  return rng.next();
}

}  // namespace

uint64_t Rng::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t random_value(Rng& rng, Flavor flavor) {
  switch (flavor) {
    case Flavor::f16:
      return four([&] { return half(rng); });
    case Flavor::bf16:
      return four([&] { return single(rng) >> 16; });
    case Flavor::f32:
    case Flavor::tf32: {
      const uint64_t low = single(rng);
      return twin(low, single(rng));
    }
    case Flavor::f64: {
      if (rng.one_in(4)) return edge(rng, f64_edges);
      uint64_t v = rng.one_in(3) ? rng.next() : near_one(rng, 11, 52, rng.one_in(2) ? 3 : 200);
      if ((v & 0x7fffffffffffffff) > 0x7ff0000000000000) v = only_nan64;
      return v;
    }
    default:
      return integer(rng);
  }
}

uint64_t random_factor(Rng& rng, Flavor flavor) {
  const bool wide = rng.one_in(8), special = rng.one_in(128);
  switch (flavor) {
    case Flavor::f16:
      return four([&] { return special ? half(rng) : near_one(rng, 5, 10, wide ? 14 : 4); });
    case Flavor::bf16:
      return four([&] { return special ? single(rng) >> 16 : near_one(rng, 8, 7, wide ? 60 : 5); });
    case Flavor::f32:
    case Flavor::tf32: {
      const auto one = [&] { return special ? single(rng) : near_one(rng, 8, 23, wide ? 60 : 5); };
      const uint64_t low = one(), both = twin(low, one());
      return flavor == Flavor::tf32 ? both & 0xffffe000ffffe000
                                    : both;  // the unit's use of the low 13 bits is not documented
    }
    case Flavor::f64:
      return near_one(rng, 11, 52, wide ? 60 : 4);
    case Flavor::e4m3:
    case Flavor::e5m2:
      return special ? rng.next() : rng.next() & 0xbfbfbfbfbfbfbfbf;  // without the top exponents
    default:
      return integer(rng);
  }
}

}  // namespace palladion::random_program
