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
  const frontend::VerbScope at(loc);
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

Layout Layout::WG_SPLAT(Shape shape) {
  Layout l;
  l.kind_ = Kind::splat;
  l.name_ = "WG_SPLAT";
  l.shape_ = std::move(shape);
  return l;
}

Layout Layout::WG_STRIDED(Shape shape, int vec_size, std::source_location loc) {
  const frontend::VerbScope at(loc);
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
  const frontend::VerbScope at(loc);
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

Layout Layout::with_new_axis(size_t dim, size_t rank) const {
  Layout l = *this;
  if (kind_ != Kind::tiled || dim <= rank - tile_.size()) return l;
  const size_t at = dim - (rank - tile_.size());
  l.tile_.insert(l.tile_.begin() + static_cast<std::ptrdiff_t>(at), 1);
  for (Part& p : l.parts_) p.dim += static_cast<int>(static_cast<size_t>(p.dim) >= at);
  l.name_ += ".newaxis";
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
