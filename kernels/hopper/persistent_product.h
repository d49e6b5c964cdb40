#pragma once
// For the files that record products of their own: the tiles of D that a CTA of a persistent grid walks over,
// and a ring of slots for what is fetched step by step.
#include <algorithm>

#include "frontend/plgpu.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels {

struct PersistentProduct {
  int64_t m, n, tile_m, tile_n;
  int64_t steps;  // of a tile, along k
  int64_t ctas;
  int64_t grid_width = 8;  // tiles of n per band of the snake

  // state = body(first row, first column, state) for each tile of this CTA, whose axis of the grid is "sm".
  template <class F>
  void for_each_tile(const plgpu::PipelineState& start, const F& body) const {
    const int64_t rows = pl::cdiv(m, tile_m), columns = pl::cdiv(n, tile_n);
    const Scalar first = pl::axis_index("sm");
    pl::fori_loop(
        0, (rows * columns - 1 - first) / ctas + 1,
        [&](const Scalar& i, const plgpu::PipelineState& at) {
          const auto [row, column] = plgpu::planar_snake(first + i * ctas, {rows, columns}, 1, grid_width);
          return body(row * tile_m, column * tile_n, at);
        },
        start);
  }

  // fetch(first row, first column, step, slot, barrier of the copies) for each step of each tile.
  template <class F>
  void produce(const plgpu::PipelineTmaAsync& pipeline, const F& fetch) const {
    for_each_tile(plgpu::make_producer_start_state(pipeline.stages()),
                  [&](const Scalar& row, const Scalar& column, const plgpu::PipelineState& start) {
                    return pl::fori_loop(
                        0, steps,
                        [&](const Scalar& step, const plgpu::PipelineState& at) {
                          pipeline.producer_acquire(at);
                          fetch(row, column, step, at.index(), pipeline.producer_get_barrier(at));
                          return at.advance();
                        },
                        start);
                  });
  }

  // CTAs of the grid: no more than there are tiles.
  static int64_t at_most(int64_t ctas, int64_t m, int64_t n, int64_t tile_m, int64_t tile_n) {
    return std::min(ctas, pl::cdiv(m, tile_m) * pl::cdiv(n, tile_n));
  }
};

}  // namespace palladion::kernels
