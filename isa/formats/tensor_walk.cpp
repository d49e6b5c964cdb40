#include "isa/formats/tensor_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::isa {
namespace {

// Measured on an H200 (tests/device/tma.md): anything else is an illegal instruction there. ALIGN16B types:
// CUDA driver API, cuTensorMapEncodeTiled.
std::string why_not_column(const TensorMap& map, int64_t column) {
  if (unit_of(map.data_type).elements == 16 && column % 128 != 0)
    return fmt::format("coordinate 0 is {}, {} needs a multiple of 128", column, name(map.data_type));
  const int64_t start = column * bits(map.data_type);
  if (start % 128 == 0) return {};
  return fmt::format("coordinate 0 is {}, that is {} bytes into a row, not a multiple of 16 bytes", column,
                     start / 8);
}

// Without a reason when a walk is possible.
NoWalk why_not(const TensorMap& map, TensorMapMode mode, size_t rank, std::span<const int32_t> at) {
  if (map.rank < 1 || map.rank > max_tensor_rank)
    return {fmt::format("the tensor map has rank {}", map.rank)};
  if (map.mode != mode)
    return {
        fmt::format("the instruction is {} but the tensor map was made for {}", name(mode), name(map.mode))};
  if (rank != static_cast<size_t>(map.rank))
    return {
        fmt::format("the instruction gives {} coordinates but the tensor map has rank {}", rank, map.rank)};
  if (std::string reason = why_not_column(map, at[0]); !reason.empty()) return {std::move(reason)};
  if (map.interleave != Interleave::none) return {"interleaved tensor layouts (NC/8HWC8, NC/16HWC16)", true};
  return {};
}

}  // namespace

TensorWalk TensorWalk::common(const TensorMap& map, std::span<const int32_t> coordinates, uint32_t inner) {
  const TensorUnit unit = unit_of(map.data_type);
  const uint32_t units = inner / static_cast<uint32_t>(unit.elements);
  TensorWalk walk;
  walk.rank_ = map.rank;
  walk.unit_bytes_ = unit.bytes;
  walk.inner_bytes_ = units * static_cast<uint32_t>(unit.bytes);
  walk.row_bytes_ = units * static_cast<uint32_t>(unit.tile_bytes);
  walk.pitch_ =
      map.swizzle == Swizzle::none ? walk.row_bytes_ : std::max(walk.row_bytes_, span_bytes(map.swizzle));
  for (int i = 0; i < map.rank; ++i) {
    Axis& axis = walk.axes_[i];
    axis.start = coordinates[i];
    axis.step = i == 0 ? 1 : map.element_strides[i];
    axis.size = static_cast<int64_t>(map.dims[i]);
    axis.stride = i == 0 ? 0 : map.strides[i - 1];
  }
  walk.axes_[0].start /= unit.elements;
  walk.axes_[0].size /= unit.elements;
  walk.axes_[0].count = units;
  return walk;
}

tl::expected<TensorWalk, NoWalk> TensorWalk::tiled(const TensorMap& map,
                                                   std::span<const int32_t> coordinates) {
  if (NoWalk no = why_not(map, TensorMapMode::tiled, coordinates.size(), coordinates); !no.reason.empty())
    return tl::unexpected(std::move(no));
  TensorWalk walk = common(map, coordinates, map.box_count(0));
  for (int i = 1; i < map.rank; ++i) {
    walk.axes_[i].count = map.box_count(i);
    walk.rows_ *= walk.axes_[i].count;
  }
  return walk;
}

