#pragma once
// Rows of a table by their numbers: gathered, or added to.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct IndexedRows {
  int64_t rows = 8192, n = 1024;  // of the table, and elements of each
  int64_t m = 4096;               // rows that are named
  pl::DType dtype = pl::f32;      // gather: f32, f16, bf16, s32; scatter_add: f32, s32
  int64_t tile = 2048;            // elements of a row in registers at a time: a multiple of 128
};

// Inputs: table (rows, n), numbers (m), s32. Output: (m, n), row i is the table's row numbers[i], or zeros
// where the table has no such row.
plgpu::Kernel gather(const IndexedRows& config);
// Inputs: table (rows, n), numbers (m), s32, x (m, n). Output: the table, with row i of x added to its row
// numbers[i] for every i, in no order; a number that is no row adds nothing.
plgpu::Kernel scatter_add(const IndexedRows& config);

}  // namespace palladion::kernels
