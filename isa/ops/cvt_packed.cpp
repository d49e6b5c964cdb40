// cvt to tf32, into and out of pairs, and cvt.pack.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

using num::Bf16;
using num::E2m1;
using num::E2m3;
using num::E3m2;
using num::E4m3;
using num::E5m2;
using num::F16;
using num::F32;
using num::Ue8m0;

// As wide as a pair of the format.
template <class F>
using pair_of = std::conditional_t<num::packed_stride<F> == 4, uint8_t,
                                   std::conditional_t<num::packed_stride<F> == 8, uint16_t, uint32_t>>;

// The first source becomes the upper half.
template <class Half>
void pair_from_f32_nearest(const LaneArgs& a) {
  uint16_t upper[warp_size], lower[warp_size];
  num::lanes::from_f32<Half>(lanes::source<uint32_t>(a, 0), upper, warp_size);
  num::lanes::from_f32<Half>(lanes::source<uint32_t>(a, 1), lower, warp_size);
  uint32_t t[warp_size];
  for (int i = 0; i < warp_size; ++i) t[i] = uint32_t{upper[i]} << 16 | lower[i];
  lanes::commit(a.d[0], t, a.mask);
}

template <class To, Rounding R, CvtMods M>
struct PairFromF32 {
  uint32_t operator()(uint32_t x, uint32_t y) const { return num::cvt_pair_from_f32<To, R>(x, y, M); }
};
template <class To, class From, CvtMods M, Rounding R = Rounding::rn>
struct PairFromPair {
  uint32_t operator()(uint32_t x) const { return num::cvt_pair<To, From, R>(x, M); }
};
template <Rounding R, CvtMods M>
struct ToTf32 {
  uint32_t operator()(uint32_t x) const { return num::cvt<num::Tf32, F32, R>(x, M); }
};

template <class Half, Rounding R>
LanesFn half_pair(const Request& r) {
  using D = uint32_t;
  if (r.relu && r.satfinite)
    return lanes::apply<PairFromF32<Half, R, CvtMods{.satfinite = true, .relu = true}>, D, uint32_t,
                        uint32_t>;
  if (r.relu) return lanes::apply<PairFromF32<Half, R, CvtMods{.relu = true}>, D, uint32_t, uint32_t>;
  if (r.satfinite)
    return lanes::apply<PairFromF32<Half, R, CvtMods{.satfinite = true}>, D, uint32_t, uint32_t>;
  if (R == Rounding::rn) return pair_from_f32_nearest<Half>;
  return lanes::apply<PairFromF32<Half, R, CvtMods{}>, D, uint32_t, uint32_t>;
}

template <class Small>
LanesFn small_pair(const Request& r) {
  constexpr Rounding rn = Rounding::rn;
  constexpr CvtMods plain{.satfinite = true}, relu{.satfinite = true, .relu = true};
  using D = pair_of<Small>;
  if (r.from == Type::f32) {
    return r.relu ? lanes::apply<PairFromF32<Small, rn, relu>, D, uint32_t, uint32_t>
                  : lanes::apply<PairFromF32<Small, rn, plain>, D, uint32_t, uint32_t>;
  }
  return r.relu ? lanes::apply<PairFromPair<Small, F16, relu>, D, uint32_t>
                : lanes::apply<PairFromPair<Small, F16, plain>, D, uint32_t>;
}

template <class Small>
LanesFn pair_from_small(const Request& r) {
  return r.relu ? lanes::apply<PairFromPair<F16, Small, CvtMods{.relu = true}>, uint32_t, pair_of<Small>>
                : lanes::apply<PairFromPair<F16, Small, CvtMods{}>, uint32_t, pair_of<Small>>;
}

template <Rounding R, CvtMods M>
LanesFn scales_from(Type from) {
  return from == Type::f32 ? lanes::apply<PairFromF32<Ue8m0, R, M>, uint16_t, uint32_t, uint32_t>
                           : lanes::apply<PairFromPair<Ue8m0, Bf16, M, R>, uint16_t, uint32_t>;
}

