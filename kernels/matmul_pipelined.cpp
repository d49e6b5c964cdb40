#include "kernels/matmul_pipelined.h"

#include <fmt/format.h>

#include "isa/core/diagnostic.h"
#include "kernels/reference.h"
#include "kernels/specs.h"

namespace palladion::kernels {
namespace {

using pl::ds;
using pl::Scalar;
using plgpu::BarrierRef;
using plgpu::Ref;

void check(const MatmulPipelined& c) {
  const auto divides = [](const char* name, int64_t size, int64_t tile) {
    if (tile > 0 && size % tile == 0) return;
    throw isa::Error(isa::Diagnostic{
        .code = "PLD5001",
        .message =
            fmt::format("matmul_pipelined: {}={} must be a multiple of tile_{}={}", name, size, name, tile)});
  };
  divides("m", c.m, c.tile_m);
  divides("n", c.n, c.tile_n);
  divides("k", c.k, c.tile_k);
  if (c.stages < 2)
    throw isa::Error(
        isa::Diagnostic{.code = "PLD5001", .message = "matmul_pipelined: stages must be at least 2"});
}

plgpu::AllocationOptions tiled(pl::DType dtype, int64_t minor) {
  const int64_t swizzle = plgpu::find_swizzle(minor * pl::bits(dtype));
  return {.transforms = {plgpu::TilingTransform({8, swizzle * 8 / pl::bits(dtype)}),
                         plgpu::SwizzleTransform(swizzle)}};
}

struct Body {
  const MatmulPipelined& c;
  Ref a, b, out, a_smem, b_smem, out_smem;
  BarrierRef loaded;

  int64_t steps() const { return c.k / c.tile_k; }

  void run() const {
    const auto [mi, ni] =
        plgpu::planar_snake(pl::axis_index("tile"), {c.m / c.tile_m, c.n / c.tile_n}, 1, c.band);
    const Scalar row = mi * c.tile_m, column = ni * c.tile_n;
    const auto fetch = [&](const Scalar& step, const Scalar& slot) {
      const auto depth = ds(step * c.tile_k, c.tile_k);
      plgpu::copy_gmem_to_smem(a.at(ds(row, c.tile_m), depth), a_smem.at(slot), loaded.at(slot));
      plgpu::copy_gmem_to_smem(b.at(depth, ds(column, c.tile_n)), b_smem.at(slot), loaded.at(slot));
    };
    for (int64_t s = 0; s < std::min(c.stages, steps()); ++s) fetch(s, s);
    out_smem.store(multiply(fetch).astype(c.out_dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(out_smem, out.at(ds(row, c.tile_m), ds(column, c.tile_n)));
    plgpu::wait_smem_to_gmem(0);
  }

  template <class Fetch>
  plgpu::Array multiply(const Fetch& fetch) const {
    return pl::run_scoped(
        [&](const Ref& acc) {
          pl::fori_loop(0, steps(), [&](const Scalar& step) {
            const Scalar slot = step % c.stages;
            plgpu::barrier_wait(loaded.at(slot));
            plgpu::wgmma(acc, a_smem.at(slot), b_smem.at(slot));
            // The product before this one is done, and with it the slot that it read.
            const Scalar next = step + (c.stages - 1);
            pl::when(step > 0 && next < steps(), [&] {
              plgpu::commit_smem();  // in all four warps: each waits for its own rows only, B is read by all
              fetch(next, next % c.stages);
            });
          });
          return acc.load();
        },
        plgpu::ACC({c.tile_m, c.tile_n}, pl::f32));
  }
};

MatmulPipelined config_of(const Choice& choice) {
  MatmulPipelined c;
  c.m = choice.size("m");
  c.n = choice.size("n");
  c.k = choice.size("k");
  c.dtype = choice.dtype("dtype");
  c.out_dtype = choice.dtype("out_dtype");
  c.tile_m = choice.number("tile_m");
  c.tile_n = choice.number("tile_n");
  c.tile_k = choice.number("tile_k");
  c.stages = choice.number("stages");
  c.band = choice.number("band");
  return c;
}

}  // namespace

plgpu::Kernel matmul_pipelined(const MatmulPipelined& c) {
  check(c);
  plgpu::KernelOptions o;
  o.in_types = {{c.dtype, {c.m, c.k}}, {c.dtype, {c.k, c.n}}};
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {{"a", plgpu::SMEM({c.stages, c.tile_m, c.tile_k}, c.dtype, tiled(c.dtype, c.tile_k))},
                     {"b", plgpu::SMEM({c.stages, c.tile_k, c.tile_n}, c.dtype, tiled(c.dtype, c.tile_n))},
                     {"out", plgpu::SMEM({c.tile_m, c.tile_n}, c.out_dtype, tiled(c.out_dtype, c.tile_n))},
                     {"loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})}};
  o.grid = {c.m / c.tile_m * (c.n / c.tile_n)};
  o.grid_names = {"tile"};
  o.name = "matmul_pipelined";
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Body{.c = c,
             .a = a,
             .b = b,
             .out = out,
             .a_smem = s["a"],
             .b_smem = s["b"],
             .out_smem = s["out"],
             .loaded = s.barrier("loaded")}
            .run();
      },
      o);
}

KernelSpec matmul_pipelined_spec() {
  KernelSpec spec;
  spec.name = "matmul_pipelined";
  spec.doc = "D = A B by one warpgroup: several stages, slots refilled one step late";
  spec.sizes = {{"m", 4096, "rows of A and D"},
                {"n", 4096, "columns of B and D"},
                {"k", 4096, "columns of A, rows of B"}};
  spec.settings = {{"dtype", "f16", "of A and B", {"f16", "bf16"}},
                   {"out_dtype", "f16", "of D", {"f16", "bf16", "f32"}},
                   {"tile_m", "128", "rows of a CTA's tile", {}},
                   {"tile_n", "128", "columns of a CTA's tile", {}},
                   {"tile_k", "64", "depth of a stage", {}},
                   {"stages", "4", "tiles of A and B on their way", {}},
                   {"band", "8", "tiles of n in a band of the snake order", {}}};
  spec.inputs = {"a", "b"};
  spec.outputs = {"d"};
  spec.build = [](const Choice& choice) { return matmul_pipelined(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    const MatmulPipelined c = config_of(choice);
    return std::vector<Array>{
        filled({c.dtype, {c.m, c.k}}, {.kind = Fill::Kind::randn, .seed = 2 * seed}),
        filled({c.dtype, {c.k, c.n}}, {.kind = Fill::Kind::randn, .seed = 2 * seed + 1})};
  };
  spec.reference = [](const Choice& choice, const std::vector<Array>& inputs) {
    return std::vector<Array>{
        matmul_reference(inputs[0], false, inputs[1], false, nullptr, choice.dtype("out_dtype"))};
  };
  spec.tolerance = [](const Choice& choice) {
    return matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"), choice.size("k"));
  };
  return spec;
}

}  // namespace palladion::kernels
