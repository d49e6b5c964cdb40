#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {
namespace {

struct Step {
  const char* name;
  const char* doc;
  plgpu::Kernel (*build)(const MatmulConfig&);
  bool pairs = false, tiled = false, persistent = false, snake = false;
};

const Step steps[] = {
    {"blackwell_matmul_basic", "D = A B on Blackwell, step 0: one warpgroup, a pipeline, tcgen05_mma",
     matmul_basic},
    {"blackwell_matmul_warp_specialized", "step 1: one warp fetches, another issues the products",
     matmul_warp_specialized},
    {"blackwell_matmul_tiled_epilogue", "step 2: the result leaves in parts", matmul_tiled_epilogue, false,
     true},
};

std::vector<Setting> settings_of(const Step& step) {
  std::vector<Setting> settings = {{"dtype", "f16", "of A and B", {"f16", "bf16"}},
                                   {"out_dtype", "f16", "of D", {"f16", "bf16", "f32"}},
                                   {"tile_m", "128", "rows of a CTA's tile", {"64", "128"}},
                                   {"tile_n", "128", "columns of a CTA's tile", {}},
                                   {"tile_k", "64", "depth of a step", {}},
                                   {"stages", "4", "tiles of A and B on their way", {}}};
  if (step.tiled) settings.push_back({"epilogue_tile_n", "64", "columns that leave together", {}});
  return settings;
}

MatmulConfig config_of(const Step& step, const Choice& choice) {
  MatmulConfig c = matmul_config<MatmulConfig>(choice);
  if (step.tiled) c.epilogue_tile_n = choice.number("epilogue_tile_n");
  return c;
}

}  // namespace

std::vector<KernelSpec> matmul_specs() {
  std::vector<KernelSpec> specs;
  for (const Step& step : steps) {
    KernelSpec spec = matmul_spec(step.name, step.doc);
    spec.chip = "b200";
    spec.sizes[1].fallback = 8192;
    spec.settings = settings_of(step);
    spec.build = [step](const Choice& choice) { return step.build(config_of(step, choice)); };
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace palladion::kernels::blackwell