LanesFn scale_pair(const Request& r) {
  constexpr CvtMods plain{}, finite{.satfinite = true};
  if (r.rounding == Rounding::rp)
    return r.satfinite ? scales_from<Rounding::rp, finite>(r.from) : scales_from<Rounding::rp, plain>(r.from);
  return r.satfinite ? scales_from<Rounding::rz, finite>(r.from) : scales_from<Rounding::rz, plain>(r.from);
}

template <Rounding R>
LanesFn to_tf32_rounded(const Request& r) {
  using U = uint32_t;
  if (r.relu && r.satfinite) return lanes::apply<ToTf32<R, CvtMods{.satfinite = true, .relu = true}>, U, U>;
  if (r.satfinite) return lanes::apply<ToTf32<R, CvtMods{.satfinite = true}>, U, U>;
  return r.relu ? lanes::apply<ToTf32<R, CvtMods{.relu = true}>, U, U>
                : lanes::apply<ToTf32<R, CvtMods{}>, U, U>;
}

LanesFn to_tf32(const Request& r) {
  if (r.rounding == Rounding::rna) {
    return r.satfinite ? lanes::apply<ToTf32<Rounding::rna, CvtMods{.satfinite = true}>, uint32_t, uint32_t>
                       : lanes::apply<ToTf32<Rounding::rna, CvtMods{}>, uint32_t, uint32_t>;
  }
  return r.rounding == Rounding::rz ? to_tf32_rounded<Rounding::rz>(r) : to_tf32_rounded<Rounding::rn>(r);
}

template <int width, bool is_signed>
struct SaturatingPack {
  uint32_t operator()(int32_t x, int32_t y, uint32_t above = 0) const {
    return num::cvt_pack_sat(width, is_signed, x, y, above);
  }
};

template <int width>
LanesFn pack_above(bool is_signed) {
  return is_signed ? lanes::apply<SaturatingPack<width, true>, uint32_t, int32_t, int32_t, uint32_t>
                   : lanes::apply<SaturatingPack<width, false>, uint32_t, int32_t, int32_t, uint32_t>;
}

}  // namespace

LanesFn packed(const Request& r) {
  if (r.to_width != bits(r.to)) return nullptr;
  const bool rz = r.rounding == Rounding::rz;
  switch (r.to) {
    case Type::tf32:
      return to_tf32(r);
    case Type::bf16x2:
      if (r.from == Type::ue8m0x2)
        return lanes::apply<PairFromPair<Bf16, Ue8m0, CvtMods{}>, uint32_t, uint16_t>;
      return rz ? half_pair<Bf16, Rounding::rz>(r) : half_pair<Bf16, Rounding::rn>(r);
    case Type::e4m3x2:
      return small_pair<E4m3>(r);
    case Type::e5m2x2:
      return small_pair<E5m2>(r);
    case Type::e2m3x2:
      return small_pair<E2m3>(r);
    case Type::e3m2x2:
      return small_pair<E3m2>(r);
    case Type::e2m1x2:
      return small_pair<E2m1>(r);
    case Type::ue8m0x2:
      return scale_pair(r);
    case Type::f16x2:
      if (r.from == Type::e4m3x2) return pair_from_small<E4m3>(r);
      if (r.from == Type::e5m2x2) return pair_from_small<E5m2>(r);
      if (r.from == Type::e2m3x2) return pair_from_small<E2m3>(r);
      if (r.from == Type::e3m2x2) return pair_from_small<E3m2>(r);
      if (r.from == Type::e2m1x2) return pair_from_small<E2m1>(r);
      return rz ? half_pair<F16, Rounding::rz>(r) : half_pair<F16, Rounding::rn>(r);
    default:
      return nullptr;
  }
}

LanesFn saturating_pack(int width, bool is_signed) {
  switch (width) {
    case 2:
      return pack_above<2>(is_signed);
    case 4:
      return pack_above<4>(is_signed);
    case 8:
      return pack_above<8>(is_signed);
    case 16:
      return is_signed ? lanes::apply<SaturatingPack<16, true>, uint32_t, int32_t, int32_t>
                       : lanes::apply<SaturatingPack<16, false>, uint32_t, int32_t, int32_t>;
    default:
      return nullptr;
  }
}

}  // namespace palladion::isa::cvt
