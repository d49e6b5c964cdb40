#include "kernels/hopper/matmul_pipelined.h"

#include "kernels/frame/specs.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels {
namespace {

void check(const MatmulPipelined& c) {
  const Rules rules("matmul_pipelined");
  require_tiles(rules, c);
  rules.at_least("stages", c.stages, 2);
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
  MatmulPipelined c = matmul_config<MatmulPipelined>(choice);
  c.band = choice.number("band");
  return c;
}

}  // namespace

plgpu::Kernel matmul_pipelined(const MatmulPipelined& c) {
  check(c);
  plgpu::KernelOptions o;
  o.in_types = matmul_inputs(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = matmul_scratch(c, {"out", tiled_smem({c.tile_m, c.tile_n}, c.out_dtype)});
  o.grid = {c.m / c.tile_m * (c.n / c.tile_n)};
  o.grid_names = {"tile"};
  o.name = "matmul_pipelined";
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Body{c, a, b, out, s["a"], s["b"], s["out"], s.barrier("loaded")}.run();
      },
      o);
}

KernelSpec matmul_pipelined_spec() {
  KernelSpec spec = matmul_spec("matmul_pipelined",
                                "D = A B by one warpgroup: several stages, slots refilled one step late");
  spec.settings = {{"dtype", "f16", "of A and B", {"f16", "bf16"}},
                   {"out_dtype", "f16", "of D", {"f16", "bf16", "f32"}},
                   {"tile_m", "128", "rows of a CTA's tile", {}},
                   {"tile_n", "128", "columns of a CTA's tile", {}},
                   {"tile_k", "64", "depth of a stage", {}},
                   {"stages", "4", "tiles of A and B on their way", {}},
                   {"band", "8", "tiles of n in a band of the snake order", {}}};
  spec.build = [](const Choice& choice) { return matmul_pipelined(config_of(choice)); };
  return spec;
}

}  // namespace palladion::kernels
