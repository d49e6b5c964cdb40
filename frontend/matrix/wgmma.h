#pragma once
// Matrix products of Hopper: wgmma on accumulators in registers.
#include <source_location>

#include "frontend/arrays/array.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

// acc += a @ b, asynchronously: acc (m, n) in registers, a (m, k) in SMEM or registers, b (k, n) in
// SMEM. When it returns, no other wgmma of this warpgroup is still running.
void wgmma(const Ref& acc, const Ref& a, const Ref& b,
           std::source_location loc = std::source_location::current());
void wgmma(const Ref& acc, const Array& a, const Ref& b,
           std::source_location loc = std::source_location::current());

// Until at most n wgmmas of this warpgroup are running.
void wgmma_wait(int n, std::source_location loc = std::source_location::current());

// The accumulator's value after wgmma_wait(wait_n); -1 does not wait.
Array wgmma_accumulator_load(const Ref& acc, int wait_n = 0,
                             std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
