// Step 0: one warpgroup fetches, multiplies and stores. The pipeline's slots are released one step late,
// because the product of a step is awaited in the next.
#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_basic(const MatmulConfig& c) {
  check("blackwell_matmul_basic", c, 1);
  plgpu::KernelOptions o;
  o.in_types = matmul_inputs(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {{"acc", plgpu::TMEM({c.tile_m, c.tile_n}, pl::f32)},
                     {"out_smem", tiled_smem({c.tile_m, c.tile_n}, c.out_dtype)},
                     {"consumed", tensor_barrier(2)}};
  o.grid = {c.m / c.tile_m, c.n / c.tile_n};
  o.grid_names = {"m", "n"};
  o.name = "blackwell_matmul_basic";
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Ref& acc = s["acc"];
        const BarrierRef& consumed = s.barrier("consumed");
        const pl::Scalar mi = pl::axis_index("m"), ni = pl::axis_index("n");

        plgpu::barrier_arrive(consumed.at(1));  // so that the first step's wait succeeds
        plgpu::emit_pipeline(
            [&](const pl::Indices& step, const Ref& a_tile, const Ref& b_tile) {
              const pl::Scalar mine = step[0] % 2;
              plgpu::tcgen05_mma(acc, a_tile, b_tile, consumed.at(mine), {.accumulate = step[0] > 0});
              plgpu::barrier_wait(consumed.at(1 - mine));
            },
            {.grid = {c.steps()},
             .in_specs = {plgpu::BlockSpec(
                              {c.tile_m, c.tile_k},
                              [&](const pl::Indices& i) { return pl::Indices{mi, i[0]}; },
                              {.transforms = wgmma_tiles(c.dtype, c.tile_k), .delay_release = 1}),
                          plgpu::BlockSpec(
                              {c.tile_k, c.tile_n},
                              [&](const pl::Indices& i) { return pl::Indices{i[0], ni}; },
                              {.transforms = wgmma_tiles(c.dtype, c.tile_n), .delay_release = 1})},
             .max_concurrent_steps = c.stages})(a, b);

        plgpu::barrier_wait(consumed.at((c.steps() - 1) % 2));
        const Ref& out_smem = s["out_smem"];
        out_smem.store(plgpu::async_load_tmem(acc).astype(c.out_dtype));
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(out_smem,
                                 out.at(pl::ds(mi * c.tile_m, c.tile_m), pl::ds(ni * c.tile_n, c.tile_n)));
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
