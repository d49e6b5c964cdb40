#pragma once
// Host-side arithmetic that kernels share.
#include <array>
#include <utility>

#include "frontend/scalar.h"

namespace palladion::plgpu {

// The lin_idx-th point of a 2-D grid of `shape` in bands of `tile_width` along `minor_dim`: within a band
// the minor dimension runs fastest, and every other band runs backwards along the major one, so that
// programs close in time share operands in L2 (Pallas, "planar_snake"). The last band may be narrower.
std::pair<pl::Scalar, pl::Scalar> planar_snake(const pl::Scalar& lin_idx, std::array<int64_t, 2> shape, int minor_dim,
                                               int64_t tile_width,
                                               std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
