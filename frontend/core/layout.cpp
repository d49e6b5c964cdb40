#include "frontend/core/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {
namespace {

using Part = Layout::Part;

struct TiledDim {
  int dim;
  int64_t stride, size;
};

// Applies the tilings one after another to the trailing dimensions.
std::vector<TiledDim> tile_dims(const Tiling& tiling) {
  const auto& base = tiling.tiles.front();
  std::vector<TiledDim> dims;
  for (size_t d = 0; d < base.size(); ++d) dims.push_back({static_cast<int>(d), 1, base[d]});
  for (size_t t = 1; t < tiling.tiles.size(); ++t) {
    const auto& tile = tiling.tiles[t];
    if (tile.size() > dims.size())
      fail(Code::bad_transform, "a layout's tile has more dimensions than what it cuts");
    std::vector<TiledDim> outer, inner;
    const size_t first = dims.size() - tile.size();
    for (size_t i = 0; i < tile.size(); ++i) {
      const TiledDim& d = dims[first + i];
      if (d.size % tile[i] != 0) {
        fail(Code::bad_transform,
             fmt::format("a layout's tile of {} does not divide the {} that it cuts", tile[i], d.size));
      }
      outer.push_back({d.dim, d.stride * tile[i], d.size / tile[i]});
      inner.push_back({d.dim, d.stride, tile[i]});
    }
    dims.resize(first);
    dims.insert(dims.end(), outer.begin(), outer.end());
    dims.insert(dims.end(), inner.begin(), inner.end());
  }
  return dims;
}

// Marks the dimensions that follow bits of the thread number, last fastest.
void assign_threads(const std::vector<LayoutDim>& which, std::vector<Part>& parts, int64_t first_place,
                    int64_t expected, const char* what) {
  int64_t place = first_place;
  for (size_t i = which.size(); i-- > 0;) {
    if (const auto* r = std::get_if<Replicated>(&which[i])) {
      place *= r->times;
      continue;
    }
    const int at = std::get<int>(which[i]) + static_cast<int>(parts.size());
    if (at < 0 || at >= static_cast<int>(parts.size())) {
      fail(Code::bad_axis,
           fmt::format("{} dimension {} does not exist in the tiled shape", what, std::get<int>(which[i])));
    }
    Part& p = parts[static_cast<size_t>(at)];
    p.role = Part::Role::thread;
    p.place = place;
    place *= p.size;
  }
  if (place != first_place * expected) {
    fail(Code::bad_axis,
         fmt::format("the {} dimensions cover {} of {} {}s", what, place / first_place, expected, what));
  }
}

}  // namespace

Layout Layout::TILED(Tiling tiling, std::vector<LayoutDim> warp_dims, std::vector<LayoutDim> lane_dims,
                     int vector_dim, std::source_location loc) {
  const frontend::At at(loc);
  if (tiling.tiles.empty() || tiling.tiles.front().empty())
    fail(Code::bad_transform, "a tiled layout needs a tile");
  for (const auto& tile : tiling.tiles)
    for (const int64_t size : tile)
      if (size <= 0) fail(Code::bad_transform, fmt::format("a tile of {} is not positive", size));
  Layout l;
  l.kind_ = Kind::tiled;
  l.tile_ = tiling.tiles.front();
  const auto dims = tile_dims(tiling);
  std::vector<Part> parts;
  for (const TiledDim& d : dims) parts.push_back({d.dim, d.stride, d.size, Part::Role::reg, 0});
  assign_threads(warp_dims, parts, warp_size, warpgroup_size / warp_size, "warp");
  assign_threads(lane_dims, parts, 1, warp_size, "lane");
  const int v = vector_dim + static_cast<int>(parts.size());
  if (vector_dim >= 0 || v < 0)
    fail(Code::bad_axis, "vector_dim must be negative and name a dimension of the tiled shape");
  parts[static_cast<size_t>(v)].role = Part::Role::vector;
  l.vector_ = parts[static_cast<size_t>(v)].size;
  std::erase_if(parts, [](const Part& p) { return p.size == 1; });
  std::ranges::stable_partition(parts, [](const Part& p) { return p.role != Part::Role::vector; });
  l.parts_ = std::move(parts);
  l.name_ = "TILED";
  return l;
}

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
  const frontend::At at(loc);
  const int64_t pack = mma_pack(dtype, m_warps, "MMA_LHS"), half = 4 * pack;
  Layout l = TILED({{{int64_t{16} * m_warps, 2 * half}, {16, half}, {8, half}, {pack}}},
                   {-7, Replicated{4 / m_warps}}, {-3, -2}, -1);
  l.name_ = mma_name("MMA_LHS", dtype, m_warps);
  return l;
}

