// A warp-specialised product in CUTLASS' words: a producer warpgroup fetches, two consumers multiply.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 128, tile_n = 256, tile_k = 64, stages = 3, consumers = 2;
constexpr int64_t own_m = tile_m / consumers;

plgpu::Kernel record(const Sizes& c) {
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const pl::Scalar role = pl::axis_index("wg");
        const auto columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);
        const plgpu::PipelineTmaAsync pipe(
            {.stages = stages, .num_producers = 2, .num_consumers = consumers});

        pl::when(role == consumers, [&] {  // the producer
          plgpu::set_max_registers(40, "decrease");
          const plgpu::PipelineState end = pl::fori_loop(
              0, steps,
              [&](const pl::Scalar& k, const plgpu::PipelineState& smem_pipe_write) {
                const auto depth = pl::ds(k * tile_k, tile_k);
                pipe.producer_acquire(smem_pipe_write);
                const plgpu::BarrierRef full = pipe.producer_get_barrier(smem_pipe_write);
                plgpu::copy_gmem_to_smem(a.at(pl::ds(pl::axis_index("m") * tile_m, tile_m), depth),
                                         a_smem.at(smem_pipe_write.index()), full);
                plgpu::copy_gmem_to_smem(b.at(depth, columns), b_smem.at(smem_pipe_write.index()), full);
                pipe.producer_commit(smem_pipe_write);
                return smem_pipe_write.advance();
              },
              plgpu::make_producer_start_state(stages));
          pipe.producer_tail(end);
        });

        pl::when(role < consumers, [&] {
          plgpu::set_max_registers(232, "increase");
          const plgpu::Array sum = pl::run_scoped(
              [&](const plgpu::Ref& acc) {
                pl::fori_loop(
                    0, steps,
                    [&](const pl::Scalar&, const plgpu::PipelineState& smem_pipe_read) {
                      const pl::Scalar slot = smem_pipe_read.index();
                      pipe.consumer_wait(smem_pipe_read);
                      plgpu::wgmma(acc, a_smem.at(slot, pl::ds(role * own_m, own_m)), b_smem.at(slot));
                      plgpu::wgmma_wait(0);
                      pipe.consumer_release(smem_pipe_read);
                      return smem_pipe_read.advance();
                    },
                    plgpu::PipelineState(stages));
                return acc.load();
              },
              plgpu::ACC({own_m, tile_n}, pl::f32));
          d_smem.at(role).store(sum.astype(pl::f16));
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(d_smem.at(role),
                                   d.at(pl::ds(pl::axis_index("m") * tile_m + role * own_m, own_m), columns));
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({stages, tile_m, tile_k})},
                         {"b_smem", tile_of({stages, tile_k, tile_n})},
                         {"d_smem", tile_of({consumers, own_m, tile_n})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .num_threads = consumers + 1,
       .thread_name = "wg",
       .name = "warp_specialised"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("warp_specialised", "D = A B, CUTLASS' warp-specialised pipeline", record));
