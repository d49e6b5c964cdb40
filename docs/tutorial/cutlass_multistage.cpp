// A multistage product in CUTLASS' words: the warpgroups that multiply also fetch.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, groups = 2;
constexpr int64_t own_m = tile_m / groups;

plgpu::Kernel record(const Sizes& c) {
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const pl::Scalar group = pl::axis_index("wg");
        const auto rows = pl::ds(pl::axis_index("m") * tile_m, tile_m),
                   columns = pl::ds(pl::axis_index("n") * tile_n, tile_n), own = pl::ds(group * own_m, own_m);
        // Two copies fill a slot, two warpgroups release it.
        const plgpu::PipelineTmaAsync pipe({.stages = stages, .num_producers = 2, .num_consumers = groups});
        const auto fetch = [&](const pl::Scalar& k, const plgpu::PipelineState& write) {
          pl::when(group == 0, [&] {
            const auto depth = pl::ds(k * tile_k, tile_k);
            pipe.producer_acquire(write);
            const plgpu::BarrierRef full = pipe.producer_get_barrier(write);
            plgpu::copy_gmem_to_smem(a.at(rows, depth), a_smem.at(write.index()), full);
            plgpu::copy_gmem_to_smem(b.at(depth, columns), b_smem.at(write.index()), full);
            pipe.producer_commit(write);
          });
        };

        plgpu::PipelineState smem_pipe_write = plgpu::make_producer_start_state(stages);
        for (int64_t k = 0; k < std::min(stages - 1, steps); ++k, ++smem_pipe_write)
          fetch(k, smem_pipe_write);
        const plgpu::Array sum = pl::run_scoped(
            [&](const plgpu::Ref& acc) {
              pl::fori_loop(
                  0, steps,
                  [&](const pl::Scalar& k, const plgpu::PipelineState& write,
                      const plgpu::PipelineState& read) {
                    pipe.consumer_wait(read);
                    plgpu::wgmma(acc, a_smem.at(read.index(), own), b_smem.at(read.index()));
                    pl::when(k + (stages - 1) < steps, [&] { fetch(k + (stages - 1), write); });
                    plgpu::wgmma_wait(0);
                    pipe.consumer_release(read);
                    return std::tuple{write.advance(), read.advance()};
                  },
                  smem_pipe_write, plgpu::PipelineState(stages));
              return acc.load();
            },
            plgpu::ACC({own_m, tile_n}, pl::f32));
        d_smem.at(group).store(sum.astype(pl::f16));
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(d_smem.at(group),
                                 d.at(pl::ds(pl::axis_index("m") * tile_m + group * own_m, own_m), columns));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({stages, tile_m, tile_k})},
                         {"b_smem", tile_of({stages, tile_k, tile_n})},
                         {"d_smem", tile_of({groups, own_m, tile_n})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .num_threads = groups,
       .thread_name = "wg",
       .name = "multistage"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("multistage", "D = A B, CUTLASS' multistage pipeline", record));
