#include "kernels/examples/ordered_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

constexpr int64_t longest = 2048;  // 16 elements a lane: 66 steps of the network
const std::vector<pl::DType> dtypes = {pl::f32, pl::f16, pl::bf16, pl::s32};

void check(const char* name, int64_t m, int64_t n) {
  const Rules rules(name);
  rules.at_least("m", m, 1);
  rules.require(n >= 1 && n <= longest, fmt::format("n={} must be 1 to {}", n, longest));
}

// Numbers of a row's elements in their order: stable, NaN behind all numbers.
std::vector<size_t> order_of(std::span<const double> row, bool descending) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    const double x = row[descending ? b : a], y = row[descending ? a : b];
    return x == x && (y != y || x < y);
  };
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

// Few different numbers: equal ones keep their order.
std::vector<Array> make_inputs(pl::DType dtype, int64_t m, int64_t n, uint64_t seed) {
  std::vector<Array> in = normal_inputs({{dtype, {m, n}}}, seed);
  for (int64_t i = 0; i < in[0].size(); i += 3) set_value(in[0], i, static_cast<double>(i % 5 - 2));
  return in;
}

Array sorted(const SortRows& c, const std::vector<Array>& inputs) {
  const std::vector<double> x = to_doubles(inputs[0]);
  std::vector<double> out;
  for (size_t at = 0; at < x.size(); at += static_cast<size_t>(c.n)) {
    const std::span row(&x[at], static_cast<size_t>(c.n));
    for (const size_t i : order_of(row, c.descending)) out.push_back(row[i]);
  }
  return from_doubles(inputs[0].type, out);
}

std::vector<Array> largest(const TopK& c, const std::vector<Array>& inputs) {
  const std::vector<double> x = to_doubles(inputs[0]);
  std::vector<double> values, numbers;
  for (size_t at = 0; at < x.size(); at += static_cast<size_t>(c.n)) {
    const std::span row(&x[at], static_cast<size_t>(c.n));
    const std::vector<size_t> order = order_of(row, true);
    for (size_t i = 0; i < static_cast<size_t>(c.k); ++i) {
      values.push_back(row[order[i]]);
      numbers.push_back(static_cast<double>(order[i]));
    }
  }
  return {from_doubles({c.dtype, {c.m, c.k}}, values), from_doubles({pl::s32, {c.m, c.k}}, numbers)};
}

}  // namespace

plgpu::Kernel sort_rows(const SortRows& c) {
  check("sort_rows", c.m, c.n);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref& out) {
        const Scalar row = pl::program_id(0);
        out.at(row).store(plgpu::sort(x.at(row).load(), -1, {.descending = c.descending}));
      },
      {.in_types = type, .out_type = type, .grid = {c.m}, .name = "sort_rows"});
}

plgpu::Kernel top_k(const TopK& c) {
  check("top_k", c.m, c.n);
  Rules("top_k").require(c.k >= 1 && c.k <= c.n, fmt::format("k={} must be 1 to n={}", c.k, c.n));
  return plgpu::kernel(
      [&](const Ref& x, const Ref& values, const Ref& numbers) {
        const Scalar row = pl::program_id(0);
        const auto [v, i] = plgpu::top_k(x.at(row).load(), c.k);
        values.at(row).store(v);
        numbers.at(row).store(i);
      },
      {.in_types = {{c.dtype, {c.m, c.n}}},
       .out_type = {{c.dtype, {c.m, c.k}}, {pl::s32, {c.m, c.k}}},
       .grid = {c.m},
       .name = "top_k"});
}

KernelSpec sort_rows_spec() {
  using C = SortRows;
  return Spec("sort_rows", "Each row in order, in a warpgroup's registers", sort_rows)
      .size("m", &C::m, "rows")
      .size("n", &C::n, "elements of a row", {.max = longest})
      .setting("dtype", &C::dtype, "of both arrays", dtypes)
      .setting("descending", &C::descending, "1: the largest one first")
      .arrays({"x"}, {"sorted"})
      .inputs([](const C& c, uint64_t seed) { return make_inputs(c.dtype, c.m, c.n, seed); })
      .reference(sorted);
}

KernelSpec top_k_spec() {
  using C = TopK;
  return Spec("top_k", "The k largest elements of each row, and where they are", top_k)
      .size("m", &C::m, "rows")
      .size("n", &C::n, "elements of a row", {.max = longest})
      .size("k", &C::k, "elements that are kept: at most n")
      .setting("dtype", &C::dtype, "of the elements", dtypes)
      .arrays({"x"}, {"values", "numbers"})
      .inputs([](const C& c, uint64_t seed) { return make_inputs(c.dtype, c.m, c.n, seed); })
      .reference(largest);
}

}  // namespace palladion::kernels
