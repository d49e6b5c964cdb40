#pragma once
// Operands of tcgen05.mma in shared memory.
#include "frontend/plgpu.h"

namespace palladion::test_scales {

inline const isa::ArchSpec& b200() { return *isa::find_arch("b200"); }

inline plgpu::SmemType operand(pl::Shape shape, pl::DType dtype, int64_t swizzle = 128) {
  plgpu::Transforms tiles = {plgpu::TilingTransform({8, swizzle * 8 / pl::bits(dtype)}),
                             plgpu::SwizzleTransform(swizzle)};
  return plgpu::SMEM(std::move(shape), dtype, {.transforms = std::move(tiles)});
}

}  // namespace palladion::test_scales
