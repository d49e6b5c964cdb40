// pallas_call: which blocks of the arrays each program gets; products with an activation; batches.
#include "frontend/launch/pallas_call.h"
#include "frontend/launch/vmap.h"
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/activations.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"

namespace palladion::kernels::reference_examples {
namespace {

using Values = std::vector<double>;

plgpu::BlockSpec block_of(int64_t n) {
  return pl::BlockSpec({n}, [](const Scalar& i) { return i; });
}

KernelSpec add_blocks() {
  return {.name = "ref_add_blocks",
          .doc = "x + y with BlockSpecs: each program sees its block",
          .sizes = {{"n", 512, "elements"}, {"block", 128, "elements of a program"}},
          .inputs = {"x", "y"},
          .outputs = {"o"},
          .build =
              [](const Choice& c) {
                const int64_t block = c.size("block");
                Rules("ref_add_blocks").require(c.size("n") % block == 0, "block must divide n");
                return pl::pallas_call(
                    [](const Ref& x, const Ref& y, const Ref& o) { o.store(x.load() + y.load()); },
                    {.out_shape = row(c),
                     .grid = {c.size("n") / block},
                     .in_specs = {block_of(block), block_of(block)},
                     .out_specs = {block_of(block)},
                     .name = "ref_add_blocks"})(row(c), row(c));
              },
          .make_inputs = random_arrays({row, row}),
          .reference = elementwise([](const Values& v) { return v[0] + v[1]; })};
}

KernelSpec increment_blocks() {
  return {
      .name = "ref_increment_blocks",
      .doc = "x + 1 by a pallas_call: its blocks come and go through SMEM by themselves",
      .sizes = {{"n", 256, "elements, a multiple of 128"}},
      .settings = {{"steps", "parallel", "a CTA a block, or one CTA for all", {"parallel", "sequential"}}},
      .inputs = {"x"},
      .outputs = {"y"},
      .build =
          [](const Choice& c) {
            Rules("ref_increment_blocks").require(c.size("n") % 128 == 0, "n must be a multiple of 128");
            return pl::pallas_call(
                [](const Ref& x, const Ref& y) { y.store(x.load() + 1); },
                {.out_shape = row(c),
                 .grid = {c.size("n") / 128},
                 .in_specs = {block_of(128)},
                 .out_specs = {block_of(128)},
                 .compiler_params = {.dimension_semantics = {c.word("steps")}, .max_concurrent_steps = 2},
                 .name = "ref_increment_blocks"})(row(c));
          },
      .make_inputs = random_arrays({row}),
      .reference = elementwise([](const Values& v) { return v[0] + 1; })};
}

plgpu::Transforms tiles(pl::DType dtype) {
  return {plgpu::TilingTransform({8, 128 / pl::bytes(dtype)}), plgpu::SwizzleTransform(128)};
}

struct Blocks {
  int64_t m, n, k, grid_m, grid_n;
  int64_t block_k;  // of the loop inside of a program
};

// Program (i, j) gets rows i of x and columns j of y, whole depth.
pl::PallasCall matmul_call(const Blocks& s, const Activation& activation, const std::string& name) {
  const int64_t block_m = s.m / s.grid_m, block_n = s.n / s.grid_n;
  const auto body = [=, apply = activation.apply](const Ref& x, const Ref& y, const Ref& o) {
    o.store(apply(pl::run_scoped(
        [&](const Ref& acc) {
          for (int64_t k = 0; k < s.k; k += s.block_k)
            plgpu::wgmma(acc, x.at(pl::all, pl::ds(k, s.block_k)), y.at(pl::ds(k, s.block_k)));
          return acc.load();
        },
        plgpu::ACC({block_m, block_n}))));
  };
  return pl::pallas_call(
      body,
      {.out_shape = plgpu::Types(pl::f32, {s.m, s.n}),
       .grid = {s.grid_m, s.grid_n},
       .in_specs = {plgpu::BlockSpec({block_m, s.k},
                                     [](const Scalar& i, const Scalar&) { return std::pair{i, Scalar(0)}; },
                                     {.transforms = tiles(pl::f16)}),
                    plgpu::BlockSpec({s.k, block_n},
                                     [](const Scalar&, const Scalar& j) { return std::pair{Scalar(0), j}; },
                                     {.transforms = tiles(pl::f16)})},
       .out_specs = {plgpu::BlockSpec({block_m, block_n},
                                      [](const Scalar& i, const Scalar& j) { return std::pair{i, j}; },
                                      {.transforms = tiles(pl::f32)})},
       .name = name});
}

Tolerance tolerance_of(const Choice& c) {
  return activated(matmul_tolerance(pl::f16, pl::f32, c.size("k")), activation_named(c.word("activation")));
}

KernelSpec matmul_2x2() {
  const auto blocks = [](const Choice& c) {
    return Blocks{c.size("m"), c.size("n"), c.size("k"), 2, 2, c.size("k")};
  };
  const auto types = [](const Choice& c) {
    return std::vector{pl::ShapeDtype{pl::f16, {c.size("m"), c.size("k")}},
                       pl::ShapeDtype{pl::f16, {c.size("k"), c.size("n")}}};
  };
  KernelSpec spec{.name = "ref_matmul_2x2",
                  .doc = "The quickstart's product: four programs, an activation given as a function",
                  .sizes = {{"m", 128, "rows, a multiple of 128"},
                            {"n", 128, "columns, a multiple of 128"},
                            {"k", 128, "depth, a multiple of 64"}},
                  .settings = {activation_setting()},
                  .inputs = {"x", "y"},
                  .outputs = {"z"}};
  spec.build = [=](const Choice& c) {
    return matmul_call(blocks(c), activation_named(c.word("activation")), "ref_matmul_2x2")(types(c));
  };
  spec.make_inputs = random_inputs(types);
  spec.reference = [](const Choice& c, const std::vector<Array>& in) {
    return std::vector{activated(matmul_reference(in[0], false, in[1], false, nullptr, pl::f32),
                                 activation_named(c.word("activation")), pl::f32)};
  };
  spec.tolerance = tolerance_of;
  return spec;
}

// The design note's: the depth is walked in blocks inside of a program.
KernelSpec matmul_templated() {
  KernelSpec spec = matmul_2x2();
  spec.name = "ref_matmul_templated";
  spec.doc = "The design note's product: a kernel with its block of the depth and its activation filled in";
  spec.sizes.back().fallback = 256;
  spec.settings = {activation_setting(),
                   {"block_k", "64", "depth of a step", {}},
                   {"block_m", "64", "rows of a program", {}},
                   {"block_n", "64", "columns of a program", {}}};
  spec.build = [](const Choice& c) {
    const int64_t m = c.size("m"), n = c.size("n"), k = c.size("k"), bm = c.number("block_m"),
                  bn = c.number("block_n"), bk = c.number("block_k");
    Rules("ref_matmul_templated")
        .require(bm > 0 && bn > 0 && bk > 0 && m % bm == 0 && n % bn == 0 && k % bk == 0,
                 "the blocks must divide the shapes");
    return matmul_call({m, n, k, m / bm, n / bn, bk}, activation_named(c.word("activation")),
                       "ref_matmul_templated")(pl::ShapeDtype{pl::f16, {m, k}},
                                               pl::ShapeDtype{pl::f16, {k, n}});
  };
  return spec;
}

KernelSpec matmul_vmap() {
  const auto types = [](const Choice& c) {
    return std::vector{pl::ShapeDtype{pl::f16, {c.size("batch"), c.size("m"), c.size("k")}},
                       pl::ShapeDtype{pl::f16, {c.size("batch"), c.size("k"), c.size("n")}}};
  };
  KernelSpec spec = matmul_2x2();
  spec.name = "ref_matmul_vmap";
  spec.doc = "pl::vmap of the quickstart's product: a batch along a new axis of the grid";
  spec.sizes.insert(spec.sizes.begin(), {"batch", 4, "products"});
  spec.settings.front().fallback = "relu";
  spec.build = [=](const Choice& c) {
    const Blocks blocks{c.size("m"), c.size("n"), c.size("k"), 2, 2, c.size("k")};
    return pl::vmap(matmul_call(blocks, activation_named(c.word("activation")), "ref_matmul_vmap"))(types(c));
  };
  spec.make_inputs = random_inputs(types);
  spec.reference = [](const Choice& c, const std::vector<Array>& in) {
    Array z({pl::f32, {c.size("batch"), c.size("m"), c.size("n")}});
    const auto part = [](const Array& from, int64_t i) {
      Array one({from.dtype(), {from.type.shape[1], from.type.shape[2]}});
      std::copy_n(from.bytes.begin() + i * int64_t(one.bytes.size()), one.bytes.size(), one.bytes.begin());
      return one;
    };
    for (int64_t i = 0; i < c.size("batch"); ++i) {
      const Array product = matmul_reference(part(in[0], i), false, part(in[1], i), false, nullptr, pl::f32);
      const Array one = activated(product, activation_named(c.word("activation")), pl::f32);
      std::copy(one.bytes.begin(), one.bytes.end(), z.bytes.begin() + i * int64_t(one.bytes.size()));
    }
    return std::vector{z};
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> block_specs() {
  return {add_blocks(), increment_blocks(), matmul_2x2(), matmul_templated(), matmul_vmap()};
}

}  // namespace palladion::kernels::reference_examples
