#include "kernels/blackwell/matmul_sparse.h"

#include "kernels/blackwell/one_tile.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"
#include "verify/arrays/tensor_core.h"

namespace palladion::kernels::blackwell {
namespace {

constexpr const char *name = "blackwell_matmul_sparse", *cluster = "cluster";
constexpr int64_t metadata_k = 128;  // of K that a tile of metadata is for

void check(const SparseConfig& c) {
  const Rules rules(name);
  rules.multiple("m", c.m, "ctas * tile_m", c.ctas * c.tile_m);
  rules.multiple("n", c.n, "ctas * tile_n", c.pair_n());
  rules.multiple("k", c.k, "tile_k", c.tile_k);
  rules.multiple("tile_k", c.tile_k, "128 (a tile of metadata)", metadata_k);
  rules.at_least("stages", c.stages, 2);
  rules.multiple("ctas * tile_n", c.pair_n(), "epilogue_tile_n", c.epilogue_tile_n);
}

OneTile tile_of(const SparseConfig& c) {
  return {.m = c.m,
          .n = c.n,
          .out_dtype = c.out_dtype,
          .ctas = c.ctas,
          .tile_m = c.tile_m,
          .tile_n = c.tile_n,
          .epilogue_tile_n = c.epilogue_tile_n};
}

plgpu::KernelOptions options_of(const SparseConfig& c) {
  const bool pair = c.ctas == 2;
  pl::Shape metadata = tiled_metadata_shape(c.tile_m, c.tile_k);
  metadata.insert(metadata.begin(), c.stages);
  plgpu::KernelOptions o;
  o.in_types = {{c.dtype, {c.m, c.k / 2}}, {c.dtype, {c.n, c.k}}, {pl::u2, tiled_metadata_shape(c.m, c.k)}};
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {
      {"a_smem", tiled_smem({c.stages, c.tile_m, c.tile_k / 2}, c.dtype)},
      {"b_smem", tiled_smem({c.stages, c.tile_n, c.tile_k}, c.dtype)},
      {"metadata_smem", plgpu::SMEM(std::move(metadata), pl::u2)},
      {"acc", plgpu::TMEM({c.tile_m, c.pair_n()}, pl::f32, {.collective = pair})},
      {"metadata", plgpu::TMEM({c.tile_m, c.stages * c.tile_k / 2}, pl::u2,
                               {.collective = pair, .layout = plgpu::TMEMLayout::SPARSE_METADATA_LAYOUT})},
      {"out_smem", tiled_smem({2, c.tile_m, c.epilogue_tile_n}, c.out_dtype)},
      // Behind it metadata overwrite those of a product that has ended: the tensor core is ordered, too.
      {"loaded", plgpu::Barrier({.num_arrivals = 3, .num_barriers = {c.stages}, .orders_tensor_core = true})},
      {"consumed", tensor_barrier(c.stages)},
      {"done", tensor_barrier(1)},
  };
  launch_tiles(tile_of(c), o);
  o.name = name;
  return o;
}

// The kernel's arrays, and where the product of a CTA or a pair lies in them.
struct Arrays {
  Ref a, b, metadata;
  Scalar mi, ni;
};

void fetch(const SparseConfig& c, const Arrays& x, plgpu::Scratch& s) {
  const auto rows = ds(x.mi * (c.ctas * c.tile_m), c.ctas * c.tile_m),
             columns = ds(x.ni * c.pair_n(), c.pair_n()), row_tiles = ds(x.mi * c.ctas, c.ctas);
  plgpu::CopyInOptions half;
  if (c.ctas == 2)
    half = {.collective_axes = {cluster}, .leader_tracked = plgpu::CopyPartition::PARTITIONED(0)};
  const int64_t stored = c.tile_k / 2, tiles = c.tile_k / metadata_k;
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    pl::when(step >= c.stages, [&] { plgpu::barrier_wait(s.barrier("consumed").at(slot)); });
    const BarrierRef loaded = s.barrier("loaded").at(slot);
    plgpu::copy_gmem_to_smem(x.a.at(rows, ds(step * stored, stored)), s["a_smem"].at(slot), loaded, half);
    plgpu::copy_gmem_to_smem(x.b.at(columns, ds(step * c.tile_k, c.tile_k)), s["b_smem"].at(slot), loaded,
                             half);
    plgpu::copy_gmem_to_smem(x.metadata.at(row_tiles, ds(step * tiles, tiles)), s["metadata_smem"].at(slot),
                             loaded, half);
  });
}

