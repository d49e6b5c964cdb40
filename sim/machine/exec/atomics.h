#pragma once
// Read-modify-write arithmetic on memory, shared by atom, red, red.async and the bulk reductions.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/core/effects.h"
#include "sim/machine/state/async_op.h"

namespace palladion::sim {

// nullptr when PTX has no such reduction, and for exch and cas. `flush`: f32 additions turn subnormal
// operands and results into zeros of their sign, as the L2's adders do (PTX, "atom": additions of f32
// in global memory flush, those in shared memory do not; f16 and bf16 never do: .noftz).
ReduceFn reduction(isa::AtomicOp op, isa::Type type, bool flush);

// The reductions of bulk copies; nothing for a plain copy.
std::optional<isa::AtomicOp> atomic_op(isa::BulkOp op);

}  // namespace palladion::sim
