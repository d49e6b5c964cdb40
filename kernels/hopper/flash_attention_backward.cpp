#include "kernels/hopper/flash_attention_backward.h"

#include <fmt/format.h>

#include "kernels/frame/helpers.h"
#include "kernels/frame/rules.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/visible_columns.h"

namespace palladion::kernels {
namespace {

constexpr int64_t consumers = 2;
constexpr int64_t tile = consumers * group_rows;  // rows that a CTA holds

using Step = plgpu::PipelineState;

// What both kinds of CTAs share: rows of two arrays that stay, `held`, and rows of two others that pass.
//            held    passing     products of a step
//   Keys     K, V    Q, dO       S' = K Q', dP' = V dO', dV += P' dO, dK += dS' Q
//   Queries  Q, dO   K, V        S = Q K', dP = dO V', dQ += dS K
struct Part {
  const FlashAttentionBackward& c;
  Ref q, k, v, d_out;  // (batch * heads, rows, head_dim)
  Ref lse, delta;      // (batch * heads, rows)
  Ref dq, dk, dv;
  Ref held_smem;  // (2, consumers, 64, head_dim)
  BarrierRef held_full;
  Ref first_smem, second_smem;  // slots of what passes
  plgpu::PipelineTmaAsync firsts, seconds;

  Scalar group() const { return pl::axis_index("wg"); }
  float root() const { return std::sqrt(static_cast<float>(c.head_dim)); }
  float scale() const { return static_cast<float>(1 / std::sqrt(static_cast<double>(c.head_dim))); }
  // Rows of Q see so many rows of K more than their own number says.
  int64_t offset() const { return c.kv - c.q; }

