#pragma once
// Matrix products of Blackwell: tcgen05.mma on accumulators in tensor memory.
#include <optional>
#include <source_location>
#include <string>

#include "frontend/memory/tensor_memory.h"
#include "frontend/refs/ref.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {
// The options of plgpu::tcgen05_mma.
struct Tcgen05Options {
  Scalar accumulate = true;  // false: acc = a @ b; the same in all lanes
  // A pair of CTAs that are neighbours along this axis (the cluster's minormost) computes one product: acc is
  // (m, n) in each CTA, a (m, k) and b (k, n / 2) are its halves. The first CTA of the pair alone calls it.
  std::string collective_axis;
  // Scales of blocks of K, in TMEM (TMEMLayout::SCALES_LAYOUT), both or none: the product is that of a times
  // a_scale and b times b_scale. a_scale is (128, k / block), b_scale (n padded to a multiple of 128, k /
  // block) with the n of the pair. e4m3 and e5m2: blocks of 32, ue8m0. e2m1: blocks of 16, e4m3 (its sign
  // does not count) or ue8m0, or of 32, ue8m0. acc is f32.
  std::optional<Ref> a_scale, b_scale;
  // Of each four elements of a row of A two are stored: a is (m, k / 2), this says which, (128, k / 2) of u2
  // in TMEM (TMEMLayout::SPARSE_METADATA_LAYOUT). Not of f32 and e2m1; blocks of scales have 64 elements
  // then.
  std::optional<Ref> a_sparse_metadata;
};

// acc += a @ b, asynchronously, issued by one lane: acc (m, n) in TMEM, m 64 or 128; a (m, k) in SMEM, or
// packed in TMEM; b (k, n) in SMEM. f16 and bf16 into f32 (f16 also into f16), f32 (as tf32) into f32, e4m3
// and e5m2 into f32 or f16, s8 and u8 into s32, e2m1 with scales into f32. SMEM operands need tiles of 8 rows
// and one swizzle. `barrier` (orders_tensor_core) gets one arrival when all products of this thread so far
// are complete; of a pair that of each CTA. Products of a thread run one after the other.
void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const BarrierRef& barrier,
                 const Tcgen05Options& options = {},
                 std::source_location loc = std::source_location::current());
void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const Tcgen05Options& options = {},
                 std::source_location loc = std::source_location::current());
// The options of plgpu::tcgen05_commit_arrive.
struct CommitOptions {
  std::string collective_axis;  // of the products
};
// One arrival at the barrier (orders_tensor_core) when the products that this thread has issued are complete.
void tcgen05_commit_arrive(const BarrierRef& barrier, const CommitOptions& options = {},
                           std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
