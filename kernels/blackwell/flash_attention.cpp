#include "kernels/blackwell/flash_attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {
namespace {

using plgpu::Array;
using plgpu::Layout;

constexpr int64_t tile = 128;             // rows of a tile of Q, of K and of V
constexpr int64_t tiles = 2;              // of Q, in a CTA
constexpr int64_t part = 64;              // columns of a tile that are worked on at a time
constexpr int correction = 2, issue = 3;  // warpgroups; 0 and 1 compute softmax, each of its tile
// Registers of a lane: 512 for the four warpgroups together.
constexpr int softmax_registers = 184, correction_registers = 104, issue_registers = 40;

const Layout& row_a_lane = Layout::TCGEN05_TMEM_NATIVE;

struct Body {
  const AttentionConfig& c;
  Ref q, k, v, out;
  Ref q_smem, k_smem, v_smem, factors;
  Ref scores, weights, acc;  // in tensor memory; the weights take the scores' place
  BarrierRef q_loaded, k_loaded, v_loaded, k_consumed, v_consumed;
  BarrierRef scored, weighed, scaled, summed, factor, factor_read;

  void run() const {
    const Scalar group = pl::axis_index("wg");
    pl::when(group < tiles, [&] { softmax(group); });
    pl::when(group == correction, [&] { correct(); });
    pl::when(group == issue, [&] {
      plgpu::set_max_registers(issue_registers, "decrease");
      plgpu::warp_map([&](const Scalar& warp) {
        pl::when(warp == 0, [&] { fetch(); });
        pl::when(warp == 1, [&] { multiply(); });
      });
    });
  }

  // --- where things are
  Scalar first_row(const Scalar& t) const { return (pl::axis_index("q") * tiles + t) * tile; }
  pl::Slice q_rows(const Scalar& t) const { return ds(first_row(t), tile); }
  // How many tiles of K and V the tile of Q sees.
  Scalar steps(const Scalar& t) const {
    if (!c.causal) return c.kv_seq / tile;
    return pl::axis_index("q") * tiles + t + ((c.kv_seq - c.q_seq) / tile + 1);
  }
  Scalar most_steps() const { return steps(tiles - 1); }
  Ref scores_of(const Scalar& t) const { return scores.at(pl::all, ds(t * tile, tile)); }
  Ref weights_of(const Scalar& t) const { return weights.at(pl::all, ds(t * (2 * tile), tile)); }
  Ref acc_of(const Scalar& t) const { return acc.at(pl::all, ds(t * c.head_dim, c.head_dim)); }

  // --- one warp: tiles from global memory
  void fetch() const {
    const Scalar b = pl::axis_index("batch"), head = pl::axis_index("head");
    const Scalar kv_head = head / (c.heads / c.kv_heads);
    for (int t = 0; t < tiles; ++t)
      plgpu::copy_gmem_to_smem(q.at(b, q_rows(t), head), q_smem.at(t), q_loaded.at(t));
    pl::fori_loop(0, most_steps(), [&](pl::Index j) {
      const Scalar slot = j % c.stages;
      const auto rows = ds(j * tile, tile);
      pl::when(j >= c.stages, [&] { plgpu::barrier_wait(k_consumed.at(slot)); });
      plgpu::copy_gmem_to_smem(k.at(b, rows, kv_head), k_smem.at(slot), k_loaded.at(slot));
      pl::when(j >= c.stages, [&] { plgpu::barrier_wait(v_consumed.at(slot)); });
      plgpu::copy_gmem_to_smem(v.at(b, rows, kv_head), v_smem.at(slot), v_loaded.at(slot));
    });
  }

  // --- one warp: the products
  void score(const Scalar& t, const Scalar& j) const {
    plgpu::tcgen05_mma(scores_of(t), q_smem.at(t), plgpu::transpose_ref(k_smem.at(j % c.stages), {1, 0}),
                       scored.at(t), {.accumulate = false});
  }
  // The slot of tile `j` is free after the products so far; signalled where another tile follows in it.
  void refill(const BarrierRef& consumed, const Scalar& j) const {
    pl::when(j + c.stages < most_steps(), [&] { plgpu::tcgen05_commit_arrive(consumed.at(j % c.stages)); });
  }
  void multiply() const {
    plgpu::barrier_wait(k_loaded.at(0));
    for (int t = 0; t < tiles; ++t) {
      plgpu::barrier_wait(q_loaded.at(t));
      score(t, 0);
    }
    refill(k_consumed, 0);
    pl::fori_loop(0, most_steps(), [&](pl::Index j) {
      const Scalar next = j + 1, slot = j % c.stages;
      plgpu::barrier_wait(v_loaded.at(slot));
      pl::when(next < most_steps(), [&] { plgpu::barrier_wait(k_loaded.at(next % c.stages)); });
      for (int t = 0; t < tiles; ++t) {
        pl::when(j < steps(t), [&] {
          plgpu::barrier_wait(weighed.at(t));
          pl::when(j > 0, [&] { plgpu::barrier_wait(scaled.at(t)); });
          plgpu::tcgen05_mma(acc_of(t), weights_of(t), v_smem.at(slot), summed.at(t), {.accumulate = j > 0});
        });
        pl::when(next < steps(t), [&] {
          plgpu::barrier_wait(summed.at(t));  // the weights are read, which these scores overwrite
          score(t, next);
        });
      }
      refill(v_consumed, j);
      refill(k_consumed, next);
    });
  }

