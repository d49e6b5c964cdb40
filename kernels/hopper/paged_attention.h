#pragma once
// Attention of one new token a sequence to keys and values in pages, for Hopper: pages/paged_attention.md.
#include "frontend/plgpu.h"

namespace palladion::kernels {

// Q and O are (batch, heads, head_dim), the pages of K and V (kv_heads, pages, page_size, head_dim). Head h
// of Q attends to head h / (heads / kv_heads) of K and V. Row i of `page_table` (batch, pages_per_sequence),
// s32, says which pages hold the keys of sequence i, in their order, and lengths (batch), s32, how many keys
// it has.
struct PagedAttention {
  int64_t batch = 16, heads = 32, kv_heads = 8;
  int64_t head_dim = 128;           // 64, 128
  int64_t pages = 1024;             // of the cache
  int64_t page_size = 64;           // keys of a page: a multiple of 8
  int64_t pages_per_sequence = 64;  // at most
  pl::DType dtype = pl::f16;        // of Q, K, V and O: f16, bf16
  int64_t splits = 0;  // CTAs of a cluster that share the keys of a sequence: 1, 2, 4, 8; 0: as fill the SMs
  int64_t block = 64;  // keys a step: a multiple of 16
  int64_t stages = 2;  // steps of K and of V on their way
  int64_t length = 0;  // of all sequences of inputs that are made up; 0: each has another one

  // With a number for splits.
  PagedAttention resolved() const;
  int64_t group() const { return heads / kv_heads; }  // heads of Q that share one of K and V
  int64_t most_keys() const { return pages_per_sequence * page_size; }
  pl::ShapeDtype q_type() const { return {dtype, {batch, heads, head_dim}}; }
  pl::ShapeDtype cache_type() const { return {dtype, {kv_heads, pages, page_size, head_dim}}; }
  pl::ShapeDtype table_type() const { return {pl::s32, {batch, pages_per_sequence}}; }
};

// Throws isa::Error (PLD5001) for a head_dim of another size, heads that kv_heads does not divide or of which
// more than 64 share one, pages that are no part of a step and no whole number of steps.
plgpu::Kernel paged_attention(const PagedAttention& config);

}  // namespace palladion::kernels
