#pragma once
// For the files that record kernels of attention whose CTAs hold rows of Q: the rows of K and V, columns of
// scores, that these see, `block_kv` of them a step.
#include "kernels/hopper/online_softmax.h"

namespace palladion::kernels {

struct VisibleColumns {
  int64_t q, kv;  // rows of Q, of K and V
  int64_t tile;   // rows of Q that the CTA holds
  int64_t block_kv;
  bool causal;
  pl::Scalar first_row;  // of these; without a mask not read

  pl::Scalar steps() const {
    const pl::Scalar seen = causal ? pl::minimum(pl::Scalar(kv), first_row + (tile + kv - q)) : kv;
    return pl::cdiv(seen, block_kv);
  }
  // From the last one that the CTA sees to the first: the mask is for the steps at the beginning.
  pl::Scalar first_column(const pl::Scalar& step) const { return (steps() - 1 - step) * block_kv; }
  // Steps at the beginning that a diagonal of the CTA's rows can meet.
  pl::Scalar diagonal_steps() const {
    return pl::minimum(steps(), pl::Scalar((tile + block_kv - 2) / block_kv + 1));
  }

  // A head's K and V, step by step, into the slots of two rings.
  void fetch(const plgpu::Ref& k, const plgpu::PipelineTmaAsync& ks, const plgpu::Ref& k_smem,
             const plgpu::Ref& v, const plgpu::PipelineTmaAsync& vs, const plgpu::Ref& v_smem) const {
    pl::fori_loop(
        0, steps(),
        [&](const pl::Scalar& i, const plgpu::PipelineState& at) {
          const auto rows = pl::ds(first_column(i), block_kv);
          ks.producer_acquire(at);
          plgpu::copy_gmem_to_smem(k.at(rows), k_smem.at(at.index()), ks.producer_get_barrier(at));
          vs.producer_acquire(at);
          plgpu::copy_gmem_to_smem(v.at(rows), v_smem.at(at.index()), vs.producer_get_barrier(at));
          return at.advance();
        },
        plgpu::make_producer_start_state(ks.stages()));
  }

  // Minus infinity where a row does not see a column; `own_row` is that of the first row of scores.
  plgpu::Array masked(const plgpu::Array& s, const pl::Scalar& step, const pl::Scalar& own_row) const {
    const plgpu::Array column = plgpu::broadcasted_iota(pl::s32, s.shape(), 1, score_layout);
    if (!causal) return plgpu::where(column < kv - first_column(step), s, minus_infinity);
    const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, {group_rows}, 0, score_layout.reduce(1));
    const plgpu::Array last = row + (own_row + (kv - q) - first_column(step));
    return plgpu::where(column <= over(last, block_kv), s, minus_infinity);
  }
};

}  // namespace palladion::kernels
