#include "frontend/control/helpers.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

using pl::Scalar;

std::pair<Scalar, Scalar> planar_snake(const Scalar& lin_idx, std::pair<int64_t, int64_t> shape,
                                       int minor_dim, int64_t tile_width, std::source_location loc) {
  const VerbScope at(loc);
  if (minor_dim != 0 && minor_dim != 1)
    fail(Code::bad_axis, fmt::format("planar_snake: minor_dim is 0 or 1, not {}", minor_dim));
  const int64_t minor = minor_dim == 0 ? shape.first : shape.second,
                major = minor_dim == 0 ? shape.second : shape.first;
  if (minor < 1 || major < 1 || tile_width < 1)
    fail(Code::bad_grid, "planar_snake: shape and tile_width must be at least 1");
  tile_width = std::min(tile_width, minor);
  const int64_t full_bands = minor / tile_width, rest = minor % tile_width;
  const int64_t band_steps = tile_width * major;
  // Within a band: across its width first; every other column of a band runs backwards, and so does every
  // other band along `major`.
  const auto place = [&](const Scalar& in_band, const Scalar& band, int64_t width) {
    const Scalar along = in_band / width, across = in_band % width;
    const Scalar odd_column = along % 2 != 0, odd_band = band % 2 != 0;
    const Scalar minor_index = band * tile_width + pl::where(odd_column, Scalar(width - 1) - across, across);
    const Scalar major_index = pl::where(odd_band, Scalar(major - 1) - along, along);
    return std::pair{minor_index, major_index};
  };
  const Scalar band = lin_idx / band_steps;
  auto [m, j] = place(lin_idx % band_steps, band, tile_width);
  if (rest != 0) {
    const Scalar in_rest = lin_idx - full_bands * band_steps;
    const Scalar is_rest = band >= full_bands;
    const auto last = place(pl::maximum(in_rest, 0), Scalar(full_bands), rest);
    m = pl::where(is_rest, last.first, m);
    j = pl::where(is_rest, last.second, j);
  }
  return minor_dim == 0 ? std::pair{m, j} : std::pair{j, m};
}

}  // namespace palladion::plgpu
