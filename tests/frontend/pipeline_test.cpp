// emit_pipeline: what is copied, when, and that nothing is overwritten too early.
#include <gmock/gmock.h>

#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::BlockSpec;
using plgpu::Ref;
using testing::HasSubstr;

plgpu::Kernel increment(int64_t steps_ahead, const plgpu::Transforms& transforms) {
  return plgpu::kernel(
      [=](const Ref& x, const Ref& o) {
        const BlockSpec spec({64, 64}, [](pl::Index i, pl::Index j) { return pl::Indices{i, j}; },
                             {.transforms = transforms});
        const auto layout =
            transforms.empty() ? plgpu::default_layout({64, 64}, pl::f16) : plgpu::Layout::WGMMA;
        plgpu::emit_pipeline(
            [&](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load(layout) + 1.0); },
            {.grid = {2, 3}, .in_specs = {spec}, .out_specs = {spec}, .max_concurrent_steps = steps_ahead})(
            x, o);
      },
      {.in_types = {{pl::f16, {128, 192}}}, .out_type = {pl::f16, {128, 192}}});
}

TEST(Pipeline, CopiesBlocksInAndOut) {
  const Values x = small_integers(128 * 192, 1);
  const Values expected = map_values(x, [](double v) { return v + 1; });
  for (const int64_t ahead : {1, 2, 3, 9}) {
    SCOPED_TRACE(ahead);
    expect_everywhere(increment(ahead, {}), {x}, {expected});
  }
  expect_everywhere(increment(2, tiled16), {x}, {expected});
  expect_assembles(increment(2, tiled16));
}

TEST(Pipeline, LongRowsAreCopiedInOneGo) {
  // TMA's boxes have 256 elements at most.
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& o) {
        const BlockSpec rows({1, 1024}, [](pl::Index i) { return std::pair{i, 0}; });
        const BlockSpec row({pl::squeezed, 1024}, [](pl::Index i) { return std::pair{i, 0}; });
        plgpu::emit_pipeline(
            [](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.at(0).load() * 2); },
            {.grid = {4}, .in_specs = {rows}, .out_specs = {row}, .max_concurrent_steps = 2})(x, o);
      },
      {.in_types = {{pl::s32, {4, 1024}}}, .out_type = {pl::s32, {4, 1024}}});
  expect_everywhere(k, {iota(4096)}, {map_values(iota(4096), [](double v) { return 2 * v; })});
}

// The number of steps is the first number of the second input.
plgpu::Kernel dynamic_steps(bool two_axes) {
  return plgpu::kernel(
      [=](const Ref& x, const Ref& n, const Ref& o) {
        const pl::Index steps = n.at(0).load_scalar();
        const BlockSpec one({128}, [](pl::Index i) { return i; });
        const BlockSpec two({128}, [](pl::Index i, pl::Index j) { return i * 2 + j; });
        const auto body = [](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load() + 1); };
        if (two_axes) {
          plgpu::emit_pipeline(
              body, {.grid = {steps, 2}, .in_specs = {two}, .out_specs = {two}, .max_concurrent_steps = 3})(
              x, o);
        } else {
          plgpu::emit_pipeline(
              body, {.grid = {steps}, .in_specs = {one}, .out_specs = {one}, .max_concurrent_steps = 4})(x,
                                                                                                         o);
        }
      },
      {.in_types = {{pl::s32, {1024}}, {pl::s32, {4}}},
       .out_type = {pl::s32, {1024}},
       .input_output_aliases = {{0, 0}}});
}

TEST(Pipeline, GridsMayBeDynamicShortAndEmpty) {
  const auto one = dynamic_steps(false), two = dynamic_steps(true);
  for (const int64_t steps : {0, 1, 2, 4}) {
    SCOPED_TRACE(steps);
    const auto expected = [&](int64_t done) {
      Values e = iota(1024);
      for (int64_t i = 0; i < done; ++i) e[static_cast<size_t>(i)] += 1;
      return e;
    };
    const Values n(4, static_cast<double>(steps));
    expect_everywhere(one, {iota(1024), n}, {expected(steps * 128)});
    expect_everywhere(two, {iota(1024), n}, {expected(steps * 256)});
  }
}

