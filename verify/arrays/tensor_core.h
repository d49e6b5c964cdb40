// The order in which products of Blackwell take scales of blocks and metadata of sparse operands.
#pragma once

#include "verify/arrays/arrays.h"

namespace palladion {

// Scales (rows, blocks) lie as (rows / 128, blocks / 4, 32, 16), so that async_copy_scales_to_tmem can copy
// tiles: the element of that array which is the scale of a row and a block.
int64_t tiled_scale_index(int64_t row, int64_t block, int64_t blocks);
pl::Shape tiled_scale_shape(int64_t rows, int64_t blocks);
// The same for a whole array; rows are padded with zero bytes to a multiple of 128. `scales`: (rows, blocks)
// of 8 bits, blocks a multiple of 4.
Array tile_scales(const Array& scales);

// Metadata (rows, k / 2), two indices for each four elements of K, lie as (rows / 128, k / 128, 128, 64). In
// which order depends on the bits of the operand's elements, 8 or 16.
int64_t tiled_metadata_index(int64_t row, int64_t i, int64_t k, int element_bits);
pl::Shape tiled_metadata_shape(int64_t rows, int64_t k);
// What JAX calls format_tcgen05_sparse_metadata. `metadata`: (rows, k / 2) of u2, rows and k multiples of
// 128.
Array tile_sparse_metadata(const Array& metadata, pl::DType operand);

}  // namespace palladion
