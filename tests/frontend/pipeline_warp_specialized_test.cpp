// emit_pipeline_warp_specialized: a memory thread and compute threads that hand buffers to each other.
#include <gmock/gmock.h>

#include "frontend/pipeline/nd_loop.h"
#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::BarrierRef;
using plgpu::BlockSpec;
using plgpu::PipelinePipeline;
using plgpu::Ref;
using testing::HasSubstr;

TEST(WarpSpecialized, OneComputeThreadWritesThroughSmem) {
  const auto k = [](int64_t ahead, int repeats) {
    return plgpu::kernel(
        [=](const Ref& x, const Ref& o) {
          const BlockSpec spec({64, 64}, [](pl::Index i, pl::Index j) { return pl::Indices{i, j}; });
          auto pipeline = plgpu::emit_pipeline_warp_specialized(
              [](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load() * 2); },
              {.grid = {2, 3},
               .in_specs = {spec},
               .out_specs = {spec},
               .max_concurrent_steps = ahead,
               .wg_axis = "wg",
               .num_compute_wgs = 1});
          // In a loop, the buffers and barriers serve again.
          pl::fori_loop(0, repeats, [&](pl::Index) { pipeline(x, o); });
        },
        {.in_types = {{pl::s32, {128, 192}}},
         .out_type = {pl::s32, {128, 192}},
         .num_threads = 2,
         .thread_name = "wg"});
  };
  const Values x = small_integers(128 * 192, 1), expected = map_values(x, [](double v) { return 2 * v; });
  for (const int64_t ahead : {1, 2, 4, 8}) {
    SCOPED_TRACE(ahead);
    expect_everywhere(k(ahead, 1), {x}, {expected});
  }
  expect_everywhere(k(4, 3), {x}, {expected});
  expect_assembles(k(2, 3));
}

// c = a b with two compute threads, each 64 rows of a tile of 128; the carry is the sum so far.
struct WsMatmul {
  int delay = 0;
  int64_t ahead = 3;
  bool manual = false;
  bool dynamic = false;
  int64_t cluster = 1;  // CTAs that share the tiles of b
};

void accumulate(const Ref& acc, const Ref& a, const Ref& b, int delay) {
  plgpu::wgmma(acc, a.at(pl::ds(pl::axis_index("wg") * 64, 64)), b);
  plgpu::wgmma_wait(delay);
}

plgpu::Kernel ws_pipeline_matmul(const WsMatmul& c) {
  plgpu::KernelOptions options{.in_types = {{pl::f16, {256, 512}}, {pl::f16, {512, 128}}},
                               .out_type = {pl::f32, {256, 128}},
                               .num_threads = 3,
                               .thread_name = "wg"};
  if (c.cluster > 1) {
    options.cluster = {c.cluster};
    options.cluster_names = {"m"};
  } else {
    options.grid = {2};
    options.grid_names = {"m"};
  }
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& o) {
        const pl::Index mi = pl::axis_index("m");
        const pl::Index steps = c.dynamic ? pl::minimum(8, 8 + mi) : pl::Index(8);
        plgpu::BlockSpecOptions of_a{.transforms = tiled16, .delay_release = c.delay}, of_b = of_a;
        if (c.cluster > 1) of_b.collective_axes = {"m"};
        std::optional<Ref> sum;
        const auto context = [&](const auto& pipeline) {
          pl::run_scoped(
              [&](const Ref& acc) {
                sum = acc;
                pipeline();
                const Array result = acc.load();
                o.at(pl::ds(mi * 128 + pl::axis_index("wg") * 64, 64)).store(result);
              },
              plgpu::ACC({64, 128}, pl::f32));
        };
        plgpu::WarpSpecializedOptions w{
            .grid = {steps},
            .memory_registers = 40,
            .in_specs = {BlockSpec(
                             {128, 64}, [=](pl::Index k) { return pl::Indices{mi, k}; }, of_a),
                         BlockSpec(
                             {64, 128}, [=](pl::Index k) { return pl::Indices{k, 0}; }, of_b)},
            .max_concurrent_steps = c.ahead,
            .wg_axis = "wg",
            .num_compute_wgs = 2,
            .manual_consumed_barriers = c.manual};
        if (c.manual) {
          plgpu::emit_pipeline_warp_specialized(
              [&](const pl::Indices&, const Ref& x, const Ref& y, const BarrierRef& x_done,
                  const BarrierRef& y_done) {
                accumulate(*sum, x, y, 0);
                plgpu::barrier_arrive(x_done);
                plgpu::barrier_arrive(y_done);
              },
              w, context)(a, b);
        } else {
          plgpu::emit_pipeline_warp_specialized(
              [&](const pl::Indices&, const Ref& x, const Ref& y) { accumulate(*sum, x, y, c.delay); }, w,
              context)(a, b);
        }
      },
      options);
}