TEST(Pipeline, OutputsAreStoredWhenTheirBlockChanges) {
  // Sums blocks of rows: the output's block stays for three steps and is seen again with its contents.
  const auto k = [](int64_t ahead) {
    return plgpu::kernel(
        [=](const Ref& x, const Ref& bias, const Ref& o, const Ref& total) {
          plgpu::emit_pipeline(
              [](const pl::Indices& at, const Ref& a, const Ref& b, const Ref& sum, const Ref& all) {
                pl::when(at[1] == 0, [&] { sum.store(b.load()); });
                pl::when(at[0] + at[1] == 0, [&] { all.store(plgpu::zeros({128}, pl::s32)); });
                sum.store(sum.load() + a.load());
                all.store(all.load() + a.load());
              },
              {.grid = {4, 3},
               .in_specs = {BlockSpec({128}, [](pl::Index i, pl::Index j) { return i * 3 + j; }),
                            BlockSpec({128}, [](pl::Index, pl::Index) { return 0; })},
               .out_specs = {BlockSpec({128}, [](pl::Index i, pl::Index) { return i; }),
                             BlockSpec({128}, [](pl::Index, pl::Index) { return 0; })},
               .max_concurrent_steps = ahead})(x, bias, o, total);
        },
        {.in_types = {{pl::s32, {12 * 128}}, {pl::s32, {128}}},
         .out_type = {{pl::s32, {4 * 128}}, {pl::s32, {128}}}});
  };
  const Values x = small_integers(12 * 128, 2, -100, 100), bias = iota(128, 1000);
  Values sums(512), total(128);
  for (size_t i = 0; i < 4; ++i)
    for (size_t c = 0; c < 128; ++c) {
      sums[i * 128 + c] = bias[c];
      for (size_t j = 0; j < 3; ++j) {
        sums[i * 128 + c] += x[(i * 3 + j) * 128 + c];
        total[c] += x[(i * 3 + j) * 128 + c];
      }
    }
  for (const int64_t ahead : {1, 2, 4}) {
    SCOPED_TRACE(ahead);
    expect_everywhere(k(ahead), {x, bias}, {sums, total});
  }
}

TEST(Pipeline, CarriesValuesFromStepToStep) {
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& o, const Ref& count) {
        auto pipeline = plgpu::emit_pipeline(
            [](const pl::Indices& at, const Ref& a, const std::pair<Array, pl::Scalar>& carry) {
              return std::pair{carry.first + a.load(), carry.second + at[0]};
            },
            {.grid = {8},
             .in_specs = {BlockSpec({pl::Element{256}}, [](pl::Index i) { return i * 64; })},
             .max_concurrent_steps = 3},
            std::pair{plgpu::zeros({256}, pl::s32) + plgpu::broadcasted_iota(pl::s32, {256}, 0) * 0,
                      pl::Scalar(100)});
        const auto [sum, n] = pipeline(x);
        o.store(sum);
        count.at(0).store(n);
      },
      {.in_types = {{pl::s32, {1024}}}, .out_type = {{pl::s32, {256}}, {pl::s32, {1}}}});
  // Overlapping windows, 64 elements apart.
  const Values x = small_integers(1024, 3, -100, 100);
  Values expected(256);
  for (size_t s = 0; s < 8; ++s)
    for (size_t c = 0; c < 256; ++c) expected[c] += x[s * 64 + c];
  expect_everywhere(k, {x}, {expected, {128}});
}

TEST(Pipeline, WhatIsOutOfBoundsIsZeroAndStaysUnwritten) {
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& o) {
        const BlockSpec spec({128}, [](pl::Index i) { return i; });
        plgpu::emit_pipeline([](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load() + 5); },
                             {.grid = {3},
                              .in_specs = {spec},
                              .out_specs = {BlockSpec({128}, [](pl::Index i) { return i; })},
                              .max_concurrent_steps = 2})(x, o);
      },
      {.in_types = {{pl::s32, {260}}}, .out_type = {pl::s32, {384}}});
  Values expected(384, 5.0);
  for (size_t i = 0; i < 260; ++i) expected[i] += static_cast<double>(i);
  expect_everywhere(k, {iota(260)}, {expected});
}