  // This warpgroup's rows of both arrays, which its products read.
  void hold(const Ref& first, const Ref& second) const {
    plgpu::copy_gmem_to_smem(first, held_smem.at(0, group()), held_full.at(group()));
    plgpu::copy_gmem_to_smem(second, held_smem.at(1, group()), held_full.at(group()));
    plgpu::barrier_wait(held_full.at(group()));
  }
  // By way of the rows that it held, which no product reads any more.
  void store(const plgpu::Array& value, int which, const Ref& out) const {
    const Ref smem = held_smem.at(which, group());
    smem.store(value.astype(c.dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(smem, out);
  }
  // Products of scores begin with -L sqrt(d), those of dP with minus the sums of dO * O: then P = exp(S /
  // sqrt(d)), dS = P * dP.
  plgpu::Array weights(const plgpu::Array& s) const {
    return plgpu::exp2(s * (static_cast<float>(M_LOG2E) * scale()));
  }
};

struct Keys : Part {
  Ref lse_smem, delta_smem;  // (stages, block_q)
  Scalar head, first_row;    // of K and V

  // Steps on the diagonal of a mask, those without one, and the one that the last row of Q ends early.
  enum class Kind : uint8_t { diagonal, full, last };

  int64_t steps() const { return pl::cdiv(c.q, c.block_q); }
  int64_t whole_steps() const { return c.q / c.block_q; }
  // Of Q's rows those before see none of this CTA's rows of K.
  Scalar first_step() const {
    return c.causal ? pl::maximum(first_row - offset(), 0) / c.block_q : Scalar(0);
  }
  // From here on every row of Q sees all of them.
  Scalar first_full_step() const {
    if (!c.causal) return 0;
    const Scalar seeing_all = first_row + (tile - 1 - offset());
    return pl::minimum(pl::cdiv(pl::maximum(seeing_all, 0), c.block_q), Scalar(whole_steps()));
  }

  // state = body(head of Q, state) for each that shares these rows of K.
  template <class F, class S>
  Step for_each_head(const F& body, const S& start) const {
    const int64_t sharing = c.heads / c.kv_heads;
    return pl::fori_loop(
        0, sharing, [&](const Scalar& i, const Step& at) { return body(head * sharing + i, at); }, start);
  }

  void produce() const {
    for_each_head(
        [&](const Scalar& q_head, const Step& start) {
          return pl::fori_loop(
              first_step(), steps(),
              [&](const Scalar& i, const Step& at) {
                const auto rows = ds(i * c.block_q, c.block_q);
                const auto fetch = [&](const plgpu::PipelineTmaAsync& ring, const Ref& matrix, const Ref& to,
                                       const Ref& numbers, const Ref& numbers_to) {
                  ring.producer_acquire(at);
                  const BarrierRef full = ring.producer_get_barrier(at);
                  plgpu::copy_gmem_to_smem(matrix.at(q_head, rows), to.at(at.index()), full);
                  plgpu::copy_gmem_to_smem(numbers.at(q_head, rows),
                                           numbers_to.at(at.index(), ds(0, c.block_q)), full);
                };
                fetch(firsts, q, first_smem, lse, lse_smem);
                fetch(seconds, d_out, second_smem, delta, delta_smem);
                return at.advance();
              },
              start);
        },
        plgpu::make_producer_start_state(c.stages));
  }

  // A number for each column of scores; 0 of those behind the last row of Q, where this step has any.
  plgpu::Array numbers(const Ref& smem, const Scalar& step, const Step& at, Kind kind) const {
    const Ref own = smem.at(at.index(), ds(0, c.block_q));
    if (kind != Kind::last) return own.load(score_layout.reduce(0));
    const plgpu::Array column = plgpu::broadcasted_iota(pl::s32, {c.block_q}, 0, score_layout.reduce(0));
    return plgpu::load(own, {.layout = score_layout.reduce(0), .mask = column < c.q - step * c.block_q});
  }
  // In all rows.
  plgpu::Array down(const plgpu::Array& numbers) const {
    return plgpu::broadcast_in_dim(numbers, {group_rows, c.block_q}, {1}, score_layout);
  }

  // Minus infinity where a column, a row of Q, does not see a row of K.
  plgpu::Array masked(const plgpu::Array& s, const Scalar& step) const {
    const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, s.shape(), 0, score_layout);
    const plgpu::Array column = plgpu::broadcasted_iota(pl::s32, {c.block_q}, 0, score_layout.reduce(0));
    const plgpu::Array last = column + (step * c.block_q + offset() - first_row - group() * group_rows);
    return plgpu::where(row <= down(last), s, minus_infinity);
  }

  void consume() const {
    const Scalar own_row = first_row + group() * group_rows;
    const auto own = ds(own_row, group_rows);
    hold(k.at(head, own), v.at(head, own));
    const auto [dk_sum, dv_sum] = pl::run_scoped(
        [&](const Ref& dk_acc, const Ref& dv_acc) {
          const auto step_of = [&](Kind kind) {
            return [&, kind](const Scalar& i, const Step& at) {
              step(kind, i, at, dk_acc, dv_acc);
              return at.advance();
            };
          };
          for_each_head(
              [&](const Scalar&, const Step& start) {
                const Scalar full = first_full_step();
                const Step diagonal = pl::fori_loop(first_step(), full, step_of(Kind::diagonal), start);
                const Step whole = pl::fori_loop(full, whole_steps(), step_of(Kind::full), diagonal);
                return pl::fori_loop(whole_steps(), steps(), step_of(Kind::last), whole);
              },
              Step(c.stages));
          return std::tuple{dk_acc.load(), dv_acc.load()};
        },
        plgpu::ACC({group_rows, c.head_dim}, pl::f32), plgpu::ACC({group_rows, c.head_dim}, pl::f32));
    store(dk_sum * scale(), 0, dk.at(head, own));
    store(dv_sum, 1, dv.at(head, own));
    plgpu::wait_smem_to_gmem(0);
  }

  // Each product runs beside what is computed from the one before it. The last one of a step is complete when
  // the first one of the next step has been issued.
  void step(Kind kind, const Scalar& i, const Step& at, const Ref& dk_acc, const Ref& dv_acc) const {
    const plgpu::AccType scores = plgpu::ACC({group_rows, c.block_q}, pl::f32);
    pl::run_scoped(
        [&](const Ref& s_acc, const Ref& dp_acc) {
          firsts.consumer_wait(at);
          s_acc.store(down(numbers(lse_smem, i, at, kind) * -root()));
          plgpu::wgmma(s_acc, held_smem.at(0, group()),
                       plgpu::transpose_ref(first_smem.at(at.index()), {1, 0}));
          pl::when(at.count() > 0, [&] { firsts.consumer_release(at.advance(c.stages - 1)); });
          seconds.consumer_wait(at);
          dp_acc.store(down(-numbers(delta_smem, i, at, kind)));
          plgpu::commit_smem();  // copies overwrite both slots
          plgpu::wgmma(dp_acc, held_smem.at(1, group()),
                       plgpu::transpose_ref(second_smem.at(at.index()), {1, 0}));
          const plgpu::Array s = plgpu::wgmma_accumulator_load(s_acc, 1);
          const plgpu::Array p = weights(c.causal && kind != Kind::full ? masked(s, i) : s);
          plgpu::wgmma(dv_acc, p.astype(c.dtype), second_smem.at(at.index()));
          const plgpu::Array ds = p * plgpu::wgmma_accumulator_load(dp_acc, 1);
          plgpu::wgmma(dk_acc, ds.astype(c.dtype), first_smem.at(at.index()));
          seconds.consumer_release(at);
        },
        scores, scores);
  }
};

struct Queries : Part {
  Scalar head, first_row;  // of Q and dO

