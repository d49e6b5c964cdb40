#pragma once
// The gradients of attention, computed on the host.
#include <vector>

#include "kernels/frame/spec.h"
#include "verify/arrays/arrays.h"

namespace palladion::kernels {

// What they need of the forward pass, f32 of (batch, heads, rows): the log-sum-exp of each row of scores, and
// the sum of dO * O along each row.
struct AttentionRows {
  Array lse, delta;
};
// Both, of arrays with heads before rows.
AttentionRows attention_rows(const Array& q, const Array& k, const Array& v, const Array& d_out, bool causal);
// dQ, dK, dV in f32 by Eigen, each rounded once to its array's dtype.
std::vector<Array> attention_gradients(const Array& q, const Array& k, const Array& v, const Array& d_out,
                                       const AttentionRows& rows, bool causal);

// How far gradients may be from those: P and dS are rounded to `dtype` before the products that sum them, and
// each gradient once. A term of dV is P dO, one of dQ and dK is P (dP - delta) / sqrt(d) times an element of
// K or Q: P times numbers of variance 1. Its rounding has a deviation of 0.21 units of that; the squares of
// the P in a row or a column add up to less than 4, as many times as heads share one of K and V: four
// deviations are 2 units.
Tolerance attention_gradient_tolerance(pl::DType dtype, int64_t heads_sharing);

}  // namespace palladion::kernels
