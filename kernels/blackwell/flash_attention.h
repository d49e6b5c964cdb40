#pragma once
// O = softmax(Q K^T / sqrt(d)) V on Blackwell: pages/blackwell_flash_attention.md.
#include <cmath>
#include <numbers>

#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels::blackwell {

// Q and O are (batch, q_seq, heads, head_dim), K and V (batch, kv_seq, kv_heads, head_dim). Head h of Q
// attends to head h / (heads / kv_heads) of K and V. Causal: the last row of Q sees all rows of K.
struct AttentionConfig {
  int64_t batch = 1, heads = 16, kv_heads = 16, q_seq = 4096, kv_seq = 4096;
  int64_t head_dim = 128;     // 64, 128
  pl::DType dtype = pl::f16;  // of all four: f16, bf16
  bool causal = false;
  int64_t stages = 2;  // tiles of K and of V on their way

  // Places for tiles of scores in tensor memory: what its 512 columns leave beside O and the weights.
  int64_t score_places() const { return head_dim == 64 ? 2 : 1; }
  // A weight is 2 to the power of a score times this, e to that of a score over sqrt(head_dim).
  float scale() const { return std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(head_dim)); }

  pl::ShapeDtype q_type() const { return {dtype, {batch, q_seq, heads, head_dim}}; }
  pl::ShapeDtype kv_type() const { return {dtype, {batch, kv_seq, kv_heads, head_dim}}; }
};

// Rows of one head of an array (batch, rows, heads, head_dim), whose heads lie side by side as columns: so a
// copy into tiles needs the five dimensions that TMA has.
inline plgpu::Ref rows_of_head(const plgpu::Ref& x, const pl::Scalar& batch, const pl::Slice& rows,
                               const pl::Scalar& head) {
  const int64_t d = x.shape(3);
  return x.reshape({x.shape(0), x.shape(1), x.shape(2) * d}).at(batch, rows, pl::ds(head * d, d));
}

// Throws isa::Error (PLD5001) for sizes that tiles of 128 rows of K and V and pairs of such tiles of Q do not
// divide, heads that kv_heads does not divide, a causal mask with more rows of Q than of K.
plgpu::Kernel flash_attention(const AttentionConfig& config);

KernelSpec flash_attention_spec();

}  // namespace palladion::kernels::blackwell
