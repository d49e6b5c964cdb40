#pragma once
// A product and a sum as one fma: what ptxas makes of `mul` and `add` or `sub` that name no rounding.
#include "isa/core/effects.h"
#include "isa/core/types.h"
#include "isa/num/arith.h"

namespace palladion::isa {

struct Contracted {
  Type type = Type::f32;  // of the product and of the sum
  bool ftz = false;       // of both
  bool sat = false;       // of the sum
  bool negated_product = false, negated_addend = false;
  num::Rounding rounding = num::Rounding::rn;  // of both; another one: f32x2 alone
};

// d = ±(a * b) ± c, rounded once. nullptr: the type has no such fma.
LanesFn contracted_lanes(const Contracted&);

}  // namespace palladion::isa
