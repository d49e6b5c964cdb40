#pragma once
// The two warps that compute a tile: one fetches A and B, one issues the products.
#include <functional>

#include "kernels/blackwell/matmul.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::blackwell {

// What differs between the kernels.
struct TileOptions {
  bool pair = false;         // of CTAs
  Scalar first_tile = true;  // of this program: no slot of A and B has been used before
  // Waits until both CTAs have read the accumulator. Each CTA calls it once a tile: the first one in the warp
  // that multiplies; the other one in the warp that fetches, so that no tile can be completed, and the
  // barrier's next phase with it, before this CTA has seen the one before.
  std::function<void()> wait_for_accumulator = [] {};
};

// The tile of a pair of CTAs, at the `mi`-th pair of rows and the `ni`-th pair of columns.
struct PairTile {
  PairTile(const MatmulConfig& c, const Scalar& mi, const Scalar& ni);
  pl::Slice rows, columns;  // of the pair
  pl::Slice own_rows;       // whose results are in this CTA's tensor memory
};

// Fetches `rows` of A and `columns` of B step by step and adds their products up in `x.acc`; x.done gets an
// arrival when all are complete. All warps of the warpgroup call it; it returns before the products are
// complete.
void multiply_with_warps(const MatmulConfig& c, const Operands& x, const pl::Slice& rows,
                         const pl::Slice& columns, const TileOptions& options = {});

}  // namespace palladion::kernels::blackwell
