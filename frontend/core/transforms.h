#pragma once
// How an SMEM array lies in memory (Pallas' transforms): tiles, then a swizzle of byte addresses.
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/core/errors.h"
#include "frontend/core/types.h"
#include "isa/formats/swizzle.h"

namespace palladion::plgpu {

// (..., M, N) -> (..., M/x, N/y, x, y), tiles row-major.
struct TilingTransform {
  std::vector<int64_t> tiling;  // sizes of a tile's dimensions, the last ones of the array
  TilingTransform(std::initializer_list<int64_t> t) : tiling(t) {}
  explicit TilingTransform(std::vector<int64_t> t) : tiling(std::move(t)) {}
};

// 32, 64 or 128 bytes; 16 is no swizzle.
struct SwizzleTransform {
  int64_t swizzle = 128;  // bytes: 128, 64 or 32; 16 is none
  explicit SwizzleTransform(int64_t s) : swizzle(s) {}
};

using Transform =
    std::variant<TilingTransform, SwizzleTransform>;  // one change of the order of bytes in SMEM
using Transforms = std::vector<Transform>;            // applied one after the other, the last one innermost

// The largest swizzle (bytes) whose span divides a minor dimension of so many bits.
int64_t find_swizzle(int64_t minor_dim_bits, std::string_view what = "",
                     std::source_location loc = std::source_location::current());

// Byte layout of an array: along each dimension, index i lies at i / tile * outer + i % tile * inner. Where
// elements share a byte, an index of the minor dimension is that of a byte (Ref::as_bytes).
struct PhysicalLayout {
  struct Dim {                               // one dimension: index i lies in tile i / tile
    int64_t tile = 1, outer = 0, inner = 0;  // bytes
    // Bytes from the start of the dimension to index i.
    int64_t offset(int64_t i) const { return i / tile * outer + i % tile * inner; }
  };
  std::vector<Dim> dims;      // outermost first
  int64_t swizzle = 16;       // bytes; 16 is none
  int64_t bytes = 0;          // of the whole array
  bool tiled() const;         // some dimension is split into tiles
  isa::Swizzle mode() const;  // as tensor maps and descriptors name it
};

// Errors name the transform and the rule.
PhysicalLayout physical_layout(const pl::ShapeDtype& type, const Transforms& transforms,
                               const std::source_location& loc);

}  // namespace palladion::plgpu
