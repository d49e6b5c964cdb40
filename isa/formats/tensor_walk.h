#pragma once
// The bytes that one tensor copy accesses: the runs, contiguous in global memory and in the shared tile,
// that a TMA box or im2col column is made of (PTX, "Tensor Dimension, size and format", "Tiled Mode",
// "Im2col mode"). No memory is touched here; machine, checkers and tests walk the same runs.
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "isa/formats/tensor_map.h"

namespace palladion::isa {

struct BoxRun {
  uint32_t tile_offset;  // bytes from the tile's shared address, before the swizzle
  uint32_t bytes;
  int64_t global_offset;  // bytes from the map's global address; without meaning when out of bounds
  bool in_bounds;         // else: filled on loads, dropped on stores
};

// Why the machine does not copy a box.
struct NoWalk {
  std::string reason;           // what does not fit: rank, mode, a rule; or what is not modelled
  bool is_unsupported = false;  // the hardware copies it
};

class TensorWalk {
 public:
  // `coordinates` innermost first, in elements; may be negative or beyond the tensor, but the innermost
  // is a whole number of 16 bytes. The map is expected to be valid.
  static tl::expected<TensorWalk, NoWalk> tiled(const TensorMap& map, std::span<const int32_t> coordinates);

  // Coordinates are C, W, (H, (D,)) N of the first pixel inside the bounding box; `offsets` W, (H, (D))
  // shift every pixel (the filter tap). Stores pass no offsets.
  static tl::expected<TensorWalk, NoWalk> im2col(const TensorMap& map, std::span<const int32_t> coordinates,
                                                 std::span<const uint16_t> offsets);

  // .tile::gather4 and .tile::scatter4: four rows of a two-dimensional tensor whose box has one row.
  // Coordinates are the column and the four rows.
  static tl::expected<TensorWalk, NoWalk> four_rows(const TensorMap& map,
                                                    std::span<const int32_t> coordinates);

  // .im2col::w and .im2col::w::128: pixels follow W inside the bounding box, then the next image; H and D
  // stay. `offset` moves box and first pixel along W. Halo pixels are not modelled: the manual shows in a
  // figure only where they come from.
  static tl::expected<TensorWalk, NoWalk> im2col_wide(const TensorMap& map,
                                                      std::span<const int32_t> coordinates, uint16_t halo,
                                                      uint16_t offset);

  // The same box as a store or a reduction moves it. Its rows end at multiples of 16 bytes: what the last 16
  // bytes hold beyond the tensor is written, too. The text states why the hardware cannot: stores have no
  // positions before the tensor, and im2col boxes must be inside the tensor (measured on an H200, where the
  // rest are illegal instructions).
  tl::expected<TensorWalk, NoWalk> for_store() const;

  // Bytes that a load adds to its mbarrier: the whole box, out-of-bounds elements included, without what pads
  // ALIGN16B types.
  uint32_t transaction_bytes() const { return rows_ * inner_bytes_; }
  // Bytes of shared memory that one row takes.
  uint32_t row_bytes() const { return row_bytes_; }
  bool padded() const { return row_bytes_ != inner_bytes_; }
  // Bytes of shared memory from the first to behind the last, before the swizzle.
  uint32_t footprint_bytes() const { return rows_ * pitch_; }
  uint32_t rows() const { return rows_; }
  // Distance of consecutive rows in the tile. A row narrower than the swizzle's span takes the whole
  // span ("the swizzle width", CUDA programming guide; an H200 does so).
  uint32_t row_pitch() const { return pitch_; }

  // Calls visit(const BoxRun&) for each run, in tile order: one to three per row.
  template <class Visit>
  void for_each_run(Visit&& visit) const {
    switch (kind_) {
      case Kind::box:
        return walk_box(visit);
      case Kind::rows:
        return walk_rows(visit);
      case Kind::pixels:
        return walk_pixels(visit);
    }
  }

 private:
  enum class Kind : uint8_t { box, rows, pixels };

  // Along dimension 0 in units (TensorUnit).
  struct Axis {
    int64_t start = 0;             // first coordinate
    int64_t step = 1;              // positions
    int64_t size = 1;              // of the tensor
    uint64_t stride = 0;           // bytes
    uint32_t count = 1;            // positions (tiled)
    int64_t lower = 0, upper = 0;  // bounding box, inclusive (im2col)
    int64_t offset = 0;            // filter tap (im2col)
  };

