// nd_loop: every step is done once, by the right program, in the right order.
#include "frontend/pipeline/nd_loop.h"

#include <gmock/gmock.h>

#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::NDLoopInfo;
using plgpu::Ref;
using testing::HasSubstr;

// out[i, j] = 100 * program + local index
plgpu::Kernel places(int64_t programs, int64_t rows, int64_t columns, plgpu::NDLoopOptions options) {
  return plgpu::kernel(
      [=](const Ref& o) {
        const pl::Index sm = pl::axis_index("sm");
        plgpu::nd_loop({rows, columns}, options, [&](const NDLoopInfo& info) {
          o.at(info.index[0], info.index[1]).store(sm * 100 + info.local_index);
        });
      },
      {.out_type = {pl::s32, {rows, columns}}, .grid = {programs}, .grid_names = {"sm"}});
}

Values dealt(int64_t programs, int64_t rows, int64_t columns, int64_t tile_rows, int64_t tile_columns) {
  Values expected(static_cast<size_t>(rows * columns));
  int64_t step = 0;
  for (int64_t ti = 0; ti < rows; ti += tile_rows)
    for (int64_t tj = 0; tj < columns; tj += tile_columns)
      for (int64_t i = ti; i < ti + tile_rows; ++i)
        for (int64_t j = tj; j < tj + tile_columns; ++j, ++step)
          expected[static_cast<size_t>(i * columns + j)] =
              static_cast<double>(step % programs * 100 + step / programs);
  return expected;
}

TEST(NdLoop, DealsTheStepsRowMajor) {
  for (const int64_t programs : {1, 4, 5, 40}) {
    SCOPED_TRACE(programs);
    expect_everywhere(places(programs, 5, 7, {.collective_axes = {"sm"}}), {}, {dealt(programs, 5, 7, 1, 7)});
  }
}

TEST(NdLoop, GoesTileByTile) {
  const auto k = places(4, 6, 8, {.collective_axes = {"sm"}, .tiling = {{3, 2}}});
  expect_everywhere(k, {}, {dealt(4, 6, 8, 3, 2)});
  expect_assembles(k);
}

TEST(NdLoop, CarriesAndCountsItsSteps) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const auto sum = plgpu::nd_loop(
            {3, 5}, {.collective_axes = {"x", "y"}},
            [](const NDLoopInfo& info, pl::Index carry) {
              return carry + info.index[0] * 10 + info.index[1] + *info.num_local_steps * 1000;
            },
            pl::Index(0));
        o.at(pl::axis_index("x"), pl::axis_index("y")).store(sum);
      },
      {.out_type = {pl::s32, {2, 2}}, .grid = {2, 2}, .grid_names = {"x", "y"}});
  Values expected(4);
  for (int step = 0; step < 15; ++step)
    expected[static_cast<size_t>(step % 4)] += step / 5 * 10 + step % 5 + 1000 * (step % 4 < 3 ? 4 : 3);
  expect_everywhere(k, {}, {expected});
}

TEST(NdLoop, MistakesNameTheRule) {
  const auto record = [](plgpu::NDLoopOptions options) {
    return error_of([&] { places(2, 6, 8, options); });
  };
  EXPECT_THAT(record({.collective_axes = {"sm"}, .tiling = {{4, 2}}}),
              HasSubstr("nd_loop: Tiling 4 does not divide grid 6 in dimension 0"));
  EXPECT_THAT(record({.collective_axes = {"sm"}, .tiling = {{2}}}),
              HasSubstr("tiling has 1 dimensions, the grid has 2"));
  EXPECT_THAT(record({}), HasSubstr("collective_axes must name at least one axis"));
  EXPECT_THAT(record({.collective_axes = {"cta"}}), HasSubstr("cta"));
}

}  // namespace
}  // namespace palladion::test
