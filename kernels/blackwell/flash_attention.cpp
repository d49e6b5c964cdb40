#include "kernels/blackwell/flash_attention.h"

#include <array>
#include <limits>
#include <optional>

#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {
namespace {

using plgpu::Array;
using plgpu::Layout;

constexpr int64_t tile = 128;             // rows of a tile of Q, of K and of V
constexpr int64_t tiles = 2;              // of Q, in a CTA
constexpr int64_t part = 64;              // columns of O that leave together
constexpr int64_t load = 32;              // columns of scores that a load takes
constexpr int64_t few = 8;                // columns of scores, of O, that are worked on at a time
constexpr int correction = 2, issue = 3;  // warpgroups; 0 and 1 compute softmax, each of its tile
// Registers of a lane: 512 for the four warpgroups together.
constexpr int softmax_registers = 184, correction_registers = 104, issue_registers = 40;

const Layout& row_a_lane = Layout::TCGEN05_TMEM_NATIVE;

// Of the lanes' own rows: each warp waits for its own accesses to tensor memory, and what the others are to
// see, the barrier behind it tells them.
void wait_for_loads() { plgpu::inline_ptx("tcgen05.wait::ld.sync.aligned;", {}, {}, {.side_effects = true}); }
void wait_for_stores() {
  plgpu::inline_ptx("tcgen05.wait::st.sync.aligned;", {}, {}, {.side_effects = true});
}

// A barrier of the CTA's hardware at which a warp waits for warpgroups, ordering tensor memory. Beside an
// mbarrier it needs no shared memory, whose pipe the accesses to tensor memory occupy.
class Meeting {
 public:
  // Numbers from 0, shared with plgpu::NamedBarrier: the hardware's first five are the CTA's and one for each
  // warpgroup.
  Meeting(const Scalar& number, int64_t warpgroups) : number_(number + 5), lanes_(warpgroups * 128 + 32) {}
  void arrive() const { record("tcgen05.fence::before_thread_sync; bar.arrive number, lanes;"); }
  void wait() const { record("bar.sync number, lanes; tcgen05.fence::after_thread_sync;"); }

 private:
  void record(const char* text) const {
    plgpu::inline_ptx(text, {}, {{"number", number_}, {"lanes", Scalar(lanes_)}}, {.side_effects = true});
  }
  Scalar number_;
  int64_t lanes_;
};

struct Body {
  const AttentionConfig& c;
  Ref q, k, v, out;
  Ref q_smem, k_smem, v_smem, factors;
  Ref scores, weights, acc;  // in tensor memory
  BarrierRef q_loaded, k_loaded, v_loaded, k_consumed, v_consumed, scored, summed;

  void run() const {
    const Scalar group = pl::axis_index("wg");
    pl::when(group < tiles, [&] { softmax(group); });
    pl::when(group == correction, [&] { correct(); });
    pl::when(group == issue, [&] {
      plgpu::set_max_registers(issue_registers, "decrease");
      plgpu::warp_map([&](const Scalar& warp) {
        pl::when(warp == 0, [&] { fetch(); });
        pl::when(warp == 1, [&] { score(); });
        pl::when(warp >= 2, [&] { sum(warp - 2); });
      });
    });
  }

  // --- where things are
  // The CTA's pair of tiles of Q: with a mask the longest loops come first.
  Scalar pair() const {
    const Scalar number = pl::axis_index("q");
    if (!c.causal) return number;
    return c.q_seq / (tiles * tile) - 1 - number;
  }
  pl::Slice q_rows(const Scalar& t) const { return ds((pair() * tiles + t) * tile, tile); }
  // How many tiles of K and V the tile of Q sees.
  Scalar steps(const Scalar& t) const {
    if (!c.causal) return c.kv_seq / tile;
    return pair() * tiles + t + ((c.kv_seq - c.q_seq) / tile + 1);
  }
  Scalar most_steps() const { return steps(tiles - 1); }
  // Where its scores are: in a place that they share with those of the other tile if there is but one.
  Scalar place(const Scalar& t) const { return t % c.score_places(); }
  Ref scores_of(const Scalar& t) const { return scores.at(pl::all, ds(place(t) * tile, tile)); }
  Ref weights_of(const Scalar& t) const { return weights.at(pl::all, ds(t * tile, tile)); }
  Ref acc_of(const Scalar& t) const { return acc.at(pl::all, ds(t * c.head_dim, c.head_dim)); }

