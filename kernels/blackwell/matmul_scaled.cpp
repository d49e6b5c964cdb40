#include "kernels/blackwell/matmul_scaled.h"

#include "kernels/blackwell/one_tile.h"
#include "kernels/frame/helpers.h"
#include "verify/arrays/tensor_core.h"

namespace palladion::kernels::blackwell {
namespace {

constexpr const char* cluster = "cluster";

void check(const char* kernel, const ScaledConfig& c) {
  const Rules rules(kernel);
  rules.multiple("m", c.m, "ctas * tile_m", c.ctas * c.tile_m);
  rules.multiple("n", c.n, "ctas * tile_n", c.pair_n());
  rules.multiple("k", c.k, "tile_k", c.tile_k);
  rules.multiple("tile_k", c.tile_k, "4 blocks", 4 * c.block);
  rules.require(c.pair_n() == 128 || c.pair_n() == 256, "n of a product is 128 or 256: tile_n times ctas");
  rules.at_least("stages", c.stages, 2);
  rules.multiple("ctas * tile_n", c.pair_n(), "epilogue_tile_n", c.epilogue_tile_n);
}

// Scales in shared memory of so many rows, a slot a stage.
plgpu::SmemType scale_smem(const ScaledConfig& c, int64_t rows) {
  pl::Shape shape = tiled_scale_shape(rows, c.blocks());
  shape.insert(shape.begin(), c.stages);
  return plgpu::SMEM(std::move(shape), c.scale_dtype);
}

plgpu::TmemType scale_tmem(const ScaledConfig& c, int64_t rows) {
  return plgpu::TMEM({rows, c.stages * c.blocks()}, c.scale_dtype,
                     {.collective = c.ctas == 2, .layout = plgpu::TMEMLayout::SCALES_LAYOUT});
}

OneTile tile_of(const ScaledConfig& c) {
  return {.m = c.m,
          .n = c.n,
          .out_dtype = c.out_dtype,
          .ctas = c.ctas,
          .tile_m = c.tile_m,
          .tile_n = c.tile_n,
          .epilogue_tile_n = c.epilogue_tile_n};
}

plgpu::KernelOptions options_of(const char* kernel, const ScaledConfig& c) {
  const int64_t blocks = c.k / c.block;
  plgpu::KernelOptions o;
  o.in_types = {{c.a_dtype, {c.m, c.k}},
                {c.b_dtype, {c.n, c.k}},
                {c.scale_dtype, tiled_scale_shape(c.m, blocks)},
                {c.scale_dtype, tiled_scale_shape(c.n, blocks)}};
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {
      {"a_smem", tiled_smem({c.stages, c.tile_m, c.tile_k}, c.a_dtype)},
      {"b_smem", tiled_smem({c.stages, c.tile_n, c.tile_k}, c.b_dtype)},
      {"a_scale_smem", scale_smem(c, c.tile_m)},
      {"b_scale_smem", scale_smem(c, c.pair_n())},
      {"acc", plgpu::TMEM({c.tile_m, c.pair_n()}, pl::f32, {.collective = c.ctas == 2})},
      {"a_scale", scale_tmem(c, c.tile_m)},
      {"b_scale", scale_tmem(c, c.pair_n())},
      {"out_smem", tiled_smem({2, c.tile_m, c.epilogue_tile_n}, c.out_dtype)},
      // Behind it scales overwrite those of a product that has ended: the tensor core is ordered, too.
      {"loaded", plgpu::Barrier({.num_arrivals = 4, .num_barriers = {c.stages}, .orders_tensor_core = true})},
      {"consumed", tensor_barrier(c.stages)},
      {"done", tensor_barrier(1)},
  };
  launch_tiles(tile_of(c), o);
  o.name = kernel;
  return o;
}

// The kernel's arrays, and where the product of a CTA or a pair lies in them.
struct Arrays {
  Ref a, b, a_scale, b_scale;
  Scalar mi, ni;
};

void fetch(const ScaledConfig& c, const Arrays& x, plgpu::Scratch& s) {
  const auto rows = ds(x.mi * (c.ctas * c.tile_m), c.ctas * c.tile_m),
             columns = ds(x.ni * c.pair_n(), c.pair_n());
  const auto row_tiles = ds(x.mi * (c.ctas * c.tile_m / 128), c.ctas * c.tile_m / 128),
             column_tiles = ds(x.ni * (c.pair_n() / 128), c.pair_n() / 128);
  // Of a pair each CTA gets its half of the rows of A and of B, and of A's scales. It needs B's for all
  // columns.
  plgpu::CopyInOptions half, whole;
  if (c.ctas == 2) {
    half = {.collective_axes = {cluster}, .leader_tracked = plgpu::CopyPartition::PARTITIONED(0)};
    whole = {.collective_axes = {cluster}, .leader_tracked = plgpu::CopyPartition::REPLICATED};
  }
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    pl::when(step >= c.stages, [&] { plgpu::barrier_wait(s.barrier("consumed").at(slot)); });
    const BarrierRef loaded = s.barrier("loaded").at(slot);
    const auto depth = ds(step * c.tile_k, c.tile_k), tiles = ds(step * (c.blocks() / 4), c.blocks() / 4);
    plgpu::copy_gmem_to_smem(x.a.at(rows, depth), s["a_smem"].at(slot), loaded, half);
    plgpu::copy_gmem_to_smem(x.b.at(columns, depth), s["b_smem"].at(slot), loaded, half);
    plgpu::copy_gmem_to_smem(x.a_scale.at(row_tiles, tiles), s["a_scale_smem"].at(slot), loaded, half);
    plgpu::copy_gmem_to_smem(x.b_scale.at(column_tiles, tiles), s["b_scale_smem"].at(slot), loaded, whole);
  });
}

// The scales of a step have a slot in tensor memory, as they have in shared memory: a product that still
// reads those of the step before is not waited for.
void multiply(const ScaledConfig& c, plgpu::Scratch& s) {
  const std::string axis = c.ctas == 2 ? cluster : "";
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    const auto blocks = ds(slot * c.blocks(), c.blocks());
    const Ref a_scale = s["a_scale"].at(pl::all, blocks), b_scale = s["b_scale"].at(pl::all, blocks);
    plgpu::barrier_wait(s.barrier("loaded").at(slot));
    plgpu::async_copy_scales_to_tmem(s["a_scale_smem"].at(slot), a_scale, {.collective_axis = axis});
    plgpu::async_copy_scales_to_tmem(s["b_scale_smem"].at(slot), b_scale, {.collective_axis = axis});
    plgpu::tcgen05_mma(
        s["acc"], s["a_smem"].at(slot), plgpu::transpose_ref(s["b_smem"].at(slot), {1, 0}),
        s.barrier("consumed").at(slot),
        {.accumulate = step > 0, .collective_axis = axis, .a_scale = a_scale, .b_scale = b_scale});
  });
  plgpu::tcgen05_commit_arrive(s.barrier("done"), {.collective_axis = axis});
}

}  // namespace

plgpu::Kernel matmul_scaled(const char* name, const ScaledConfig& c) {
  check(name, c);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& a_scale, const Ref& b_scale, const Ref& out,
          plgpu::Scratch& s) {
        const Arrays x{a, b, a_scale, b_scale, pl::axis_index("m"), pl::axis_index("n")};
        compute_tile(tile_of(c), s, out, x.mi, x.ni, [&] { fetch(c, x, s); }, [&] { multiply(c, s); });
      },
      options_of(name, c));
}

}  // namespace palladion::kernels::blackwell
