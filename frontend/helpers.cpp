#include "frontend/helpers.h"

#include "frontend/errors.h"

namespace palladion::plgpu {

std::pair<pl::Scalar, pl::Scalar> planar_snake(const pl::Scalar& lin_idx, std::array<int64_t, 2> shape, int minor_dim,
                                               int64_t tile_width, std::source_location) {
  using pl::Scalar;
  const int64_t minor_size = shape[static_cast<size_t>(minor_dim)], major_size = shape[static_cast<size_t>(1 - minor_dim)];
  const int64_t width = std::min(tile_width, minor_size);
  const int64_t full_bands = minor_size / width, rest = minor_size % width;
  const int64_t band_points = width * major_size;

  // Points of one band: minor fastest; an odd band runs backwards.
  const auto in_band = [&](const Scalar& at, const Scalar& band, int64_t band_width) {
    const Scalar minor = at % band_width, major = at / band_width;
    return std::pair{band * width + minor, pl::where(band % 2 == 0, major, major_size - 1 - major)};
  };
  const Scalar band = lin_idx / band_points;
  auto [minor, major] = in_band(lin_idx - band * band_points, band, width);
  if (rest != 0) {
    const Scalar in_rest = lin_idx >= full_bands * band_points;
    const auto [last_minor, last_major] = in_band(lin_idx - full_bands * band_points, Scalar(full_bands), rest);
    minor = pl::where(in_rest, last_minor, minor);
    major = pl::where(in_rest, last_major, major);
  }
  return minor_dim == 1 ? std::pair{major, minor} : std::pair{minor, major};
}

}  // namespace palladion::plgpu
