#include <palladion/program.h>
using namespace palladion::program;

// How deep (along k) is one wgmma instruction of f16, and how many does one tile of 64 x 64 x 64 take?
// answer depth: ?  //! not solution
// answer count: ?  //! not solution
// answer depth: 16  //! solution
// answer count: 4  //! solution

struct Config {
  int64_t m = 128, n = 128, k = 256;
};

constexpr int64_t edge = 64;

plgpu::Kernel matmul_nt(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const auto rows = pl::ds(pl::program_id(0) * edge, edge), columns = pl::ds(pl::program_id(1) * edge, edge);
        const plgpu::Array product = pl::run_scoped(
            [&](const plgpu::Ref& acc) {
              pl::fori_loop(0, c.k / edge, [&](const pl::Scalar& step) {
                const auto depth = pl::ds(step * edge, edge);
                plgpu::copy_gmem_to_smem(a.at(rows, depth), s["a"], s.barrier("full"));
                plgpu::copy_gmem_to_smem(b.at(columns, depth), s["b"], s.barrier("full"));
                plgpu::barrier_wait(s.barrier("full"));
                plgpu::wgmma(acc, s["a"], s["b"]);  // TODO  //! starter untiled
                plgpu::wgmma(acc, s["a"], plgpu::transpose_ref(s["b"], {1, 0}));  //! solution
                plgpu::wgmma(acc, plgpu::transpose_ref(s["a"], {1, 0}), s["b"]);  //! other-operand
                plgpu::wgmma(acc, s["b"], plgpu::transpose_ref(s["a"], {1, 0}));  //! exchanged
                plgpu::wgmma_wait(0);
                plgpu::commit_smem();  // all four warps are done with the tiles
              });
              return acc.load();
            },
            plgpu::ACC({edge, edge}, pl::f32));
        d.at(rows, columns).store(product);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.n, c.k}}},
       .out_type = {{pl::f32, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({edge, edge}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({edge, edge}, pl::f16, tiled)},  //! not untiled
                         {"b", plgpu::SMEM({edge, edge}, pl::f16)},  //! untiled
                         {"full", plgpu::Barrier({.num_arrivals = 2})}},
       .grid = {c.m / edge, c.n / edge},
       .name = "matmul_nt"});
}

PALLADION_KERNELS(Spec("matmul_nt", "d = a b^T", matmul_nt)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "rows of b")
                      .size("k", &Config::k, "depth")
                      .arrays({"a", "b"}, {"d"}));
