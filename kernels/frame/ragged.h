#pragma once
// Products whose rows are in groups, on the host.
#include "verify/arrays/arrays.h"

namespace palladion::kernels {

// s32 (groups): `rows` rows, cut at random places; some groups may be empty.
Array random_group_sizes(int64_t groups, int64_t rows, uint64_t seed);

// The rows of `a` (m, k) are in groups, `sizes[g]` in group g, which has the matrix b[g] of `b` (groups, k,
// n): a product for each group as matmul_reference has it. Rows behind the last group are zeros.
Array ragged_dot_reference(const Array& a, const Array& b, const Array& sizes, pl::DType out);

}  // namespace palladion::kernels
