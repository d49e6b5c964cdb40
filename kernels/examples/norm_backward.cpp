#include "kernels/examples/norm_backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

constexpr int64_t longest = 4096;          // 32 elements a lane, of seven arrays
constexpr int64_t strip = 32, block = 64;  // columns of a CTA that adds up, and parts that it adds at a time

void check(const char* name, const NormBackward& c) {
  const Rules rules(name);
  rules.at_least("m", c.m, 1);
  rules.require(c.n >= 1 && c.n <= longest, fmt::format("n={} must be 1 to {}", c.n, longest));
  rules.at_least("ctas", c.ctas, 1);
}

// CTAs that walk over rows, and those behind them that add up the columns.
int64_t ctas_of(const NormBackward& c) { return std::min(c.ctas, c.m); }
int64_t strips_of(const NormBackward& c) { return pl::cdiv(c.n, strip); }

struct Body {
  const NormBackward& c;
  bool centred;  // layer_norm
  Ref dy, x, weight, mean, rstd, dx;
  std::vector<Ref> sums;  // over all rows: dweight, and dbias where there is a bias
  Ref parts;              // (ctas, sums, columns), f32: of a CTA's own rows
  Ref done;               // CTAs that have written their part

  int64_t ctas() const { return ctas_of(c); }
  float share() const { return 1.0F / static_cast<float>(c.n); }
  Scalar mean_of(const plgpu::Array& v) const { return v.sum_all() * share(); }

  // x normalised as the forward did, and what it was multiplied with.
  std::pair<plgpu::Array, Scalar> normalised(const Scalar& row, const plgpu::Array& v) const {
    if (centred) {
      const Scalar root = rstd.at(row).load_scalar();
      return {(v - mean.at(row).load_scalar()) * root, root};
    }
    const Scalar root = rsqrt(mean_of(v * v) + c.epsilon);
    return {v * root, root};
  }

  using Arrays = std::vector<plgpu::Array>;

  Arrays load(const Scalar& row) const { return {dy.at(row).load(), x.at(row).load()}; }

  // The gradient of a row of x; what the row adds to those of weight and bias.
  Arrays differentiate(const Scalar& row, const Arrays& loaded) const {
    const plgpu::Array g = loaded[0].astype(pl::f32);
    const auto [v, root] = normalised(row, loaded[1].astype(pl::f32));
    const plgpu::Array gw = g * weight.load().astype(pl::f32);
    const plgpu::Array less = v * mean_of(gw * v);
    const plgpu::Array d = centred ? gw - mean_of(gw) - less : gw - less;
    dx.at(row).store((d * root).astype(c.dtype));
    if (centred) return {g * v, g};
    return {g * v};
  }
  static Arrays added(const Arrays& a, const Arrays& b) {
    Arrays out;
    for (size_t i = 0; i < a.size(); ++i) out.push_back(a[i] + b[i]);
    return out;
  }

  // A lane has registers for the next row, which comes while this one is computed.
  bool has_room() const { return c.n * pl::bytes(c.dtype) <= 8192; }

  // The sums over this CTA's rows.
  Arrays sums_of_rows() const {
    const Scalar first = pl::axis_index("cta"), steps = (c.m - 1 - first) / ctas() + 1;
    const plgpu::Layout layout = plgpu::default_layout({c.n}, c.dtype);
    const Arrays none(sums.size(), plgpu::layout_cast(plgpu::zeros({c.n}, pl::f32), layout));
    if (!has_room())
      return pl::fori_loop(
          0, steps,
          [&](const Scalar& step, const Arrays& so_far) {
            const Scalar row = first + step * ctas();
            return added(so_far, differentiate(row, load(row)));
          },
          none);
    const auto [all, behind] = pl::fori_loop(
        0, steps,
        [&](const Scalar& step, const Arrays& so_far, const Arrays& loaded) {
          const Scalar row = first + step * ctas();
          // Behind the last row, the last one of all again.
          const Arrays next = load(pl::minimum(row + ctas(), c.m - 1));
          return std::tuple{added(so_far, differentiate(row, loaded)), next};
        },
        none, load(first));
    return all;
  }

