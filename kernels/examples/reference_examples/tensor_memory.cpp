// Blackwell: tensor memory, products whose results lie in it, barriers that tell of them, pairs of CTAs.
#include <algorithm>

#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;
using Values = std::vector<double>;

constexpr int64_t lanes = 128;  // rows of tensor memory

// --- loads and stores

pl::ShapeDtype matrix(const Choice& c) { return {pl::f32, {lanes, c.size("n")}}; }
pl::ShapeDtype matrices(const Choice& c) { return {pl::f32, {c.size("rounds"), lanes, c.size("n")}}; }

KernelSpec spec_for_b200(std::string name, std::string doc, std::vector<SizeParam> sizes) {
  KernelSpec spec;
  spec.name = std::move(name);
  spec.doc = std::move(doc);
  spec.sizes = std::move(sizes);
  spec.chip = "b200";
  return spec;
}

KernelSpec store_and_load() {
  KernelSpec spec =
      spec_for_b200("ref_tmem", "run_scoped TMEM: what is stored can be loaded after commit_tmem",
                    {{"n", 24, "columns, a multiple of 8 up to 248"}});
  spec.inputs = {"x"};
  spec.outputs = {"y"};
  spec.build = [](const Choice& c) {
    return plgpu::kernel(
        [&](const Ref& x, const Ref& y) {
          pl::run_scoped(
              [&](const Ref& tmem) {
                plgpu::async_store_tmem(tmem, x.load(plgpu::Layout::TCGEN05) + 1);
                plgpu::commit_tmem();
                y.store(plgpu::async_load_tmem(tmem));
              },
              plgpu::TMEM(matrix(c).shape, pl::f32));
        },
        {.in_types = matrix(c), .out_type = matrix(c), .name = "ref_tmem"});
  };
  spec.make_inputs = random_arrays({matrix});
  spec.reference = elementwise([](const Values& v) { return v[0] + 1; });
  return spec;
}

KernelSpec reuse_after_load() {
  KernelSpec spec = spec_for_b200(
      "ref_tmem_reuse", "wait_load_tmem between a load from TMEM and the store that overwrites it",
      {{"rounds", 3, "matrices"}, {"n", 16, "columns, a multiple of 16 up to 128"}});
  spec.inputs = {"x"};
  spec.outputs = {"y"};
  spec.build = [](const Choice& c) {
    const pl::Shape shape = matrix(c).shape;
    return plgpu::kernel(
        [](const Ref& x, const Ref& y, Scratch& s) {
          pl::fori_loop(0, x.shape(0), [&](pl::Index i) {
            plgpu::async_store_tmem(s["tmem"], x.at(i).load(plgpu::Layout::TCGEN05));
            plgpu::commit_tmem();
            s["smem"].store(plgpu::async_load_tmem(s["tmem"]) + 1);
            plgpu::commit_smem();
            plgpu::copy_smem_to_gmem(s["smem"], y.at(i));
            plgpu::wait_smem_to_gmem(0);
            plgpu::wait_load_tmem();
          });
        },
        {.in_types = matrices(c),
         .out_type = matrices(c),
         .scratch_types = {{"tmem", plgpu::TMEM(shape, pl::f32)}, {"smem", tiled_smem(shape, pl::f32)}},
         .name = "ref_tmem_reuse"});
  };
  spec.make_inputs = random_arrays({matrices});
  spec.reference = elementwise([](const Values& v) { return v[0] + 1; });
  return spec;
}

KernelSpec handover() {
  KernelSpec spec = spec_for_b200(
      "ref_tmem_handover", "A barrier that orders the tensor core: one thread stores to TMEM, another loads",
      {{"n", 64, "columns, a multiple of 8 up to 248"}});
  spec.inputs = {"x"};
  spec.outputs = {"y"};
  spec.build = [](const Choice& c) {
    return plgpu::kernel(
        [](const Ref& x, const Ref& y, Scratch& s) {
          pl::when(pl::axis_index("thread") == 0, [&] {
            plgpu::async_store_tmem(s["tmem"], x.load(plgpu::Layout::TCGEN05));
            plgpu::commit_tmem();
            plgpu::barrier_arrive(s.barrier("stored"));
          });
          pl::when(pl::axis_index("thread") == 1, [&] {
            plgpu::barrier_wait(s.barrier("stored"));
            y.store(plgpu::async_load_tmem(s["tmem"]) * 2);
          });
        },
        {.in_types = matrix(c),
         .out_type = matrix(c),
         .scratch_types = {{"tmem", plgpu::TMEM(matrix(c).shape, pl::f32)},
                           {"stored", plgpu::Barrier({.orders_tensor_core = true})}},
         .num_threads = 2,
         .thread_name = "thread",
         .name = "ref_tmem_handover"});
  };
  spec.make_inputs = random_arrays({matrix});
  spec.reference = elementwise([](const Values& v) { return 2 * v[0]; });
  return spec;
}

// --- products

