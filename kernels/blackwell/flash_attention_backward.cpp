#include "kernels/blackwell/flash_attention_backward.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "kernels/blackwell/flash_attention.h"
#include "kernels/blackwell/matmul.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::blackwell {
namespace {

using plgpu::Array;
using plgpu::Layout;

constexpr int64_t tile = 128;          // rows of a tile of Q, dO, K and V
constexpr int64_t part = 32;           // columns of scores that are worked on at a time
constexpr int64_t leaving = 64;        // columns of a result
constexpr int compute = 0, issue = 1;  // warpgroups

const Layout& row_a_lane = Layout::TCGEN05_TMEM_NATIVE;

float root(int64_t head_dim) { return 1 / std::sqrt(static_cast<float>(head_dim)); }

struct Body {
  const AttentionBackwardConfig& c;
  Ref q, k, v, d_out, lse, delta, dq, dk, dv;
  Ref own, passing, rows;                                 // in shared memory
  Ref scores, weights, gradients, score_gradients, sums;  // in tensor memory
  BarrierRef own_loaded, loaded, rows_loaded, rows_read, consumed, scored, weighed, summed, done;

  int64_t q_tiles() const { return c.q_seq / tile; }
  int64_t kv_tiles() const { return c.kv_seq / tile; }
  int64_t group() const { return c.heads / c.kv_heads; }
  int64_t key_ctas() const { return c.batch * c.kv_heads * kv_tiles(); }
  // Tiles of K in front of the one on the diagonal of the first tile of Q.
  int64_t shift() const { return (c.kv_seq - c.q_seq) / tile; }

  void run() const {
    const Scalar cta = pl::axis_index("cta");
    pl::cond(cta < key_ctas(), [&] { work(true, cta); }, [&] { work(false, cta - key_ctas()); });
  }

  // Where a CTA is: its batch, its head (of K, or of Q) and its tile of rows.
  struct Place {
    Scalar batch, head, tile;
  };
  Place place(bool keys, const Scalar& number) const {
    const int64_t tiles = keys ? kv_tiles() : q_tiles(), heads = keys ? c.kv_heads : c.heads;
    const Scalar above = number / tiles;
    return {above / heads, above % heads, number % tiles};
  }
  // The tiles that pass by, of one head: from `first` on, so many.
  struct Range {
    Scalar first, count;
  };
  Range range(bool keys, const Place& p) const {
    if (!c.causal) return {Scalar(0), Scalar(keys ? q_tiles() : kv_tiles())};
    if (!keys) return {Scalar(0), p.tile + (shift() + 1)};
    const Scalar first = pl::maximum(p.tile - shift(), 0);
    return {first, q_tiles() - first};
  }
  // Step `i` of a CTA: head and tile of what passes by.
  struct Step {
    Scalar head, tile;
  };
  Step step(bool keys, const Place& p, const Range& r, const Scalar& i) const {
    if (!keys) return {p.head / group(), r.first + i};
    return {p.head * group() + i / r.count, r.first + i % r.count};
  }
  Scalar steps(bool keys, const Range& r) const { return keys ? r.count * group() : r.count; }

  void work(bool keys, const Scalar& number) const {
    const Place p = place(keys, number);
    const Range r = range(keys, p);
    const Scalar thread = pl::axis_index("wg");
    pl::when(thread == compute, [&] { differentiate(keys, p, r); });
    pl::when(thread == issue, [&] {
      plgpu::warp_map([&](const Scalar& warp) {
        pl::when(warp == 0, [&] { fetch(keys, p, r); });
        pl::when(warp == 1, [&] { multiply(keys, r); });
      });
    });
  }

  // --- one warp: tiles from global memory
  void fetch_rows(const Scalar& batch, const Scalar& head, const pl::Slice& at, const Scalar& slot) const {
    plgpu::copy_gmem_to_smem(lse.at(batch, head, at), rows.at(slot, 0), rows_loaded.at(slot));
    plgpu::copy_gmem_to_smem(delta.at(batch, head, at), rows.at(slot, 1), rows_loaded.at(slot));
  }
  void fetch(bool keys, const Place& p, const Range& r) const {
    const auto at = ds(p.tile * tile, tile);
    plgpu::copy_gmem_to_smem(rows_of_head(keys ? k : q, p.batch, at, p.head), own.at(0), own_loaded);
    plgpu::copy_gmem_to_smem(rows_of_head(keys ? v : d_out, p.batch, at, p.head), own.at(1), own_loaded);
    if (!keys) fetch_rows(p.batch, p.head, at, Scalar(0));
    pl::fori_loop(0, steps(keys, r), [&](pl::Index i) {
      const Step s = step(keys, p, r, i);
      const Scalar slot = i % c.stages;
      const auto there = ds(s.tile * tile, tile);
      pl::when(i >= c.stages, [&] { plgpu::barrier_wait(consumed.at(slot)); });
      plgpu::copy_gmem_to_smem(rows_of_head(keys ? q : k, p.batch, there, s.head), passing.at(slot, 0),
                               loaded.at(slot));
      plgpu::copy_gmem_to_smem(rows_of_head(keys ? d_out : v, p.batch, there, s.head), passing.at(slot, 1),
                               loaded.at(slot));
      if (!keys) return;
      pl::when(i >= c.stages, [&] { plgpu::barrier_wait(rows_read.at(slot)); });
      fetch_rows(p.batch, s.head, there, slot);
    });
  }