TEST(Pipeline, BlocksThatAreInBoundsNeedNoTensorMap) {
  const auto k = [](plgpu::OOBFillMode mode) {
    return plgpu::kernel(
        [=](const Ref& x, const Ref& o) {
          const BlockSpec in({pl::squeezed, 1280}, [](pl::Index i) { return std::pair{i, 0}; },
                             {.oob_fill_mode = mode});
          const BlockSpec out({pl::squeezed, 1280}, [](pl::Index i) { return std::pair{i, 0}; });
          const auto pipeline = plgpu::emit_pipeline(
              [](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load() + 3); },
              {.grid = {3}, .in_specs = {in}, .out_specs = {out}, .max_concurrent_steps = 2});
          pipeline(x, o);
        },
        {.in_types = {{pl::f32, {3, 1280}}}, .out_type = {pl::f32, {3, 1280}}});
  };
  for (const auto mode :
       {plgpu::OOBFillMode::PROMISE_IN_BOUNDS, plgpu::OOBFillMode::UNDEFINED, plgpu::OOBFillMode::ZEROS}) {
    SCOPED_TRACE(static_cast<int>(mode));
    const auto kernel = k(mode);
    EXPECT_EQ(isa::print(kernel.module).find("cp.async.bulk.shared::cluster.global") != std::string::npos,
              mode != plgpu::OOBFillMode::ZEROS);
    expect_everywhere(kernel, {iota(3840)}, {iota(3840, 3)});
  }
}

TEST(Pipeline, PipelinesNest) {
  // For each row block: a pipeline over its columns.
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& scale, const Ref& o) {
        plgpu::emit_pipeline(
            [&](const pl::Indices& at, const Ref& factor) {
              const pl::Index row = at[0];
              const BlockSpec spec({pl::squeezed, 128}, [=](pl::Index j) { return std::pair{row, j}; });
              plgpu::emit_pipeline(
                  [&](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load() * factor.load()); },
                  {.grid = {5}, .in_specs = {spec}, .out_specs = {spec}, .max_concurrent_steps = 2})(x, o);
            },
            {.grid = {4},
             .in_specs = {BlockSpec({pl::squeezed, 128}, [](pl::Index i) { return std::pair{i, 0}; })},
             .max_concurrent_steps = 2})(scale);
      },
      {.in_types = {{pl::s32, {4, 640}}, {pl::s32, {4, 128}}}, .out_type = {pl::s32, {4, 640}}});
  const Values x = small_integers(2560, 4, -50, 50), scale = small_integers(512, 5, -50, 50);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i) expected[i] *= scale[i / 640 * 128 + i % 128];
  expect_everywhere(k, {x, scale}, {expected});
}

// The wgmma of a step may still read its operands during the next one: delay_release.
plgpu::Kernel pipelined_matmul(int delay, int64_t ahead) {
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& o) {
        const pl::Index mi = pl::axis_index("m");
        const plgpu::Array result = pl::run_scoped(
            [&](const Ref& acc) {
              plgpu::emit_pipeline(
                  [&](const pl::Indices&, const Ref& a_tile, const Ref& b_tile) {
                    plgpu::wgmma(acc, a_tile, b_tile);
                    plgpu::wgmma_wait(delay);
                  },
                  {.grid = {a.shape(1) / 64},
                   .in_specs = {BlockSpec({64, 64}, [=](pl::Index k) { return pl::Indices{mi, k}; },
                                          {.transforms = tiled16, .delay_release = delay}),
                                BlockSpec({64, 128}, [=](pl::Index k) { return pl::Indices{k, 0}; },
                                          {.transforms = tiled16, .delay_release = delay})},
                   .max_concurrent_steps = ahead})(a, b);
              return acc.load();
            },
            plgpu::ACC({64, 128}, pl::f32));
        o.at(pl::ds(mi * 64, 64)).store(result);
      },
      {.in_types = {{pl::f16, {128, 512}}, {pl::f16, {512, 128}}},
       .out_type = {pl::f32, {128, 128}},
       .grid = {2},
       .grid_names = {"m"}});
}

TEST(Pipeline, InputsAreReleasedLaterWhenAsked) {
  const Values a = small_integers(128 * 512, 6), b = small_integers(512 * 128, 7);
  const Values expected = matmul(a, b, 128, 128, 512);
  for (const auto& [delay, ahead] : std::vector<std::pair<int, int64_t>>{{0, 2}, {1, 2}, {1, 4}}) {
    SCOPED_TRACE(delay * 10 + ahead);
    expect_everywhere(pipelined_matmul(delay, ahead), {a, b}, {expected});
  }
  expect_assembles(pipelined_matmul(1, 4));
}