  VisibleColumns columns() const {
    return {.q = c.q,
            .kv = c.kv,
            .tile = tile,
            .block_kv = c.block_kv,
            .causal = c.causal,
            .first_row = first_row};
  }
  Scalar own_row() const { return first_row + group() * group_rows; }
  // So many at the beginning need the mask.
  Scalar masked_steps() const {
    if (!c.causal) return c.kv % c.block_kv == 0 ? 0 : 1;
    return columns().diagonal_steps();
  }

  void produce() const {
    const Scalar kv_head = head / (c.heads / c.kv_heads);
    columns().fetch(k.at(kv_head), firsts, first_smem, v.at(kv_head), seconds, second_smem);
  }

  // Of each row of this warpgroup; 0 of those beyond the last one.
  plgpu::Array of_rows(const Ref& numbers) const {
    const plgpu::Layout& layout = score_layout.reduce(1);
    const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, {group_rows}, 0, layout);
    return plgpu::load(numbers.at(head, ds(own_row(), group_rows)),
                       {.layout = layout, .mask = row < c.q - own_row(), .other = 0});
  }

  void consume() const {
    const auto own = ds(own_row(), group_rows);
    const plgpu::Array shift = of_rows(lse) * -root(), of_delta = -of_rows(delta);
    hold(q.at(head, own), d_out.at(head, own));
    const plgpu::Array dq_sum = pl::run_scoped(
        [&](const Ref& dq_acc) {
          const auto step_of = [&](bool is_masked) {
            return [&, is_masked](const Scalar& i, const Step& at) {
              step(is_masked, i, at, dq_acc, shift, of_delta);
              return at.advance();
            };
          };
          const Step at = pl::fori_loop(0, masked_steps(), step_of(true), Step(c.stages));
          pl::fori_loop(masked_steps(), columns().steps(), step_of(false), at);
          return dq_acc.load();
        },
        plgpu::ACC({group_rows, c.head_dim}, pl::f32));
    store(dq_sum * scale(), 0, dq.at(head, own));
    plgpu::wait_smem_to_gmem(0);
  }

