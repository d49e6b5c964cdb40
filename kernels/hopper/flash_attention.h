#pragma once
// O = softmax(Q K^T / sqrt(d)) V for Hopper, as FlashAttention-3 has it: pages/flash_attention.md.
#include "frontend/plgpu.h"

namespace palladion::kernels {

// Q and O are (batch, heads, q, head_dim), K and V (batch, kv_heads, kv, head_dim). Head h of Q attends to
// head h / (heads / kv_heads) of K and V. Causal: row i of Q sees the rows of K up to i + kv - q.
struct FlashAttention {
  int64_t batch = 1, heads = 16, kv_heads = 16, q = 4096, kv = 4096;
  int64_t head_dim = 128;     // 64, 128, 256
  pl::DType dtype = pl::f16;  // of all four: f16, bf16
  bool causal = false;
  int64_t consumers = 0;  // warpgroups of 64 rows of Q each, 1 to 3; 0: the fastest on an H200
  int64_t block_kv = 0;   // rows of K and V a step, a multiple of 16; 0: the fastest on an H200
  int64_t stages = 2;     // slots of K and of V
  // A second output, f32 (batch, heads, q): the logarithm of the sum of the exponentials of each row's
  // scores, which the gradients need.
  bool lse = false;

  // With a number for each 0.
  FlashAttention resolved() const;
  pl::ShapeDtype q_type() const { return {dtype, {batch, heads, q, head_dim}}; }
  pl::ShapeDtype lse_type() const { return {pl::f32, {batch, heads, q}}; }
  pl::ShapeDtype kv_type() const { return {dtype, {batch, kv_heads, kv, head_dim}}; }
};

// Throws isa::Error (PLD5001) for a head_dim of another size, rows that 8 does not divide, heads that
// kv_heads does not divide, a causal mask with more rows of Q than of K, more registers than an SM has.
plgpu::Kernel flash_attention(const FlashAttention& config);

}  // namespace palladion::kernels
