#pragma once
// Orders of work.
#include <source_location>
#include <utility>

#include "frontend/core/scalar.h"

namespace palladion::plgpu {

// The place in a 2-d grid of `shape` of step `lin_idx` of a walk that goes through bands of
// `tile_width` along `minor_dim`, back and forth: neighbours in time are neighbours in space, which
// keeps L2 warm.
std::pair<pl::Scalar, pl::Scalar> planar_snake(const pl::Scalar& lin_idx, std::pair<int64_t, int64_t> shape,
                                               int minor_dim, int64_t tile_width,
                                               std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
