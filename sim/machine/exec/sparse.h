#pragma once
// The metadata of sparse A operands (mma.sp, wgmma.mma_async.sp) and their dense form.
#include <cstddef>
#include <cstdint>

namespace palladion::sim {

struct SparseShape {
  int bits = 16;     // of an element: 8 (or a pair of 4), 16 or 32
  int k = 32;        // dense
  int selector = 0;  // which threads of each four hold the metadata
};

// For the 16 rows of one warp: which k were selected, and where each stored element belongs.
struct SparseRows {
  static constexpr int count = 16;
  uint64_t selected[count];
  uint8_t place[count][32];  // dense k of stored element i
};

// `words`: the metadata of 32 lanes. False when a nibble is none that PTX defines; its elements are then
// placed as the low bits say.
bool read_sparse_metadata(const uint32_t* words, const SparseShape& shape, SparseRows& rows);

// Rows of k / 2 packed elements to rows of k elements, zeros where nothing was selected. SparseRows::count
// rows of each.
void expand_sparse_rows(const uint8_t* from, size_t from_stride, const SparseShape& shape,
                        const SparseRows& places, uint8_t* to, size_t to_stride);

}  // namespace palladion::sim
