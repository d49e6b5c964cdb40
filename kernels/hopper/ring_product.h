#pragma once
// For the files that record products of wgmma: the sum over the slots of a ring.
#include <utility>

#include "frontend/plgpu.h"

namespace palladion::kernels {

// A warpgroup's sum of `steps` products, at least one, and its place in the ring behind them. issue(sum,
// slot) issues the product with what is in the slot.
template <class F>
std::pair<plgpu::Array, plgpu::PipelineState> sum_over_ring(const plgpu::PipelineTmaAsync& pipeline,
                                                            const plgpu::PipelineState& start, int64_t steps,
                                                            const pl::Shape& shape, const F& issue) {
  const auto [sum, next] = pl::run_scoped(
      [&](const plgpu::Ref& d) {
        const auto issue_when_full = [&](const plgpu::PipelineState& at) {
          pipeline.consumer_wait(at);
          issue(d, at.index());
        };
        issue_when_full(start);
        // Behind each product the one before it is complete, and with it the slot that it read.
        const plgpu::PipelineState last = pl::fori_loop(
            1, steps,
            [&](const pl::Scalar&, const plgpu::PipelineState& before) {
              const plgpu::PipelineState at = before.advance();
              issue_when_full(at);
              pipeline.consumer_release(before);
              return at;
            },
            start);
        const plgpu::Array loaded = d.load();
        pipeline.consumer_release(last);
        return std::tuple{loaded, last.advance()};
      },
      plgpu::ACC(shape, pl::f32));
  return {sum, next};
}

}  // namespace palladion::kernels
