#pragma once
// dQ, dK, dV of O = softmax(Q K^T / sqrt(d)) V on Blackwell: pages/blackwell_flash_attention_backward.md.
#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels::blackwell {

// Q, dO and dQ are (batch, q_seq, heads, head_dim), K, V, dK and dV (batch, kv_seq, kv_heads, head_dim), the
// rows' lse and delta (batch, heads, q_seq) in f32. Head h of Q attends to head h / (heads / kv_heads) of K
// and V. Causal: the last row of Q sees all rows of K.
struct AttentionBackwardConfig {
  int64_t batch = 1, heads = 16, kv_heads = 16, q_seq = 4096, kv_seq = 4096;
  int64_t head_dim = 128;     // 64, 128
  pl::DType dtype = pl::f16;  // of all but lse and delta: f16, bf16
  bool causal = false;
  int64_t stages = 2;  // pairs of tiles on their way

  pl::ShapeDtype q_type() const { return {dtype, {batch, q_seq, heads, head_dim}}; }
  pl::ShapeDtype kv_type() const { return {dtype, {batch, kv_seq, kv_heads, head_dim}}; }
  pl::ShapeDtype row_type() const { return {pl::f32, {batch, heads, q_seq}}; }
};

// Throws isa::Error (PLD5001) for sizes that tiles of 128 rows do not divide, heads that kv_heads does not
// divide, a causal mask with more rows of Q than of K.
plgpu::Kernel flash_attention_backward(const AttentionBackwardConfig& config);

KernelSpec flash_attention_backward_spec();

}  // namespace palladion::kernels::blackwell
