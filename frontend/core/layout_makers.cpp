// Layouts for an instruction: operands of mma, copies between SMEM and GMEM, tcgen05.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/layout.h"
#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

// Elements of a dtype in a register of an operand of mma.sync.
int64_t mma_pack(DType dtype, int m_warps, std::string_view name) {
  if (m_warps != 1 && m_warps != 2 && m_warps != 4)
    fail(Code::bad_axis, fmt::format("{}: m_warps is {}, it must be 1, 2 or 4", name, m_warps));
  const int bits = pl::bits(dtype);
  if (dtype == DType::bool_ || (bits != 8 && bits != 16)) {
    fail(Code::mma_dtype,
         fmt::format("{} of {}: the operands of mma have 8 or 16 bits", name, pl::name(dtype)),
         "f16, bf16, e4m3, e5m2, s8 or u8");
  }
  return 32 / bits;
}

std::string mma_name(std::string_view name, DType dtype, int m_warps) {
  return fmt::format("{}({}, {})", name, pl::name(dtype), m_warps);
}

}  // namespace

Layout Layout::MMA_LHS(DType dtype, int m_warps, std::source_location loc) {
  const frontend::VerbScope at(loc);
  const int64_t pack = mma_pack(dtype, m_warps, "MMA_LHS"), half = 4 * pack;
  Layout l = TILED({{{int64_t{16} * m_warps, 2 * half}, {16, half}, {8, half}, {pack}}},
                   {-7, Replicated{4 / m_warps}}, {-3, -2}, -1);
  l.name_ = mma_name("MMA_LHS", dtype, m_warps);
  return l;
}

Layout Layout::MMA_RHS(DType dtype, int m_warps, std::source_location loc) {
  const frontend::VerbScope at(loc);
  const int64_t pack = mma_pack(dtype, m_warps, "MMA_RHS"), half = 4 * pack;
  Layout l = TILED({{{2 * half, int64_t{8} * (4 / m_warps)}, {half, 8}, {pack, 1}}},
                   {Replicated{m_warps}, -5}, {-3, -4}, -2);
  l.name_ = mma_name("MMA_RHS", dtype, m_warps);
  return l;
}

Layout Layout::MMA_ACC(DType dtype, int m_warps, std::source_location loc) {
  const frontend::VerbScope at(loc);
  mma_pack(dtype, m_warps, "MMA_ACC");
  Layout l = TILED({{{int64_t{16} * m_warps, int64_t{8} * (4 / m_warps)}, {16, 8}, {8, 8}, {2}}}, {-7, -6},
                   {-3, -2}, -1);
  l.name_ = fmt::format("MMA_ACC({})", m_warps);
  return l;
}

namespace {

struct TileCounts {
  int64_t rows = 1, columns = 1;
};

// Halves of the tiles go to neighbours, columns first, until `parts` have a share.
TileCounts share_tiles(TileCounts& left, int64_t parts) {
  TileCounts share;
  for (; parts > 1 && left.columns % 2 == 0; parts /= 2, left.columns /= 2) share.columns *= 2;
  for (; parts > 1 && left.rows % 2 == 0; parts /= 2, left.rows /= 2) share.rows *= 2;
  return share;
}

// The four warps take whole rows of tiles where they can.
TileCounts warp_tiles(TileCounts& left) {
  TileCounts warps;
  while (warps.rows < 4 && left.rows % 2 == 0) warps.rows *= 2, left.rows /= 2;
  warps.columns = 4 / warps.rows;
  if (left.columns % warps.columns != 0)
    fail(Code::layout_shape, "SMEM_GMEM_COPY: the number of tiles is not a multiple of 4, one for each warp",
         "copy tiles of which there are a multiple of 4, or use plgpu::copy_smem_to_gmem");
  left.columns /= warps.columns;
  return warps;
}

}  // namespace

