#pragma once
// Range and places of infinities and NaNs among operands that are decoded to f32.
#include "sim/numerics/tensor_core.h"

namespace palladion::sim::numerics::tc {

// Sets the range, and the rows or columns that have special values.
void find_specials(AOperand& a);
void find_specials(BOperand& b);

}  // namespace palladion::sim::numerics::tc