struct Product {
  pl::DType dtype = pl::f16;
  int64_t n, k, ctas = 1, rounds = 1;

  int64_t m() const { return lanes * ctas; }
  // With a leading dimension of the rounds where there are several.
  pl::ShapeDtype a() const { return type(dtype, {m(), k}); }
  pl::ShapeDtype b() const { return type(dtype, {k, n}); }
  pl::ShapeDtype d() const { return type(pl::f32, {m(), n}); }
  pl::ShapeDtype type(pl::DType t, pl::Shape shape) const {
    if (rounds > 1) shape.insert(shape.begin(), rounds);
    return {t, std::move(shape)};
  }
};
using ProductOf = std::function<Product(const Choice&)>;
using Body = std::function<void(const Ref& a, const Ref& b, const Ref& d, Scratch& s)>;

plgpu::BarrierType orders_tensor_core() { return plgpu::Barrier({.orders_tensor_core = true}); }

// Of one round.
Array product_of(const Product& p, const std::vector<Array>& in, int64_t round) {
  const auto part = [&](const Array& x, pl::Shape shape) {
    Array out({p.dtype, std::move(shape)});
    const auto bytes = static_cast<std::ptrdiff_t>(out.bytes.size());
    std::copy_n(x.bytes.begin() + round * bytes, bytes, out.bytes.begin());
    return out;
  };
  return matmul_reference(part(in[0], {p.m(), p.k}), false, part(in[1], {p.k, p.n}), false, nullptr, pl::f32);
}

KernelSpec product_spec(const std::string& name, std::string doc, const ProductOf& product,
                        std::function<plgpu::Kernel(const Product&)> build) {
  KernelSpec spec =
      spec_for_b200(name, std::move(doc),
                    {{"n", 64, "columns of D: a multiple of 64, of pairs of CTAs of 128, up to 256"},
                     {"k", 128, "depth, a multiple of 64"}});
  spec.settings = {{"dtype", "f16", "of A and B", {"f16", "bf16"}}};
  spec.inputs = {"a", "b"};
  spec.outputs = {"d"};
  spec.make_inputs =
      random_inputs([=](const Choice& c) { return std::vector{product(c).a(), product(c).b()}; });
  spec.reference = [=](const Choice& c, const std::vector<Array>& in) {
    const Product p = product(c);
    Array d(p.d());
    auto end = d.bytes.begin();
    for (int64_t round = 0; round < p.rounds; ++round)
      end = std::ranges::copy(product_of(p, in, round).bytes, end).out;
    return std::vector{d};
  };
  spec.tolerance = [](const Choice& c) { return matmul_tolerance(c.dtype("dtype"), pl::f32, c.size("k")); };
  spec.build = [=](const Choice& c) { return build(product(c)); };
  return spec;
}
ProductOf product_with(int64_t ctas, int64_t rounds) {
  return [=](const Choice& c) { return Product{c.dtype("dtype"), c.size("n"), c.size("k"), ctas, rounds}; };
}

plgpu::KernelOptions options_of(const Product& p, std::string name) {
  plgpu::KernelOptions o;
  o.in_types = {p.a(), p.b()};
  o.out_type = p.d();
  o.scratch_types = {{"a", tiled_smem({lanes, p.k}, p.dtype)},
                     {"b", tiled_smem({p.k, p.n / p.ctas}, p.dtype)},
                     {"acc", plgpu::TMEM({lanes, p.n}, pl::f32, {.collective = p.ctas == 2})},
                     {"loaded", plgpu::Barrier({.num_arrivals = 2})},
                     {"done", orders_tensor_core()}};
  if (p.ctas == 2) {
    o.cluster = {2};
    o.cluster_names = {"cluster"};
  }
  o.name = std::move(name);
  return o;
}

void fetch_both(const Ref& a, const Ref& b, Scratch& s) {
  plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("loaded"));
  plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"));
  plgpu::barrier_wait(s.barrier("loaded"));
}

// Some columns at a time, for the sake of registers.
void store_result(const Ref& acc, const Ref& d) {
  for (int64_t n = 0; n < acc.shape(1); n += 64) {
    const auto columns = pl::ds(n, 64);
    d.at(pl::all, columns).store(plgpu::async_load_tmem(acc.at(pl::all, columns)));
  }
}

KernelSpec awaited_product() {
  return product_spec("ref_tcgen05", "tcgen05_mma with a barrier: after the wait the result is in TMEM",
                      product_with(1, 1), [](const Product& p) {
                        return plgpu::kernel(
                            [](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
                              fetch_both(a, b, s);
                              plgpu::tcgen05_mma(s["acc"], s["a"], s["b"], s.barrier("done"),
                                                 {.accumulate = false});
                              plgpu::barrier_wait(s.barrier("done"));
                              store_result(s["acc"], d);
                            },
                            options_of(p, "ref_tcgen05"));
                      });
}