TEST(WarpSpecialized, ComputeThreadsShareTheirInputs) {
  const Values a = small_integers(256 * 512, 2), b = small_integers(512 * 128, 3);
  const Values expected = matmul(a, b, 256, 128, 512);
  const std::vector<WsMatmul> cases = {{},
                                       {.delay = 1, .ahead = 2},
                                       {.delay = 1, .ahead = 5},
                                       {.manual = true},
                                       {.delay = 1, .dynamic = true},
                                       {.cluster = 2},
                                       {.delay = 1, .cluster = 2},
                                       {.manual = true, .cluster = 2}};
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    expect_everywhere(ws_pipeline_matmul(cases[i]), {a, b}, {expected});
  }
  expect_assembles(ws_pipeline_matmul({.delay = 1, .ahead = 4}));
  expect_assembles(ws_pipeline_matmul({.manual = true, .cluster = 2}));
}

TEST(WarpSpecialized, CarriesGoThroughTheComputeContext) {
  // Steps that max_concurrent_steps does not divide; a persistent loop around the pipeline.
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& o) {
        plgpu::nd_loop({3}, {.collective_axes = {"sm"}}, [&](const plgpu::NDLoopInfo& info) {
          const pl::Index row = info.index[0];
          plgpu::emit_pipeline_warp_specialized(
              [](const pl::Indices&, const Ref& a, const Array& carry) {
                return carry + a.at(pl::axis_index("wg")).load();
              },
              {.grid = {5},
               .in_specs = {BlockSpec({pl::squeezed, 2, 128},
                                      [=](pl::Index s) { return pl::Indices{row, 0, s}; })},
               .max_concurrent_steps = 2,
               .wg_axis = "wg",
               .num_compute_wgs = 2},
              [&](const auto& pipeline) {
                const Array zero = plgpu::broadcasted_iota(pl::s32, {128}, 0) * 0;
                o.at(row, pl::axis_index("wg")).store(pipeline(zero));
              })(x);
        });
      },
      {.in_types = {{pl::s32, {3, 2, 640}}},
       .out_type = {pl::s32, {3, 2, 128}},
       .grid = {2},
       .grid_names = {"sm"},
       .num_threads = 3,
       .thread_name = "wg"});
  const Values x = small_integers(3 * 2 * 640, 4, -100, 100);
  Values expected(3 * 2 * 128);
  for (size_t i = 0; i < x.size(); ++i) expected[i / 640 * 128 + i % 128] += x[i];
  expect_everywhere(k, {x}, {expected});
}

TEST(WarpSpecialized, TheBodyMayWaitForEachInput) {
  const auto k = [](bool consumed) {
    return plgpu::kernel(
        [=](const Ref& x, const Ref& y, const Ref& o) {
          const auto spec = BlockSpec({128}, [](pl::Index i) { return i; });
          plgpu::WarpSpecializedOptions w{.grid = {6},
                                          .in_specs = {spec, spec},
                                          .out_specs = {spec},
                                          .max_concurrent_steps = 2,
                                          .wg_axis = "wg",
                                          .num_compute_wgs = 1,
                                          .manual_ready_barriers = true};
          const auto compute = [](const Ref& a, const Ref& b, const Ref& out, const BarrierRef& a_ready,
                                  const BarrierRef& b_ready) {
            plgpu::barrier_wait(a_ready);
            const Array first = a.load();
            plgpu::barrier_wait(b_ready);
            out.store(first - b.load());
          };
          if (!consumed) {
            plgpu::emit_pipeline_warp_specialized(
                [&](const pl::Indices&, const Ref& a, const Ref& b, const Ref& out, const BarrierRef& a_ready,
                    const BarrierRef& b_ready) { compute(a, b, out, a_ready, b_ready); },
                w)(x, y, o);
            return;
          }
          w.manual_consumed_barriers = true;
          plgpu::emit_pipeline_warp_specialized(
              [&](const pl::Indices&, const std::vector<Ref>& refs, const std::vector<BarrierRef>& barriers) {
                compute(refs[0], refs[1], refs[2], barriers[0], barriers[1]);
                plgpu::barrier_arrive(barriers[2]);
                plgpu::barrier_arrive(barriers[3]);
              },
              w)(x, y, o);
        },
        {.in_types = {{pl::s32, {768}}, {pl::s32, {768}}},
         .out_type = {pl::s32, {768}},
         .num_threads = 2,
         .thread_name = "wg"});
  };
  const Values x = small_integers(768, 6), y = small_integers(768, 7);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i) expected[i] -= y[i];
  expect_everywhere(k(false), {x, y}, {expected});
  expect_everywhere(k(true), {x, y}, {expected});
}

