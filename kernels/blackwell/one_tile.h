#pragma once
// Kernels in which each CTA, or pair of CTAs, computes one tile of D and stores it: what they share.
#include <functional>

#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {

// D is (m, n); a CTA has tile_m rows of a tile of ctas * tile_m by ctas * tile_n.
struct OneTile {
  int64_t m, n;
  pl::DType out_dtype;
  int64_t ctas, tile_m, tile_n, epilogue_tile_n;

  bool pair() const { return ctas == 2; }
  int64_t columns() const { return ctas * tile_n; }
};

// The grid of tiles, with axes "m" and "n", and the cluster of a pair, "cluster".
void launch_tiles(const OneTile& t, plgpu::KernelOptions& options);

// The tile in row `mi` and column `ni` of the grid. One warp calls `fetch`, another one `multiply`, of a pair
// in its first CTA alone; then the results in scratch "acc" leave through "out_smem". `multiply` ends with an
// arrival at "done" of each CTA.
void compute_tile(const OneTile& t, plgpu::Scratch& s, const Ref& out, const Scalar& mi, const Scalar& ni,
                  const std::function<void()>& fetch, const std::function<void()>& multiply);

}  // namespace palladion::kernels::blackwell
