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
// Both; `heads_first`: heads before rows, else rows before heads.
AttentionRows attention_rows(const Array& q, const Array& k, const Array& v, const Array& d_out, bool causal,
                             bool heads_first);
// Q, K, V and dO, normal numbers, and both of these.
std::vector<Array> attention_gradient_inputs(const pl::ShapeDtype& q, const pl::ShapeDtype& kv, bool causal,
                                             bool heads_first, uint64_t seed);
// dQ, dK, dV of such inputs in f32 by Eigen, each rounded once to its array's dtype.
std::vector<Array> attention_gradients(const std::vector<Array>& inputs, bool causal, bool heads_first);

// How far gradients may be from those: P and dS are rounded to `dtype` before the products that sum them, and
// each gradient once. A term of dV is P dO, one of dQ and dK is P (dP - delta) / sqrt(d) times an element of
// K or Q: P times numbers of variance 1. Its rounding has a deviation of 0.21 units of that; the squares of
// the P in a row or a column add up to less than 4, as many times as heads share one of K and V: four
// deviations are 2 units.
Tolerance attention_gradient_tolerance(pl::DType dtype, int64_t heads_sharing);

}  // namespace palladion::kernels
