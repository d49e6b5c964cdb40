// cvt between floats, and to an integral value of the same type.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

using num::Bf16;
using num::F16;
using num::F32;
using num::F64;

template <class To, class From>
constexpr bool is_exact = To::man_bits >= From::man_bits && To::exp_bits >= From::exp_bits;
template <class To, class From>
constexpr bool knows_ftz = std::is_same_v<To, F32> || std::is_same_v<From, F32>;  // NOLINT: two formats
template <class To, class From>
constexpr bool knows_sat = !std::is_same_v<To, Bf16> && !std::is_same_v<From, Bf16>;  // NOLINT

template <class To, class From, Rounding R, CvtMods M>
constexpr LanesFn converted = steps<ReadFloat<From>, convert_lanes<To, From, R, M>, num::bits_of<To>>;

template <class To, class From, Rounding R, bool integral>
LanesFn with_clamp(const Request& r) {
  if constexpr (knows_sat<To, From>) {
    if constexpr (knows_ftz<To, From>) {
      if (r.ftz && r.sat) return converted<To, From, R, CvtMods{R, integral, true, true}>;
    }
    if (r.sat) return converted<To, From, R, CvtMods{R, integral, false, true}>;
  }
  if constexpr (knows_ftz<To, From>) {
    if (r.ftz) return converted<To, From, R, CvtMods{R, integral, true}>;
  }
  return converted<To, From, R, CvtMods{R, integral}>;
}

// cvt.{rn,rz}{.relu}{.satfinite}.{f16,bf16}.f32
template <class To, Rounding R>
LanesFn with_range(const Request& r) {
  if (r.relu && r.satfinite) return converted<To, F32, R, CvtMods{.satfinite = true, .relu = true}>;
  if (r.relu) return converted<To, F32, R, CvtMods{.relu = true}>;
  return converted<To, F32, R, CvtMods{.satfinite = true}>;
}

// The common ones, without a step for registers.
template <class Half>
void half_to_f32(const LaneArgs& a) {
  uint32_t t[warp_size];
  num::lanes::to_f32<Half>(lanes::source<uint16_t>(a, 0), t, warp_size);
  lanes::commit(a.d[0], t, a.mask);
}
template <class Half>
void f32_to_half(const LaneArgs& a) {
  uint16_t t[warp_size];
  num::lanes::from_f32<Half>(lanes::source<uint32_t>(a, 0), t, warp_size);
  lanes::commit(a.d[0], t, a.mask);
}

template <class To, class From>
LanesFn convert(const Request& r) {
  if constexpr (std::is_same_v<To, From>) {
    if (!r.integral) return with_clamp<To, From, Rounding::rn, false>(r);
    return floats::for_rounding(r.rounding, [&]<Rounding R>() { return with_clamp<To, From, R, true>(r); });
  } else if constexpr (is_exact<To, From>) {
    return with_clamp<To, From, Rounding::rn, false>(r);
  } else {
    if constexpr (To::width == 16 && std::is_same_v<From, F32>) {
      if (r.relu || r.satfinite)
        return r.rounding == Rounding::rz ? with_range<To, Rounding::rz>(r) : with_range<To, Rounding::rn>(r);
    }
    return floats::for_rounding(r.rounding, [&]<Rounding R>() { return with_clamp<To, From, R, false>(r); });
  }
}

}  // namespace

LanesFn common_halves(const Request& r) {
  if (r.ftz || r.sat || r.satfinite || r.relu || r.to_width != bits(r.to) || r.from_width != bits(r.from))
    return nullptr;
  if (r.to == Type::f32 && r.from == Type::f16) return half_to_f32<F16>;
  if (r.to == Type::f32 && r.from == Type::bf16) return half_to_f32<Bf16>;
  if (r.rounding != Rounding::rn || r.from != Type::f32) return nullptr;
  if (r.to == Type::f16) return f32_to_half<F16>;
  return r.to == Type::bf16 ? f32_to_half<Bf16> : nullptr;
}

LanesFn float_to_float(const Request& r) {
  return for_float(r.to, [&]<class To>() {
    return for_float(r.from, [&]<class From>() { return convert<To, From>(r); });
  });
}

}  // namespace palladion::isa::cvt
