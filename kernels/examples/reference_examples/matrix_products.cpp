// wgmma: layouts of operands in SMEM, initial accumulators, transposed operands, operands in registers,
// buffers.
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;

// The widest swizzle that the rows of an operand allow, and the tiles that wgmma requires with it.
plgpu::AllocationOptions mma_transforms(const pl::ShapeDtype& type, int64_t widest = 128) {
  for (const int64_t swizzle : {128, 64, 32}) {
    const int64_t columns = swizzle / pl::bytes(type.dtype);
    if (swizzle > widest || type.shape.back() % columns != 0) continue;
    return {.transforms = {plgpu::TilingTransform({8, columns}), plgpu::SwizzleTransform(swizzle)}};
  }
  Rules("ref_wgmma").require(false, "no swizzle fits the rows of " + pl::to_string(type));
  return {};
}

struct Product {
  pl::DType dtype = pl::f16;
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;

  pl::ShapeDtype a() const { return {dtype, transpose_a ? pl::Shape{k, m} : pl::Shape{m, k}}; }
  pl::ShapeDtype b() const { return {dtype, transpose_b ? pl::Shape{n, k} : pl::Shape{k, n}}; }
  pl::ShapeDtype d(pl::DType out = pl::f32) const { return {out, {m, n}}; }
};

std::vector<SizeParam> sizes() {
  return {{"m", 64, "rows of D"}, {"n", 128, "columns of D"}, {"k", 128, "depth"}};
}
Product product_of(const Choice& c) {
  return {c.settings.contains("dtype") ? c.dtype("dtype") : pl::f16, c.size("m"), c.size("n"), c.size("k")};
}
Setting dtype_setting() { return {"dtype", "f16", "of A and B", {"f16", "bf16"}}; }

void fetch_both(const Ref& a, const Ref& b, Scratch& s) {
  plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("loaded"));
  plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"));
  plgpu::barrier_wait(s.barrier("loaded"));
}
std::vector<plgpu::NamedScratch> operands(const Product& p, int64_t widest = 128) {
  return {{"a", plgpu::SMEM(p.a().shape, p.dtype, mma_transforms(p.a(), widest))},
          {"b", plgpu::SMEM(p.b().shape, p.dtype, mma_transforms(p.b(), widest))},
          {"loaded", plgpu::Barrier({.num_arrivals = 2})}};
}

// A spec with what all of them share; `product` may read the settings.
KernelSpec product_spec(std::string name, std::string doc, std::function<Product(const Choice&)> product,
                        pl::DType out = pl::f32) {
  KernelSpec spec;
  spec.name = std::move(name);
  spec.doc = std::move(doc);
  spec.sizes = sizes();
  spec.inputs = {"a", "b"};
  spec.outputs = {"d"};
  spec.make_inputs =
      random_inputs([=](const Choice& c) { return std::vector{product(c).a(), product(c).b()}; });
  spec.reference = [=](const Choice& c, const std::vector<Array>& in) {
    const Product p = product(c);
    return std::vector{matmul_reference(in[0], p.transpose_a, in[1], p.transpose_b, nullptr, out)};
  };
  spec.tolerance = [=](const Choice& c) { return matmul_tolerance(product(c).dtype, out, c.size("k")); };
  return spec;
}

// Copies reformat the data to the transforms of their destination; wgmma takes only refs that have them.
KernelSpec wgmma_zero() {
  KernelSpec spec = product_spec(
      "ref_wgmma", "One product into an accumulator of zeros; operands in tiles with a swizzle", product_of);
  spec.settings = {dtype_setting(), {"swizzle", "128", "bytes", {"128", "64", "32"}}};
  spec.build = [](const Choice& c) {
    const Product p = product_of(c);
    return plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
          fetch_both(a, b, s);
          const auto compute = [&](const Ref& acc) {
            plgpu::wgmma(acc, s["a"], s["b"]);
            return acc.load();  // waits
          };
          d.store(pl::run_scoped(compute, plgpu::ACC({p.m, p.n}, pl::f32)));
        },
        {.in_types = {p.a(), p.b()},
         .out_type = p.d(),
         .scratch_types = operands(p, c.number("swizzle")),
         .name = "ref_wgmma"});
  };
  return spec;
}

KernelSpec wgmma_init() {
  KernelSpec spec =
      product_spec("ref_wgmma_init", "run_state: an accumulator that starts with an array", product_of);
  spec.inputs = {"a", "b", "c"};
  spec.settings = {dtype_setting()};
  spec.make_inputs = random_inputs([](const Choice& c) {
    const Product p = product_of(c);
    return std::vector{p.a(), p.b(), p.d()};
  });
  spec.reference = [](const Choice&, const std::vector<Array>& in) {
    return std::vector{matmul_reference(in[0], false, in[1], false, &in[2], pl::f32)};
  };
  spec.build = [](const Choice& c) {
    const Product p = product_of(c);
    return plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& start, const Ref& d, Scratch& s) {
          fetch_both(a, b, s);
          const auto compute = [&](const Ref& acc) { plgpu::wgmma(acc, s["a"], s["b"]); };
          d.store(pl::run_state(compute, plgpu::ACC.init(start.load(plgpu::Layout::WGMMA))));
        },
        {.in_types = {p.a(), p.b(), p.d()},
         .out_type = p.d(),
         .scratch_types = operands(p),
         .name = "ref_wgmma_init"});
  };
  return spec;
}

