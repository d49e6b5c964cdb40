#include "kernels/hopper/matmul_blockspec.h"

#include "frontend/pipeline/pipeline.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels {
namespace {

void check(const MatmulBlockspec& c) {
  const Rules rules("matmul_blockspec");
  require_tiles(rules, c);
  rules.require(c.stages >= 2, "stages must be at least 2: a product runs while the next block arrives");
}

// A block of A or B; a product still reads it while the next step runs.
plgpu::BlockSpecOptions operand(pl::DType dtype, int64_t minor) {
  return {.transforms = wgmma_tiles(dtype, minor), .delay_release = 1};
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

}  // namespace

plgpu::Kernel matmul_blockspec(const MatmulBlockspec& c,
                               const std::function<plgpu::Array(const plgpu::Array&)>& activation) {
  check(c);
  plgpu::KernelOptions o;
  o.in_types = matmul_inputs(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {{"out", tiled_smem({c.tile_m, c.tile_n}, c.out_dtype)}};
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
  KernelSpec spec = matmul_spec(
      "matmul_blockspec", "D = f(A B): emit_pipeline over block specs, the activation f is a parameter");
  spec.settings = {activation_setting(),
                   {"dtype", "f16", "of A and B", {"f16", "bf16"}},
                   {"out_dtype", "f16", "of D", {"f16", "bf16", "f32"}},
                   {"tile_m", "128", "rows of a CTA's tile", {}},
                   {"tile_n", "128", "columns of a CTA's tile", {}},
                   {"tile_k", "64", "depth of a step", {}},
                   {"stages", "4", "blocks of A and B in flight", {}}};
  spec.build = [](const Choice& choice) {
    return matmul_blockspec(matmul_config<MatmulBlockspec>(choice),
                            activation_named(choice.word("activation")).apply);
  };
  spec.reference = [](const Choice& choice, const std::vector<Array>& inputs) {
    const Array product = matmul_reference(inputs[0], false, inputs[1], false, nullptr, pl::f32);
    return std::vector{
        activated(product, activation_named(choice.word("activation")), choice.dtype("out_dtype"))};
  };
  spec.tolerance = [product = spec.tolerance](const Choice& choice) {
    return activated(product(choice), activation_named(choice.word("activation")));
  };
  return spec;
}

}  // namespace palladion::kernels
