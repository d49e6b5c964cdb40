#include <palladion/program.h>
using namespace palladion::program;

// The accumulator is 1024 and the adder keeps 14 bits of it, the leading one included: what is the value of the last bit kept?
// (1024 = 2^10; write a decimal number.)
// answer last: ?  //! not solution
// answer last: 0.125  //! solution

struct Config {
  int64_t m = 64, n = 64, k = 1024;
};

constexpr int64_t tile_m = 64, tile_n = 64, tile_k = 128;

plgpu::Kernel matmul_nt(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 128}), plgpu::SwizzleTransform(128)}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const auto rows = pl::ds(pl::program_id(0) * tile_m, tile_m), columns = pl::ds(pl::program_id(1) * tile_n, tile_n);
        const auto fetch = [&](const pl::Scalar& step) {
          const auto depth = pl::ds(step * tile_k, tile_k);
          plgpu::copy_gmem_to_smem(a.at(rows, depth), s["a"], s.barrier("full"));
          plgpu::copy_gmem_to_smem(b.at(columns, depth), s["b"], s.barrier("full"));
          plgpu::barrier_wait(s.barrier("full"));
        };
        const auto multiply = [&](const plgpu::Ref& acc) {
          plgpu::wgmma(acc, s["a"], plgpu::transpose_ref(s["b"], {1, 0}));
          plgpu::wgmma_wait(0);
          plgpu::commit_smem();  // all warps are done with the tiles
        };
        const plgpu::Array total = pl::run_scoped(  // TODO: one accumulator for the whole depth  //! starter
            [&](const plgpu::Ref& acc) {  //! starter
              pl::fori_loop(0, c.k / tile_k, [&](const pl::Scalar& step) {  //! starter
                fetch(step);  //! starter
                multiply(acc);  //! starter
              });  //! starter
              return acc.load();  //! starter
            },  //! starter
            plgpu::ACC({tile_m, tile_n}, pl::f32));  //! starter
        const plgpu::Array zeros = plgpu::layout_cast(plgpu::zeros({tile_m, tile_n}, pl::f32), plgpu::Layout::WGMMA);  //! not starter
        const plgpu::Array total = pl::fori_loop(  //! not starter
            0, c.k / tile_k,  //! solution f16-total
            0, c.k / (16 * tile_k),  //! too-long
            [&](const pl::Scalar& step, const plgpu::Array& total) {  //! not starter
              const plgpu::Array part = pl::run_scoped(  //! not starter
                  [&](const plgpu::Ref& acc) {  //! not starter
                    fetch(step);  //! solution f16-total
                    multiply(acc);  //! solution f16-total
                    pl::fori_loop(0, 16, [&](const pl::Scalar& i) {  //! too-long
                      fetch(step * 16 + i);  //! too-long
                      multiply(acc);  //! too-long
                    });  //! too-long
                    return acc.load();  //! not starter
                  },  //! not starter
                  plgpu::ACC({tile_m, tile_n}, pl::f32));  //! not starter
              return total + part;  //! solution too-long
              return (total + part).astype(pl::f16).astype(pl::f32);  //! f16-total
            },  //! not starter
            zeros);  //! not starter
        d.at(rows, columns).store(total);
      },
      {.in_types = {{pl::e4m3, {c.m, c.k}}, {pl::e4m3, {c.n, c.k}}},
       .out_type = {{pl::f32, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({tile_m, tile_k}, pl::e4m3, tiled)},
                         {"b", plgpu::SMEM({tile_n, tile_k}, pl::e4m3, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .name = "matmul_nt"});
}

PALLADION_KERNELS(Spec("matmul_nt", "d = a b^T", matmul_nt)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "rows of b")
                      .size("k", &Config::k, "depth, a multiple of 128")
                      .arrays({"a", "b"}, {"d"}));