TEST(Pipeline, InputsOfDifferentDelaysAndArraysInPlace) {
  const auto k = plgpu::kernel(
      [](const Ref& x, const Ref& y, const Ref& z, const Ref& o) {
        const auto spec = [](int delay) {
          return BlockSpec({1, 128}, [](pl::Index i, pl::Index j) { return pl::Indices{i, j}; },
                           {.delay_release = delay});
        };
        plgpu::emit_pipeline(
            [&](const pl::Indices& at, const Ref& a, const Ref& b, const Ref& whole, const Ref& out) {
              out.at(at[0], pl::ds(at[1] * 128, 128))
                  .store(a.at(0).load() + b.at(0).load() * whole.at(0).load_scalar());
            },
            {.grid = {3, 4},
             .in_specs = {spec(0), spec(2), BlockSpec({.memory_space = plgpu::GMEM})},
             .out_specs = {BlockSpec({.memory_space = plgpu::GMEM})},
             .max_concurrent_steps = 3})(x, y, z, o);
      },
      {.in_types = {{pl::s32, {3, 512}}, {pl::s32, {3, 512}}, {pl::s32, {1}}},
       .out_type = {pl::s32, {3, 512}}});
  const Values x = small_integers(1536, 8), y = small_integers(1536, 9);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i) expected[i] += 7 * y[i];
  expect_everywhere(k, {x, y, {7}}, {expected});
}

std::string mistake(plgpu::PipelineOptions options, int threads = 1) {
  return error_of([&] {
    plgpu::kernel(
        [&](const Ref& x, const Ref& o) {
          plgpu::emit_pipeline([](const pl::Indices&, const Ref& a, const Ref& b) { b.store(a.load()); },
                               options)(x, o);
        },
        {.in_types = {{pl::s32, {256}}},
         .out_type = {pl::s32, {256}},
         .num_threads = threads,
         .thread_name = threads > 1 ? "wg" : ""});
  });
}

TEST(Pipeline, MistakesNameTheRule) {
  const auto map = [](pl::Index i) { return i; };
  const BlockSpec good({128}, map), delayed({128}, map, {.delay_release = 2}),
      collective({128}, map, {.collective_axes = {"x"}});
  EXPECT_EQ(mistake({.grid = {2}, .in_specs = {good}, .out_specs = {good}}), "no error");
  EXPECT_THAT(mistake({.grid = {0}, .in_specs = {good}, .out_specs = {good}}),
              HasSubstr("PLD2701 emit_pipeline: grid dimensions must be positive, one is 0"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {delayed}, .out_specs = {good}, .max_concurrent_steps = 2}),
              HasSubstr("max_concurrent_steps (2) must be greater than all delay_release values, one is 2"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}, .out_specs = {good}, .max_concurrent_steps = 0}),
              HasSubstr("max_concurrent_steps is 0"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {collective}, .out_specs = {good}}),
              HasSubstr("collective_axes are not supported"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}}),
              HasSubstr("2 references for 1 in_specs and out_specs"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {BlockSpec({1, 128}, map)}, .out_specs = {good}}),
              HasSubstr("PLD2702 emit_pipeline: a block of 2 dimensions for an array of shape"));
  EXPECT_THAT(mistake({.grid = {2, 2}, .in_specs = {good}, .out_specs = {good}}),
              HasSubstr("does not take the 2 indices of the grid"));
  EXPECT_THAT(mistake({.grid = {2},
                       .in_specs = {BlockSpec({128}, [](pl::Index i) { return std::pair{i, i}; })},
                       .out_specs = {good}}),
              HasSubstr("the index_map gives 2 indices for a block of 1 dimensions"));
  EXPECT_THAT(mistake({.grid = {2}, .in_specs = {good}, .out_specs = {good}}, 2),
              HasSubstr("belong to one Pallas thread"));
  EXPECT_THAT(error_of([&] {
                plgpu::kernel(
                    [&](const Ref& x, const Ref&) {
                      plgpu::emit_pipeline([](const pl::Indices&, const Ref&, const Ref&) {},
                                           {.grid = {2}, .in_specs = {good}})(x);
                    },
                    {.in_types = {{pl::s32, {256}}}, .out_type = {pl::s32, {256}}});
              }),
              HasSubstr("the body does not take (const pl::Indices&, 1 references)"));
}

}  // namespace
}  // namespace palladion::test
