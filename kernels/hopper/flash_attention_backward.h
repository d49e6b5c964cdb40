#pragma once
// The gradients of O = softmax(Q K^T / sqrt(d)) V for Hopper: pages/flash_attention_backward.md.
#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// Q, O and their gradients are (batch, heads, q, head_dim), K, V and theirs (batch, kv_heads, kv, head_dim).
// Which head and which rows of K a row of Q attends to: flash_attention.h.
struct FlashAttentionBackward {
  int64_t batch = 1, heads = 16, kv_heads = 16, q = 4096, kv = 4096;
  int64_t head_dim = 128;     // 64, 128
  pl::DType dtype = pl::f16;  // of Q, K, V, dO and of the gradients: f16, bf16
  bool causal = false;
  int64_t block_q = 0;   // rows of Q and dO a step of the CTAs that compute dK and dV; 0: the fastest
  int64_t block_kv = 0;  // rows of K and V a step of the CTAs that compute dQ; 0: the fastest
  int64_t stages = 2;    // slots of each array that passes

  // With a number for each 0.
  FlashAttentionBackward resolved() const;
  pl::ShapeDtype q_type() const { return {dtype, {batch, heads, q, head_dim}}; }
  pl::ShapeDtype kv_type() const { return {dtype, {batch, kv_heads, kv, head_dim}}; }
  pl::ShapeDtype row_type() const { return {pl::f32, {batch, heads, q}}; }  // a number for each row of Q
};

// Inputs: Q, K, V, dO, the log-sum-exp of each row of scores (natural), the sum of dO * O along each row.
// Outputs: dQ, dK, dV. Throws isa::Error (PLD5001) for a head_dim of another size, rows that 8 does not
// divide, heads that kv_heads does not divide, a causal mask with more rows of Q than of K.
plgpu::Kernel flash_attention_backward(const FlashAttentionBackward& config);
KernelSpec flash_attention_backward_spec();

}  // namespace palladion::kernels