TEST(WarpSpecialized, PipelinesFollowEachOtherInTheSameBuffers) {
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& o) {
        const auto pipeline = [&](pl::Scalar row, pl::Scalar state) {
          return plgpu::emit_pipeline_warp_specialized(
              [&o, row](const pl::Indices& at, const Ref& a) {
                o.at(row, pl::ds(at[0] * 128, 128)).store(a.load() + row);
              },
              {.grid = {4},
               .in_specs = {BlockSpec({pl::squeezed, 128}, [row](pl::Index s) { return std::pair{row, s}; })},
               .max_concurrent_steps = 2,
               .wg_axis = "wg",
               .num_compute_wgs = 1,
               .pipeline_state = state});
        };
        const auto shared = pipeline(0, PipelinePipeline::START).get_allocations(x);
        pipeline(0, PipelinePipeline::START).with_allocations(shared)(x);
        pl::fori_loop(1, 4, [&](pl::Index row) {
          pipeline(row, PipelinePipeline::STEADY).with_allocations(shared)(x);
        });
        pipeline(4, PipelinePipeline::STOP).with_allocations(shared)(x);
        // The state may be a number that the kernel computes.
        pl::fori_loop(5, 8, [&](pl::Index row) {
          const pl::Scalar state =
              pl::where(row == 5, PipelinePipeline::START,
                        pl::where(row == 7, PipelinePipeline::STOP, PipelinePipeline::STEADY));
          pipeline(row, state).with_allocations(shared)(x);
        });
      },
      {.in_types = {{pl::s32, {8, 512}}},
       .out_type = {pl::s32, {8, 512}},
       .num_threads = 2,
       .thread_name = "wg"});
  const Values x = small_integers(8 * 512, 5);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i) expected[i] += static_cast<double>(i / 512);
  expect_everywhere(k, {x}, {expected});
}

std::string mistake(plgpu::WarpSpecializedOptions o, int threads = 3) {
  if (o.wg_axis.empty()) o.wg_axis = "wg";
  return error_of([&] {
    plgpu::kernel(
        [&](const Ref& x, const Ref&) {
          plgpu::emit_pipeline_warp_specialized([](const pl::Indices&, const std::vector<Ref>&) {}, o)
              .run({x});
        },
        {.in_types = {{pl::s32, {256}}},
         .out_type = {pl::s32, {256}},
         .num_threads = threads,
         .thread_name = "wg"});
  });
}

TEST(WarpSpecialized, MistakesNameTheRule) {
  const auto map = [](pl::Index i) { return i; };
  const BlockSpec good({128}, map), fixed({128}, [](pl::Index) { return 0; }),
      two_axes({128}, map, {.collective_axes = {"x", "y"}});
  EXPECT_EQ(mistake({.grid = {2}, .in_specs = {good}, .num_compute_wgs = 2}), "no error");
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}, .num_compute_wgs = 2, .memory_thread_idx = 0}),
              HasSubstr("PLD2701 emit_pipeline_warp_specialized: Memory thread must be the last thread"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {fixed}, .num_compute_wgs = 2}),
              HasSubstr("Only inputs with a dependency on the grid are supported."));
  EXPECT_THAT(mistake({.grid = {2}, .out_specs = {good}, .num_compute_wgs = 2}),
              HasSubstr("SMEM outputs are not supported with multiple compute warpgroups"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {two_axes}, .num_compute_wgs = 2}),
              HasSubstr("only a single collective axis"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}, .num_compute_wgs = 1}),
              HasSubstr("the kernel has 3 threads"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}, .wg_axis = "warp", .num_compute_wgs = 2}),
              HasSubstr("wg_axis \"warp\" is not the name of the kernel's threads"));
  EXPECT_THAT(mistake({.grid = {2}, .memory_registers = 41, .in_specs = {good}, .num_compute_wgs = 2}),
              HasSubstr("memory_registers is 41"));
  EXPECT_THAT(
      mistake({.grid = {2}, .in_specs = {BlockSpec({128}, map, {.delay_release = 2})}, .num_compute_wgs = 2}),
      HasSubstr("must be greater than delay_release (2)"));
  EXPECT_THAT(
      mistake(
          {.grid = {2}, .in_specs = {good}, .num_compute_wgs = 2, .pipeline_state = PipelinePipeline::START}),
      HasSubstr("needs manual allocations"));
  EXPECT_THAT(error_of([&] {
                plgpu::kernel(
                    [&](const Ref& x, const Ref& y, const Ref&) {
                      plgpu::emit_pipeline_warp_specialized(
                          [](const pl::Indices&, const Ref&, const Ref&) {},
                          {.grid = {2},
                           .in_specs = {good, BlockSpec({128}, map, {.delay_release = 1})},
                           .wg_axis = "wg",
                           .num_compute_wgs = 1})(x, y);
                    },
                    {.in_types = {{pl::s32, {256}}, {pl::s32, {256}}},
                     .out_type = {pl::s32, {256}},
                     .num_threads = 2,
                     .thread_name = "wg"});
              }),
              HasSubstr("all inputs must have the same delay_release, these are 0 and 1"));
  EXPECT_THAT(error_of([&] {
                plgpu::kernel(
                    [&](const Ref& x, const Ref&) {
                      plgpu::emit_pipeline_warp_specialized(
                          [](const pl::Indices&, const Ref&) {},
                          {.grid = {2}, .in_specs = {good}, .wg_axis = "wg", .num_compute_wgs = 1},
                          [](const auto&) {})(x);
                    },
                    {.in_types = {{pl::s32, {256}}},
                     .out_type = {pl::s32, {256}},
                     .num_threads = 2,
                     .thread_name = "wg"});
              }),
              HasSubstr("called its pipeline 0 times, it must call it exactly once"));
}

}  // namespace
}  // namespace palladion::test
