// pallas_call: programs get their blocks in SMEM and leave them there.
#include "frontend/launch/pallas_call.h"

#include <gmock/gmock.h>

#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using plgpu::Scratch;
using testing::HasSubstr;

const pl::ShapeDtype vector256{pl::s32, {256}};

TEST(PallasCall, WholeArraysAreInSmemByDefault) {
  const auto add =
      pl::pallas_call([](const Ref& x, const Ref& y, const Ref& o) { o.store(x.load() + y.load()); },
                      {.out_shape = vector256});
  expect_everywhere(add(vector256, vector256), {iota(256), iota(256, 8)},
                    {map_values(iota(256), [](double v) { return 2 * v + 8; })});
}

TEST(PallasCall, BlocksFollowTheGrid) {
  const auto call = pl::pallas_call(
      [](const Ref& x, const Ref& o) {
        EXPECT_EQ(x.space(), plgpu::MemorySpace::smem);
        EXPECT_EQ(x.shape(), (pl::Shape{128}));
        o.store(x.load() + pl::program_id(0) * 1000 + pl::num_programs(0));
      },
      {.out_shape = vector256,
       .grid = {2},
       .in_specs = {pl::BlockSpec({128}, [](pl::Index i) { return i; })},
       .out_specs = {pl::BlockSpec({128}, [](pl::Index i) { return pl::Index(1) - i; })}});
  Values expected(256);
  for (size_t i = 0; i < 256; ++i)
    expected[(1 - i / 128) * 128 + i % 128] = static_cast<double>(i + i / 128 * 1000 + 2);
  expect_everywhere(call(vector256), {iota(256)}, {expected});
}

TEST(PallasCall, ArraysMayStayInGmem) {
  const auto iota_call =
      pl::pallas_call([](const Ref& o) { o.at(pl::program_id(0)).store(pl::program_id(0)); },
                      {.out_shape = {pl::s32, {8}},
                       .grid = {8},
                       .out_specs = {plgpu::BlockSpec({.memory_space = plgpu::GMEM})}});
  expect_everywhere(iota_call(), {}, {iota(8)});
}

// z = act(x y), blocks of 64 by 128 with the whole of k: the grid is parallel, or k is a sequential axis.
pl::PallasCall matmul_call(bool sequential) {
  const plgpu::Transforms tiled = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)};
  const int64_t block_k = sequential ? 64 : 256;
  const auto body = [=](const Ref& x, const Ref& y, const Ref& z, Scratch& s) {
    if (!sequential) {
      z.store(pl::run_scoped(
          [&](const Ref& acc) {
            plgpu::wgmma(acc, x, y);
            return acc.load();
          },
          plgpu::ACC({64, 128}, pl::f32)));
      return;
    }
    const Ref& acc = s["acc"];
    plgpu::wgmma(acc, x, y);
    plgpu::wgmma_wait(0);
    pl::when(pl::program_id(2) == pl::num_programs(2) - 1, [&] { z.store(acc.load()); });
  };
  pl::PallasCallOptions o{
      .out_shape = {pl::f32, {128, 256}},
      .grid = {2, 2},
      .in_specs = {plgpu::BlockSpec({64, block_k},
                                    [](const pl::Indices& at) {
                                      return pl::Indices{at[0], at.size() > 2 ? at[2] : pl::Index(0)};
                                    },
                                    {.transforms = tiled}),
                   plgpu::BlockSpec({block_k, 128},
                                    [](const pl::Indices& at) {
                                      return pl::Indices{at.size() > 2 ? at[2] : pl::Index(0), at[1]};
                                    },
                                    {.transforms = tiled})},
      .out_specs = {
          plgpu::BlockSpec({64, 128}, [](const pl::Indices& at) { return pl::Indices{at[0], at[1]}; },
                           {.transforms = {plgpu::TilingTransform({8, 32}), plgpu::SwizzleTransform(128)}})}};
  if (sequential) {
    o.grid = {2, 2, 4};
    o.scratch_shapes = {{"acc", plgpu::ACC({64, 128}, pl::f32)}};
    o.compiler_params = {.dimension_semantics = {"parallel", "parallel", "sequential"},
                         .max_concurrent_steps = 2};
  }
  return pl::pallas_call(body, o);
}

TEST(PallasCall, MatrixProducts) {
  const pl::ShapeDtype a{pl::f16, {128, 256}}, b{pl::f16, {256, 256}};
  const Values x = small_integers(128 * 256, 1), y = small_integers(256 * 256, 2);
  const Values expected = matmul(x, y, 128, 256, 256);
  for (const bool sequential : {false, true}) {
    SCOPED_TRACE(sequential);
    const auto k = matmul_call(sequential)(a, b);
    expect_everywhere(k, {x, y}, {expected});
    expect_assembles(k);
  }
}

TEST(PallasCall, MistakesNameTheRule) {
  const auto record = [](pl::PallasCallOptions o) {
    o.out_shape = vector256;
    return error_of(
        [&] { pl::pallas_call([](const Ref& x, const Ref& y) { y.store(x.load()); }, o)(vector256); });
  };
  const pl::BlockSpec good({128}, [](pl::Index i) { return i; });
  EXPECT_EQ(record({}), "no error");
  EXPECT_THAT(record({.grid = {2}, .in_specs = {good, good}}),
              HasSubstr("pallas_call: 2 in_specs for 1 arrays"));
  EXPECT_THAT(record({.grid = {2},
                      .in_specs = {plgpu::BlockSpec({128}, [](pl::Index i) { return i; },
                                                    {.memory_space = plgpu::GMEM})}}),
              HasSubstr("a block in GMEM must be the whole array"));
  EXPECT_THAT(record({.grid = {2}, .compiler_params = {.dimension_semantics = {"serial"}}}),
              HasSubstr("not \"serial\""));
  EXPECT_THAT(
      record({.grid = {2, 2}, .compiler_params = {.dimension_semantics = {"sequential", "parallel"}}}),
      HasSubstr("a parallel axis follows a sequential one"));
}

}  // namespace
}  // namespace palladion::test
