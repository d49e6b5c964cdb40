#pragma once
// Arrays stretched to a larger shape: where each lane already holds what it needs, or through the scratch.
#include <optional>
#include <vector>

#include "frontend/arrays/array.h"

namespace palladion::plgpu {

// Dimension i of `x` becomes dimension `dimensions[i]` of the result, of the same size, or 1 of `x`.
struct Broadcast {
  Shape shape;                  // of the result
  std::vector<int> dimensions;  // one for each dimension of the array
};

// The shape to which these broadcast by NumPy's rule; an Error where there is none.
Shape broadcast_shape(const std::vector<Shape>& shapes);
// In registers alone; none where a lane would need what another one holds.
std::optional<Array> broadcast_in_lanes(const Array& x, const Broadcast& to, const Layout& layout);
// The same, through the scratch of reductions where lanes do not hold it. An array that has the shape already
// keeps its layout: an Error where it is another one.
Array broadcast_to_layout(const Array& x, const Broadcast& to, const Layout& layout);
// By NumPy's rule: the array's dimensions are the last ones.
Array broadcast_to_layout(const Array& x, const Shape& shape, const Layout& layout);

}  // namespace palladion::plgpu