  // --- one warp: the products
  Ref sum(int i) const { return sums.at(pl::all, ds(i * c.head_dim, c.head_dim)); }
  void multiply(bool keys, const Range& r) const {
    const Scalar n = steps(keys, r);
    plgpu::barrier_wait(own_loaded);
    pl::fori_loop(0, n, [&](pl::Index i) {
      const Scalar slot = i % c.stages;
      const auto transposed = [&](int x) { return plgpu::transpose_ref(passing.at(slot, x), {1, 0}); };
      plgpu::barrier_wait(loaded.at(slot));
      // Weights and gradients, which lie where these products go, are read.
      pl::when(i > 0, [&] { plgpu::barrier_wait(summed); });
      plgpu::tcgen05_mma(scores, own.at(0), transposed(0), {.accumulate = false});
      plgpu::tcgen05_mma(gradients, own.at(1), transposed(1), scored, {.accumulate = false});
      plgpu::barrier_wait(weighed);
      if (keys) plgpu::tcgen05_mma(sum(1), weights, passing.at(slot, 1), {.accumulate = i > 0});
      plgpu::tcgen05_mma(sum(0), score_gradients, passing.at(slot, 0), {.accumulate = i > 0});
      pl::when(i + 1 < n, [&] { plgpu::tcgen05_commit_arrive(summed); });
      pl::when(i + c.stages < n, [&] { plgpu::tcgen05_commit_arrive(consumed.at(slot)); });
    });
    plgpu::tcgen05_commit_arrive(done);
  }

