#pragma once
// Matrix products of a warp: mma.sync on arrays in registers.
#include <source_location>

#include "frontend/arrays/array.h"

namespace palladion::plgpu {

// acc + a @ b, when it returns. a (m, k) in Layout::MMA_LHS(dtype, m_warps), b (k, n) in MMA_RHS of the same,
// acc (m, n) in MMA_ACC or a splat; m_warps is 4, 2 or 1. dtypes: a and b both f16, bf16, e4m3 or e5m2 with
// acc f32, or both s8 or u8 with acc s32, which wraps around.
// Errors: PLD2401 shapes that do not match, PLD2402 other dtypes, PLD2003 other layouts.
// (PTX, "mma.sync": m16n8k16 of 16 bits, m16n8k32 of 8 bits.)
Array mma(const Array& acc, const Array& a, const Array& b,
          std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
