#pragma once
// Matrix products of Hopper: wgmma on accumulators in registers.
#include <source_location>

#include "frontend/array.h"
#include "frontend/ref.h"

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

// --- for other verbs
Ref make_accumulator(int64_t m, int64_t n, DType dtype, std::source_location loc);
Array load_accumulator(const Ref& acc, int wait_n, std::source_location loc);
void store_accumulator(const Ref& acc, const Array& value, std::source_location loc);

}  // namespace palladion::plgpu