  // --- a warpgroup for each tile: weights from scores
  // The largest score of a row so far, and the sum of its weights.
  using State = std::tuple<Array, Array>;

  void tell(const Scalar& t, const Scalar& j, const Array& values) const {
    pl::when(j > 1, [&] { plgpu::barrier_wait(factor_read.at(t)); });
    factors.at(t).store(values);
    plgpu::barrier_arrive(factor.at(t));
  }
  // Part `i` of the scores.
  Array scores_part(const Scalar& t, int64_t i, bool diagonal) const {
    const Array s =
        plgpu::async_load_tmem(scores_of(t).at(pl::all, ds(i * part, part)), {.layout = row_a_lane});
    if (!diagonal) return s;
    const auto index = [](int axis) {
      return plgpu::broadcasted_iota(pl::s32, {tile, part}, axis, row_a_lane);
    };
    return plgpu::where(index(1) + i * part <= index(0), s, -std::numeric_limits<float>::infinity());
  }
  // In parts, so that registers need not hold all scores and all weights at once.
  State weigh(const Scalar& t, const Scalar& j, const State& state, bool diagonal) const {
    const auto& [largest, sum] = state;
    const float scale = 1 / std::sqrt(static_cast<float>(c.head_dim));
    plgpu::barrier_wait(scored.at(t));
    std::vector<Array> s;
    for (int64_t i = 0; i < tile / part; ++i) s.push_back(scores_part(t, i, diagonal));
    plgpu::wait_load_tmem();  // the weights take their place
    Array next = largest;
    for (const Array& x : s) next = plgpu::maximum(next, x.max(1));
    const Array f = plgpu::exp((largest - next) * scale);
    pl::when(j > 0, [&] { tell(t, j, f); });
    const Array shift = plgpu::broadcast_in_dim(next * -scale, {tile, part}, {0}, row_a_lane);
    Array next_sum = sum * f;
    for (int64_t i = 0; i < tile / part; ++i) {
      const Array p = plgpu::exp(plgpu::fma(s[static_cast<size_t>(i)], scale, shift));
      plgpu::async_store_tmem(weights_of(t).at(pl::all, ds(i * part, part)), p.astype(c.dtype));
      next_sum = next_sum + p.sum(1);
    }
    plgpu::commit_tmem();
    plgpu::barrier_arrive(weighed.at(t));
    return {next, next_sum};
  }
  void softmax(const Scalar& t) const {
    plgpu::set_max_registers(softmax_registers, "increase");
    const Layout rows = row_a_lane.reduce(1);
    const auto all = [&](float value) {
      return plgpu::layout_cast(plgpu::full({tile}, value, pl::f32), rows);
    };
    State state{all(-std::numeric_limits<float>::infinity()), all(0)};
    const Scalar full_steps = c.causal ? steps(t) - 1 : steps(t);
    state = pl::fori_loop(
        0, full_steps,
        [&](pl::Index j, const Array& largest, const Array& sum) {
          return weigh(t, j, {largest, sum}, false);
        },
        state);
    if (c.causal) state = weigh(t, full_steps, state, true);
    tell(t, steps(t), std::get<1>(state));
  }