Layout Layout::MMA_RHS(DType dtype, int m_warps, std::source_location loc) {
  const frontend::At at(loc);
  const int64_t pack = mma_pack(dtype, m_warps, "MMA_RHS"), half = 4 * pack;
  Layout l = TILED({{{2 * half, int64_t{8} * (4 / m_warps)}, {half, 8}, {pack, 1}}},
                   {Replicated{m_warps}, -5}, {-3, -4}, -2);
  l.name_ = mma_name("MMA_RHS", dtype, m_warps);
  return l;
}

Layout Layout::MMA_ACC(DType dtype, int m_warps, std::source_location loc) {
  const frontend::At at(loc);
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
  const frontend::At at(loc);
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

Layout Layout::WG_SPLAT(Shape shape) {
  Layout l;
  l.kind_ = Kind::splat;
  l.name_ = "WG_SPLAT";
  l.shape_ = std::move(shape);
  return l;
}

Layout Layout::WG_STRIDED(Shape shape, int vec_size, std::source_location loc) {
  const frontend::At at(loc);
  Layout l;
  l.kind_ = Kind::strided;
  l.name_ = fmt::format("WG_STRIDED({}, {})", pl::to_string(shape), vec_size);
  l.shape_ = std::move(shape);
  l.vector_ = vec_size;
  if (vec_size < 1 || pl::volume(l.shape_) % (warpgroup_size * vec_size) != 0) {
    fail(Code::layout_shape,
         fmt::format("WG_STRIDED: the {} elements of {} do not spread evenly over 128 lanes in vectors of {}",
                     pl::volume(l.shape_), pl::to_string(l.shape_), vec_size),
         "prod(shape) must be a multiple of 128 * vec_size");
  }
  return l;
}

Layout Layout::WG_PADDED(Shape shape, int vec_size, std::source_location loc) {
  const frontend::At at(loc);
  Layout l;
  l.kind_ = Kind::strided;
  l.shape_ = std::move(shape);
  l.vector_ = vec_size;
  const int64_t n = pl::volume(l.shape_);
  if (vec_size < 1 || n < 1 || n % vec_size != 0) {
    fail(Code::layout_shape,
         fmt::format("WG_PADDED: the {} elements of {} are no vectors of {}", n, pl::to_string(l.shape_),
                     vec_size),
         "use vec_size 1, or pad the array to a multiple of vec_size");
  }
  l.name_ = fmt::format("{}({}, {})", n % (warpgroup_size * vec_size) == 0 ? "WG_STRIDED" : "WG_PADDED",
                        pl::to_string(l.shape_), vec_size);
  return l;
}

Layout Layout::with_shape(Shape shape) const {
  return WG_PADDED(std::move(shape), static_cast<int>(vector_));
}

int64_t Layout::lanes_at(int64_t e) const {
  if (kind_ != Kind::strided) return warpgroup_size;
  return std::min(warpgroup_size, pl::volume(shape_) / vector_ - e / vector_ * warpgroup_size);
}

const Layout Layout::WGMMA = Layout::TILED({{{64, 8}, {16, 8}, {8, 8}, {2}}}, {-7}, {-3, -2}, -1);
const Layout Layout::WGMMA_8BIT = Layout::TILED({{{64, 16}, {16, 16}, {8, 16}, {4}}}, {-7}, {-3, -2}, -1);
const Layout Layout::WGMMA_UPCAST_2X =
    Layout::TILED({{{64, 16}, {16, 16}, {8, 16}, {8}, {4}}}, {-8}, {-4, -2, -3}, -1);
const Layout Layout::WGMMA_UPCAST_4X =
    Layout::TILED({{{64, 32}, {16, 32}, {8, 32}, {8}}}, {-7}, {-3, -2}, -1);
const Layout Layout::WGMMA_TRANSPOSED =
    Layout::TILED({{{64, 8}, {16, 8}, {8, 8}, {2, 2}, {2, 1}}}, {-10}, {-6, -3, -5}, -2);

const Layout Layout::TCGEN05 = Layout::TILED({{{128, 8}, {32, 8}, {8, 8}, {2}}}, {-7}, {-3, -2}, -1);

const Layout Layout::TMA_INDICES = Layout::TILED({{{16}, {4}}}, {-2}, {Replicated{32}}, -1);
const Layout Layout::TMA_INDICES_4 = Layout::TILED({{{4}}}, {Replicated{4}}, {Replicated{32}}, -1);
const Layout& Layout::TMA_GATHER_INDICES = Layout::TMA_INDICES;

NativeTensorLayout::operator Layout() const { return (*this)(2); }
Layout NativeTensorLayout::operator()(int vec_size, std::source_location loc) const {
  const frontend::At at(loc);
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
  const frontend::At at(loc);
  check_m64_columns("TCGEN05_M64_COLLECTIVE", columns);
  return Layout::TILED({{{64, columns}, {32, columns / 2}, {8, 8}, {2}}}, {-6, -7}, {-3, -2}, -1)
      .named(fmt::format("TCGEN05_M64_COLLECTIVE({})", columns));
}

Layout Layout::TCGEN05_M64_COLLECTIVE_NATIVE(int64_t columns, int packing, std::source_location loc) {
  const frontend::At at(loc);
  check_m64_columns("TCGEN05_M64_COLLECTIVE_NATIVE", columns);
  if (packing != 1 && packing != 2)
    fail(Code::layout_shape,
         fmt::format("TCGEN05_M64_COLLECTIVE_NATIVE({}, {}): packing is 1 or 2", columns, packing));
  return Layout::TILED({{{64, columns}, {32, columns / 2}, {packing}}}, {-4, -5}, {-3}, -1)
      .named(fmt::format("TCGEN05_M64_COLLECTIVE_NATIVE({}, {})", columns, packing));
}

Layout Layout::reduce(const std::vector<int>& axes, std::source_location loc) const {
  if (kind_ == Kind::splat) return *this;
  if (kind_ == Kind::strided)
    fail(Code::layout_mismatch, "only tiled layouts can be reduced, this is " + name_,
         frontend::author_line(loc));
  const int rank = static_cast<int>(tile_.size());
  std::vector<bool> gone(tile_.size());
  for (int axis : axes) {
    const int a = axis < 0 ? axis + rank : axis;
    if (a < 0 || a >= rank)
      fail(Code::bad_axis, fmt::format("layout {} has no dimension {}", to_string(*this), axis),
           frontend::author_line(loc), "dimensions count from 0");
    gone[static_cast<size_t>(a)] = true;
  }
  Layout l = *this;
  l.tile_.clear();
  std::vector<int> renumbered(tile_.size(), -1);
  for (size_t d = 0; d < tile_.size(); ++d) {
    if (gone[d]) continue;
    renumbered[d] = static_cast<int>(l.tile_.size());
    l.tile_.push_back(tile_[d]);
  }
  std::erase_if(l.parts_, [&](const Part& p) { return gone[static_cast<size_t>(p.dim)]; });
  l.vector_ = 1;
  for (Part& p : l.parts_) {
    p.dim = renumbered[static_cast<size_t>(p.dim)];
    if (p.role == Part::Role::vector) l.vector_ = p.size;
  }
  l.name_ = name_ + ".reduce";
  return l;
}

std::string Layout::misfit(const Shape& shape) const {
  if (kind_ == Kind::splat) return {};
  if (kind_ == Kind::strided) {
    if (pl::volume(shape) == pl::volume(shape_)) return {};
    return fmt::format("{} is a layout of {} elements, the array has {}", name_, pl::volume(shape_),
                       pl::volume(shape));
  }
  if (shape.size() < tile_.size()) {
    return fmt::format("layout {} has {} dimensions, the array {} has only {}", to_string(*this),
                       tile_.size(), pl::to_string(shape), shape.size());
  }
  const size_t first = shape.size() - tile_.size();
  for (size_t d = 0; d < tile_.size(); ++d) {
    if (shape[first + d] % tile_[d] != 0) {
      return fmt::format("layout {} cuts tiles of {}, which do not divide the array {}", to_string(*this),
                         pl::to_string(tile_), pl::to_string(shape));
    }
  }
  return {};
}

namespace {
// What no thread can hold is refused before a list of its elements is made.
int64_t checked_elements(int64_t n, const Shape& shape) {
  constexpr int64_t most = int64_t{1} << 14;
  if (n > most)
    fail(Code::bad_registers,
         fmt::format("an array {} has {} elements in each lane: more than registers hold",
                     pl::to_string(shape), n),
         "work on smaller tiles: slice the reference, loop over blocks");
  return n;
}
}  // namespace

int64_t Layout::elements(const Shape& shape) const {
  if (kind_ == Kind::splat) return 1;
  if (kind_ == Kind::strided)
    return checked_elements(pl::cdiv(pl::volume(shape), warpgroup_size * vector_) * vector_, shape);
  int64_t n = pl::volume(shape) / pl::volume(tile_);
  for (const Part& p : parts_)
    if (p.role != Part::Role::thread) n *= p.size;
  return checked_elements(n, shape);
}

Shape Layout::element_index(const Shape& shape, int64_t e) const {
  Shape index(shape.size(), 0);
  const size_t first = shape.size() - tile_.size();
  for (size_t i = parts_.size(); i-- > 0;) {
    const Part& p = parts_[i];
    if (p.role == Part::Role::thread) continue;
    index[first + static_cast<size_t>(p.dim)] += e % p.size * p.stride;
    e /= p.size;
  }
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t tile = d >= first ? tile_[d - first] : 1;
    const int64_t tiles = shape[d] / tile;
    index[d] += e % tiles * tile;
    e /= tiles;
  }
  return index;
}

