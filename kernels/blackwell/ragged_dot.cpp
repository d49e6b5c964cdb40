// The matmul in the order of planar_snake with two warpgroups, over the tiles of all groups. A tile of rows
// in which groups meet is computed once for each of them; what leaves is cut to the group's rows, in powers
// of two.
#include "kernels/blackwell/ragged_dot.h"

#include "kernels/blackwell/store_warpgroup.h"
#include "kernels/frame/ragged.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels::blackwell {
namespace {

constexpr const char* name = "blackwell_ragged_dot";

// Which rows a step computes.
struct GroupRows {
  Scalar group, block;  // of rows, as tall as the pair's tile
  Scalar first, last;   // of the group's rows in the block; none: first >= last
};

// The step `step` along the rows. Each group begins a step of its own, also in a block where another one
// ends, so that there are at most `blocks + groups - 1`; the last ones may have no rows.
GroupRows rows_of_step(const std::vector<Scalar>& sizes, const Scalar& step, int64_t height) {
  Scalar group(0), block(0), begin(0), end(0), total(0);
  for (size_t g = 0; g < sizes.size(); ++g) {
    const Scalar from = total;
    total = total + sizes[g];
    const Scalar first_block = from / height, first_step = first_block + static_cast<int64_t>(g);
    const Scalar blocks = pl::maximum(total - 1, 0) / height - first_block + 1;
    const Scalar here = step >= first_step && step < first_step + blocks;
    group = pl::where(here, Scalar(static_cast<int64_t>(g)), group);
    block = pl::where(here, step - first_step + first_block, block);
    begin = pl::where(here, from, begin);
    end = pl::where(here, total, end);
  }
  const Scalar top = block * height;
  return {group, block, pl::maximum(begin - top, 0), pl::minimum(end - top, height)};
}

// Rows `first` to `last` of the CTA's tile, `epilogue_tile_n` columns at a time.
void store_rows(const MatmulConfig& c, const Operands& x, const Ref& window, const Scalar& first,
                const Scalar& last) {
  const Scalar count = pl::maximum(last - first, 0);
  for (int64_t i = 0; i < x.acc.shape(1) / c.epilogue_tile_n; ++i) {
    const auto columns = pl::ds(i * c.epilogue_tile_n, c.epilogue_tile_n);
    const Ref slot = x.out_smem.at(i % 2);
    plgpu::wait_smem_to_gmem(1, true);  // the copies out of this slot, two parts ago, have read it
    slot.store(plgpu::async_load_tmem(x.acc.at(pl::all, columns)).astype(c.out_dtype));
    plgpu::commit_smem();
    Scalar row = first;
    for (int64_t rows = c.tile_m; rows >= 1; rows /= 2) {
      const Scalar part = count & rows;
      pl::when(part != 0, [&] {
        plgpu::copy_smem_to_gmem(slot.at(pl::ds(row, rows)), window.at(pl::ds(row, rows), columns),
                                 {.commit_group = false});
      });
      row = row + part;
    }
    plgpu::commit_smem_to_gmem_group();
  }
}

plgpu::KernelOptions options_of(const RaggedDotConfig& r, const MatmulConfig& c) {
  plgpu::KernelOptions o = two_warpgroups(name, c);
  o.in_types = {{r.dtype, {r.m, r.k}}, {r.dtype, {r.groups, r.k, r.n}}, {pl::s32, {r.groups}}};
  // Not in tiles: copies begin and end at any row.
  for (plgpu::NamedScratch& s : o.scratch_types)
    if (s.name == "out_smem") s.type = plgpu::SMEM({2, c.tile_m, c.epilogue_tile_n}, c.out_dtype);
  return o;
}

}  // namespace

MatmulConfig RaggedDotConfig::matmul() const {
  return {.m = m,
          .n = n,
          .k = k,
          .dtype = dtype,
          .out_dtype = out_dtype,
          .tile_m = tile_m,
          .tile_n = tile_n,
          .tile_k = tile_k,
          .stages = stages,
          .epilogue_tile_n = epilogue_tile_n,
          .clusters = clusters,
          .minor_dim = minor_dim,
          .tile_width = tile_width};
}

