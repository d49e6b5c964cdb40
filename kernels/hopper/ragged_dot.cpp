// matmul_ws over the tiles of all groups. A tile begins at a row of its group, wherever that lies: TMA copies
// begin at any row, because a tile of A is as wide as its swizzle.
#include "kernels/hopper/ragged_dot.h"

#include <fmt/format.h>

#include "kernels/frame/ragged.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/ring_product.h"
#include "kernels/hopper/store_tile.h"

namespace palladion::kernels {
namespace {

constexpr int compute_groups = 2;
constexpr int64_t tile_k = 64;      // 128 bytes
constexpr int64_t epilogue_m = 64;  // rows that are stored together

// A tile of D: its group, its first row and column, the rows of the group from there on.
struct Tile {
  Scalar group, row, column, rows;
};

struct Body {
  const RaggedDot& c;
  Ref a, b, sizes, out;
  Ref a_smem, b_smem, out_smem;
  plgpu::PipelineTmaAsync pipeline;

  int64_t k_steps() const { return pl::cdiv(c.k, tile_k); }
  int64_t rows_of_warpgroup() const { return c.tile_m / compute_groups; }
  int64_t epilogue_n() const { return out_smem.shape(3); }

  // state = body(tile, state) for each tile of this CTA: those of a group lie one behind the other, the rows
  // first, and go round the CTAs.
  template <class F>
  void for_each_tile(const plgpu::PipelineState& start, const F& body) const {
    const int64_t columns = pl::cdiv(c.n, c.tile_n);
    pl::fori_loop(
        0, c.groups,
        [&](const Scalar& g, const Scalar& first_row, const Scalar& first_cta,
            const plgpu::PipelineState& s) {
          const Scalar size = pl::minimum(pl::maximum(sizes.at(g).load_scalar(), 0), c.m - first_row);
          const Scalar down = pl::cdiv(size, c.tile_m), tiles = down * columns;
          // Its first tile of the group: `first_cta` takes the group's first one.
          const Scalar first = (pl::axis_index("sm") + (c.sm_count - first_cta)) % c.sm_count;
          const plgpu::PipelineState next = pl::fori_loop(
              0, pl::cdiv(pl::maximum(tiles - first, 0), c.sm_count),
              [&](const Scalar& i, const plgpu::PipelineState& at) {
                const Scalar tile = first + i * c.sm_count, row = tile % down * c.tile_m;
                return body(Tile{g, first_row + row, tile / down * c.tile_n, size - row}, at);
              },
              s);
          return std::tuple{first_row + size, (first_cta + tiles) % c.sm_count, next};
        },
        std::tuple{Scalar(0), Scalar(0), start});
  }

  void produce() const {
    plgpu::set_max_registers(40, "decrease");
    for_each_tile(
        plgpu::make_producer_start_state(c.stages), [&](const Tile& t, const plgpu::PipelineState& s) {
          return pl::fori_loop(
              0, k_steps(),
              [&](const Scalar& step, const plgpu::PipelineState& at) {
                const auto depth = ds(step * tile_k, tile_k);
                pipeline.producer_acquire(at);
                const BarrierRef full = pipeline.producer_get_barrier(at);
                plgpu::copy_gmem_to_smem(a.at(ds(t.row, c.tile_m), depth), a_smem.at(at.index()), full);
                plgpu::copy_gmem_to_smem(b.at(t.group, depth, ds(t.column, c.tile_n)), b_smem.at(at.index()),
                                         full);
                return at.advance();
              },
              s);
        });
  }

  void consume(const Scalar& warpgroup) const {
    plgpu::set_max_registers(232, "increase");
    for_each_tile(plgpu::PipelineState(c.stages), [&](const Tile& t, const plgpu::PipelineState& s) {
      const auto [acc, next] = multiply(warpgroup, s);
      const Scalar top = warpgroup * rows_of_warpgroup();
      store(acc, warpgroup, {t.group, t.row + top, t.column, t.rows - top});
      return next;
    });
    plgpu::wait_smem_to_gmem(0);
  }

  std::pair<plgpu::Array, plgpu::PipelineState> multiply(const Scalar& warpgroup,
                                                         const plgpu::PipelineState& start) const {
    const auto own_rows = ds(warpgroup * rows_of_warpgroup(), rows_of_warpgroup());
    return sum_over_ring(pipeline, start, k_steps(), {rows_of_warpgroup(), c.tile_n},
                         [&](const Ref& sum, const Scalar& slot) {
                           plgpu::wgmma(sum, a_smem.at(slot, own_rows), b_smem.at(slot));
                         });
  }

  // 64 rows at a time: through shared memory where all of them are the group's, else row by row.
  void store(const plgpu::Array& acc, const Scalar& warpgroup, const Tile& t) const {
    for (int64_t r = 0; r < rows_of_warpgroup(); r += epilogue_m) {
      const Scalar rows = t.rows - r;
      const plgpu::Array band = plgpu::slice(acc, {r, 0}, {r + epilogue_m, c.tile_n});
      const auto place = [&](int64_t, int64_t n) {
        return out.at(ds(t.row + r, epilogue_m), ds(t.column + n, epilogue_n()));
      };
      pl::when(rows >= epilogue_m, [&] { store_tile_through_smem(band, out_smem.at(warpgroup), place); });
      pl::when(rows > 0 && rows < epilogue_m, [&] {
        for (int64_t n = 0; n < c.tile_n; n += epilogue_n()) {
          const plgpu::Array tile =
              plgpu::slice(band, {0, n}, {epilogue_m, n + epilogue_n()}).astype(c.out_dtype);
          const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, tile.shape(), 0, tile.layout());
          plgpu::store(place(0, n), tile,
                       {.mask = row < rows && plgpu::in_bounds(place(0, n), tile.layout())});
        }
      });
    }
  }

