// Arrays whose elements do not divide among 128 lanes: load, compute, reduce, store, exact.
#include <fmt/format.h>

#include <numeric>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

TEST(OddArrays, PaddedLayoutHoldsEveryElement) {
  for (const int64_t n : {1, 2, 5, 96, 127, 130, 1000, 1160}) {
    for (const pl::DType d : {pl::s8, pl::f16, pl::f32, pl::f64}) {
      const Layout layout = plgpu::default_layout({n}, d);
      std::vector<int> owners(static_cast<size_t>(n));
      for (int64_t t = 0; t < 128; ++t) {
        for (int64_t e = 0; e < layout.elements({n}); ++e) {
          const auto at = static_cast<size_t>(layout.index({n}, t, e)[0]);
          ASSERT_LT(at, owners.size());
          owners[at] += t < layout.lanes_at(e) ? 1 : 0;
        }
      }
      EXPECT_EQ(owners, std::vector<int>(static_cast<size_t>(n), 1)) << n << " " << pl::name(d);
    }
  }
  EXPECT_EQ(plgpu::to_string(plgpu::default_layout({5}, pl::f32)), "WG_PADDED([5], 1)");
  EXPECT_EQ(Layout::WG_PADDED({256}, 2), Layout::WG_STRIDED({256}, 2));
}

TEST(OddArrays, ComputeAndReduce) {
  for (const pl::DType d : {pl::s8, pl::s32, pl::f16, pl::f32, pl::s64}) {
    for (const pl::Shape& shape : {pl::Shape{5}, pl::Shape{3, 33}, pl::Shape{127}, pl::Shape{126},
                                   pl::Shape{26, 5}, pl::Shape{24, 40}}) {
      SCOPED_TRACE(fmt::format("{}{}", pl::name(d), pl::to_string(shape)));
      const int64_t n = pl::volume(shape);
      const pl::DType sum = pl::is_float(d) ? pl::f32 : pl::s32;
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& b, const Ref& o, const Ref& sums, Scratch& s) {
            const Array x = a.load();
            s["x"].store(x + b.load());
            const Array y = s["x"].load();
            o.store(plgpu::where(y > 0, y, 0) +
                    plgpu::broadcasted_iota(d, shape, static_cast<int>(shape.size()) - 1));
            const Array wide = y.astype(sum);
            sums.at(0).store(wide.sum_all());
            sums.at(1).store(wide.max_all());
            sums.at(2).store(wide.min_all());
            sums.at(3).store(plgpu::where(wide == 1, -1, 1).astype(sum).prod_all());
          },
          {.in_types = {{d, shape}, {d, shape}},
           .out_type = {{d, shape}, {sum, {4}}},
           .scratch_types = {{"x", plgpu::SMEM(shape, d)}}});
      Values a = small_integers(n, 1, -6, -2), b = small_integers(n, 2, -2, 3);
      for (int64_t i = 0; i < std::min<int64_t>(n, 3); ++i)
        b[static_cast<size_t>(i)] = 1 - a[static_cast<size_t>(i)];
      const auto ran = run(kernel, {a, b});
      double total = 0, most = -99, least = 99, product = 1;
      for (int64_t i = 0; i < n; ++i) {
        const double y = a[static_cast<size_t>(i)] + b[static_cast<size_t>(i)];
        total += y, most = std::max(most, y), least = std::min(least, y), product *= y == 1 ? -1 : 1;
        ASSERT_EQ(ran.outputs[0][static_cast<size_t>(i)],
                  std::max(y, 0.0) + static_cast<double>(i % shape.back()))
            << i;
      }
      EXPECT_EQ(ran.outputs[1], (Values{total, most, least, product}));
    }
  }
}

// Elements are added once, and sent once to another CTA.
TEST(OddArrays, EachElementOnce) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& o, const Ref& p, Scratch& s) {
        const Array x = a.load();
        plgpu::atomic_add(o, x);
        const pl::Scalar me = pl::axis_index("c");
        plgpu::async_store_smem(x + me, s["x"], s.barrier("full"),
                                {.cluster_idx = 1 - me, .cluster_dim = "c"});
        plgpu::barrier_wait(s.barrier("full"));
        p.at(me).store(s["x"].load());
      },
      {.in_types =
           {
               {pl::s32, {77}},
           },
       .out_type = {{pl::s32, {77}}, {pl::s32, {2, 77}}},
       .scratch_types = {{"x", plgpu::SMEM({77}, pl::s32)}, {"full", plgpu::Barrier()}},
       .cluster = {2},
       .cluster_names = {"c"},
       .input_output_aliases = {{0, 0}}});
  const Values a = small_integers(77, 4);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(ran.outputs[0][i], 3 * a[i]);
    ASSERT_EQ(ran.outputs[1][i], a[i] + 1);
    ASSERT_EQ(ran.outputs[1][77 + i], a[i]);
  }
}

// What a lane holds twice is carried, cast and joined with numbers like any other array.
TEST(OddArrays, LoopsAndReshapes) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const Array x = pl::fori_loop(0, 4, [](pl::Index, const Array& v) { return v * 2 + 1; }, a.load());
        o.store(x.reshape({6, 10}).astype(pl::f32));
      },
      {.in_types = {{pl::s32, {60}}}, .out_type = {pl::f32, {6, 10}}});
  const Values a = small_integers(60, 3);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(ran.outputs[0][i], a[i] * 16 + 15);
}

}  // namespace
}  // namespace palladion::test
