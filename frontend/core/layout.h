#pragma once
// How the elements of an array are spread over the 128 lanes of a warpgroup and their registers.
//
// A tiled layout cuts the trailing dimensions of an array into base tiles. Within one, an element's
// index is a sum of parts: some follow bits of the lane's number, some the register's. What no part
// follows is replicated. Outer tiles go to further registers, row-major.
#include <cstdint>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

#include "frontend/core/older_names.h"
#include "frontend/core/refused.h"
#include "frontend/core/types.h"

namespace palladion::plgpu {

using pl::DType;
using pl::Shape;

// Lanes.
inline constexpr int64_t warpgroup_size = 128, warp_size = 32;

// A dimension of a tiled layout that repeats the same value.
struct Replicated {
  int times = 1;  // warps or lanes that hold the same elements
};
using LayoutDim = std::variant<int, Replicated>;  // a dimension of the tiled shape, or a number of copies
struct Tiling {  // how the last dimensions of an array are cut into tiles, and those into smaller ones
  std::vector<std::vector<int64_t>> tiles;  // of the last dimensions, applied one after the other
};

class Layout;

// Layout::TCGEN05_TMEM_NATIVE, and with another vector length Layout::TCGEN05_TMEM_NATIVE(vec).
struct NativeTensorLayout {
  operator Layout() const;  // NOLINT: it is a layout
  Layout operator()(int vec_size, std::source_location loc = std::source_location::current()) const;
};

PLD_OLDER_VALUE(OlderWgmmaRow, Layout, "Layout::WGMMA_ROW is Layout::WGMMA.reduce(1) today");
PLD_OLDER_VALUE(OlderWgmmaColumn, Layout, "Layout::WGMMA_COL is Layout::WGMMA.reduce(0) today");
PLD_OLDER_VALUE(OlderTcgen05Row, Layout, "Layout::TCGEN05_ROW is Layout::TCGEN05.reduce(1) today");
PLD_OLDER_VALUE(OlderTcgen05Column, Layout, "Layout::TCGEN05_COL is Layout::TCGEN05.reduce(0) today");

class Layout {  // which lane and register of a warpgroup holds which element of an Array
 public:
  // One value for all; vectors of neighbours; tiles dealt out to warps, lanes and registers.
  enum class Kind : uint8_t { splat, strided, tiled };

  // value = index along `dim` that this part adds: (number / place) % size * stride, where number is
  // the thread's (0..127); for registers, parts are digits of the register's number, first most
  // significant.
  struct Part {
    // What an index along the part chooses.
    enum class Role : uint8_t { thread, reg, vector };
    int dim = 0;                   // dimension of the array
    int64_t stride = 1, size = 1;  // elements from one index to the next; number of indices
    Role role = Role::reg;         // thread, register or place in a vector
    int64_t place = 0;             // what the thread's or register's number is divided by
    friend bool operator==(const Part&, const Part&) = default;
  };

