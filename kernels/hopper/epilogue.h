#pragma once
// What a product does to its result before it is stored: functions of a tile, one after the other. Those that
// are not asked for record nothing.
#include <functional>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "kernels/frame/activations.h"

namespace palladion::kernels {

// Where a tile lies in D (m, n).
struct TilePlace {
  pl::Scalar row, column;
  int64_t rows = 0, columns = 0;
  // The tile's window of an array (m, n).
  plgpu::Ref in(const plgpu::Ref& matrix) const;
};

// A tile in the layout of the accumulator, f32 or s32, and its place: the tile that is stored, or given on.
using Epilogue = std::function<plgpu::Array(const plgpu::Array& tile, const TilePlace& place)>;

// One after the other; none of them: the tile as it is.
Epilogue composed(std::vector<Epilogue> steps);

// Times a number, which may be one of the launch: plgpu::launch_scalar("alpha"). Of s32 sums f32 comes out.
Epilogue scaled(const pl::Scalar& factor);
// Plus a row (n) of f32.
Epilogue with_bias(const plgpu::Ref& bias);
// A function of each element: activation_named("gelu").
Epilogue activated_by(const Activation& activation);
// Plus an array (m, n) in the layout of the accumulator, converted to the tile's dtype.
Epilogue with_residual(const plgpu::Ref& residual);
// Plus `factor` times it.
Epilogue with_residual(const plgpu::Ref& residual, const pl::Scalar& factor);
// Times a number, and rounded to what `dtype` holds: integers to nearest even between their limits; floating
// point saturates as .astype does.
Epilogue quantised(const pl::Scalar& scale, pl::DType dtype);

// The same for an element on the host: what quantised() stores.
double quantised_on_host(double value, pl::DType dtype);

}  // namespace palladion::kernels