  static TensorWalk common(const TensorMap& map, std::span<const int32_t> coordinates, uint32_t inner);

  template <class Visit>
  void visit_row(uint32_t row, uint64_t base, bool inside, Visit& visit) const {
    const uint32_t tile = row * pitch_;
    const Axis& inner = axes_[0];
    if (padded()) return visit_units(tile, base, inside, visit);
    if (!inside || inner.start >= inner.size || inner.start + inner.count <= 0)
      return visit(BoxRun{tile, inner_bytes_, 0, false});
    const int64_t first = inner.start < 0 ? -inner.start : 0;
    const int64_t end = inner.start + inner.count > inner.size ? inner.size - inner.start : inner.count;
    const auto bytes = [&](int64_t units) { return static_cast<uint32_t>(units * unit_bytes_); };
    if (first > 0) visit(BoxRun{tile, bytes(first), 0, false});
    const int64_t at = static_cast<int64_t>(base) + (inner.start + first) * unit_bytes_;
    visit(BoxRun{tile + bytes(first), bytes(end - first), at, true});
    if (end < inner.count) visit(BoxRun{tile + bytes(end), bytes(inner.count - end), 0, false});
  }

  // A row of an ALIGN16B type: a run for each sixteen elements.
  template <class Visit>
  void visit_units(uint32_t tile, uint64_t base, bool inside, Visit& visit) const {
    const Axis& inner = axes_[0];
    for (uint32_t k = 0; k < inner.count; ++k) {
      const int64_t at = inner.start + k;
      const bool here = inside && at >= 0 && at < inner.size;
      visit(BoxRun{tile + k * (row_bytes_ / inner.count), static_cast<uint32_t>(unit_bytes_),
                   here ? static_cast<int64_t>(base) + at * unit_bytes_ : 0, here});
    }
  }

  template <class Visit>
  void walk_rows(Visit& visit) const {
    for (uint32_t row = 0; row < rows_; ++row) {
      const auto at = static_cast<uint64_t>(four_rows_[row]);
      visit_row(row, at * axes_[1].stride, at < static_cast<uint64_t>(axes_[1].size), visit);
    }
  }

  template <class Visit>
  void walk_box(Visit& visit) const {
    std::array<uint32_t, max_tensor_rank> at{};
    for (uint32_t row = 0; row < rows_; ++row) {
      uint64_t base = 0;
      bool inside = true;
      for (int i = 1; i < rank_; ++i) {
        const Axis& axis = axes_[i];
        const int64_t position = axis.start + at[i] * axis.step;
        inside &= static_cast<uint64_t>(position) < static_cast<uint64_t>(axis.size);
        base += static_cast<uint64_t>(position) * axis.stride;
      }
      visit_row(row, base, inside, visit);
      for (int i = 1; i < rank_ && ++at[i] == axes_[i].count; ++i) at[i] = 0;
    }
  }

  // Pixels follow W, then H, then D inside the bounding box, then the next image; the wide modes follow W
  // alone.
  template <class Visit>
  void walk_pixels(Visit& visit) const {
    std::array<int64_t, max_tensor_rank> at{};
    for (int i = 1; i < rank_; ++i) at[i] = axes_[i].start;
    for (uint32_t row = 0; row < rows_; ++row) {
      uint64_t base = 0;
      bool inside = true;
      for (int i = 1; i < rank_; ++i) {
        const int64_t position = at[i] + axes_[i].offset;
        inside &= static_cast<uint64_t>(position) < static_cast<uint64_t>(axes_[i].size);
        base += static_cast<uint64_t>(position) * axes_[i].stride;
      }
      visit_row(row, base, inside, visit);
      int i = 1;
      for (; i < boxed_; ++i) {
        at[i] += axes_[i].step;
        if (at[i] <= axes_[i].upper) break;
        at[i] = axes_[i].lower;
      }
      if (i == boxed_) at[rank_ - 1] += 1;
    }
  }

  std::array<Axis, max_tensor_rank> axes_{};
  std::array<int64_t, 4> four_rows_{};
  int rank_ = 1;
  int boxed_ = 1;  // im2col: dimensions 1 to boxed_ - 1 have a bounding box
  int unit_bytes_ = 1;
  uint32_t inner_bytes_ = 0, row_bytes_ = 0;  // in global and in shared memory
  uint32_t pitch_ = 0;
  uint32_t rows_ = 1;
  Kind kind_ = Kind::box;
};

}  // namespace palladion::isa