Shape Layout::thread_index(const Shape& shape, int64_t thread) const {
  Shape index(shape.size(), 0);
  const size_t first = shape.size() - tile_.size();
  for (const Part& p : parts_) {
    if (p.role == Part::Role::thread)
      index[first + static_cast<size_t>(p.dim)] += thread / p.place % p.size * p.stride;
  }
  return index;
}

Shape Layout::index(const Shape& shape, int64_t thread, int64_t e) const {
  if (kind_ == Kind::tiled) {
    Shape a = element_index(shape, e);
    const Shape b = thread_index(shape, thread);
    for (size_t d = 0; d < a.size(); ++d) a[d] += b[d];
    return a;
  }
  Shape index(shape.size(), 0);
  if (kind_ == Kind::splat) return index;
  const int64_t own = std::min(thread, lanes_at(e) - 1);
  int64_t flat = (e / vector_ * warpgroup_size + own) * vector_ + e % vector_;
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Layout::Kind::splat:
      return true;
    case Layout::Kind::strided:
      return a.vector_ == b.vector_ && pl::volume(a.shape_) == pl::volume(b.shape_);
    case Layout::Kind::tiled:
      return a.tile_ == b.tile_ && a.parts_ == b.parts_;
  }
  return false;
}

namespace {
std::string_view well_known(const Layout& l) {
  static const std::pair<const Layout*, std::string_view> all[] = {
      {&Layout::WGMMA, "WGMMA"},
      {&Layout::WGMMA_8BIT, "WGMMA_8BIT"},
      {&Layout::WGMMA_UPCAST_2X, "WGMMA_UPCAST_2X"},
      {&Layout::WGMMA_UPCAST_4X, "WGMMA_UPCAST_4X"},
      {&Layout::WGMMA_TRANSPOSED, "WGMMA_TRANSPOSED"},
      {&Layout::TCGEN05, "TCGEN05"},
      {&Layout::TMA_INDICES, "TMA_INDICES"},
      {&Layout::TMA_INDICES_4, "TMA_INDICES_4"}};
  for (const auto& [layout, name] : all)
    if (*layout == l) return name;
  return {};
}
}  // namespace

std::string to_string(const Layout& l) {
  const std::string_view name = well_known(l);
  if (!name.empty()) return std::string(name);
  // At the author's line, which a verb of our own would move.
  for (const int axis : {1, 0})
    if (l == Layout::WGMMA.reduce(axis, frontend::last_verb())) return fmt::format("WGMMA.reduce({})", axis);
  if (!l.is_tiled() || l.name().starts_with("MMA_") || l.name().starts_with("SMEM_") ||
      l.name().starts_with("TCGEN05_"))
    return l.name();
  return fmt::format("TILED with tile {}", pl::to_string(l.tile()));
}

}  // namespace palladion::plgpu