  void walk_rows() const {
    const Arrays own = sums_of_rows();
    for (size_t s = 0; s < own.size(); ++s)
      parts.at(pl::axis_index("cta"), static_cast<int64_t>(s)).store(own[s]);
    plgpu::semaphore_signal(done, 1, {.memory_scope = "gpu"});
  }

  // A strip of columns of all parts: the same order in every run. The CTAs that it waits for have lower
  // numbers, have started, and wait for nobody.
  void add_columns(const Scalar& number) const {
    plgpu::semaphore_wait(done, ctas(), {.decrement = false, .memory_scope = "gpu"});
    const pl::Slice columns = ds(number * strip, strip);
    const plgpu::Layout layout = plgpu::Layout::WGMMA;
    for (size_t s = 0; s < sums.size(); ++s) {
      const plgpu::Array sum = pl::fori_loop(
          0, pl::cdiv(ctas(), block),
          [&](const Scalar& i, const plgpu::Array& so_far) {
            const Ref window = parts.at(ds(i * block, block), static_cast<int64_t>(s), columns);
            return so_far + plgpu::load(window, {.mask = plgpu::in_bounds(window, layout), .other = 0.0F});
          },
          plgpu::layout_cast(plgpu::zeros({block, strip}, pl::f32), layout));
      const plgpu::Array total = sum.sum(0).astype(c.dtype);
      const Ref out = sums[s].at(columns);
      plgpu::store(out, total, {.mask = plgpu::in_bounds(out, total.layout())});
    }
  }

  void run() const {
    const Scalar cta = pl::axis_index("cta");
    pl::cond(cta < ctas(), [&] { walk_rows(); }, [&] { add_columns(cta - ctas()); });
  }
};

plgpu::Kernel record(const char* name, const NormBackward& c, bool centred) {
  check(name, c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}}, column{c.dtype, {c.n}}, row{pl::f32, {c.m}};
  plgpu::KernelOptions o = grid_of(name, ctas_of(c) + strips_of(c));
  o.in_types = {type, type, column};
  o.out_type = {type, column};
  if (centred) {
    o.in_types = {type, type, column, row, row};
    o.out_type = {type, column, column};
  }
  o.scratch_types = {{"parts", plgpu::GMEM({ctas_of(c), centred ? 2 : 1, c.n}, pl::f32)},
                     {"done", plgpu::SemaphoreType::REGULAR()}};
  o.compiler_params.approx_math = true;
  return plgpu::kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& s) {
        const size_t inputs = centred ? 5 : 3;
        Body{.c = c,
             .centred = centred,
             .dy = refs[0],
             .x = refs[1],
             .weight = refs[2],
             .mean = centred ? refs[3] : Ref(),
             .rstd = centred ? refs[4] : Ref(),
             .dx = refs[inputs],
             .sums = {refs.begin() + static_cast<std::ptrdiff_t>(inputs) + 1, refs.end()},
             .parts = s["parts"],
             .done = s["done"]}
            .run();
      },
      o);
}

// What the forward keeps of a row: its mean (of rms_norm 0) and the number that it multiplied with.
struct Kept {
  double mean, root;
};
Kept kept(std::span<const double> x, double epsilon, bool centred) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  if (centred)
    for (const double v : x) sum += v / n;
  for (const double v : x) squares += (v - sum) * (v - sum);
  return {sum, 1 / std::sqrt(squares / n + epsilon)};
}