  // --- a warpgroup for both tiles: O follows the largest score; the way out
  Array factor_of(int t, const Layout& rows) const {
    plgpu::barrier_wait(factor.at(t));
    return factors.at(t).load(rows);
  }
  // Part `i` of O, its rows times `f`.
  Array scaled_part(int t, int64_t i, const Array& f, const Layout& layout) const {
    const Array o = plgpu::async_load_tmem(acc_of(t).at(pl::all, ds(i * part, part)), {.layout = layout});
    return o * plgpu::broadcast_in_dim(f, {tile, part}, {0}, layout);
  }
  void rescale(int t) const {
    const Array f = factor_of(t, row_a_lane.reduce(1));
    plgpu::barrier_arrive(factor_read.at(t));
    plgpu::barrier_wait(summed.at(t));
    for (int64_t i = 0; i < c.head_dim / part; ++i) {
      const Array o = scaled_part(t, i, f, row_a_lane);
      plgpu::wait_load_tmem();
      plgpu::async_store_tmem(acc_of(t).at(pl::all, ds(i * part, part)), o);
    }
    plgpu::commit_tmem();
    plgpu::barrier_arrive(scaled.at(t));
  }
  void store(int t) const {
    const Array f = 1.0F / factor_of(t, Layout::TCGEN05.reduce(1));
    plgpu::barrier_wait(summed.at(t));
    const Ref staging = q_smem.at(t);  // no product reads Q any more
    for (int64_t i = 0; i < c.head_dim / part; ++i)
      staging.at(pl::all, ds(i * part, part)).store(scaled_part(t, i, f, Layout::TCGEN05).astype(c.dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(staging, out.at(pl::axis_index("batch"), q_rows(t), pl::axis_index("head")));
  }
  void correct() const {
    plgpu::set_max_registers(correction_registers, "decrease");
    pl::fori_loop(1, most_steps(), [&](pl::Index j) {
      for (int t = 0; t < tiles; ++t) pl::when(j < steps(t), [&] { rescale(t); });
    });
    for (int t = 0; t < tiles; ++t) store(t);
    plgpu::wait_smem_to_gmem(0, true);
  }
};

void check(const AttentionConfig& c) {
  const Rules rules("blackwell_flash_attention");
  rules.multiple("q", c.q_seq, "two tiles", tiles * tile);
  rules.multiple("kv", c.kv_seq, "a tile", tile);
  rules.multiple("heads", c.heads, "kv_heads", c.kv_heads);
  rules.require(c.head_dim == 64 || c.head_dim == 128, "head_dim is 64 or 128");
  rules.require(!c.causal || c.q_seq <= c.kv_seq, "causal: q is at most kv");
  rules.at_least("stages", c.stages, 2);
}

plgpu::KernelOptions options_of(const AttentionConfig& c) {
  plgpu::KernelOptions o;
  o.in_types = {c.q_type(), c.kv_type(), c.kv_type()};
  o.out_type = c.q_type();
  o.scratch_types = {
      {"q_smem", tiled_smem({tiles, tile, c.head_dim}, c.dtype)},
      {"k_smem", tiled_smem({c.stages, tile, c.head_dim}, c.dtype)},
      {"v_smem", tiled_smem({c.stages, tile, c.head_dim}, c.dtype)},
      {"factors", plgpu::SMEM({tiles, tile}, pl::f32)},
      {"scores", plgpu::RefUnion({{plgpu::TMEM({tile, tiles * tile}, pl::f32)},
                                  {plgpu::TMEM({tile, 2 * tiles * tile}, c.dtype, {.packed = true})}})},
      {"acc", plgpu::TMEM({tile, tiles * c.head_dim}, pl::f32)},
      {"q_loaded", plgpu::Barrier({.num_barriers = {tiles}})},
      {"k_loaded", plgpu::Barrier({.num_barriers = {c.stages}})},
      {"v_loaded", plgpu::Barrier({.num_barriers = {c.stages}})},
      {"k_consumed", tensor_barrier(c.stages)},
      {"v_consumed", tensor_barrier(c.stages)},
      {"scored", tensor_barrier(tiles)},
      {"weighed", tensor_barrier(tiles)},
      {"scaled", tensor_barrier(tiles)},
      {"summed", tensor_barrier(tiles)},
      {"factor", plgpu::Barrier({.num_barriers = {tiles}})},
      {"factor_read", plgpu::Barrier({.num_barriers = {tiles}})},
  };
  o.compiler_params.approx_math = true;
  o.grid = {c.batch, c.heads, c.q_seq / (tiles * tile)};
  o.grid_names = {"batch", "head", "q"};
  o.num_threads = 4;
  o.thread_name = "wg";
  o.name = "blackwell_flash_attention";
  return o;
}

}  // namespace

plgpu::Kernel flash_attention(const AttentionConfig& c) {
  check(c);
  return plgpu::kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& s) {
        Body{.c = c,
             .q = refs[0],
             .k = refs[1],
             .v = refs[2],
             .out = refs[3],
             .q_smem = s["q_smem"],
             .k_smem = s["k_smem"],
             .v_smem = s["v_smem"],
             .factors = s["factors"],
             .scores = s.ref_union("scores")[0][0],
             .weights = s.ref_union("scores")[1][0],
             .acc = s["acc"],
             .q_loaded = s.barrier("q_loaded"),
             .k_loaded = s.barrier("k_loaded"),
             .v_loaded = s.barrier("v_loaded"),
             .k_consumed = s.barrier("k_consumed"),
             .v_consumed = s.barrier("v_consumed"),
             .scored = s.barrier("scored"),
             .weighed = s.barrier("weighed"),
             .scaled = s.barrier("scaled"),
             .summed = s.barrier("summed"),
             .factor = s.barrier("factor"),
             .factor_read = s.barrier("factor_read")}
            .run();
      },
      options_of(c));
}

}  // namespace palladion::kernels::blackwell