  // --- Pallas' layouts
  static const Layout WGMMA, WGMMA_8BIT, WGMMA_UPCAST_2X, WGMMA_UPCAST_4X, WGMMA_TRANSPOSED;
  // The operands a (m, k) and b (k, n) of plgpu::mma, of 8 or 16 bits, and its result (m, n), of 32 bits,
  // which is the same for every dtype of the operands. Tiles: 16 m_warps rows, 32 bytes along k, 8 columns
  // for each of 4 / m_warps warps. `m_warps`, 1, 2 or 4: how many warps share the rows; the others share the
  // columns. (PTX, "Matrix Fragments for mma.m16n8k16, .m16n8k32".)
  static Layout MMA_LHS(DType dtype, int m_warps = 4,
                        std::source_location loc = std::source_location::current());
  static Layout MMA_RHS(DType dtype, int m_warps = 4,
                        std::source_location loc = std::source_location::current());
  static Layout MMA_ACC(DType dtype, int m_warps = 4,
                        std::source_location loc = std::source_location::current());
  // For moving an array of this shape between GMEM and SMEM with TilingTransform({8, 8 swizzle / bits}) and
  // SwizzleTransform(swizzle): vectors of 16 bytes, no bank conflicts, whole rows of tiles in GMEM.
  static Layout SMEM_GMEM_COPY(const Shape& shape, DType dtype, int64_t swizzle,
                               std::source_location loc = std::source_location::current());
  static Layout WG_SPLAT(Shape shape = {});
  static Layout WG_STRIDED(Shape shape, int vec_size,
                           std::source_location loc = std::source_location::current());
  // WG_STRIDED for any number of elements that is a multiple of vec_size: the lanes behind the last vector
  // hold copies of it. Pallas has no word for it: its arrays have multiples of 128 elements.
  static Layout WG_PADDED(Shape shape, int vec_size,
                          std::source_location loc = std::source_location::current());
  // Negative dimension numbers count from the end of the tiled shape (Mosaic GPU's TiledLayout).
  static Layout TILED(Tiling tiling, std::vector<LayoutDim> warp_dims, std::vector<LayoutDim> lane_dims,
                      int vector_dim, std::source_location loc = std::source_location::current());
  // Of 128 rows in tensor memory (frontend/memory/tensor_memory.h): like WGMMA with 32 rows a warp; or a row
  // for each lane, `vec` (2) neighbours in a register where they are short.
  static const Layout TCGEN05;
  static constexpr NativeTensorLayout TCGEN05_TMEM_NATIVE{};
  // Of the 64 rows that each CTA of a pair has, and `columns` columns, the second half of which is in lanes
  // 64 to 127: like TCGEN05, or a lane's elements in the order of their columns, `packing` (1 or 2) in a
  // register.
  static Layout TCGEN05_M64_COLLECTIVE(int64_t columns,
                                       std::source_location loc = std::source_location::current());
  static Layout TCGEN05_M64_COLLECTIVE_NATIVE(int64_t columns, int packing = 1,
                                              std::source_location loc = std::source_location::current());
  // Not there yet, refused by name.
  static constexpr frontend::Refused TCGEN05_TRANSPOSED{"plgpu::Layout::TCGEN05_TRANSPOSED",
                                                        "transposed loads of tensor memory are not supported",
                                                        "Layout::TCGEN05"};
  // Of s32 or u32 row numbers for TMA (frontend/memory/rows.h): four neighbours a warp, 16 in all, the same
  // in each of its lanes; or all of them in every lane, for one lane that issues all copies.
  static const Layout TMA_INDICES, TMA_INDICES_4;
  static const Layout& TMA_GATHER_INDICES;  // TMA_INDICES, by its older name
  // Older names, which do not compile: the messages say what they are today.
  static constexpr OlderWgmmaRow WGMMA_ROW{};
  static constexpr OlderWgmmaColumn WGMMA_COL{};
  static constexpr OlderTcgen05Row TCGEN05_ROW{};
  static constexpr OlderTcgen05Column TCGEN05_COL{};
  // The layout of a reduction's result.
  Layout reduce(int axis, std::source_location loc = std::source_location::current()) const {
    return reduce(std::vector<int>{axis}, loc);
  }
  Layout reduce(const std::vector<int>& axes,
                std::source_location loc = std::source_location::current()) const;
  // The same for an array with a new dimension of size 1 in front of its dimension `dim`, of `rank`.
  Layout with_new_axis(size_t dim, size_t rank) const;

  // Splat, strided or tiled.
  Kind kind() const { return kind_; }
  // One value for all elements.
  bool is_splat() const { return kind_ == Kind::splat; }
  // Tiles, as the tensor core wants them.
  bool is_tiled() const { return kind_ == Kind::tiled; }
  // Vectors of neighbouring elements.
  bool is_strided() const { return kind_ == Kind::strided; }
  // As messages say it.
  const std::string& name() const { return name_; }

  // Empty when an array of this shape can have the layout, else why it cannot.
  std::string misfit(const Shape& shape) const;
  // A strided layout's same lanes and registers for another shape of as many elements.
  Layout with_shape(Shape shape) const;
  // How many lanes hold a vector of their own at element `e` of each lane: fewer than 128 behind the end of a
  // WG_PADDED array.
  int64_t lanes_at(int64_t e) const;
  // Elements that one lane holds of an array of this shape, and how many neighbours form a vector.
  int64_t elements(const Shape& shape) const;
  int64_t vector_length() const { return vector_; }

  // Tiled only.
  const Shape& tile() const { return tile_; }
  const std::vector<Part>& parts() const { return parts_; }
  // The part of the index of element `e` of a lane that does not depend on the lane.
  Shape element_index(const Shape& shape, int64_t e) const;
  // ... and the part that depends on it.
  Shape thread_index(const Shape& shape, int64_t thread) const;

  // The whole index of element `e` of thread `thread`, any kind.
  Shape index(const Shape& shape, int64_t thread, int64_t e) const;

  // The same layout, with a name for messages.
  Layout named(std::string name) const {
    Layout l = *this;
    l.name_ = std::move(name);
    return l;
  }

  friend bool operator==(const Layout& a, const Layout& b);

 private:
  Kind kind_ = Kind::splat;
  std::string name_;
  Shape shape_;  // strided, splat
  int64_t vector_ = 1;
  Shape tile_;  // base tile
  std::vector<Part> parts_;
};

std::string to_string(const Layout& layout);  // the name, or the parts

}  // namespace palladion::plgpu
