#pragma once
// References computed on the host.
#include "kernels/frame/spec.h"
#include "verify/arrays/arrays.h"

namespace palladion::kernels {

// op(A) op(B) + C in f32 by Eigen, of integers exact, rounded once to `out`. a: (m, k), or (k, m) when
// transposed; b: (k, n), or (n, k). `c` may be null.
Array matmul_reference(const Array& a, bool transpose_a, const Array& b, bool transpose_b, const Array* c,
                       pl::DType out);

// softmax(Q K^T / sqrt(d)) V in f32 by Eigen, rounded once to Q's dtype. q: (batch, rows, heads, d); k, v:
// (batch, kv rows, kv heads, d); `heads_first`: heads before rows. Head h of Q attends to head
// h / (heads / kv heads). `causal`: row i of Q sees the rows of K up to i + kv rows - rows.
Array attention_reference(const Array& q, const Array& k, const Array& v, bool causal,
                          bool heads_first = false);

// How far a product of k terms with inputs of variance 1, accumulated in f32 and rounded to `out`, may
// be from that: a few units in the last place of the result, and of the largest partial sums.
Tolerance matmul_tolerance(pl::DType in, pl::DType out, int64_t k);

// How far attention may be from that whose weights are not rounded: they are rounded to `dtype` before the
// second product, and O once, half a unit of each, where the terms of a row add up to at most some 4.
Tolerance attention_tolerance(pl::DType dtype);

// How far a function of a whole row (a sum of up to 8192 terms in f32, then a power or a root by the chip's
// approximation) may be from the exact one, rounded to `out`: 32 units of f32, or one of a narrower type.
Tolerance row_tolerance(pl::DType out);

// The same where terms of the size `largest` cancel: 32 units of f32 of that size more.
Tolerance row_tolerance(pl::DType out, double largest);

}  // namespace palladion::kernels
