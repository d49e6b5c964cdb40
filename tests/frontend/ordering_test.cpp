// Running sums, sorting, the largest elements, another order: against the standard library's.
#include <fmt/format.h>

#include <numeric>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;

constexpr double inf = std::numeric_limits<double>::infinity();

// Rows of `n`, one after the other, each given to `f`.
template <class F>
void each_row(Values& values, int64_t n, F f) {
  for (auto row = values.begin(); row != values.end(); row += n) f(row, row + n);
}

// One row of any size; rows of the tensor core's layout; rows of a power of two in vectors.
struct Case {
  pl::Shape shape;
  std::optional<Layout> layout = std::nullopt;
};
std::vector<Case> orderings() {
  return {{{1}},
          {{5}},
          {{127}},
          {{128}},
          {{200}},
          {{384}},
          {{1024}},
          {{4, 64}},
          {{2, 256}},
          {{64, 8}, Layout::WGMMA},
          {{64, 24}, Layout::WGMMA},
          {{128, 32}, Layout::WGMMA}};
}

TEST(Ordering, RunningSums) {
  for (const pl::DType d : {pl::s32, pl::f32, pl::s64, pl::f16}) {
    for (const Case& c : orderings()) {
      SCOPED_TRACE(fmt::format("{}{}", pl::name(d), pl::to_string(c.shape)));
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& o, const Ref& p, const Ref& q, const Ref& sums) {
            const Array x = c.layout ? a.load(*c.layout) : a.load();
            const Array sum = plgpu::cumsum(x);
            o.store(sum);
            p.store(plgpu::cumsum(x, -1, {.reverse = true}));
            q.store(plgpu::cummax(x));
            // Copies behind the end of a padded array are copies again.
            sums.at(0).store(sum.max_all());
          },
          {.in_types = {{d, c.shape}},
           .out_type = {{d, c.shape}, {d, c.shape}, {d, c.shape}, {d, {1}}},
           .compiler_params = {.reduction_scratch_bytes = 4096}});
      const int64_t n = c.shape.back();
      const Values a = small_integers(pl::volume(c.shape), 7, -2, 3);
      const auto ran = run(kernel, {a});
      Values sums = a, reverse = a, most = a;
      each_row(sums, n, [](auto b, auto e) { std::partial_sum(b, e, b); });
      each_row(reverse, n, [](auto b, auto e) {
        std::partial_sum(std::make_reverse_iterator(e), std::make_reverse_iterator(b),
                         std::make_reverse_iterator(e));
      });
      each_row(most, n, [](auto b, auto e) {
        std::partial_sum(b, e, b, [](double x, double y) { return std::max(x, y); });
      });
      EXPECT_EQ(ran.outputs[0], sums);
      EXPECT_EQ(ran.outputs[1], reverse);
      EXPECT_EQ(ran.outputs[2], most);
      EXPECT_EQ(ran.outputs[3][0], *std::ranges::max_element(sums));
    }
  }
}

TEST(Ordering, OfTheFirstDimensionOfATile) {
  const auto kernel =
      plgpu::kernel([](const Ref& a, const Ref& o) { o.store(plgpu::cumsum(a.load(Layout::WGMMA), 0)); },
                    {.in_types = {{pl::s32, {64, 8}}}, .out_type = {pl::s32, {64, 8}}});
  Values a = small_integers(512, 3);
  const auto ran = run(kernel, {a});
  for (size_t i = 8; i < 512; ++i) a[i] += a[i - 8];
  EXPECT_EQ(ran.outputs[0], a);
}

