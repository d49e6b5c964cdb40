#pragma once
// Copies from SMEM to tensor memory (tcgen05.cp). One lane issues them, asynchronously; products that the
// same thread issues afterwards see their results, everything else waits for tcgen05_commit_arrive.
#include <source_location>
#include <string>

#include "frontend/refs/ref.h"

namespace palladion::plgpu {

struct TensorCopyOptions {  // of the copies from SMEM to TMEM
  // Both CTAs of a pair copy, each from its SMEM to its tensor memory. The first one alone calls the verb.
  std::string collective_axis;
};

// Scales of a product's operand: tmem (rows, k) in TMEMLayout::SCALES_LAYOUT, smem contiguous
// (rows / 128, k / 4, 32, 16): byte [t, b, r, 4 q + i] is the scale of row 128 t + 32 q + r and block 4 b +
// i.
void async_copy_scales_to_tmem(const Ref& smem, const Ref& tmem, const TensorCopyOptions& options = {},
                               std::source_location loc = std::source_location::current());

// Metadata of a sparse operand: tmem (128, k) in TMEMLayout::SPARSE_METADATA_LAYOUT, smem contiguous
// (1, k / 64, 128, 64), in the order of verify/arrays/tensor_core.h.
void async_copy_sparse_metadata_to_tmem(const Ref& smem, const Ref& tmem,
                                        const TensorCopyOptions& options = {},
                                        std::source_location loc = std::source_location::current());

// A matrix (128, k), tiled and swizzled as an operand of tcgen05_mma, to tensor memory of the same shape and
// dtype whose elements are packed.
void async_copy_smem_to_tmem(const Ref& smem, const Ref& tmem, const TensorCopyOptions& options = {},
                             std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