KernelSpec wgmma_transposed() {
  const auto product = [](const Choice& c) {
    Product p = product_of(c);
    p.transpose_a = c.word("transpose") != "b";
    p.transpose_b = c.word("transpose") != "a";
    return p;
  };
  KernelSpec spec = product_spec("ref_wgmma_transposed",
                                 "transpose_ref: operands that lie in SMEM the other way round", product);
  spec.settings = {dtype_setting(),
                   {"transpose", "a", "which operands are stored transposed", {"a", "b", "ab"}}};
  spec.build = [=](const Choice& c) {
    const Product p = product(c);
    return plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
          fetch_both(a, b, s);
          const Ref left = p.transpose_a ? plgpu::transpose_ref(s["a"], {1, 0}) : s["a"];
          const Ref right = p.transpose_b ? plgpu::transpose_ref(s["b"], {1, 0}) : s["b"];
          d.store(pl::run_scoped(
              [&](const Ref& acc) {
                plgpu::wgmma(acc, left, right);
                return acc.load();
              },
              plgpu::ACC({p.m, p.n})));
        },
        {.in_types = {p.a(), p.b()},
         .out_type = p.d(),
         .scratch_types = operands(p),
         .name = "ref_wgmma_transposed"});
  };
  return spec;
}

KernelSpec wgmma_registers() {
  KernelSpec spec = product_spec("ref_wgmma_registers",
                                 "A from registers: its elements are doubled on their way", product_of);
  spec.settings = {dtype_setting()};
  spec.reference = [](const Choice&, const std::vector<Array>& in) {
    const Array doubled = map_elements({in[0]}, [](const std::vector<double>& v) { return 2 * v[0]; });
    return std::vector{matmul_reference(doubled, false, in[1], false, nullptr, pl::f32)};
  };
  spec.build = [](const Choice& c) {
    const Product p = product_of(c);
    return plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
          fetch_both(a, b, s);
          const plgpu::Array left = s["a"].load(plgpu::Layout::WGMMA) * 2;
          d.store(pl::run_scoped(
              [&](const Ref& acc) {
                plgpu::wgmma(acc, left, s["b"]);
                return acc.load();
              },
              plgpu::ACC({p.m, p.n})));
        },
        {.in_types = {p.a(), p.b()},
         .out_type = p.d(),
         .scratch_types = operands(p),
         .name = "ref_wgmma_registers"});
  };
  return spec;
}

// Every wgmma waits for the one before it: when product i is issued, the buffers of product i - 1 are free.
struct Buffers {
  int64_t buffers, steps, tile_k;
  Ref a, b, a_smem, b_smem;
  BarrierRef a_loaded, b_loaded;

  void fetch(const Scalar& step, const Scalar& slot) const {
    plgpu::copy_gmem_to_smem(a.at(pl::all, ds(step * tile_k, tile_k)), a_smem.at(slot), a_loaded.at(slot));
    plgpu::copy_gmem_to_smem(b.at(ds(step * tile_k, tile_k)), b_smem.at(slot), b_loaded.at(slot));
  }
  void multiply(const Ref& acc) const {
    for (int64_t slot = 0; slot < std::min(buffers, steps); ++slot) fetch(slot, slot);
    pl::fori_loop(0, steps, [&](const Scalar& i) {
      const Scalar slot = i % buffers, load_i = i + (buffers - 1);
      plgpu::barrier_wait(a_loaded.at(slot));
      plgpu::barrier_wait(b_loaded.at(slot));
      plgpu::wgmma(acc, a_smem.at(slot), b_smem.at(slot));
      pl::when(load_i >= buffers && load_i < steps, [&] {
        plgpu::commit_smem();  // in all four warps: B is read by each
        fetch(load_i, load_i % buffers);
      });
    });
  }
};

KernelSpec wgmma_buffers() {
  KernelSpec spec = product_spec(
      "ref_wgmma_buffers", "Products and copies alternate: buffers are refilled one step late", product_of);
  spec.settings = {
      dtype_setting(), {"buffers", "3", "tiles of A and B", {}}, {"tile_k", "64", "depth of a step", {}}};
  spec.sizes.back().fallback = 512;
  spec.build = [](const Choice& c) {
    const Product p = product_of(c);
    const int64_t buffers = c.number("buffers"), tile_k = c.number("tile_k");
    Rules("ref_wgmma_buffers").require(buffers >= 2, "buffers must be at least 2");
    Rules("ref_wgmma_buffers").require(tile_k > 0 && p.k % tile_k == 0, "tile_k must divide k");
    const Product step{p.dtype, p.m, p.n, tile_k};
    return plgpu::kernel(
        [=](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
          const Buffers pipeline{buffers,
                                 p.k / tile_k,
                                 tile_k,
                                 a,
                                 b,
                                 s["a"],
                                 s["b"],
                                 s.barrier("a_loaded"),
                                 s.barrier("b_loaded")};
          d.store(pl::run_scoped(
              [&](const Ref& acc) {
                pipeline.multiply(acc);
                return acc.load();
              },
              plgpu::ACC({p.m, p.n})));
        },
        {.in_types = {p.a(), p.b()},
         .out_type = p.d(),
         .scratch_types = {{"a", plgpu::SMEM({buffers, p.m, tile_k}, p.dtype, mma_transforms(step.a()))},
                           {"b", plgpu::SMEM({buffers, tile_k, p.n}, p.dtype, mma_transforms(step.b()))},
                           {"a_loaded", plgpu::Barrier({.num_barriers = {buffers}})},
                           {"b_loaded", plgpu::Barrier({.num_barriers = {buffers}})}},
         .name = "ref_wgmma_buffers"});
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> matrix_products() {
  return {wgmma_zero(), wgmma_init(), wgmma_transposed(), wgmma_registers(), wgmma_buffers()};
}

}  // namespace palladion::kernels::reference_examples
