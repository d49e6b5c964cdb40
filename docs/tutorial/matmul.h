#pragma once
// What the steps of the tutorial share: the sizes of D = A B, tiles in SMEM, the reference.
#include <palladion/kernels/frame/reference.h>
#include <palladion/program.h>

namespace tutorial {
using namespace palladion::program;

struct Sizes {
  int64_t m = 2048, n = 2048, k = 2048;
};

// SMEM as TMA writes it and wgmma reads it: tiles of 8 rows of 128 bytes (64 f16), swizzled.
inline plgpu::SmemType tile_of(pl::Shape shape) {
  return plgpu::SMEM(std::move(shape), pl::f16,
                     {.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}});
}

inline Array reference(const Sizes&, const std::vector<Array>& inputs) {
  return palladion::kernels::matmul_reference(inputs[0], false, inputs[1], false, nullptr, pl::f16);
}

// The description of a step: A (m, k) and B (k, n), random f16; D (m, n), at most a rounding from the
// reference.
template <class Config>
Spec<Config> matmul_step(const char* name, const char* doc, plgpu::Kernel (*record)(const Config&)) {
  return Spec(name, doc, record)
      .size("m", &Config::m, "rows of A and D")
      .size("n", &Config::n, "columns of B and D")
      .size("k", &Config::k, "columns of A, rows of B")
      .arrays({"a", "b"}, {"d"})
      .reference(reference)
      .tolerance({.relative = 1e-2, .absolute = 1e-2});
}
}  // namespace tutorial
