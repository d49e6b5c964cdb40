#include "kernels/blackwell/matmul.h"
#include "kernels/frame/reference.h"

namespace palladion::kernels::blackwell {
namespace {

using Words = std::vector<std::string>;

struct Step {
  const char* name;
  const char* doc;
  plgpu::Kernel (*build)(const MatmulConfig&);
  bool pairs = false, tiled = false, persistent = false, snake = false;
  Words dtypes = {"f16", "bf16"}, out_dtypes = {"f16", "bf16", "f32"};  // the first is the default
  const char* tile_k = "64";
};

const Step steps[] = {
    {"blackwell_matmul_basic", "D = A B on Blackwell, step 0: one warpgroup, a pipeline, tcgen05_mma",
     matmul_basic},
    {"blackwell_matmul_warp_specialized", "step 1: one warp fetches, another issues the products",
     matmul_warp_specialized},
    {"blackwell_matmul_tiled_epilogue", "step 2: the result leaves in parts", matmul_tiled_epilogue, false,
     true},
    {"blackwell_matmul_two_cta", "step 3: pairs of CTAs compute one product", matmul_two_cta, true, true},
    {"blackwell_matmul_persistent", "step 4: each pair computes tile after tile", matmul_persistent, true,
     true, true},
    {"blackwell_matmul_epilogue_warpgroup",
     "step 5: a second warpgroup stores while the next tile is computed", matmul_epilogue_warpgroup, true,
     true, true},
    {"blackwell_matmul_grid_tiling", "step 6: tiles in an order that keeps operands in L2",
     matmul_grid_tiling, true, true, true, true},
    {"blackwell_matmul_fp8", "step 6 for floats of 8 bits", matmul_fp8, true, true, true, true,
     Words{"e4m3", "e5m2"}, Words{"f16", "bf16", "f32"}, "128"},
    {"blackwell_matmul_int8", "step 6 for integers of 8 bits, summed in s32", matmul_int8, true, true, true,
     true, Words{"s8", "u8"}, Words{"s32"}, "128"},
    {"blackwell_matmul_dynamic", "step 7: pairs take over tiles that nobody has begun", matmul_dynamic, true,
     true, false, true},
};

std::vector<Setting> settings_of(const Step& step) {
  std::vector<Setting> settings = {{"dtype", step.dtypes[0], "of A and B", step.dtypes},
                                   {"out_dtype", step.out_dtypes[0], "of D", step.out_dtypes},
                                   {"tile_m", "128", "rows of a CTA's tile", {"64", "128"}},
                                   {"tile_n", "128", "columns of a CTA's tile", {}},
                                   {"tile_k", step.tile_k, "depth of a step", {}},
                                   {"stages", "4", "tiles of A and B on their way", {}}};
  if (step.pairs) settings[2].allowed = {"128"};
  if (step.tiled) settings.push_back({"epilogue_tile_n", "64", "columns that leave together", {}});
  if (step.persistent) settings.push_back({"clusters", "74", "pairs of CTAs of the grid", {}});
  if (step.snake) {
    settings.push_back({"minor_dim", "0", "the dimension of tiles that changes first", {"0", "1"}});
    settings.push_back({"tile_width", "8", "tiles along it before the other changes", {}});
  }
  return settings;
}

MatmulConfig config_of(const Step& step, const Choice& choice) {
  MatmulConfig c = matmul_config<MatmulConfig>(choice);
  if (step.tiled) c.epilogue_tile_n = choice.number("epilogue_tile_n");
  if (step.persistent) c.clusters = choice.number("clusters");
  if (step.snake) {
    c.minor_dim = choice.number("minor_dim");
    c.tile_width = choice.number("tile_width");
  }
  return c;
}

// Of floats: a B200 sums f8 as f16, with 25 bits of fraction. Sums of integers are exact.
Tolerance tolerance_of(const Choice& choice) {
  if (pl::is_integer(choice.dtype("dtype"))) return {};
  return matmul_tolerance(pl::f16, choice.dtype("out_dtype"), choice.size("k"));
}

// Integers: all values.
std::vector<Array> integers(const Choice& choice, uint64_t seed) {
  std::vector<Array> inputs;
  for (const pl::ShapeDtype& type : matmul_inputs(matmul_config<MatmulConfig>(choice)))
    inputs.push_back(filled(type, {.kind = Fill::Kind::rand, .seed = 2 * seed + inputs.size()}));
  return inputs;
}

}  // namespace

std::vector<KernelSpec> matmul_specs() {
  std::vector<KernelSpec> specs;
  for (const Step& step : steps) {
    KernelSpec spec = matmul_spec(step.name, step.doc);
    spec.chip = "b200";
    spec.sizes[1].fallback = 8192;
    spec.settings = settings_of(step);
    spec.tolerance = tolerance_of;
    if (step.out_dtypes[0] == "s32") spec.make_inputs = integers;
    spec.build = [step](const Choice& choice) { return step.build(config_of(step, choice)); };
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace palladion::kernels::blackwell
