#include "isa/ops/contracted.h"

#include "isa/num/arith.h"
#include "isa/ops/floats.h"

namespace palladion::isa {
namespace {

using num::ArithMods;
using num::bits_of;
using num::Rounding;

template <class F, ArithMods M, bool product, bool addend>
struct SignedFma {
  static constexpr bits_of<F> flip(bits_of<F> x, bool negated) {
    return negated ? static_cast<bits_of<F>>(x ^ F::sign_mask) : x;
  }
  auto operator()(bits_of<F> a, bits_of<F> b, bits_of<F> c) const {
    return num::fma<F, M>(flip(a, product), b, flip(c, addend));
  }
};

template <class F, ArithMods M, bool pair>
LanesFn of_signs(const Contracted& c) {
  const auto lanes = []<class Op>(Op) -> LanesFn {
    if constexpr (pair) return floats::pairs_of<F, Op, 3>;
    return floats::lanes_of<F, Op, 3>;
  };
  if (c.negated_product)
    return c.negated_addend ? lanes(SignedFma<F, M, true, true>{}) : lanes(SignedFma<F, M, true, false>{});
  return c.negated_addend ? lanes(SignedFma<F, M, false, true>{}) : lanes(SignedFma<F, M, false, false>{});
}

template <class F, bool pair>
LanesFn of_mods(const Contracted& c) {
  constexpr Rounding rn = Rounding::rn;
  if (c.ftz && c.sat) return of_signs<F, ArithMods{rn, true, true}, pair>(c);
  if (c.ftz) return of_signs<F, ArithMods{rn, true}, pair>(c);
  if (c.sat) return of_signs<F, ArithMods{rn, false, true}, pair>(c);
  return of_signs<F, ArithMods{rn}, pair>(c);
}

LanesFn of_f32_pairs(const Contracted& c) {
  return floats::for_rounding(c.rounding, [&]<Rounding R>() -> LanesFn {
    if (c.ftz) return of_signs<num::F32, ArithMods{R, true}, true>(c);
    return of_signs<num::F32, ArithMods{R}, true>(c);
  });
}

}  // namespace

LanesFn contracted_lanes(const Contracted& c) {
  constexpr ArithMods plain{Rounding::rn};
  switch (c.type) {
    case Type::f32:
      return of_mods<num::F32, false>(c);
    case Type::f64:
      return of_signs<num::F64, plain, false>(c);
    case Type::f16:
      return of_mods<num::F16, false>(c);
    case Type::f16x2:
      return of_mods<num::F16, true>(c);
    case Type::bf16:
      return of_signs<num::Bf16, plain, false>(c);
    case Type::bf16x2:
      return of_signs<num::Bf16, plain, true>(c);
    case Type::f32x2:
      return of_f32_pairs(c);
    default:
      return nullptr;
  }
}

}  // namespace palladion::isa