std::vector<Array> reference(const NormBackward& c, const std::vector<Array>& inputs, bool centred) {
  const std::vector<double> dy = to_doubles(inputs[0]), x = to_doubles(inputs[1]), w = to_doubles(inputs[2]);
  const size_t n = w.size();
  std::vector<double> dx(x.size()), dweight(n), dbias(n);
  for (size_t row = 0; row < x.size() / n; ++row) {
    const size_t at = row * n;
    const Kept k = centred ? Kept{value_at(inputs[3], int64_t(row)), value_at(inputs[4], int64_t(row))}
                           : kept({&x[at], n}, c.epsilon, false);
    const auto v = [&](size_t j) { return (x[at + j] - k.mean) * k.root; };
    double along = 0, middle = 0;
    for (size_t j = 0; j < n; ++j) {
      along += dy[at + j] * w[j] * v(j) / double(n);
      middle += centred ? dy[at + j] * w[j] / double(n) : 0;
      dweight[j] += dy[at + j] * v(j);
      dbias[j] += dy[at + j];
    }
    for (size_t j = 0; j < n; ++j) dx[at + j] = (dy[at + j] * w[j] - middle - v(j) * along) * k.root;
  }
  std::vector<Array> out = {from_doubles(inputs[0].type, dx), from_doubles(inputs[2].type, dweight)};
  if (centred) out.push_back(from_doubles(inputs[2].type, dbias));
  return out;
}

std::vector<Array> make_inputs(const NormBackward& c, uint64_t seed, bool centred) {
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  std::vector<Array> in = normal_inputs({type, type, {c.dtype, {c.n}}}, 3 * seed);
  if (!centred) return in;
  const std::vector<double> x = to_doubles(in[1]);
  std::vector<double> means, roots;
  for (size_t at = 0; at < x.size(); at += static_cast<size_t>(c.n)) {
    const Kept k = kept({&x[at], static_cast<size_t>(c.n)}, c.epsilon, true);
    means.push_back(k.mean);
    roots.push_back(k.root);
  }
  in.push_back(from_doubles({pl::f32, {c.m}}, means));
  in.push_back(from_doubles({pl::f32, {c.m}}, roots));
  return in;
}

KernelSpec spec_for(const char* name, const char* doc, plgpu::Kernel (*build)(const NormBackward&),
                    bool centred) {
  using C = NormBackward;
  KernelSpec spec =
      Spec(name, doc, build)
          .size("m", &C::m, "rows")
          .size("n", &C::n, "columns", {.max = longest})
          .setting("dtype", &C::dtype, centred ? "of all but mean and rstd" : "of all arrays",
                   {pl::f32, pl::f16, pl::bf16})
          .ctas("ctas", &C::ctas, 2, "that walk over the rows; behind them one for each 32 columns")
          .inputs([centred](const C& c, uint64_t seed) { return make_inputs(c, seed, centred); })
          .reference(
              [centred](const C& c, const std::vector<Array>& in) { return reference(c, in, centred); });
  spec.inputs = {"dy", "x", "weight"};
  spec.outputs = {"dx", "dweight"};
  if (centred) {
    spec.inputs = {"dy", "x", "weight", "mean", "rstd"};
    spec.outputs = {"dx", "dweight", "dbias"};
  }
  // A column's sum passes values of some 4 times the root of the number of its terms.
  spec.tolerance = [](const Choice& choice) {
    return row_tolerance(choice.dtype("dtype"), 4 * std::sqrt(static_cast<double>(choice.size("m"))));
  };
  return spec;
}

}  // namespace

plgpu::Kernel layer_norm_backward(const NormBackward& c) { return record("layer_norm_backward", c, true); }
plgpu::Kernel rms_norm_backward(const NormBackward& c) { return record("rms_norm_backward", c, false); }

KernelSpec layer_norm_backward_spec() {
  return spec_for("layer_norm_backward", "The gradients of layer_norm: of x, weight and bias",
                  layer_norm_backward, true);
}
KernelSpec rms_norm_backward_spec() {
  return spec_for("rms_norm_backward", "The gradients of rms_norm: of x and weight", rms_norm_backward,
                  false);
}

}  // namespace palladion::kernels