KernelSpec committed_products() {
  return product_spec("ref_tcgen05_commit",
                      "Two products without barriers; tcgen05_commit_arrive tells of both",
                      product_with(1, 1), [](const Product& p) {
                        return plgpu::kernel(
                            [k = p.k](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
                              fetch_both(a, b, s);
                              const auto half = [&](int64_t i) { return pl::ds(i * (k / 2), k / 2); };
                              plgpu::tcgen05_mma(s["acc"], s["a"].at(pl::all, half(0)), s["b"].at(half(0)),
                                                 {.accumulate = false});
                              plgpu::tcgen05_mma(s["acc"], s["a"].at(pl::all, half(1)), s["b"].at(half(1)));
                              plgpu::tcgen05_commit_arrive(s.barrier("done"));
                              plgpu::barrier_wait(s.barrier("done"));
                              store_result(s["acc"], d);
                            },
                            options_of(p, "ref_tcgen05_commit"));
                      });
}

// Two elements of 16 bits share a column of the left operand; accumulators have a column for each.
KernelSpec left_in_tensor_memory() {
  return product_spec("ref_tcgen05_left_in_tmem",
                      "A comes from registers and lies in TMEM, packed: commit_tmem before the product",
                      product_with(1, 1), [](const Product& p) {
                        plgpu::KernelOptions o = options_of(p, "ref_tcgen05_left_in_tmem");
                        o.scratch_types[0] = {"a", plgpu::TMEM({lanes, p.k}, p.dtype, {.packed = true})};
                        o.scratch_types[3] = {"loaded", plgpu::Barrier()};
                        return plgpu::kernel(
                            [](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
                              plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"));
                              plgpu::async_store_tmem(s["a"], a.load(plgpu::Layout::TCGEN05_TMEM_NATIVE));
                              plgpu::commit_tmem();
                              plgpu::barrier_wait(s.barrier("loaded"));
                              plgpu::tcgen05_mma(s["acc"], s["a"], s["b"], s.barrier("done"),
                                                 {.accumulate = false});
                              plgpu::barrier_wait(s.barrier("done"));
                              store_result(s["acc"], d);
                            },
                            o);
                      });
}

// --- pairs of CTAs

constexpr const char* cluster = "cluster";

// Each CTA fetches its half of A's rows and of B's columns; the barrier of the first one counts the bytes of
// both.
void fetch_halves(const Ref& a, const Ref& b, Scratch& s) {
  const auto half = [](int axis) {
    return plgpu::CopyInOptions{.collective_axes = {cluster},
                                .leader_tracked = plgpu::CopyPartition::PARTITIONED(axis)};
  };
  plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("loaded"), half(0));
  plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"), half(1));
}
void multiply_pair(Scratch& s) {
  pl::when(pl::axis_index(cluster) == 0, [&] {
    plgpu::barrier_wait(s.barrier("loaded"));
    plgpu::tcgen05_mma(s["acc"], s["a"], s["b"], s.barrier("done"),
                       {.accumulate = false, .collective_axis = cluster});
  });
  plgpu::barrier_wait(s.barrier("done"));
}
pl::Slice own_rows() { return pl::ds(pl::axis_index(cluster) * lanes, lanes); }

KernelSpec collective_product() {
  return product_spec("ref_tcgen05_collective",
                      "A pair of CTAs computes one product from partitioned copies; the first one issues it",
                      product_with(2, 1), [](const Product& p) {
                        return plgpu::kernel(
                            [](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
                              fetch_halves(a, b, s);
                              multiply_pair(s);
                              store_result(s["acc"], d.at(own_rows()));
                            },
                            options_of(p, "ref_tcgen05_collective"));
                      });
}

KernelSpec collective_reuse() {
  return product_spec(
      "ref_collective_tmem_reuse",
      "A ClusterBarrier before a pair's next product overwrites what both CTAs read", product_with(2, 2),
      [](const Product& p) {
        plgpu::KernelOptions o = options_of(p, "ref_collective_tmem_reuse");
        o.scratch_types.push_back(
            {"read", plgpu::ClusterBarrier({.collective_axes = {cluster}, .orders_tensor_core = true})});
        return plgpu::kernel(
            [rounds = p.rounds](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
              for (int64_t i = 0; i < rounds; ++i) {
                fetch_halves(a.at(i), b.at(i), s);
                multiply_pair(s);
                store_result(s["acc"], d.at(i, own_rows()));
                plgpu::wait_load_tmem();
                if (i + 1 == rounds) break;
                plgpu::barrier_arrive(s.barrier("read"));
                plgpu::barrier_wait(s.barrier("read"));
              }
            },
            o);
      });
}

}  // namespace

std::vector<KernelSpec> tensor_memory() {
  KernelSpec pair = collective_product(), pair_reuse = collective_reuse();
  pair.sizes[0].fallback = pair_reuse.sizes[0].fallback = 128;
  return {store_and_load(),     reuse_after_load(),      handover(), awaited_product(),
          committed_products(), left_in_tensor_memory(), pair,       pair_reuse};
}

}  // namespace palladion::kernels::reference_examples
