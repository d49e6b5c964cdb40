// cvt.rs: the operand `rbits` decides whether a magnitude is rounded up.
#include "isa/num/stochastic.h"
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

using num::Bf16;
using num::F16;

// a above b; each has a half of the random bits.
template <class To, CvtMods M>
struct StochasticPair {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t random) const {
    return num::pack_pair<To>(num::cvt_stochastic<To>(a, random >> 16, M),
                              num::cvt_stochastic<To>(b, random & 0xFFFF, M));
  }
};

// a, b, e, f from the top. a and b share the upper half of the random bits, e and f the lower one; for e2m1,
// which uses eight, a and b share the upper bytes of both halves and e and f the lower ones.
template <class To, CvtMods M>
struct StochasticFour {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t e, uint32_t f, uint32_t random) const {
    constexpr bool nibbles = To::width == 4;
    const uint32_t upper = random >> 16, lower = random & 0xFFFF;
    const uint32_t of_a = nibbles ? upper >> 8 : upper, of_b = nibbles ? lower >> 8 : upper;
    const uint32_t of_e = nibbles ? upper & 0xFF : lower, of_f = nibbles ? lower & 0xFF : lower;
    const uint32_t high =
        num::pack_pair<To>(num::cvt_stochastic<To>(a, of_a, M), num::cvt_stochastic<To>(b, of_b, M));
    const uint32_t low =
        num::pack_pair<To>(num::cvt_stochastic<To>(e, of_e, M), num::cvt_stochastic<To>(f, of_f, M));
    return high << (2 * num::packed_stride<To>) | low;
  }
};

template <class Half>
LanesFn stochastic_halves(const Request& r) {
  using U = uint32_t;
  if (r.relu && r.satfinite)
    return lanes::apply<StochasticPair<Half, CvtMods{.satfinite = true, .relu = true}>, U, U, U, U>;
  if (r.relu) return lanes::apply<StochasticPair<Half, CvtMods{.relu = true}>, U, U, U, U>;
  if (r.satfinite) return lanes::apply<StochasticPair<Half, CvtMods{.satfinite = true}>, U, U, U, U>;
  return lanes::apply<StochasticPair<Half, CvtMods{}>, U, U, U, U>;
}

template <class Small>
LanesFn stochastic_small(const Request& r) {
  using U = uint32_t;
  using D = std::conditional_t<Small::width == 4, uint16_t, uint32_t>;
  constexpr CvtMods plain{.satfinite = true}, relu{.satfinite = true, .relu = true};
  return r.relu ? lanes::apply<StochasticFour<Small, relu>, D, U, U, U, U, U>
                : lanes::apply<StochasticFour<Small, plain>, D, U, U, U, U, U>;
}

}  // namespace

LanesFn stochastic(const Request& r) {
  switch (r.to) {
    case Type::f16x2:
      return stochastic_halves<F16>(r);
    case Type::bf16x2:
      return stochastic_halves<Bf16>(r);
    case Type::e4m3x4:
      return stochastic_small<num::E4m3>(r);
    case Type::e5m2x4:
      return stochastic_small<num::E5m2>(r);
    case Type::e2m3x4:
      return stochastic_small<num::E2m3>(r);
    case Type::e3m2x4:
      return stochastic_small<num::E3m2>(r);
    case Type::e2m1x4:
      return stochastic_small<num::E2m1>(r);
    default:
      return nullptr;
  }
}

}  // namespace palladion::isa::cvt
