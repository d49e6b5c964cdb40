// Broadcasts by NumPy's rule: x[:, None], [16, 256] + [256], outer sums; what costs nothing and what goes
// through the scratch.
#include <fmt/format.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;

size_t barriers_of(const plgpu::Kernel& kernel) {
  const std::string text = isa::print(kernel.module);
  size_t n = 0;
  for (size_t at = text.find("bar.sync"); at != std::string::npos; at = text.find("bar.sync", at + 1)) ++n;
  return n;
}

// x - x.max(1)[:, None], in the tensor core's layout: no lane needs another one's elements.
TEST(Broadcast, RowsOfTheTensorCore) {
  const auto kernel = [](bool spread) {
    return plgpu::kernel(
        [=](const Ref& a, const Ref& o) {
          const Array x = a.load(Layout::WGMMA);
          const Array highest = x.max(1);
          o.store(spread ? x - highest[{pl::all, pl::newaxis}]
                         : x - plgpu::broadcast_in_dim(highest, {64, 32}, {0}, Layout::WGMMA));
        },
        {.in_types = {{pl::f32, {64, 32}}}, .out_type = {pl::f32, {64, 32}}});
  };
  const Values a = small_integers(64 * 32, 2, -100, 100);
  const auto ran = run(kernel(true), {a});
  for (size_t i = 0; i < 64; ++i) {
    const double most = *std::max_element(a.begin() + 32 * static_cast<int64_t>(i),
                                          a.begin() + 32 * static_cast<int64_t>(i + 1));
    for (size_t j = 0; j < 32; ++j) ASSERT_EQ(ran.outputs[0][i * 32 + j], a[i * 32 + j] - most);
  }
  EXPECT_EQ(kernel(true).module.functions.front().body.size(),
            kernel(false).module.functions.front().body.size());
}

// [16, 256] + [256] of default layouts: lanes exchange; [2, 512] + [512]: each lane holds its columns.
TEST(Broadcast, TrailingDimension) {
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{16, 256}, {2, 512}, {3, 50}, {7, 1}}) {
    SCOPED_TRACE(fmt::format("{} {}", m, n));
    const auto kernel = plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& o, const Ref& p) {
          o.store(a.load() + b.load());
          p.store(plgpu::where(b.load() > 0.0F, a.load(), 2.0F));
        },
        {.in_types = {{pl::f32, {m, n}}, {pl::f32, {n}}},
         .out_type = {{pl::f32, {m, n}}, {pl::f32, {m, n}}},
         .compiler_params = {.unsafe_no_auto_barriers = true}});
    const Values a = small_integers(m * n, 1), b = small_integers(n, 2);
    const auto ran = run(kernel, {a, b});
    for (size_t i = 0; i < a.size(); ++i) {
      const double column = b[i % static_cast<size_t>(n)];
      ASSERT_EQ(ran.outputs[0][i], a[i] + column) << i;
      ASSERT_EQ(ran.outputs[1][i], column > 0 ? a[i] : 2) << i;
    }
    if (n == 512) {
      EXPECT_EQ(barriers_of(kernel), 0u);
    }
    if (n == 256) {
      EXPECT_GT(barriers_of(kernel), 0u);
    }
  }
}

// A column and a row: neither has the result's shape.
TEST(Broadcast, OuterSums) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& b, const Ref& o, const Ref& p) {
        const Array down = a.load(Layout::WGMMA.reduce(1)), across = b.load(Layout::WGMMA.reduce(0));
        const Array sum = down[{pl::all, pl::newaxis}] + across;
        EXPECT_EQ(sum.layout(), Layout::WGMMA);
        o.store(sum);
        p.store(a.load()[{pl::all, pl::newaxis}] * b.load()[{pl::newaxis, pl::all}]);
      },
      {.in_types = {{pl::s32, {64}}, {pl::s32, {16}}},
       .out_type = {{pl::s32, {64, 16}}, {pl::s32, {64, 16}}}});
  const Values a = small_integers(64, 1), b = small_integers(16, 2);
  const auto ran = run(kernel, {a, b});
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 16; ++j) {
      ASSERT_EQ(ran.outputs[0][i * 16 + j], a[i] + b[j]);
      ASSERT_EQ(ran.outputs[1][i * 16 + j], a[i] * b[j]);
    }
}

TEST(Broadcast, NewAxesSlicesAndSqueeze) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const Array x = a.load(Layout::WGMMA);
        const Array sums = x.sum(1)[{pl::newaxis, pl::all, pl::newaxis}];
        EXPECT_EQ(sums.shape(), (pl::Shape{1, 64, 1}));
        const Array back = plgpu::squeeze(sums, {0, 2});
        EXPECT_EQ(back.layout(), Layout::WGMMA.reduce(1));
        EXPECT_EQ((x[{pl::all, pl::ds(8, 16)}].shape()), (pl::Shape{64, 16}));
        EXPECT_EQ((plgpu::zeros({4}, pl::f32)[{pl::newaxis, pl::all}].shape()), (pl::Shape{1, 4}));
        o.store(back);
      },
      {.in_types = {{pl::s32, {64, 32}}}, .out_type = {pl::s32, {64}}});
  const Values a = small_integers(64 * 32, 6);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < 64; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 32; ++j) sum += a[i * 32 + j];
    ASSERT_EQ(ran.outputs[0][i], sum);
  }
}

}  // namespace
}  // namespace palladion::test