tl::expected<TensorWalk, NoWalk> TensorWalk::im2col(const TensorMap& map,
                                                    std::span<const int32_t> coordinates,
                                                    std::span<const uint16_t> offsets) {
  if (NoWalk no = why_not(map, TensorMapMode::im2col, coordinates.size(), coordinates); !no.reason.empty())
    return tl::unexpected(std::move(no));
  if (map.rank < 3)
    return tl::unexpected(NoWalk{fmt::format("an im2col tensor map has rank {}, it needs 3 to 5", map.rank)});
  if (!offsets.empty() && offsets.size() != coordinates.size() - 2)
    return tl::unexpected(NoWalk{fmt::format("{} im2col offsets for rank {}, it needs {}", offsets.size(),
                                             map.rank, coordinates.size() - 2)});
  TensorWalk walk = common(map, coordinates, map.channels_per_pixel);
  walk.kind_ = Kind::pixels;
  walk.boxed_ = map.rank - 1;
  walk.rows_ = map.pixels_per_column;
  for (int i = 1; i + 1 < map.rank; ++i) {
    Axis& axis = walk.axes_[i];
    axis.lower = map.lower_corner[i - 1];
    axis.upper = axis.size - 1 + map.upper_corner[i - 1];
    if (!offsets.empty()) axis.offset = offsets[i - 1];
  }
  return walk;
}

tl::expected<TensorWalk, NoWalk> TensorWalk::four_rows(const TensorMap& map,
                                                       std::span<const int32_t> coordinates) {
  if (coordinates.size() != 5)
    return tl::unexpected(NoWalk{
        fmt::format("{} coordinates for four rows, they are a column and four rows", coordinates.size())});
  if (NoWalk no = why_not(map, TensorMapMode::tiled, 2, coordinates); !no.reason.empty())
    return tl::unexpected(std::move(no));
  if (map.box[1] != 1)
    return tl::unexpected(NoWalk{
        fmt::format("box dimension 1 is {}, four rows are copied row by row: it must be 1", map.box[1])});
  TensorWalk walk = common(map, coordinates.first(2), map.box_count(0));
  walk.kind_ = Kind::rows;
  walk.rows_ = 4;
  std::ranges::copy(coordinates.last(4), walk.four_rows_.begin());
  return walk;
}

tl::expected<TensorWalk, NoWalk> TensorWalk::im2col_wide(const TensorMap& map,
                                                         std::span<const int32_t> coordinates, uint16_t halo,
                                                         uint16_t offset) {
  const bool fixed = map.mode == TensorMapMode::im2col_w_128;
  const TensorMapMode mode = fixed ? map.mode : TensorMapMode::im2col_w;
  if (NoWalk no = why_not(map, mode, coordinates.size(), coordinates); !no.reason.empty())
    return tl::unexpected(std::move(no));
  if (offset >= 32) return tl::unexpected(NoWalk{fmt::format("wOffset is {}, it must be 0 to 31", offset)});
  if (halo != 0)
    return tl::unexpected(NoWalk{fmt::format("halo pixels of {} (wHalo {})", name(map.mode), halo), true});
  TensorWalk walk = common(map, coordinates, map.channels_per_pixel);
  walk.kind_ = Kind::pixels;
  walk.boxed_ = 2;
  walk.rows_ = fixed ? 128 : map.pixels_per_column;
  Axis& w = walk.axes_[1];
  w.lower = map.lower_corner[0] + offset;
  w.upper = w.size - 1 + map.upper_corner[0] + offset;
  w.start += offset;
  return walk;
}

tl::expected<TensorWalk, NoWalk> TensorWalk::for_store() const {
  for (const int64_t row : four_rows_)
    if (row < 0)
      return tl::unexpected(NoWalk{fmt::format("row {}: stores and reductions take no negative ones", row)});
  for (int i = 0; i < rank_; ++i) {
    const Axis& axis = axes_[i];
    if (axis.start < 0)
      return tl::unexpected(NoWalk{
          fmt::format("coordinate {} is {}: stores and reductions take no negative ones", i, axis.start)});
    const bool boxed = kind_ == Kind::pixels && i > 0 && i + 1 < rank_;
    if (boxed && (axis.lower < 0 || axis.upper >= axis.size))
      return tl::unexpected(NoWalk{fmt::format(
          "the im2col box of dimension {} is {} to {}, outside the tensor's {} elements: loads only", i,
          axis.lower, axis.upper, axis.size)});
  }
  TensorWalk walk = *this;
  const int64_t unit = 16 / unit_bytes_;
  walk.axes_[0].size = (axes_[0].size + unit - 1) / unit * unit;
  return walk;
}

}  // namespace palladion::isa