  void run() const {
    const Scalar warpgroup = pl::axis_index("wg");
    pl::when(warpgroup == compute_groups, [&] { produce(); });
    pl::when(warpgroup < compute_groups, [&] { consume(warpgroup); });
  }
};

void check(const RaggedDot& c) {
  const Rules rules("ragged_dot");
  for (const auto& [name, value] :
       {std::pair{"m", c.m}, {"n", c.n}, {"k", c.k}, {"groups", c.groups}, {"sms", c.sm_count}})
    rules.at_least(name, value, 1);
  rules.require(c.k % 8 == 0, fmt::format("k={} must be a multiple of 8: rows of 16 bytes for TMA", c.k));
  rules.require(c.n % 64 == 0, fmt::format("n={} must be a multiple of 64: what is swizzled together", c.n));
  rules.require(c.tile_m == 128 || c.tile_m == 256,
                fmt::format("tile_m={} must be 128 or 256: two warpgroups of 64 or 128 rows", c.tile_m));
  rules.require(c.tile_n % 64 == 0 && c.tile_n >= 64 && c.tile_m * c.tile_n <= 128 * 256,
                fmt::format("tile_n={} must be a multiple of 64, and with tile_m={} at most {}", c.tile_n,
                            c.tile_m, 128 * 256 / c.tile_m));
  rules.at_least("stages", c.stages, 2);
}

plgpu::KernelOptions options_of(const RaggedDot& c) {
  const int64_t epilogue_n = 128 / pl::bytes(c.out_dtype);
  plgpu::KernelOptions o;
  o.in_types = {{c.dtype, {c.m, c.k}}, {c.dtype, {c.groups, c.k, c.n}}, {pl::s32, {c.groups}}};
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {{"a_smem", tiled_smem({c.stages, c.tile_m, tile_k}, c.dtype)},
                     {"b_smem", tiled_smem({c.stages, tile_k, c.tile_n}, c.dtype)},
                     {"out_smem", tiled_smem({compute_groups, 2, epilogue_m, epilogue_n}, c.out_dtype)}};
  o.grid = {c.sm_count};
  o.grid_names = {"sm"};
  o.num_threads = compute_groups + 1;
  o.thread_name = "wg";
  o.name = "ragged_dot";
  return o;
}

}  // namespace

plgpu::Kernel ragged_dot(const RaggedDot& c) {
  check(c);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& sizes, const Ref& out, plgpu::Scratch& s) {
        Body{.c = c,
             .a = a,
             .b = b,
             .sizes = sizes,
             .out = out,
             .a_smem = s["a_smem"],
             .b_smem = s["b_smem"],
             .out_smem = s["out_smem"],
             .pipeline = plgpu::PipelineTmaAsync(
                 {.stages = c.stages, .num_producers = 2, .num_consumers = compute_groups})}
            .run();
      },
      options_of(c));
}

KernelSpec ragged_dot_spec() {
  using C = RaggedDot;
  KernelSpec spec =
      Spec("ragged_dot", "D = A B[g]: rows of A are in groups, each with its own B; persistent", ragged_dot)
          .size("m", &C::m, "rows of A and D")
          .size("n", &C::n, "columns of B and D", {.multiple_of = 64})
          .size("k", &C::k, "columns of A, rows of B", {.multiple_of = 8})
          .size("groups", &C::groups, "groups of rows")
          .setting("dtype", &C::dtype, "of A and B", {pl::f16, pl::bf16})
          .setting("out_dtype", &C::out_dtype, "of D", {pl::f16, pl::bf16, pl::f32})
          .setting("tile_m", &C::tile_m, "rows of a CTA's tile: 128 or 256", {.multiple_of = 128})
          .setting("tile_n", &C::tile_n, "columns of a CTA's tile", {.multiple_of = 64})
          .setting("stages", &C::stages, "tiles of A and B on their way", {.min = 2})
          .ctas("sms", &C::sm_count, 1, "CTAs of the persistent grid")
          .arrays({"a", "b", "sizes"}, {"d"})
          .inputs([](const C& c, uint64_t seed) {
            std::vector<Array> inputs =
                normal_inputs({{c.dtype, {c.m, c.k}}, {c.dtype, {c.groups, c.k, c.n}}}, 3 * seed);
            inputs.push_back(random_group_sizes(c.groups, c.m, 3 * seed + 2));
            return inputs;
          })
          .reference([](const C& c, const std::vector<Array>& in) {
            return ragged_dot_reference(in[0], in[1], in[2], c.out_dtype);
          });
  spec.tolerance = [](const Choice& choice) {
    return matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"), choice.size("k"));
  };
  return spec;
}

}  // namespace palladion::kernels
