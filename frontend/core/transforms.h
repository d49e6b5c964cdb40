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
  std::vector<int64_t> tiling;
  TilingTransform(std::initializer_list<int64_t> t) : tiling(t) {}
  explicit TilingTransform(std::vector<int64_t> t) : tiling(std::move(t)) {}
};

// 32, 64 or 128 bytes; 16 is no swizzle.
struct SwizzleTransform {
  int64_t swizzle = 128;
  explicit SwizzleTransform(int64_t s) : swizzle(s) {}
};

using Transform = std::variant<TilingTransform, SwizzleTransform>;
using Transforms = std::vector<Transform>;

// The largest swizzle (bytes) whose span divides a minor dimension of so many bits.
int64_t find_swizzle(int64_t minor_dim_bits, std::string_view what = "",
                     std::source_location loc = std::source_location::current());

// Byte layout of an array: along each dimension, index i lies at i / tile * outer + i % tile * inner. Where
// elements share a byte, an index of the minor dimension is that of a byte (Ref::as_bytes).
struct PhysicalLayout {
  struct Dim {
    int64_t tile = 1, outer = 0, inner = 0;  // bytes
    int64_t offset(int64_t i) const { return i / tile * outer + i % tile * inner; }
  };
  std::vector<Dim> dims;
  int64_t swizzle = 16;
  int64_t bytes = 0;
  bool tiled() const;
  isa::Swizzle mode() const;
};

// Errors name the transform and the rule.
PhysicalLayout physical_layout(const pl::ShapeDtype& type, const Transforms& transforms,
                               const std::source_location& loc);

}  // namespace palladion::plgpu
