#include <palladion/program.h>
using namespace palladion::program;

// How many columns does an accumulator of 128 x 192 f32 need, and how many are allocated for it?
// answer needed: ?  //! not solution
// answer allocated: ?  //! not solution
// answer needed: 192  //! solution
// answer allocated: 256  //! solution

struct Config {
  int64_t tiles = 3;
};

constexpr int64_t rows = 128, columns = 64, depth = 64;

plgpu::Kernel products(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref& acc = s["acc"];
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("b_full"));
        plgpu::barrier_wait(s.barrier("b_full"));
        pl::fori_loop(0, c.tiles, [&](const pl::Scalar& t) {
          const auto tile = pl::ds(t * rows, rows);
          plgpu::copy_gmem_to_smem(a.at(tile), s["a"], s.barrier("a_full"));
          plgpu::barrier_wait(s.barrier("a_full"));
          plgpu::tcgen05_mma(acc, s["a"], s["b"], s.barrier("done"), {.accumulate = false});
          plgpu::barrier_wait(s.barrier("done"));  //! solution no-load-wait
          d.at(tile).store(plgpu::async_load_tmem(acc));
          plgpu::wait_load_tmem();  //! solution no-product-wait
          plgpu::barrier_wait(s.barrier("done"));  //! late-wait
          plgpu::wait_load_tmem();  //! late-wait
        });
      },
      {.in_types = {{pl::f16, {c.tiles * rows, depth}}, {pl::f16, {depth, columns}}},
       .out_type = {{pl::f32, {c.tiles * rows, columns}}},
       .scratch_types = {{"acc", plgpu::TMEM({rows, columns}, pl::f32)},
                         {"a", plgpu::SMEM({rows, depth}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({depth, columns}, pl::f16, tiled)},
                         {"a_full", plgpu::Barrier()},
                         {"b_full", plgpu::Barrier()},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .name = "products"});
}

PALLADION_KERNELS(Spec("products", "d = a b, a tile of 128 rows after another", products)
                      .size("tiles", &Config::tiles, "tiles of 128 rows")
                      .arrays({"a", "b"}, {"d"}));
