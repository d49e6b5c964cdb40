#include "kernels/matmul_blockspec.h"

#include <fmt/format.h>

#include "frontend/pipeline/pipeline.h"
#include "isa/core/diagnostic.h"
#include "kernels/reference.h"
#include "kernels/specs.h"

namespace palladion::kernels {
namespace {

using pl::Scalar;
using plgpu::Ref;

void check(const MatmulBlockspec& c) {
  const auto divides = [](const char* name, int64_t size, int64_t tile) {
    if (tile > 0 && size % tile == 0) return;
    throw isa::Error(isa::Diagnostic{
        .code = "PLD5001",
        .message =
            fmt::format("matmul_blockspec: {}={} must be a multiple of tile_{}={}", name, size, name, tile)});
  };
  divides("m", c.m, c.tile_m);
  divides("n", c.n, c.tile_n);
  divides("k", c.k, c.tile_k);
  if (c.stages < 2)
    throw isa::Error(isa::Diagnostic{
        .code = "PLD5001",
        .message =
            "matmul_blockspec: stages must be at least 2: a product runs while the next block arrives"});
}

plgpu::Transforms tiled(pl::DType dtype, int64_t minor) {
  const int64_t swizzle = plgpu::find_swizzle(minor * pl::bits(dtype));
  return {plgpu::TilingTransform({8, swizzle * 8 / pl::bits(dtype)}), plgpu::SwizzleTransform(swizzle)};
}

// A block of A or B; a product still reads it while the next step runs.
plgpu::BlockSpecOptions operand(pl::DType dtype, int64_t minor) {
  return {.transforms = tiled(dtype, minor), .delay_release = 1};
}

plgpu::Array product(const MatmulBlockspec& c, const Ref& a, const Ref& b) {
  const Scalar mi = pl::axis_index("m"), ni = pl::axis_index("n");
  plgpu::PipelineOptions pipeline;
  pipeline.grid = {Scalar(c.k / c.tile_k)};
  pipeline.in_specs = {plgpu::BlockSpec(
                           {c.tile_m, c.tile_k}, [=](const Scalar& ki) { return std::pair{mi, ki}; },
                           operand(c.dtype, c.tile_k)),
                       plgpu::BlockSpec(
                           {c.tile_k, c.tile_n}, [=](const Scalar& ki) { return std::pair{ki, ni}; },
                           operand(c.dtype, c.tile_n))};
  pipeline.max_concurrent_steps = c.stages;
  return pl::run_scoped(
      [&](const Ref& acc) {
        plgpu::emit_pipeline([&](const pl::Indices&, const Ref& a_block,
                                 const Ref& b_block) { plgpu::wgmma(acc, a_block, b_block); },
                             pipeline)(a, b);
        return acc.load();
      },
      plgpu::ACC({c.tile_m, c.tile_n}, pl::f32));
}

MatmulBlockspec config_of(const Choice& choice) {
  MatmulBlockspec c;
  c.m = choice.size("m");
  c.n = choice.size("n");
  c.k = choice.size("k");
  c.dtype = choice.dtype("dtype");
  c.out_dtype = choice.dtype("out_dtype");
  c.tile_m = choice.number("tile_m");
  c.tile_n = choice.number("tile_n");
  c.tile_k = choice.number("tile_k");
  c.stages = choice.number("stages");
  return c;
}

}  // namespace

plgpu::Kernel matmul_blockspec(const MatmulBlockspec& c,
                               const std::function<plgpu::Array(const plgpu::Array&)>& activation) {
  check(c);
  plgpu::KernelOptions o;
  o.in_types = {{c.dtype, {c.m, c.k}}, {c.dtype, {c.k, c.n}}};
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {
      {"out", plgpu::SMEM({c.tile_m, c.tile_n}, c.out_dtype, {.transforms = tiled(c.out_dtype, c.tile_n)})}};
  o.grid = {c.m / c.tile_m, c.n / c.tile_n};
  o.grid_names = {"m", "n"};
  o.name = "matmul_blockspec";
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        s["out"].store(activation(product(c, a, b)).astype(c.out_dtype));
        plgpu::commit_smem();
        const auto rows = pl::ds(pl::axis_index("m") * c.tile_m, c.tile_m),
                   columns = pl::ds(pl::axis_index("n") * c.tile_n, c.tile_n);
        plgpu::copy_smem_to_gmem(s["out"], out.at(rows, columns));
        plgpu::wait_smem_to_gmem(0);
      },
      o);
}

KernelSpec matmul_blockspec_spec() {
  KernelSpec spec;
  spec.name = "matmul_blockspec";
  spec.doc = "D = f(A B): emit_pipeline over block specs, the activation f is a parameter";
  spec.sizes = {{"m", 4096, "rows of A and D"},
                {"n", 4096, "columns of B and D"},
                {"k", 4096, "columns of A, rows of B"}};
  spec.settings = {activation_setting(),
                   {"dtype", "f16", "of A and B", {"f16", "bf16"}},
                   {"out_dtype", "f16", "of D", {"f16", "bf16", "f32"}},
                   {"tile_m", "128", "rows of a CTA's tile", {}},
                   {"tile_n", "128", "columns of a CTA's tile", {}},
                   {"tile_k", "64", "depth of a step", {}},
                   {"stages", "4", "blocks of A and B in flight", {}}};
  spec.inputs = {"a", "b"};
  spec.outputs = {"d"};
  spec.build = [](const Choice& choice) {
    return matmul_blockspec(config_of(choice), activation_named(choice.word("activation")).apply);
  };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    const MatmulBlockspec c = config_of(choice);
    return std::vector<Array>{
        filled({c.dtype, {c.m, c.k}}, {.kind = Fill::Kind::randn, .seed = 2 * seed}),
        filled({c.dtype, {c.k, c.n}}, {.kind = Fill::Kind::randn, .seed = 2 * seed + 1})};
  };
  spec.reference = [](const Choice& choice, const std::vector<Array>& inputs) {
    const Array product = matmul_reference(inputs[0], false, inputs[1], false, nullptr, pl::f32);
    return std::vector<Array>{
        activated(product, activation_named(choice.word("activation")), choice.dtype("out_dtype"))};
  };
  spec.tolerance = [](const Choice& choice) {
    return activated(matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"), choice.size("k")),
                     activation_named(choice.word("activation")));
  };
  return spec;
}

}  // namespace palladion::kernels
