#include "kernels/blackwell/matmul.h"

#include "kernels/frame/helpers.h"

namespace palladion::kernels::blackwell {

void check(const char* kernel, const MatmulConfig& c, int64_t ctas) {
  const Rules rules(kernel);
  const bool pair = ctas == 2;
  rules.multiple("m", c.m, pair ? "2 * tile_m" : "tile_m", c.tile_m * ctas);
  rules.multiple("n", c.n, pair ? "2 * tile_n" : "tile_n", c.tile_n * ctas);
  rules.multiple("k", c.k, "tile_k", c.tile_k);
  rules.at_least("stages", c.stages, 2);
  rules.multiple(pair ? "2 * tile_n" : "tile_n", c.tile_n * ctas, "epilogue_tile_n", c.epilogue_tile_n);
}

plgpu::BarrierType tensor_barrier(int64_t count, std::source_location loc) {
  return plgpu::Barrier({.num_barriers = {count}, .orders_tensor_core = true}, loc);
}

plgpu::BarrierType pair_barrier(int64_t count, std::source_location loc) {
  return plgpu::ClusterBarrier(
      {.collective_axes = {"cluster"}, .num_barriers = {count}, .orders_tensor_core = true}, loc);
}

plgpu::KernelOptions options_of(const char* kernel, const MatmulConfig& c, pl::Shape acc_shape,
                                pl::Shape out_shape, int64_t ctas) {
  plgpu::KernelOptions o;
  o.in_types = matmul_inputs(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {
      {"a_smem", tiled_smem({c.stages, c.tile_m, c.tile_k}, c.dtype)},
      {"b_smem", tiled_smem({c.stages, c.tile_k, c.tile_n}, c.dtype)},
      {"acc", plgpu::TMEM(std::move(acc_shape), c.acc_dtype(), {.collective = ctas == 2})},
      {"out_smem", tiled_smem(std::move(out_shape), c.out_dtype)},
      {"loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
      {"consumed", tensor_barrier(c.stages)},
      {"done", tensor_barrier(1)},
  };
  if (ctas == 2) {
    o.cluster = {2};
    o.cluster_names = {"cluster"};
  }
  o.name = kernel;
  return o;
}

Operands operands_of(const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
  return {.a = a,
          .b = b,
          .out = out,
          .a_smem = s["a_smem"],
          .b_smem = s["b_smem"],
          .acc = s["acc"],
          .out_smem = s["out_smem"],
          .loaded = s.barrier("loaded"),
          .consumed = s.barrier("consumed"),
          .done = s.barrier("done")};
}

void store_tiles(const MatmulConfig& c, const Ref& acc, const Ref& out_smem, const Ref& window) {
  for (int64_t i = 0; i < acc.shape(1) / c.epilogue_tile_n; ++i) {
    const auto columns = pl::ds(i * c.epilogue_tile_n, c.epilogue_tile_n);
    const Ref slot = out_smem.at(i % 2);
    plgpu::wait_smem_to_gmem(1, true);  // the copy out of this slot, two parts ago, has read it
    slot.store(plgpu::async_load_tmem(acc.at(pl::all, columns)).astype(c.out_dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(slot, window.at(pl::all, columns));
  }
}

}  // namespace palladion::kernels::blackwell