// The metadata of a step have a slot in tensor memory, as they have in shared memory: a product that still
// reads those of the step before is not waited for.
void multiply(const SparseConfig& c, plgpu::Scratch& s) {
  const std::string axis = c.ctas == 2 ? cluster : "";
  const int64_t indices = c.tile_k / 2;
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    const Ref metadata = s["metadata"].at(pl::all, ds(slot * indices, indices));
    plgpu::barrier_wait(s.barrier("loaded").at(slot));
    plgpu::async_copy_sparse_metadata_to_tmem(s["metadata_smem"].at(slot), metadata,
                                              {.collective_axis = axis});
    plgpu::tcgen05_mma(s["acc"], s["a_smem"].at(slot), plgpu::transpose_ref(s["b_smem"].at(slot), {1, 0}),
                       s.barrier("consumed").at(slot),
                       {.accumulate = step > 0, .collective_axis = axis, .a_sparse_metadata = metadata});
  });
  plgpu::tcgen05_commit_arrive(s.barrier("done"), {.collective_axis = axis});
}

}  // namespace

plgpu::Kernel matmul_sparse(const SparseConfig& c) {
  check(c);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& metadata, const Ref& out, plgpu::Scratch& s) {
        const Arrays x{a, b, metadata, pl::axis_index("m"), pl::axis_index("n")};
        compute_tile(tile_of(c), s, out, x.mi, x.ni, [&] { fetch(c, x, s); }, [&] { multiply(c, s); });
      },
      options_of(c));
}

namespace {

// Which two of each four elements are stored, in ascending order.
constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

int64_t metadata_index(const SparseConfig& c, int64_t row, int64_t i) {
  return tiled_metadata_index(row, i, c.k, pl::bits(c.dtype));
}

Array random_metadata(const SparseConfig& c, uint64_t seed) {
  const Array which =
      filled({pl::u8, {c.m, c.k / 4}}, {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = 6});
  Array out({pl::u2, tiled_metadata_shape(c.m, c.k)});
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t i = 0; i < c.k / 2; ++i) {
      const auto pair = bits_at(which, row * (c.k / 4) + i / 2);
      set_value(out, metadata_index(c, row, i), pairs[pair][i % 2]);
    }
  return out;
}

// A with the elements that are not stored.
Array dense(const SparseConfig& c, const Array& a, const Array& metadata) {
  const std::vector<float> stored = to_floats(a);
  std::vector<float> values(static_cast<size_t>(c.m * c.k));
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t i = 0; i < c.k / 2; ++i) {
      const auto at = static_cast<int64_t>(bits_at(metadata, metadata_index(c, row, i)));
      values[static_cast<size_t>(row * c.k + i / 2 * 4 + at)] =
          stored[static_cast<size_t>(row * c.k / 2 + i)];
    }
  return from_floats({pl::f32, {c.m, c.k}}, values);
}

}  // namespace

KernelSpec sparse_spec() {
  KernelSpec spec =
      Spec(name, "D = A B^T on Blackwell: two of each four elements of A are stored", matmul_sparse)
          .size("m", &SparseConfig::m, "rows of A and D")
          .size("n", &SparseConfig::n, "rows of B, columns of D")
          .size("k", &SparseConfig::k, "columns of B; A has half as many")
          .setting("dtype", &SparseConfig::dtype, "of A and B", {pl::f16, pl::bf16, pl::e4m3, pl::e5m2})
          .setting("out_dtype", &SparseConfig::out_dtype, "of D", {pl::f16, pl::bf16, pl::f32})
          .setting("ctas", &SparseConfig::ctas, "CTAs that compute one product", {.min = 1, .max = 2})
          .setting("tile_n", &SparseConfig::tile_n, "columns of a CTA's tile", {.min = 32, .multiple_of = 32})
          .setting("tile_k", &SparseConfig::tile_k, "depth of a step", {.min = 128, .multiple_of = 128})
          .setting("stages", &SparseConfig::stages, "tiles on their way", {.min = 2})
          .setting("epilogue_tile_n", &SparseConfig::epilogue_tile_n, "columns that leave together")
          .arrays({"a", "b", "metadata"}, {"d"})
          .inputs([](const SparseConfig& c, uint64_t seed) {
            std::vector<Array> inputs =
                normal_inputs({{c.dtype, {c.m, c.k / 2}}, {c.dtype, {c.n, c.k}}}, 3 * seed);
            inputs.push_back(random_metadata(c, 3 * seed + 2));
            return inputs;
          })
          .reference([](const SparseConfig& c, const std::vector<Array>& in) {
            return matmul_reference(dense(c, in[0], in[2]), false, in[1], true, nullptr, c.out_dtype);
          });
  spec.chip = "b200";
  spec.tolerance = [](const Choice& choice) {
    return matmul_tolerance(pl::f16, choice.dtype("out_dtype"), choice.size("k"));
  };
  return spec;
}

}  // namespace palladion::kernels::blackwell