  // --- the barriers beside the mbarriers
  Meeting scores_read(const Scalar& t) const { return {place(t), 1}; }
  Meeting summable(const Scalar& t) const { return {t + 2, 2}; }
  plgpu::NamedBarrier factor(const Scalar& t) const { return {2, t + 4}; }
  plgpu::NamedBarrier factor_read(const Scalar& t) const { return {2, t + 6}; }
  plgpu::NamedBarrier turn(const Scalar& t) const { return {2, t + 8}; }

  // --- one warp: tiles from global memory
  void fetch() const {
    const Scalar b = pl::axis_index("batch"), head = pl::axis_index("head");
    const Scalar kv_head = head / (c.heads / c.kv_heads);
    for (int t = 0; t < tiles; ++t)
      plgpu::copy_gmem_to_smem(rows_of_head(q, b, q_rows(t), head), q_smem.at(t), q_loaded.at(t));
    const auto tile_of = [&](const Ref& from, const Ref& to, const BarrierRef& loaded,
                             const BarrierRef& consumed, const Scalar& j) {
      const Scalar slot = j % c.stages;
      pl::when(j >= c.stages, [&] { plgpu::barrier_wait(consumed.at(slot)); });
      plgpu::copy_gmem_to_smem(rows_of_head(from, b, ds(j * tile, tile), kv_head), to.at(slot),
                               loaded.at(slot));
    };
    tile_of(k, k_smem, k_loaded, k_consumed, Scalar(0));
    pl::fori_loop(0, most_steps(), [&](pl::Index j) {  // K is needed one step before V
      pl::when(j + 1 < most_steps(), [&] { tile_of(k, k_smem, k_loaded, k_consumed, j + 1); });
      tile_of(v, v_smem, v_loaded, v_consumed, j);
    });
  }

  // --- three warps: the products. None waits for what another one's product needs.
  // The slot of tile `j` is free after this warp's products so far; signalled where another tile follows.
  void refill(const BarrierRef& consumed, const Scalar& j) const {
    pl::when(j + c.stages < most_steps(), [&] { plgpu::tcgen05_commit_arrive(consumed.at(j % c.stages)); });
  }
  void score() const {
    pl::fori_loop(0, most_steps(), [&](pl::Index j) {
      const Scalar slot = j % c.stages;
      plgpu::barrier_wait(k_loaded.at(slot));
      for (int t = 0; t < tiles; ++t) {
        pl::when(j == 0, [&] { plgpu::barrier_wait(q_loaded.at(t)); });
        pl::when(j < steps(t), [&] {
          pl::when(j > 0 || t >= c.score_places(), [&] { scores_read(t).wait(); });
          plgpu::tcgen05_mma(scores_of(t), q_smem.at(t), plgpu::transpose_ref(k_smem.at(slot), {1, 0}),
                             scored.at(t), {.accumulate = false});
        });
      }
      refill(k_consumed, j);
    });
  }
  void sum(const Scalar& t) const {
    pl::fori_loop(0, steps(t), [&](pl::Index j) {
      const Scalar slot = j % c.stages;
      plgpu::barrier_wait(v_loaded.at(slot));
      summable(t).wait();
      plgpu::tcgen05_mma(acc_of(t), weights_of(t), v_smem.at(slot), summed.at(t), {.accumulate = j > 0});
      refill(v_consumed, j);
    });
  }

