#include <palladion/program.h>

#include <cmath>
#include <numbers>
using namespace palladion::program;

// n = 4096 rows of K, f16. How many MiB would the scores of one head take, if they were stored?
// answer mebibytes: ?  //! not solution
// answer mebibytes: 32  //! solution

struct Config {
  int64_t n = 256;
};

constexpr int64_t tile = 64, d = 64;

// A value a row, for all columns.
plgpu::Array spread(const plgpu::Array& rows) { return plgpu::broadcast_in_dim(rows, {tile, d}, {0}); }

plgpu::Kernel attention(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const float scale = std::numbers::log2e_v<float> / std::sqrt(float(d));  //! not no-scale
  const float scale = std::numbers::log2e_v<float>;  //! no-scale
  return plgpu::kernel(
      [&](const plgpu::Ref& q, const plgpu::Ref& k, const plgpu::Ref& v, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::BarrierRef& full = s.barrier("full");
        const auto rows = pl::ds(pl::program_id(0) * tile, tile);
        plgpu::copy_gmem_to_smem(q.at(rows), s["q"], s.barrier("q_full"));
        plgpu::barrier_wait(s.barrier("q_full"));
        const plgpu::Array zeros = plgpu::layout_cast(plgpu::zeros({tile, d}, pl::f32), plgpu::Layout::WGMMA);
        const plgpu::Array none = zeros.max(1);  // a value a row
        const auto [o, m, l] = pl::fori_loop(
            0, c.n / tile,
            [&](const pl::Scalar& step, const plgpu::Array& o, const plgpu::Array& m, const plgpu::Array& l) {
              const auto part = pl::ds(step * tile, tile);
              plgpu::copy_gmem_to_smem(k.at(part), s["k"], full);
              plgpu::copy_gmem_to_smem(v.at(part), s["v"], full);
              plgpu::barrier_wait(full);
              const plgpu::Array scores = pl::run_scoped(
                  [&](const plgpu::Ref& acc) {
                    plgpu::wgmma(acc, s["q"], plgpu::transpose_ref(s["k"], {1, 0}));
                    return acc.load();
                  },
                  plgpu::ACC({tile, tile}, pl::f32));
              const plgpu::Array next = plgpu::maximum(m, scores.max(1));
              const plgpu::Array p = plgpu::exp2((scores - spread(next)) * scale);
              const plgpu::Array alpha = plgpu::exp2((m - next) * scale);
              const plgpu::Array pv = pl::run_scoped(
                  [&](const plgpu::Ref& acc) {
                    plgpu::wgmma(acc, p.astype(pl::f16), s["v"]);
                    return acc.load();
                  },
                  plgpu::ACC({tile, d}, pl::f32));
              plgpu::commit_smem();  // the tiles have been read
              return std::tuple{o + pv, next, l * alpha + p.sum(1)};  // TODO  //! starter
              return std::tuple{o * spread(alpha) + pv, next, l * alpha + p.sum(1)};  //! solution no-scale unnormalised
              return std::tuple{(o + pv) * spread(alpha), next, l * alpha + p.sum(1)};  //! late-rescale
              return std::tuple{o * spread(alpha) + pv, next, l + p.sum(1)};  //! sum-not-scaled
            },
            zeros, none - 1e30F, none);
        const plgpu::Array result = o * spread(1.0F / l);  //! not unnormalised
        const plgpu::Array result = o;  //! unnormalised
        out.at(rows).store(result.astype(pl::f16));
      },
      {.in_types = {{pl::f16, {c.n, d}}, {pl::f16, {c.n, d}}, {pl::f16, {c.n, d}}},
       .out_type = {{pl::f16, {c.n, d}}},
       .scratch_types = {{"q", plgpu::SMEM({tile, d}, pl::f16, tiled)},
                         {"k", plgpu::SMEM({tile, d}, pl::f16, tiled)},
                         {"v", plgpu::SMEM({tile, d}, pl::f16, tiled)},
                         {"q_full", plgpu::Barrier()},
                         {"full", plgpu::Barrier({.num_arrivals = 2})}},
       .compiler_params = {.approx_math = true},
       .grid = {c.n / tile},
       .name = "attention"});
}

PALLADION_KERNELS(Spec("attention", "out = softmax(q k^T / 8) v", attention)
                      .size("n", &Config::n, "rows, a multiple of 64")
                      .arrays({"q", "k", "v"}, {"out"}));
