#pragma once
// Accumulators of matrix products: arrays of a warpgroup's registers that wgmma updates in place.
#include <source_location>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

// Rows of an accumulator that one wgmma updates.
inline constexpr int64_t accumulator_rows = 64;

// A reference to new registers that hold zeros: (m, n) of f32, f16 or s32.
Ref make_accumulator(int64_t m, int64_t n, DType dtype, std::source_location loc);
// Its value after wgmma.wait_group `wait_n`; -1 does not wait.
Array load_accumulator(const Ref& acc, int wait_n, std::source_location loc);
void store_accumulator(const Ref& acc, const Array& value, std::source_location loc);

// Registers of rows [64 block, 64 block + 64) of a slice of an accumulator.
std::vector<isa::Operand> accumulator_registers(const Ref& acc, int64_t block);

}  // namespace palladion::plgpu
