#pragma once
// What the kernels of D = A B share.
#include <source_location>
#include <string>

#include "kernels/frame/helpers.h"

namespace palladion::kernels {

// The members that every product's configuration has, from the sizes and settings of the same names.
template <class Config>
Config matmul_config(const Choice& choice) {
  Config c;
  c.m = choice.size("m");
  c.n = choice.size("n");
  c.k = choice.size("k");
  c.dtype = choice.dtype("dtype");
  if constexpr (requires { c.out_dtype; }) c.out_dtype = choice.dtype("out_dtype");
  c.tile_m = choice.number("tile_m");
  c.tile_n = choice.number("tile_n");
  c.tile_k = choice.number("tile_k");
  c.stages = choice.number("stages");
  return c;
}

// The types of A (m, k) and B (k, n).
template <class Config>
std::vector<pl::ShapeDtype> matmul_inputs(const Config& c) {
  return {{c.dtype, {c.m, c.k}}, {c.dtype, {c.k, c.n}}};
}

// Tiles must divide the shapes.
template <class Config>
void require_tiles(const Rules& rules, const Config& c) {
  rules.multiple("m", c.m, "tile_m", c.tile_m);
  rules.multiple("n", c.n, "tile_n", c.tile_n);
  rules.multiple("k", c.k, "tile_k", c.tile_k);
}

// What wgmma requires of operands in SMEM whose rows have `minor` elements: tiles of 8 rows, and the widest
// swizzle that the rows allow.
plgpu::Transforms wgmma_tiles(pl::DType dtype, int64_t minor,
                              std::source_location loc = std::source_location::current());
// SMEM with these transforms.
plgpu::SmemType tiled_smem(pl::Shape shape, pl::DType dtype,
                           std::source_location loc = std::source_location::current());

// Scratch of a product that fetches `stages` tiles of A and B ahead: "a", "b", the kernel's own, and
// "loaded", a barrier a stage.
template <class Config>
std::vector<plgpu::NamedScratch> matmul_scratch(const Config& c, plgpu::NamedScratch own,
                                                std::source_location loc = std::source_location::current()) {
  return {{"a", tiled_smem({c.stages, c.tile_m, c.tile_k}, c.dtype, loc)},
          {"b", tiled_smem({c.stages, c.tile_k, c.tile_n}, c.dtype, loc)},
          std::move(own),
          {"loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}}, loc)}};
}

// The spec of a product A (m, k) times B (k, n) into D (m, n), without settings and build. D has the dtype of
// the setting `out_dtype`, f32 where there is none.
KernelSpec matmul_spec(std::string name, std::string doc, int64_t mn = 4096, int64_t k = 4096);

}  // namespace palladion::kernels
