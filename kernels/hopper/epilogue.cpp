#include "kernels/hopper/epilogue.h"

#include <algorithm>
#include <cmath>

#include "kernels/frame/helpers.h"

namespace palladion::kernels {
namespace {

// The limits of an integer dtype.
std::pair<int64_t, int64_t> limits_of(pl::DType dtype) {
  const int bits = pl::bits(dtype);
  if (pl::is_signed(dtype)) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

}  // namespace

Ref TilePlace::in(const Ref& matrix) const { return matrix.at(ds(row, rows), ds(column, columns)); }

Epilogue composed(std::vector<Epilogue> steps) {
  return [steps = std::move(steps)](const plgpu::Array& tile, const TilePlace& place) {
    plgpu::Array out = tile;
    for (const Epilogue& step : steps) out = step(out, place);
    return out;
  };
}

Epilogue scaled(const Scalar& factor) {
  return [factor](const plgpu::Array& tile, const TilePlace&) { return tile.astype(pl::f32) * factor; };
}

Epilogue with_bias(const Ref& bias) {
  return [bias](const plgpu::Array& tile, const TilePlace& place) {
    return tile + bias.at(ds(place.column, place.columns)).load(plgpu::Layout::WGMMA.reduce(0));
  };
}

Epilogue activated_by(const Activation& activation) {
  return [apply = activation.apply](const plgpu::Array& tile, const TilePlace&) { return apply(tile); };
}

Epilogue with_residual(const Ref& residual) {
  return [residual](const plgpu::Array& tile, const TilePlace& place) {
    const plgpu::Array extra = place.in(residual).load(plgpu::Layout::WGMMA);
    return tile + extra.astype(tile.dtype());
  };
}

Epilogue with_residual(const Ref& residual, const Scalar& factor) {
  return [residual, factor](const plgpu::Array& tile, const TilePlace& place) {
    const plgpu::Array extra = place.in(residual).load(plgpu::Layout::WGMMA);
    return tile + extra.astype(tile.dtype()) * factor;
  };
}

Epilogue quantised(const Scalar& scale, pl::DType dtype) {
  return [scale, dtype](const plgpu::Array& tile, const TilePlace&) {
    const plgpu::Array x = tile * scale;
    if (!pl::is_integer(dtype)) return x.astype(dtype);
    const auto [least, most] = limits_of(dtype);
    const plgpu::Array whole = plgpu::round(x);
    return plgpu::minimum(plgpu::maximum(whole, double(least)), double(most)).astype(dtype);
  };
}

double quantised_on_host(double value, pl::DType dtype) {
  if (!pl::is_integer(dtype)) return value;
  const auto [least, most] = limits_of(dtype);
  return std::clamp(std::nearbyint(value), double(least), double(most));
}

}  // namespace palladion::kernels
