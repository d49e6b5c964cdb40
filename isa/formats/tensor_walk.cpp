#include "isa/formats/tensor_walk.h"

#include <fmt/format.h>

namespace palladion::isa {
namespace {

// Empty when a walk is possible.
std::string why_not(const TensorMap& map, TensorMapMode mode, std::span<const int32_t> at) {
  const size_t coordinates = at.size();
  if (map.rank < 1 || map.rank > max_tensor_rank) return fmt::format("the tensor map has rank {}", map.rank);
  if (map.mode != mode)
    return fmt::format("the instruction is {} but the tensor map was made for {}",
                       mode == TensorMapMode::tiled ? ".tile" : ".im2col",
                       map.mode == TensorMapMode::tiled ? ".tile" : ".im2col");
  if (coordinates != static_cast<size_t>(map.rank))
    return fmt::format("the instruction gives {} coordinates but the tensor map has rank {}", coordinates,
                       map.rank);
  if (is_packed(map.data_type)) return fmt::format("unsupported: tensor data type {}", name(map.data_type));
  // Measured on an H200 (tests/device/tma.md): anything else is an illegal instruction there.
  const int64_t start = int64_t{at[0]} * map.element_bytes();
  if (start % 16 != 0)
    return fmt::format("coordinate 0 is {}, that is {} bytes into a row, not a multiple of 16 bytes", at[0],
                       start);
  if (map.interleave != Interleave::none)
    return "unsupported: interleaved tensor layouts (NC/8HWC8, NC/16HWC16)";
  return {};
}

}  // namespace

TensorWalk TensorWalk::common(const TensorMap& map, std::span<const int32_t> coordinates, uint32_t inner) {
  TensorWalk walk;
  walk.rank_ = map.rank;
  walk.element_bytes_ = map.element_bytes();
  walk.inner_bytes_ = inner * static_cast<uint32_t>(walk.element_bytes_);
  walk.pitch_ =
      map.swizzle == Swizzle::none ? walk.inner_bytes_ : std::max(walk.inner_bytes_, span_bytes(map.swizzle));
  for (int i = 0; i < map.rank; ++i) {
    Axis& axis = walk.axes_[i];
    axis.start = coordinates[i];
    axis.step = i == 0 ? 1 : map.element_strides[i];
    axis.size = static_cast<int64_t>(map.dims[i]);
    axis.stride = i == 0 ? 0 : map.strides[i - 1];
  }
  walk.axes_[0].count = inner;
  return walk;
}

tl::expected<TensorWalk, std::string> TensorWalk::tiled(const TensorMap& map,
                                                        std::span<const int32_t> coordinates) {
  if (auto reason = why_not(map, TensorMapMode::tiled, coordinates); !reason.empty())
    return tl::unexpected(std::move(reason));
  TensorWalk walk = common(map, coordinates, map.box_count(0));
  for (int i = 1; i < map.rank; ++i) {
    walk.axes_[i].count = map.box_count(i);
    walk.rows_ *= walk.axes_[i].count;
  }
  return walk;
}

tl::expected<TensorWalk, std::string> TensorWalk::im2col(const TensorMap& map,
                                                         std::span<const int32_t> coordinates,
                                                         std::span<const uint16_t> offsets) {
  if (auto reason = why_not(map, TensorMapMode::im2col, coordinates); !reason.empty())
    return tl::unexpected(std::move(reason));
  if (map.rank < 3)
    return tl::unexpected(fmt::format("an im2col tensor map has rank {}, it needs 3 to 5", map.rank));
  if (!offsets.empty() && offsets.size() != coordinates.size() - 2)
    return tl::unexpected(fmt::format("{} im2col offsets for rank {}, it needs {}", offsets.size(), map.rank,
                                      coordinates.size() - 2));
  TensorWalk walk = common(map, coordinates, map.channels_per_pixel);
  walk.im2col_ = true;
  walk.rows_ = map.pixels_per_column;
  for (int i = 1; i + 1 < map.rank; ++i) {
    Axis& axis = walk.axes_[i];
    axis.lower = map.lower_corner[i - 1];
    axis.upper = axis.size - 1 + map.upper_corner[i - 1];
    if (!offsets.empty()) axis.offset = offsets[i - 1];
  }
  return walk;
}

tl::expected<TensorWalk, std::string> TensorWalk::for_store() const {
  for (int i = 0; i < rank_; ++i) {
    const Axis& axis = axes_[i];
    if (axis.start < 0)
      return tl::unexpected(
          fmt::format("coordinate {} is {}: stores and reductions take no negative ones", i, axis.start));
    const bool boxed = im2col_ && i > 0 && i + 1 < rank_;
    if (boxed && (axis.lower < 0 || axis.upper >= axis.size))
      return tl::unexpected(fmt::format(
          "the im2col box of dimension {} is {} to {}, outside the tensor's {} elements: loads only", i,
          axis.lower, axis.upper, axis.size));
  }
  TensorWalk walk = *this;
  const int64_t unit = 16 / element_bytes_;
  walk.axes_[0].size = (axes_[0].size + unit - 1) / unit * unit;
  return walk;
}

}  // namespace palladion::isa
