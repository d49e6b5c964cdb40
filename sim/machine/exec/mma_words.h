#pragma once
// What mma.sync and wmma say of a product, in the words of the arithmetic.
#include "isa/core/effects.h"
#include "sim/numerics/tensor_core_mma_sync.h"

namespace palladion::sim {

inline numerics::tc::Result result_of(isa::Type t) {
  using R = numerics::tc::Result;
  switch (t) {
    case isa::Type::f16:
      return R::f16;
    case isa::Type::s32:
      return R::s32;
    case isa::Type::f64:
      return R::f64;
    default:
      return R::f32;
  }
}

inline numerics::tc::MmaSync::Rounding rounding_of(isa::MmaRounding rounding) {
  using R = numerics::tc::MmaSync::Rounding;
  switch (rounding) {
    case isa::MmaRounding::nearest:
      return R::nearest;
    case isa::MmaRounding::zero:
      return R::zero;
    case isa::MmaRounding::down:
      return R::down;
    case isa::MmaRounding::up:
      return R::up;
  }
  return R::nearest;
}

}  // namespace palladion::sim
