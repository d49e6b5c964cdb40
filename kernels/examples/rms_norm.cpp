#include "kernels/examples/rms_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

void check(const RmsNorm& c) {
  const Rules rules("rms_norm");
  rules.at_least("m", c.m, 1);
  rules.row(c.n);
  rules.at_least("ctas", c.ctas, 0);
  rules.require(c.ctas == 0 || c.n % 128 == 0,
                fmt::format("n={} must be a multiple of 128 for bulk copies (ctas=0: any number)", c.n));
  rules.at_least("stages", c.stages, 1);
}

int64_t ctas_of(const RmsNorm& c) { return c.ctas == 0 ? c.m : std::min(c.ctas, c.m); }

struct Body {
  const RmsNorm& c;
  Ref x, weight, out, rows;
  BarrierRef full;

  int64_t ctas() const { return ctas_of(c); }
  Scalar row(const Scalar& step) const { return pl::axis_index("cta") + step * ctas(); }
  void fetch(const Scalar& step, const Scalar& slot) const {
    plgpu::copy_gmem_to_smem(x.at(row(step)), rows.at(slot), full.at(slot),
                             {.oob_mode = plgpu::OOBFillMode::PROMISE_IN_BOUNDS});
  }
  Scalar root_of(const plgpu::Array& v) const {
    const Scalar mean =
        plgpu::profile_scope("reduce", [&] { return (v * v).sum_all() * (1.0F / static_cast<float>(c.n)); });
    return rsqrt(mean + c.epsilon);
  }
  void one_row() const {
    const Scalar row = pl::axis_index("cta");
    const plgpu::Array v = plgpu::profile_scope("load", [&] { return x.at(row).load().astype(pl::f32); });
    const Scalar root = root_of(v);
    // Behind the sum: before it the weights would take registers, and with these other rows on their way.
    plgpu::profile_scope(
        "store", [&] { out.at(row).store((v * root * weight.load().astype(pl::f32)).astype(c.dtype)); });
  }
  void run() const {
    if (c.ctas == 0) return one_row();
    const Scalar steps = (c.m - 1 - pl::axis_index("cta")) / ctas() + 1;
    for (int64_t s = 0; s < c.stages; ++s) pl::when(steps > s, [&] { fetch(s, s); });
    const plgpu::Array scale = weight.load().astype(pl::f32);
    pl::fori_loop(0, steps, [&](const Scalar& step) {
      const Scalar slot = step % c.stages;
      plgpu::profile_scope("wait", [&] { plgpu::barrier_wait(full.at(slot)); });
      const plgpu::Array v =
          plgpu::profile_scope("load", [&] { return rows.at(slot).load().astype(pl::f32); });
      pl::when(step + c.stages < steps, [&] {
        plgpu::commit_smem();  // all of the row is in registers
        fetch(step + c.stages, slot);
      });
      const Scalar root = root_of(v);
      plgpu::profile_scope("store", [&] { out.at(row(step)).store((v * root * scale).astype(c.dtype)); });
    });
  }
};

RmsNorm config_of(const Choice& choice) {
  return {.m = choice.size("m"),
          .n = choice.size("n"),
          .dtype = choice.dtype("dtype"),
          .ctas = choice.number("ctas"),
          .stages = choice.number("stages"),
          .profile = choice.flag("profile")};
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const RmsNorm c = config_of(choice);
  std::vector<double> x = to_doubles(inputs[0]);
  const std::vector<double> weight = to_doubles(inputs[1]);
  for (size_t row = 0; row < x.size(); row += weight.size()) {
    double squares = 0;
    for (size_t j = 0; j < weight.size(); ++j) squares += x[row + j] * x[row + j];
    const double root = 1 / std::sqrt(squares / static_cast<double>(c.n) + c.epsilon);
    for (size_t j = 0; j < weight.size(); ++j) x[row + j] *= root * weight[j];
  }
  return {from_doubles(inputs[0].type, x)};
}

}  // namespace

plgpu::Kernel rms_norm(const RmsNorm& c) {
  check(c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  plgpu::KernelOptions o = grid_of("rms_norm", ctas_of(c));
  o.in_types = {type, {c.dtype, {c.n}}};
  o.out_type = type;
  if (c.ctas != 0)
    o.scratch_types = {{"rows", plgpu::SMEM({c.stages, c.n}, c.dtype)},
                       {"full", plgpu::Barrier({.num_barriers = {c.stages}})}};
  o.compiler_params.approx_math = true;
  // Entry and exit of four scopes a row.
  if (c.profile) o.compiler_params.profile_space = 8 * ((c.m - 1) / ctas_of(c) + 1);
  return plgpu::kernel(
      [&](const Ref& x, const Ref& weight, const Ref& out, plgpu::Scratch& s) {
        Body body{.c = c, .x = x, .weight = weight, .out = out, .rows = {}, .full = {}};
        if (c.ctas != 0) {
          body.rows = s["rows"];
          body.full = s.barrier("full");
        }
        body.run();
      },
      o);
}

KernelSpec rms_norm_spec() {
  KernelSpec spec = spec_of("rms_norm", "Each row over its root mean square, times a weight a column",
                            {"x", "weight"}, {"y"});
  spec.sizes = {{"m", 4096, "rows"},
                {"n", 4096, "columns: at most 8192; with bulk copies a multiple of 128"}};
  spec.settings = {{"dtype", "bf16", "of all arrays", {"f32", "f16", "bf16"}},
                   {"ctas", "0", "of a persistent grid, to which rows come by bulk copies; 0: one a row", {}},
                   {"stages", "3", "rows of a CTA on their way in", {}},
                   profile_setting()};
  spec.build = [](const Choice& choice) { return rms_norm(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    const RmsNorm c = config_of(choice);
    return normal_inputs({{c.dtype, {c.m, c.n}}, {c.dtype, {c.n}}}, 2 * seed);
  };
  spec.reference = reference;
  spec.tolerance = [](const Choice& choice) { return row_tolerance(choice.dtype("dtype")); };
  return spec;
}

}  // namespace palladion::kernels
