#include "frontend/core/transforms.h"

#include <fmt/format.h>

#include <bit>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

struct Collected {
  std::vector<int64_t> tiling;
  int64_t swizzle = 16;
};

Collected collect(const Transforms& transforms, const std::source_location& loc) {
  Collected c;
  for (const Transform& t : transforms) {
    if (const auto* tiling = std::get_if<TilingTransform>(&t)) {
      if (!c.tiling.empty()) fail(Code::bad_transform, "an array takes one TilingTransform", loc);
      if (c.swizzle != 16) fail(Code::bad_transform, "TilingTransform comes before SwizzleTransform", loc);
      c.tiling = tiling->tiling;
      continue;
    }
    c.swizzle = std::get<SwizzleTransform>(t).swizzle;
    if (c.swizzle != 16 && c.swizzle != 32 && c.swizzle != 64 && c.swizzle != 128) {
      fail(Code::bad_transform,
           fmt::format("SwizzleTransform({}): swizzles are 16 (none), 32, 64 or 128 bytes", c.swizzle), loc,
           "use SwizzleTransform(128) with TilingTransform({8, 128 / bytes of an element})");
    }
  }
  return c;
}

void check_tiling(const pl::ShapeDtype& type, const std::vector<int64_t>& tiling,
                  const std::source_location& loc) {
  if (tiling.size() > type.shape.size()) {
    fail(Code::bad_transform,
         fmt::format("TilingTransform of {} dimensions on an array {}", tiling.size(), pl::to_string(type)),
         loc);
  }
  const size_t first = type.shape.size() - tiling.size();
  for (size_t i = 0; i < tiling.size(); ++i) {
    if (tiling[i] < 1 || type.shape[first + i] % tiling[i] != 0) {
      fail(Code::bad_transform,
           fmt::format("TilingTransform({}) does not divide the array {}: dimension {} is {}, the tile {}",
                       pl::to_string(tiling), pl::to_string(type), first + i, type.shape[first + i],
                       tiling[i]),
           loc, "choose a shape whose trailing dimensions are multiples of the tile");
    }
  }
}

void check_swizzle(const pl::ShapeDtype& type, const std::vector<int64_t>& tiling, int64_t swizzle,
                   const std::source_location& loc) {
  if (swizzle == 16) return;
  const int64_t wanted = swizzle * 8 / pl::bits(type.dtype);
  const int64_t minor = !tiling.empty() ? tiling.back() : type.shape.empty() ? 1 : type.shape.back();
  if (minor != wanted) {
    fail(Code::bad_transform,
         fmt::format("Swizzle {} requires the trailing dimension to be of size {}, but it is {}", swizzle,
                     wanted, minor),
         loc, fmt::format("tile the array with TilingTransform({{8, {}}})", wanted));
  }
}

}  // namespace

int64_t find_swizzle(int64_t minor_dim_bits, std::string_view what, std::source_location loc) {
  for (int64_t s : {128, 64, 32, 16})
    if (minor_dim_bits % (s * 8) == 0) return s;
  fail(Code::bad_transform,
       fmt::format("No valid {}{}swizzle: a minor dimension of {} bits is not a multiple of 128 bits", what,
                   what.empty() ? "" : " ", minor_dim_bits),
       loc);
}

bool PhysicalLayout::tiled() const {
  for (const Dim& d : dims)
    if (d.tile != 1) return true;
  return false;
}

isa::Swizzle PhysicalLayout::mode() const {
  switch (swizzle) {
    case 32:
      return isa::Swizzle::b32;
    case 64:
      return isa::Swizzle::b64;
    case 128:
      return isa::Swizzle::b128;
    default:
      return isa::Swizzle::none;
  }
}

namespace {

// The bytes of elements that share one: the minor dimension counts bytes.
pl::ShapeDtype whole_bytes(pl::ShapeDtype type, std::vector<int64_t>& tiling,
                           const std::source_location& loc) {
  const int64_t per = pl::per_byte(type.dtype);
  if (per == 1) return type;
  if (type.shape.empty() || type.shape.back() % per != 0 || (!tiling.empty() && tiling.back() % per != 0))
    fail(Code::bad_type,
         fmt::format("{}: {} elements share a byte, they do not fill the minor dimension",
                     pl::to_string(type), per),
         loc, fmt::format("its size, and that of a tile, are multiples of {}", per));
  type.dtype = pl::u8;
  type.shape.back() /= per;
  if (!tiling.empty()) tiling.back() /= per;
  return type;
}

}  // namespace

PhysicalLayout physical_layout(const pl::ShapeDtype& elements, const Transforms& transforms,
                               const std::source_location& loc) {
  pl::volume(elements.shape);  // an Error where strides would overflow
  Collected c = collect(transforms, loc);
  check_tiling(elements, c.tiling, loc);
  check_swizzle(elements, c.tiling, c.swizzle, loc);
  const pl::ShapeDtype type = whole_bytes(elements, c.tiling, loc);
  PhysicalLayout l;
  l.swizzle = c.swizzle;
  const size_t rank = type.shape.size(), first = rank - c.tiling.size();
  l.dims.resize(rank);
  int64_t stride = pl::bytes(type.dtype);
  for (size_t i = rank; i-- > first;) {
    l.dims[i].tile = c.tiling[i - first];
    l.dims[i].inner = stride;
    stride *= l.dims[i].tile;
  }
  for (size_t i = rank; i-- > 0;) {
    l.dims[i].outer = stride;
    stride *= type.shape[i] / l.dims[i].tile;
  }
  l.bytes = stride;
  return l;
}

}  // namespace palladion::plgpu