  // --- a warpgroup for each tile: weights from scores
  // The largest score of a row so far, and the sum of its weights.
  using State = std::tuple<Array, Array>;

  void tell(const Scalar& t, const Scalar& j, const Array& values) const {
    pl::when(j > 1, [&] { factor_read(t).arrive_and_wait(); });
    factors.at(t).store(values);
    factor(t).arrive();
  }
  // Columns `i * load` on of the scores.
  Array load_scores(const Scalar& t, int64_t i, bool diagonal) const {
    const Array s =
        plgpu::async_load_tmem(scores_of(t).at(pl::all, ds(i * load, load)), {.layout = row_a_lane});
    if (!diagonal) return s;
    const auto index = [](int axis) {
      return plgpu::broadcasted_iota(pl::s32, {tile, load}, axis, row_a_lane);
    };
    return plgpu::where(index(1) + i * load <= index(0), s, -std::numeric_limits<float>::infinity());
  }
  // All scores, which other scores may overwrite then: unless these are the last ones in their place.
  std::vector<Array> read_scores(const Scalar& t, const Scalar& j, bool diagonal) const {
    plgpu::barrier_wait(scored.at(t));
    std::vector<Array> s;
    for (int64_t i = 0; i < tile / load; ++i) s.push_back(load_scores(t, i, diagonal));
    wait_for_loads();
    const Scalar shared = c.score_places() == 1 && t == 0;
    pl::when(shared || j + 1 < steps(t), [&] { scores_read(t).arrive(); });
    return s;
  }
  // Weights of all scores and the sum of each row. A few columns at a time: conversions and sums of one group
  // go on while the next one's exponentials are computed. Both warpgroups want the same units for that, so
  // they take turns.
  std::pair<Array, Array> weights_and_sum(const Scalar& t, const Scalar& j, const std::vector<Array>& s,
                                          const Array& shift) const {
    std::vector<Array> columns;
    std::optional<Array> sums, last;
    const auto finish_last = [&] {
      columns.push_back(last->astype(c.dtype));
      sums = sums ? *sums + *last : *last;
    };
    pl::when((t == 0 && j > 0) || (t == 1 && j < steps(0)), [&] { turn(t).arrive_and_wait(); });
    for (const Array& some : s) {
      for (int64_t at = 0; at < load; at += few) {
        const Array x = plgpu::slice(some, {0, at}, {tile, at + few});
        const Array e = plgpu::exp2(plgpu::fma(x, c.scale(), shift));
        if (last) finish_last();
        last.emplace(e);
      }
    }
    pl::when(t == 0 || j + 1 < steps(0), [&] { turn(1 - t).arrive(); });
    finish_last();
    return {plgpu::concatenate(columns, 1), sums->sum(1)};
  }
  State weigh(const Scalar& t, const Scalar& j, const State& state, bool diagonal) const {
    const auto& [largest, sum] = state;
    const std::vector<Array> s = read_scores(t, j, diagonal);
    Array m = s[0];  // one after the other: registers for one array of maxima
    for (size_t i = 1; i < s.size(); ++i) m = plgpu::maximum(m, s[i]);
    const Array next = plgpu::maximum(largest, m.max(1));
    const Array f = plgpu::exp2((largest - next) * c.scale());
    pl::when(j > 0, [&] { tell(t, j, f); });
    const Array shift = plgpu::broadcast_in_dim(next * -c.scale(), {tile, few}, {0}, row_a_lane);
    const auto [p, more] = weights_and_sum(t, j, s, shift);
    pl::when(j > 0, [&] { plgpu::barrier_wait(summed.at(t)); });  // the weights before are read
    plgpu::async_store_tmem(weights_of(t), p);
    wait_for_stores();
    summable(t).arrive();
    return {next, sum * f + more};
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
    factor(t).arrive_and_wait();
    return factors.at(t).load(rows);
  }
  // Columns `from` on of O, its rows times `f`.
  Array scaled(int t, int64_t from, int64_t columns, const Array& f, const Layout& layout) const {
    const Array o = plgpu::async_load_tmem(acc_of(t).at(pl::all, ds(from, columns)), {.layout = layout});
    return o * plgpu::broadcast_in_dim(f, {tile, columns}, {0}, layout);
  }
  // Two groups of a few columns at a time: small accesses, between which those of the other warpgroups go on.
  void rescale(int t) const {
    const Array f = factor_of(t, row_a_lane.reduce(1));
    factor_read(t).arrive();
    const auto load_at = [&](int64_t from) { return scaled(t, from, few, f, row_a_lane); };
    plgpu::barrier_wait(summed.at(t));
    std::array now{load_at(0), load_at(few)};
    for (int64_t from = 0; from < c.head_dim; from += 2 * few) {
      wait_for_loads();
      for (int64_t i = 0; i < 2; ++i) {
        Array& o = now[static_cast<size_t>(i)];
        plgpu::async_store_tmem(acc_of(t).at(pl::all, ds(from + i * few, few)), o);
        if (from + 2 * few < c.head_dim) o = load_at(from + (2 + i) * few);
      }
    }
    wait_for_stores();
    summable(t).arrive();
  }
  void store(int t) const {
    const Array f = 1.0F / factor_of(t, Layout::TCGEN05.reduce(1));
    plgpu::barrier_wait(summed.at(t));
    const Ref staging = q_smem.at(t);  // no product reads Q any more
    for (int64_t i = 0; i < c.head_dim; i += part)
      staging.at(pl::all, ds(i, part)).store(scaled(t, i, part, f, Layout::TCGEN05).astype(c.dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(staging,
                             rows_of_head(out, pl::axis_index("batch"), q_rows(t), pl::axis_index("head")));
  }
  void correct() const {
    plgpu::set_max_registers(correction_registers, "decrease");
    for (int t = 0; t < tiles; ++t) summable(t).arrive();  // the first product overwrites O
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
      {"scores", plgpu::TMEM({tile, c.score_places() * tile}, pl::f32)},
      {"weights", plgpu::TMEM({tile, tiles * tile}, c.dtype, {.packed = true})},
      {"acc", plgpu::TMEM({tile, tiles * c.head_dim}, pl::f32)},
      {"q_loaded", plgpu::Barrier({.num_barriers = {tiles}})},
      {"k_loaded", plgpu::Barrier({.num_barriers = {c.stages}})},
      {"v_loaded", plgpu::Barrier({.num_barriers = {c.stages}})},
      {"k_consumed", tensor_barrier(c.stages)},
      {"v_consumed",
       plgpu::Barrier({.num_arrivals = tiles, .num_barriers = {c.stages}, .orders_tensor_core = true})},
      {"scored", tensor_barrier(tiles)},
      {"summed", tensor_barrier(tiles)},
  };
  o.compiler_params.approx_math = true;
  // Where warps of a warpgroup have to meet, a barrier says so.
  o.compiler_params.unsafe_no_auto_barriers = true;
  o.grid = {c.batch, c.heads, c.q_seq / (tiles * tile)};
  o.grid_names = {"batch", "head", "q"};
  if (c.causal) {  // loops of one length after the other
    o.grid = {c.q_seq / (tiles * tile), c.batch, c.heads};
    o.grid_names = {"q", "batch", "head"};
  }
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
             .scores = s["scores"],
             .weights = s["weights"],
             .acc = s["acc"],
             .q_loaded = s.barrier("q_loaded"),
             .k_loaded = s.barrier("k_loaded"),
             .v_loaded = s.barrier("v_loaded"),
             .k_consumed = s.barrier("k_consumed"),
             .v_consumed = s.barrier("v_consumed"),
             .scored = s.barrier("scored"),
             .summed = s.barrier("summed")}
            .run();
      },
      options_of(c));
}

}  // namespace palladion::kernels::blackwell
