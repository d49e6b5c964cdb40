// Control flow at run time, and where a program is.
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Ref;

TEST(Control, LoopsCarryScalarsAndArrays) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const Array x = a.load();
        const auto [sum, count] = pl::fori_loop(
            0, 5,
            [&](pl::Index i, Array s, pl::Index n) { return std::tuple{s + x * i.astype(pl::s32), n + 2}; },
            plgpu::zeros({256}, pl::s32) + x * 0, pl::Index(1));
        const auto steps =
            pl::while_loop([&](pl::Index n) { return n < 1000; }, [&](pl::Index n) { return n * 3; }, count);
        const Array y = pl::cond(steps > 2000, [&] { return sum; }, [&] { return sum + steps; });
        o.store(y);
      },
      {.in_types = {{pl::s32, {256}}}, .out_type = {pl::s32, {256}}});
  // count = 11, then 33, 99, 297, 891, 2673: more than 2000.
  Values expected = iota(256);
  for (double& v : expected) v *= 10;
  EXPECT_EQ(run(k, {iota(256)}).outputs[0], expected);
}

TEST(Control, CarriesMayTradePlaces) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const auto [a, b] =
            pl::fori_loop(0, 7, [](pl::Index, pl::Index x, pl::Index y) { return std::tuple{y, x}; }, 1, 2);
        o.at(0).store(a);
        o.at(1).store(b);
        // Dynamic bounds and a step: 0, 3, 6, ... below 2 * 29.
        const pl::Index n = pl::fori_loop(
            0, a * 29, [](pl::Index, pl::Index steps) { return steps + 1; }, pl::Index(0),
            pl::LoopOptions{.step = 3});
        o.at(2).store(n);
      },
      {.out_type = {pl::s32, {3}}});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{2, 1, 20}));
}

TEST(Control, UnrolledBodiesSeeTheNextCarry) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const auto step = [](pl::Index, pl::Index x) { return x * 3 + 1; };
        o.at(0).store(pl::fori_loop(0, 8, step, pl::program_id(0) + 1, pl::LoopOptions{.unroll = 2}));
        o.at(1).store(pl::fori_loop(0, 3, step, pl::program_id(0) + 1, pl::LoopOptions{.unroll = 3}));
      },
      {.out_type = {pl::s32, {2}}, .grid = {1}});
  // 1, 4, 13, 40, 121, ...
  EXPECT_EQ(run(k, {}).outputs[0], (Values{9841, 40}));
}

TEST(Control, SwitchTakesTheNearestBranch) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const pl::Index i = pl::program_id(0);
        o.at(i).store(pl::switch_(
            i - 1, [] { return pl::Index(10); }, [] { return pl::Index(20); }, [] { return pl::Index(30); }));
      },
      {.out_type = {pl::s32, {5}}, .grid = {5}});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{10, 10, 20, 30, 30}));
}

TEST(Control, GridsAndAxes) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const pl::Index i = pl::axis_index("x"), j = pl::axis_index("y"), l = pl::program_id(2),
                        c = pl::axis_index("c"), t = pl::axis_index("t");
        o.at(i, j, l, c, t).store(i * 10000 + j * 1000 + l * 100 + c * 10 + t);
      },
      {.out_type = {pl::s32, {2, 3, 4, 2, 2}},
       .grid = {2, 3, 4},
       .grid_names = {"x", "y", "z"},
       .cluster = {2},
       .cluster_names = {"c"},
       .num_threads = 2,
       .thread_name = "t"});
  Values expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 4; ++l)
        for (int c = 0; c < 2; ++c)
          for (int t = 0; t < 2; ++t) expected.push_back(i * 10000 + j * 1000 + l * 100 + c * 10 + t);
  EXPECT_EQ(run(k, {}).outputs[0], expected);
}

}  // namespace
}  // namespace palladion::test