  // --- a warpgroup: weights and their gradients
  // lse (0) or delta (1) of each element's row of Q.
  Array rows_of(bool keys, const Scalar& slot, int which, int64_t from) const {
    const Ref all = rows.at(slot, which);
    if (!keys) return plgpu::broadcast_in_dim(all.load(row_a_lane.reduce(1)), {tile, part}, {0}, row_a_lane);
    return plgpu::broadcast_in_dim(all.at(ds(from, part)).load(row_a_lane.reduce(0)), {tile, part}, {1},
                                   row_a_lane);
  }
  // Whether a row of Q sees a row of K; `apart`: rows of Q's tile behind those of K's tile.
  Array seen(bool keys, int64_t from, const Scalar& apart) const {
    const auto index = [](int axis) {
      return plgpu::broadcasted_iota(pl::s32, {tile, part}, axis, row_a_lane);
    };
    const Array row = index(0), column = index(1) + from;
    return keys ? row <= column + apart : column <= row + apart;
  }
  void weigh(bool keys, const Scalar& slot, const Scalar& apart) const {
    constexpr float log2_e = std::numbers::log2e_v<float>;
    for (int64_t from = 0; from < tile; from += part) {
      const auto columns = ds(from, part);
      const auto load = [&](const Ref& x) {
        return plgpu::async_load_tmem(x.at(pl::all, columns), {.layout = row_a_lane});
      };
      const Array s = load(scores), g = load(gradients);
      plgpu::wait_load_tmem();  // what is stored takes their place
      Array p = plgpu::exp2(s * (root(c.head_dim) * log2_e) - rows_of(keys, slot, 0, from) * log2_e);
      if (c.causal) p = plgpu::where(seen(keys, from, apart), p, 0.0F);
      if (keys) plgpu::async_store_tmem(weights.at(pl::all, columns), p.astype(c.dtype));
      const Array ds_part = p * (g - rows_of(keys, slot, 1, from));
      plgpu::async_store_tmem(score_gradients.at(pl::all, columns), ds_part.astype(c.dtype));
    }
    plgpu::commit_tmem();
  }
  void store(int which, float factor, const Ref& to) const {
    const Ref staging = own.at(which);  // no product reads it any more
    for (int64_t from = 0; from < c.head_dim; from += leaving) {
      const Array x = plgpu::async_load_tmem(sum(which).at(pl::all, ds(from, leaving)));
      staging.at(pl::all, ds(from, leaving)).store((x * factor).astype(c.dtype));
    }
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(staging, to);
  }
  void differentiate(bool keys, const Place& p, const Range& r) const {
    if (!keys) plgpu::barrier_wait(rows_loaded.at(0));
    pl::fori_loop(0, steps(keys, r), [&](pl::Index i) {
      const Step s = step(keys, p, r, i);
      const Scalar slot = keys ? i % c.stages : Scalar(0);
      const Scalar q_tile = keys ? s.tile : p.tile, kv_tile = keys ? p.tile : s.tile;
      if (keys) plgpu::barrier_wait(rows_loaded.at(slot));
      plgpu::barrier_wait(scored);
      weigh(keys, slot, (q_tile + shift() - kv_tile) * tile);
      plgpu::barrier_arrive(weighed);
      if (!keys) return;
      plgpu::commit_smem();  // the rows are read, before a copy overwrites them
      plgpu::barrier_arrive(rows_read.at(slot));
    });
    plgpu::barrier_wait(done);
    const auto at = ds(p.tile * tile, tile);
    store(0, root(c.head_dim), rows_of_head(keys ? dk : dq, p.batch, at, p.head));
    if (keys) store(1, 1, rows_of_head(dv, p.batch, at, p.head));
    plgpu::wait_smem_to_gmem(0, true);
  }
};

void check(const AttentionBackwardConfig& c) {
  const Rules rules("blackwell_flash_attention_backward");
  rules.multiple("q", c.q_seq, "a tile", tile);
  rules.multiple("kv", c.kv_seq, "a tile", tile);
  rules.multiple("heads", c.heads, "kv_heads", c.kv_heads);
  rules.require(c.head_dim == 64 || c.head_dim == 128,
                fmt::format("head_dim={} must be 64 or 128", c.head_dim));
  rules.require(!c.causal || c.q_seq <= c.kv_seq,
                fmt::format("causal with q={} rows needs as many of kv={}", c.q_seq, c.kv_seq));
  rules.at_least("stages", c.stages, 2);
}

plgpu::KernelOptions options_of(const AttentionBackwardConfig& c) {
  const int64_t key_ctas = c.batch * c.kv_heads * (c.kv_seq / tile),
                query_ctas = c.batch * c.heads * (c.q_seq / tile);
  plgpu::KernelOptions o = grid_of("blackwell_flash_attention_backward", key_ctas + query_ctas);
  o.in_types = {c.q_type(), c.kv_type(), c.kv_type(), c.q_type(), c.row_type(), c.row_type()};
  o.out_type = {c.q_type(), c.kv_type(), c.kv_type()};
  const auto scores = [&](const char* name) {
    return plgpu::NamedScratch{name,
                               plgpu::RefUnion({{plgpu::TMEM({tile, tile}, pl::f32)},
                                                {plgpu::TMEM({tile, tile}, c.dtype, {.packed = true})}})};
  };
  o.scratch_types = {
      {"own", tiled_smem({2, tile, c.head_dim}, c.dtype)},
      {"passing", tiled_smem({c.stages, 2, tile, c.head_dim}, c.dtype)},
      {"rows", plgpu::SMEM({c.stages, 2, tile}, pl::f32)},
      scores("scores"),
      scores("gradients"),
      {"sums", plgpu::TMEM({tile, 2 * c.head_dim}, pl::f32)},
      {"own_loaded", plgpu::Barrier({.num_arrivals = 2})},
      {"loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
      {"rows_loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
      {"rows_read", plgpu::Barrier({.num_barriers = {c.stages}})},
      {"consumed", tensor_barrier(c.stages)},
      {"scored", tensor_barrier(1)},
      {"weighed", tensor_barrier(1)},
      {"summed", tensor_barrier(1)},
      {"done", tensor_barrier(1)},
  };
  o.compiler_params.approx_math = true;
  o.num_threads = 2;
  o.thread_name = "wg";
  return o;
}

}  // namespace

plgpu::Kernel flash_attention_backward(const AttentionBackwardConfig& c) {
  check(c);
  return plgpu::kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& s) {
        Body{.c = c,
             .q = refs[0],
             .k = refs[1],
             .v = refs[2],
             .d_out = refs[3],
             .lse = refs[4],
             .delta = refs[5],
             .dq = refs[6],
             .dk = refs[7],
             .dv = refs[8],
             .own = s["own"],
             .passing = s["passing"],
             .rows = s["rows"],
             .scores = s.ref_union("scores")[0][0],
             .weights = s.ref_union("scores")[1][0],
             .gradients = s.ref_union("gradients")[0][0],
             .score_gradients = s.ref_union("gradients")[1][0],
             .sums = s["sums"],
             .own_loaded = s.barrier("own_loaded"),
             .loaded = s.barrier("loaded"),
             .rows_loaded = s.barrier("rows_loaded"),
             .rows_read = s.barrier("rows_read"),
             .consumed = s.barrier("consumed"),
             .scored = s.barrier("scored"),
             .weighed = s.barrier("weighed"),
             .summed = s.barrier("summed"),
             .done = s.barrier("done")}
            .run();
      },
      options_of(c));
}

}  // namespace palladion::kernels::blackwell