Layout Layout::SMEM_GMEM_COPY(const Shape& shape, DType dtype, int64_t swizzle, std::source_location loc) {
  const frontend::VerbScope at(loc);
  const int64_t size = pl::bytes(dtype), span = swizzle / size;
  const bool known = swizzle == 16 || swizzle == 32 || swizzle == 64 || swizzle == 128;
  if (!known || shape.size() < 2 || shape[shape.size() - 2] % 8 != 0 || shape.back() % span != 0) {
    fail(Code::layout_shape,
         fmt::format("SMEM_GMEM_COPY: {} {} does not consist of tiles of 8 rows of {} bytes", pl::name(dtype),
                     pl::to_string(shape), swizzle),
         "choose a smaller swizzle, or rows and columns that are multiples of the tile");
  }
  TileCounts left{shape[shape.size() - 2] / 8, shape.back() / span};
  const TileCounts warps = warp_tiles(left);
  int64_t bytes = std::min<int64_t>(16, 8 * swizzle / warp_size);
  const TileCounts lanes = share_tiles(left, 16 / bytes);
  bytes *= lanes.rows * lanes.columns;
  if (bytes < size)
    fail(Code::unsupported_dtype,
         fmt::format("SMEM_GMEM_COPY of {} with a swizzle of {}", pl::name(dtype), swizzle));
  const int64_t vector = bytes / size;
  const int64_t rows_at_once = std::min<int64_t>(8, warp_size * vector / span);
  Layout l = TILED({{{warps.rows * lanes.rows * 8, warps.columns * lanes.columns * span},
                     {lanes.rows * 8, lanes.columns * span},
                     {8, span},
                     {rows_at_once, span},
                     {vector}}},
                   {-9, -8}, {-7, -6, -3, -2}, -1);
  l.name_ = fmt::format("SMEM_GMEM_COPY({}, {}, {})", pl::to_string(shape), pl::name(dtype), swizzle);
  return l;
}

NativeTensorLayout::operator Layout() const { return (*this)(2); }
Layout NativeTensorLayout::operator()(int vec_size, std::source_location loc) const {
  const frontend::VerbScope at(loc);
  if (vec_size < 1)
    fail(Code::layout_shape,
         fmt::format("TCGEN05_TMEM_NATIVE({}): a vector has at least one element", vec_size));
  return Layout::TILED({{{128, vec_size}, {32, vec_size}}}, {-4}, {-2}, -1)
      .named(fmt::format("TCGEN05_TMEM_NATIVE({})", vec_size));
}

namespace {
void check_m64_columns(const char* name, int64_t columns) {
  if (columns < 16 || columns % 16 != 0)
    fail(Code::layout_shape, fmt::format("{}({}): the columns must be a multiple of 16", name, columns));
}
}  // namespace

Layout Layout::TCGEN05_M64_COLLECTIVE(int64_t columns, std::source_location loc) {
  const frontend::VerbScope at(loc);
  check_m64_columns("TCGEN05_M64_COLLECTIVE", columns);
  return Layout::TILED({{{64, columns}, {32, columns / 2}, {8, 8}, {2}}}, {-6, -7}, {-3, -2}, -1)
      .named(fmt::format("TCGEN05_M64_COLLECTIVE({})", columns));
}

Layout Layout::TCGEN05_M64_COLLECTIVE_NATIVE(int64_t columns, int packing, std::source_location loc) {
  const frontend::VerbScope at(loc);
  check_m64_columns("TCGEN05_M64_COLLECTIVE_NATIVE", columns);
  if (packing != 1 && packing != 2)
    fail(Code::layout_shape,
         fmt::format("TCGEN05_M64_COLLECTIVE_NATIVE({}, {}): packing is 1 or 2", columns, packing));
  return Layout::TILED({{{64, columns}, {32, columns / 2}, {packing}}}, {-4, -5}, {-3}, -1)
      .named(fmt::format("TCGEN05_M64_COLLECTIVE_NATIVE({}, {})", columns, packing));
}

}  // namespace palladion::plgpu
