#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t k = 512;
};

constexpr int64_t m = 128, n = 128, tile_k = 128, block = 32, blocks = tile_k / block;  // 4 a step

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 128}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  const pl::Shape scale_shape = {1, c.k / block / 4, 32, 16};
  const plgpu::TmemOptions scales{.layout = plgpu::TMEMLayout::SCALES_LAYOUT};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& a_scale, const plgpu::Ref& b_scale,
          const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &done = s.barrier("done");
        plgpu::warp_map([&](const pl::Scalar& warp) {
          pl::when(warp == 0, [&] {
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const auto depth = pl::ds(step * tile_k, tile_k);
              const auto group = pl::ds(0, 1);  // TODO  //! starter fixed-group
              const auto group = pl::ds(step, 1);  //! not starter fixed-group
              plgpu::copy_gmem_to_smem(a.at(pl::all, depth), s["a"], full);
              plgpu::copy_gmem_to_smem(b.at(pl::all, depth), s["b"], full);
              plgpu::copy_gmem_to_smem(a_scale.at(pl::all, group), s["a_scale_smem"], full);
              plgpu::copy_gmem_to_smem(b_scale.at(pl::all, group), s["b_scale_smem"], full);
              plgpu::barrier_wait(full);
              plgpu::async_copy_scales_to_tmem(s["a_scale_smem"], s["a_scale"]);  //! not no-copy
              plgpu::async_copy_scales_to_tmem(s["b_scale_smem"], s["b_scale"]);
              plgpu::tcgen05_mma(s["acc"], s["a"], plgpu::transpose_ref(s["b"], {1, 0}), done,
                                 {.accumulate = step > 0, .a_scale = s["b_scale"], .b_scale = s["a_scale"]});  // TODO  //! starter exchanged
                                 {.accumulate = step > 0, .a_scale = s["a_scale"], .b_scale = s["b_scale"]});  //! not starter exchanged
              plgpu::barrier_wait(done);  // tiles and scales have been read
            });
            plgpu::tcgen05_commit_arrive(s.barrier("end"));
          });
        });
        plgpu::barrier_wait(s.barrier("end"));
        d.store(plgpu::async_load_tmem(s["acc"]));
      },
      {.in_types = {{pl::e4m3, {m, c.k}}, {pl::e4m3, {n, c.k}}, {pl::ue8m0, scale_shape}, {pl::ue8m0, scale_shape}},
       .out_type = {{pl::f32, {m, n}}},
       .scratch_types = {{"acc", plgpu::TMEM({m, n}, pl::f32)},
                         {"a_scale", plgpu::TMEM({m, blocks}, pl::ue8m0, scales)},
                         {"b_scale", plgpu::TMEM({n, blocks}, pl::ue8m0, scales)},
                         {"a", plgpu::SMEM({m, tile_k}, pl::e4m3, tiled)},
                         {"b", plgpu::SMEM({n, tile_k}, pl::e4m3, tiled)},
                         {"a_scale_smem", plgpu::SMEM({1, 1, 32, 16}, pl::ue8m0)},
                         {"b_scale_smem", plgpu::SMEM({1, 1, 32, 16}, pl::ue8m0)},
                         {"full", plgpu::Barrier({.num_arrivals = 4, .orders_tensor_core = true})},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})},
                         {"end", plgpu::Barrier({.orders_tensor_core = true})}},
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b^T with scales", matmul)
                      .size("k", &Config::k, "depth, a multiple of 128")
                      .arrays({"a", "b", "a_scale", "b_scale"}, {"d"}));