plgpu::Kernel ragged_dot(const RaggedDotConfig& r) {
  const MatmulConfig c = r.matmul();
  check(name, c, 2);
  Rules(name).multiple("epilogue_tile_n", c.epilogue_tile_n, "elements of 128 bytes",
                       128 / pl::bytes(c.out_dtype));
  const int64_t height = 2 * c.tile_m;
  const int64_t m_steps = c.m / height + r.groups - 1, n_tiles = c.n / (2 * c.tile_n);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& group_sizes, const Ref& out, plgpu::Scratch& s) {
        Operands x = operands_of(a, b, out, s);
        x.stored = s.barrier("stored");
        const Scalar place = pl::axis_index("cluster");
        std::vector<Scalar> sizes;
        for (int64_t g = 0; g < r.groups; ++g) sizes.push_back(group_sizes.at(g).load_scalar());
        plgpu::nd_loop({m_steps * n_tiles}, {.collective_axes = {"pair"}},
                       [&](const plgpu::NDLoopInfo& loop) {
                         const auto [step, ni] = plgpu::planar_snake(
                             loop.index[0], {m_steps, n_tiles}, static_cast<int>(c.minor_dim), c.tile_width);
                         const GroupRows rows = rows_of_step(sizes, step, height);
                         const PairTile tile(c, rows.block, ni);
                         Operands mine = x;
                         mine.b = b.at(rows.group);
                         compute_and_store(c, mine, tile, loop.local_index, [&](const Operands& done) {
                           const Scalar top = place * c.tile_m;
                           store_rows(c, done, out.at(tile.own_rows, tile.columns),
                                      pl::minimum(pl::maximum(rows.first - top, 0), c.tile_m),
                                      pl::minimum(rows.last - top, c.tile_m));
                         });
                       });
        plgpu::wait_smem_to_gmem(0, true);
      },
      options_of(r, c));
}

KernelSpec ragged_dot_spec() {
  KernelSpec spec =
      Spec(name, "D = A B[g] on Blackwell: rows of A are in groups, each with its own B", ragged_dot)
          .size("m", &RaggedDotConfig::m, "rows of A and D")
          .size("n", &RaggedDotConfig::n, "columns of B and D")
          .size("k", &RaggedDotConfig::k, "columns of A, rows of B")
          .size("groups", &RaggedDotConfig::groups, "groups of rows", {.min = 1, .max = 64})
          .setting("dtype", &RaggedDotConfig::dtype, "of A and B", {pl::f16, pl::bf16})
          .setting("out_dtype", &RaggedDotConfig::out_dtype, "of D", {pl::f16, pl::bf16, pl::f32})
          .setting("tile_m", &RaggedDotConfig::tile_m, "rows of a CTA's tile", {.min = 128, .max = 128})
          .setting("tile_n", &RaggedDotConfig::tile_n, "columns of a CTA's tile",
                   {.min = 32, .multiple_of = 32})
          .setting("tile_k", &RaggedDotConfig::tile_k, "depth of a step")
          .setting("stages", &RaggedDotConfig::stages, "tiles of A and B on their way", {.min = 2})
          .setting("epilogue_tile_n", &RaggedDotConfig::epilogue_tile_n, "columns that leave together")
          .setting("clusters", &RaggedDotConfig::clusters, "pairs of CTAs of the grid", {.min = 1})
          .setting("minor_dim", &RaggedDotConfig::minor_dim, "the dimension of tiles that changes first",
                   {.min = 0, .max = 1})
          .setting("tile_width", &RaggedDotConfig::tile_width, "tiles along it before the other changes",
                   {.min = 1})
          .arrays({"a", "b", "sizes"}, {"d"})
          .inputs([](const RaggedDotConfig& c, uint64_t seed) {
            std::vector<Array> inputs =
                normal_inputs({{c.dtype, {c.m, c.k}}, {c.dtype, {c.groups, c.k, c.n}}}, 3 * seed);
            inputs.push_back(random_group_sizes(c.groups, c.m, 3 * seed + 2));
            return inputs;
          })
          .reference([](const RaggedDotConfig& c, const std::vector<Array>& in) {
            return ragged_dot_reference(in[0], in[1], in[2], c.out_dtype);
          });
  spec.chip = "b200";
  spec.tolerance = [](const Choice& choice) {
    return matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"), choice.size("k"));
  };
  return spec;
}

}  // namespace palladion::kernels::blackwell