  void step(bool is_masked, const Scalar& i, const Step& at, const Ref& dq_acc, const plgpu::Array& shift,
            const plgpu::Array& of_delta) const {
    const plgpu::AccType scores = plgpu::ACC({group_rows, c.block_kv}, pl::f32);
    pl::run_scoped(
        [&](const Ref& s_acc, const Ref& dp_acc) {
          s_acc.store(over(shift, c.block_kv));
          dp_acc.store(over(of_delta, c.block_kv));
          firsts.consumer_wait(at);
          plgpu::wgmma(s_acc, held_smem.at(0, group()),
                       plgpu::transpose_ref(first_smem.at(at.index()), {1, 0}));
          pl::when(at.count() > 0, [&] { firsts.consumer_release(at.advance(c.stages - 1)); });
          seconds.consumer_wait(at);
          plgpu::wgmma(dp_acc, held_smem.at(1, group()),
                       plgpu::transpose_ref(second_smem.at(at.index()), {1, 0}));
          const plgpu::Array s = plgpu::wgmma_accumulator_load(s_acc, 1);
          const plgpu::Array p = weights(is_masked ? columns().masked(s, i, own_row()) : s);
          const plgpu::Array dp = plgpu::wgmma_accumulator_load(dp_acc, 0);
          seconds.consumer_release(at);
          const plgpu::Array ds = p * dp;
          plgpu::wgmma(dq_acc, ds.astype(c.dtype), first_smem.at(at.index()));
        },
        scores, scores);
  }
};

void check(const FlashAttentionBackward& c) {
  const Rules rules("flash_attention_backward");
  for (const auto& [name, value] :
       {std::pair{"batch", c.batch}, {"heads", c.heads}, {"kv_heads", c.kv_heads}, {"q", c.q}, {"kv", c.kv}})
    rules.at_least(name, value, 1);
  rules.require(c.head_dim == 64 || c.head_dim == 128,
                fmt::format("head_dim={} must be 64 or 128", c.head_dim));
  rules.divides("kv_heads", c.kv_heads, "heads", c.heads);
  rules.require(
      c.q % 8 == 0 && c.kv % 8 == 0,
      fmt::format("q={} and kv={} must be multiples of 8: rows of a tile in shared memory", c.q, c.kv));
  rules.require(!c.causal || c.q <= c.kv,
                fmt::format("causal with q={} rows needs as many of kv={}", c.q, c.kv));
  for (const auto& [name, block] : {std::pair{"block_q", c.block_q}, {"block_kv", c.block_kv}})
    rules.require(block % 16 == 0 && block >= 16 && block <= 256,
                  fmt::format("{}={} must be a multiple of 16 up to 256", name, block));
  rules.at_least("stages", c.stages, 2);  // a slot is released when the next one is read
}

// The heads of all batches, and the blocks of rows that each CTA holds one of; CTAs of keys come first.
struct Grid {
  int64_t heads, kv_heads, key_blocks, query_blocks;
  explicit Grid(const FlashAttentionBackward& c)
      : heads(c.batch * c.heads),
        kv_heads(c.batch * c.kv_heads),
        key_blocks(pl::cdiv(c.kv, tile)),
        query_blocks(pl::cdiv(c.q, tile)) {}
  int64_t key_ctas() const { return key_blocks * kv_heads; }
  int64_t query_ctas() const { return query_blocks * heads; }
};

// `which`: 0 of keys, with two copies for each slot; 1 of queries, with one.
Part part_of(const FlashAttentionBackward& c, const Grid& grid, const std::vector<Ref>& arrays,
             plgpu::Scratch& s, int which) {
  const pl::Shape of_q{grid.heads, c.q, c.head_dim}, of_kv{grid.kv_heads, c.kv, c.head_dim},
      of_rows{grid.heads, c.q};
  const plgpu::UnionRef passing = s.ref_union("passing");
  const plgpu::PipelineParams ring{
      .stages = c.stages, .num_producers = which == 0 ? 2 : 1, .num_consumers = consumers};
  return {.c = c,
          .q = arrays[0].reshape(of_q),
          .k = arrays[1].reshape(of_kv),
          .v = arrays[2].reshape(of_kv),
          .d_out = arrays[3].reshape(of_q),
          .lse = arrays[4].reshape(of_rows),
          .delta = arrays[5].reshape(of_rows),
          .dq = arrays[6].reshape(of_q),
          .dk = arrays[7].reshape(of_kv),
          .dv = arrays[8].reshape(of_kv),
          .held_smem = s["held_smem"],
          .held_full = s.barrier("held_full"),
          .first_smem = passing[which][0],
          .second_smem = passing[which][1],
          .firsts = plgpu::PipelineTmaAsync(ring, which == 0 ? "q" : "k"),
          .seconds = plgpu::PipelineTmaAsync(ring, which == 0 ? "do" : "v")};
}

void run(const FlashAttentionBackward& c, const Grid& grid, const std::vector<Ref>& arrays,
         plgpu::Scratch& s) {
  const plgpu::UnionRef passing = s.ref_union("passing");
  const Scalar cta = pl::axis_index("cta"), group = pl::axis_index("wg");
  // CTAs that run together share heads; under a mask those with most work come first.
  const auto place = [&](const Scalar& i, int64_t blocks, int64_t heads) {
    return c.causal ? std::pair{i % heads, i / heads} : std::pair{i / blocks, i % blocks};
  };
  const auto [key_head, key_block] = place(cta, grid.key_blocks, grid.kv_heads);
  const auto [query_head, nth_block] = place(cta - grid.key_ctas(), grid.query_blocks, grid.heads);
  const Keys keys{part_of(c, grid, arrays, s, 0), passing[0][2], passing[0][3], key_head, key_block * tile};
  const Queries queries{part_of(c, grid, arrays, s, 1), query_head,
                        (grid.query_blocks - 1 - nth_block) * tile};
  pl::when(group == consumers, [&] {
    plgpu::set_max_registers(24, "decrease");
    pl::when(cta < grid.key_ctas(), [&] { keys.produce(); });
    pl::when(cta >= grid.key_ctas(), [&] { queries.produce(); });
  });
  pl::when(group < consumers, [&] {
    plgpu::set_max_registers(240, "increase");
    pl::when(cta < grid.key_ctas(), [&] { keys.consume(); });
    pl::when(cta >= grid.key_ctas(), [&] { queries.consume(); });
  });
}

plgpu::KernelOptions options_of(const FlashAttentionBackward& c, const Grid& grid) {
  const auto slots = [&](int64_t rows) { return tiled_smem({c.stages, rows, c.head_dim}, c.dtype); };
  const plgpu::SmemType numbers = plgpu::SMEM({c.stages, pl::align_to(c.block_q, 32)}, pl::f32);
  return {
      .in_types = {c.q_type(), c.kv_type(), c.kv_type(), c.q_type(), c.row_type(), c.row_type()},
      .out_type = {c.q_type(), c.kv_type(), c.kv_type()},
      .scratch_types = {{"held_smem", tiled_smem({2, consumers, group_rows, c.head_dim}, c.dtype)},
                        {"passing", plgpu::RefUnion({{slots(c.block_q), slots(c.block_q), numbers, numbers},
                                                     {slots(c.block_kv), slots(c.block_kv)}})},
                        {"held_full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {consumers}})}},
      .compiler_params = {.approx_math = true},
      .grid = {grid.key_ctas() + grid.query_ctas()},
      .grid_names = {"cta"},
      .num_threads = static_cast<int>(consumers + 1),
      .thread_name = "wg",
      .name = "flash_attention_backward"};
}

}  // namespace

FlashAttentionBackward FlashAttentionBackward::resolved() const {
  FlashAttentionBackward c = *this;
  // With more rows of Q ptxas runs out of registers where heads share K and V and the last step is short.
  if (c.block_q == 0) c.block_q = 64;
  if (c.block_kv == 0) c.block_kv = 128;
  return c;
}

plgpu::Kernel flash_attention_backward(const FlashAttentionBackward& config) {
  const FlashAttentionBackward c = config.resolved();
  check(c);
  const Grid grid(c);
  return plgpu::kernel([&](const std::vector<Ref>& arrays, plgpu::Scratch& s) { run(c, grid, arrays, s); },
                       options_of(c, grid));
}

}  // namespace palladion::kernels