TEST(Ordering, SortIsStable) {
  for (const pl::DType d : {pl::s32, pl::u32, pl::f32, pl::s8, pl::bf16}) {
    for (const Case& c : orderings()) {
      if (pl::bits(d) == 8 && c.layout) continue;  // its rows are vectors of bytes
      SCOPED_TRACE(fmt::format("{}{}", pl::name(d), pl::to_string(c.shape)));
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& o, const Ref& p, const Ref& q) {
            const Array x = c.layout ? a.load(*c.layout) : a.load();
            o.store(plgpu::sort(x));
            p.store(plgpu::argsort(x));
            q.store(plgpu::argsort(x, -1, {.descending = true}));
          },
          {.in_types = {{d, c.shape}}, .out_type = {{d, c.shape}, {pl::s32, c.shape}, {pl::s32, c.shape}}});
      const int64_t n = c.shape.back();
      const Values a =
          small_integers(pl::volume(c.shape), 11, pl::is_integer(d) && !pl::is_signed(d) ? 0 : -20, 20);
      const auto ran = run(kernel, {a});
      Values sorted = a, up(a.size()), down(a.size());
      each_row(sorted, n, [](auto b, auto e) { std::sort(b, e); });
      for (size_t row = 0; row < a.size(); row += static_cast<size_t>(n)) {
        const auto at = [&](double i) { return a[row + static_cast<size_t>(i)]; };
        const auto begin = static_cast<std::ptrdiff_t>(row);
        for (Values* v : {&up, &down}) std::iota(v->begin() + begin, v->begin() + begin + n, 0);
        std::stable_sort(up.begin() + begin, up.begin() + begin + n,
                         [&](double x, double y) { return at(x) < at(y); });
        std::stable_sort(down.begin() + begin, down.begin() + begin + n,
                         [&](double x, double y) { return at(x) > at(y); });
      }
      EXPECT_EQ(ran.outputs[0], sorted);
      EXPECT_EQ(ran.outputs[1], up);
      EXPECT_EQ(ran.outputs[2], down);
    }
  }
}

// -0 equals 0 and keeps its place and sign; NaN stands last; infinities are numbers.
TEST(Ordering, SpecialNumbers) {
  const auto kernel = plgpu::kernel([](const Ref& a, const Ref& o) { o.store(plgpu::sort(a.load())); },
                                    {.in_types = {{pl::f32, {8}}}, .out_type = {pl::f32, {8}}});
  const auto ran = run(kernel, {{0.0, NAN, -0.0, inf, -inf, 1, -0.0, -1}});
  const Values& o = ran.outputs[0];
  EXPECT_EQ(Values(o.begin(), o.begin() + 7), (Values{-inf, -1, 0, 0, 0, 1, inf}));
  EXPECT_FALSE(std::signbit(o[2]));
  EXPECT_TRUE(std::signbit(o[3]) && std::signbit(o[4]));
  EXPECT_TRUE(std::isnan(o[7]));
}

TEST(Ordering, TopK) {
  for (const auto& [n, k] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {100, 7}, {512, 512}, {1000, 130}}) {
    SCOPED_TRACE(fmt::format("{} of {}", k, n));
    const auto kernel = plgpu::kernel(
        [k](const Ref& a, const Ref& o, const Ref& p) {
          const auto [values, numbers] = plgpu::top_k(a.load(), k);
          o.store(values);
          p.store(numbers);
        },
        {.in_types = {{pl::f32, {n}}}, .out_type = {{pl::f32, {k}}, {pl::s32, {k}}}});
    const Values a = small_integers(n, 2, -50, 50);
    const auto ran = run(kernel, {a});
    Values order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(
        order, [&](double x, double y) { return a[static_cast<size_t>(x)] > a[static_cast<size_t>(y)]; });
    for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
      ASSERT_EQ(ran.outputs[1][i], order[i]) << i;
      ASSERT_EQ(ran.outputs[0][i], a[static_cast<size_t>(order[i])]) << i;
    }
  }
}

TEST(Ordering, Take) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& m, const Ref& order, const Ref& moved, const Ref& o, const Ref& p) {
        o.store(plgpu::take(a.load(), order.load()));
        p.store(plgpu::take(m.load(Layout::WGMMA), moved.load(), 0));
      },
      {.in_types = {{pl::f32, {200}}, {pl::f32, {64, 16}}, {pl::s32, {200}}, {pl::s32, {64}}},
       .out_type = {{pl::f32, {200}}, {pl::f32, {64, 16}}},
       .compiler_params = {.reduction_scratch_bytes = 4096}});
  const Values a = iota(200), m = iota(1024);
  Values order(200), turned(64);
  for (size_t i = 0; i < 200; ++i) order[i] = static_cast<double>(i * 77 % 200);
  order[3] = -5, order[4] = 1000;  // clipped
  for (size_t i = 0; i < 64; ++i) turned[i] = static_cast<double>(i * 13 % 64);
  const auto ran = run(kernel, {a, m, order, turned});
  for (size_t i = 0; i < 200; ++i) ASSERT_EQ(ran.outputs[0][i], std::clamp(order[i], 0.0, 199.0)) << i;
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 16; ++j)
      ASSERT_EQ(ran.outputs[1][i * 16 + j], turned[i] * 16 + static_cast<double>(j));
}

}  // namespace
}  // namespace palladion::test
