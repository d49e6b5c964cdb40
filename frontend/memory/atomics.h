#pragma once
// Atomic updates of SMEM (also of other CTAs of the cluster) and GMEM, element by element, relaxed.
#include <source_location>

#include "frontend/arrays/array.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

// Adds each element of `value` to its place in GMEM or SMEM; relaxed, GPU scope; the order of additions is
// open.
void atomic_add(const Ref& ref, const Array& value,
                std::source_location loc = std::source_location::current());
// The same, keeps the larger one.
void atomic_max(const Ref& ref, const Array& value,
                std::source_location loc = std::source_location::current());
// The same, keeps the smaller one.
void atomic_min(const Ref& ref, const Array& value,
                std::source_location loc = std::source_location::current());
// The same, bits of both.
void atomic_and(const Ref& ref, const Array& value,
                std::source_location loc = std::source_location::current());
// The same, bits of either.
void atomic_or(const Ref& ref, const Array& value,
               std::source_location loc = std::source_location::current());
// The same, bits of one alone.
void atomic_xor(const Ref& ref, const Array& value,
                std::source_location loc = std::source_location::current());
// ref[indices[i]] += values[i] for every i, with ref of one dimension and indices of s32 within it; what is
// named twice gets both. Pallas' ref.at[indices] has this meaning; its GPU backend has no such word.
void atomic_add(const Ref& ref, const Array& indices, const Array& values,
                std::source_location loc = std::source_location::current());
// A single element, once for the Pallas thread.
void atomic_add(const Ref& ref, const Scalar& value,
                std::source_location loc = std::source_location::current());
void atomic_max(const Ref& ref, const Scalar& value,
                std::source_location loc = std::source_location::current());
void atomic_min(const Ref& ref, const Scalar& value,
                std::source_location loc = std::source_location::current());
void atomic_and(const Ref& ref, const Scalar& value,
                std::source_location loc = std::source_location::current());
void atomic_or(const Ref& ref, const Scalar& value,
               std::source_location loc = std::source_location::current());
void atomic_xor(const Ref& ref, const Scalar& value,
                std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
