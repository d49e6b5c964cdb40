#include "kernels/hopper/flash_attention.h"

#include <fmt/format.h>

#include "kernels/frame/helpers.h"
#include "kernels/frame/rules.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/visible_columns.h"

namespace palladion::kernels {
namespace {

struct Body {
  const FlashAttention& c;
  Ref q, k, v, out;        // (batch * heads, rows, head_dim)
  std::optional<Ref> lse;  // (batch * heads, rows)
  Ref q_smem, k_smem, v_smem;
  BarrierRef q_full;
  plgpu::PipelineTmaAsync ks, vs;

  Scalar group() const { return pl::axis_index("wg"); }
  int64_t tile() const { return c.consumers * group_rows; }
  // CTAs with most work come first: under a mask those of the last rows.
  Scalar first_row() const { return ((pl::cdiv(c.q, tile()) - 1) - pl::axis_index("q")) * tile(); }
  Scalar own_row() const { return first_row() + group() * group_rows; }
  VisibleColumns columns() const {
    return {.q = c.q,
            .kv = c.kv,
            .tile = tile(),
            .block_kv = c.block_kv,
            .causal = c.causal,
            .first_row = c.causal ? first_row() : 0};
  }

  void produce() const {
    plgpu::set_max_registers(c.consumers == 3 ? 32 : 24, "decrease");
    const Scalar head = pl::axis_index("head") / (c.heads / c.kv_heads);  // of all batches
    columns().fetch(k.at(head), ks, k_smem, v.at(head), vs, v_smem);
  }

  void consume() const {
    plgpu::set_max_registers(c.consumers == 3 ? 160 : 240, "increase");
    const Scalar head = pl::axis_index("head");
    const Ref own_q = q_smem.at(group());
    plgpu::copy_gmem_to_smem(q.at(head, ds(own_row(), group_rows)), own_q, q_full.at(group()));
    plgpu::barrier_wait(q_full.at(group()));
    const auto [acc, sum, largest] = pl::run_scoped([&](const Ref& o) { return attend(own_q, o); },
                                                    plgpu::ACC({group_rows, c.head_dim}, pl::f32));
    if (lse) store_lse(largest, sum);
    own_q.store((acc * over(plgpu::reciprocal(sum), c.head_dim)).astype(c.dtype));
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(own_q, out.at(head, ds(own_row(), group_rows)));
    plgpu::wait_smem_to_gmem(0);
  }

  // Warpgroups take turns to issue products, so that the softmax of one runs beside the products of the
  // others. Within a warpgroup it runs beside the product with V of the step before.
  std::tuple<plgpu::Array, plgpu::Array, plgpu::Array> attend(const Ref& own_q, const Ref& o) const {
    const plgpu::NamedBarrier turn(2, group()), next(2, (group() + 1) % c.consumers);
    const bool pingpong = c.consumers > 1;
    const plgpu::AccType scores = plgpu::ACC({group_rows, c.block_kv}, pl::f32);
    const auto in_turn = [&](const auto& issue) {
      if (pingpong) turn.arrive_and_wait();
      issue();
      if (pingpong) next.arrive();
    };
    const auto step = [&](bool is_masked) {
      return [&, is_masked](const Scalar& i, const plgpu::Array& p, const plgpu::Array& largest,
                            const plgpu::Array& sum, const plgpu::PipelineState& before) {
        const plgpu::PipelineState at = before.advance();
        ks.consumer_wait(at);
        return pl::run_scoped(
            [&](const Ref& a) {
              in_turn([&] {
                plgpu::wgmma(a, own_q, plgpu::transpose_ref(k_smem.at(at.index()), {1, 0}));
                vs.consumer_wait(before);
                plgpu::wgmma(o, p, v_smem.at(before.index()));
              });
              const plgpu::Array s = plgpu::wgmma_accumulator_load(a, 1);
              ks.consumer_release(at);
              const OnlineSoftmax now = online_softmax(is_masked ? columns().masked(s, i, own_row()) : s,
                                                       largest, c.head_dim, is_masked);
              const plgpu::Array total = sum * now.shrink + now.p.sum(1);
              plgpu::wgmma_wait(0);
              vs.consumer_release(before);
              o.store(o.load() * over(now.shrink, c.head_dim));
              return std::tuple{now.p.astype(c.dtype), now.largest, total, at};
            },
            scores);
      };
    };
    if (pingpong) pl::when(group() == c.consumers - 1, [&] { next.arrive(); });
    const plgpu::PipelineState first(c.stages);
    ks.consumer_wait(first);
    const plgpu::Array s = pl::run_scoped(
        [&](const Ref& a) {
          in_turn([&] { plgpu::wgmma(a, own_q, plgpu::transpose_ref(k_smem.at(first.index()), {1, 0})); });
          return a.load();
        },
        scores);
    ks.consumer_release(first);
    const OnlineSoftmax now =
        online_softmax(columns().masked(s, 0, own_row()), per_row(minus_infinity), c.head_dim, true);
    const Scalar diagonal = c.causal ? columns().diagonal_steps() : 1;
    const auto [p1, largest1, sum1, at1] =
        pl::fori_loop(1, diagonal, step(true), now.p.astype(c.dtype), now.largest, now.p.sum(1), first);
    const auto [p, largest, sum, at] =
        pl::fori_loop(diagonal, columns().steps(), step(false), p1, largest1, sum1, at1);
    vs.consumer_wait(at);
    plgpu::wgmma(o, p, v_smem.at(at.index()));
    const plgpu::Array total = o.load();
    if (pingpong) pl::when(group() == 0, [&] { turn.arrive_and_wait(); });  // for the last one's arrival
    return {total, sum, largest};
  }

  // log(sum of exp(scores)) of each row; `largest` is in powers of two.
  void store_lse(const plgpu::Array& largest, const plgpu::Array& sum) const {
    const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, {group_rows}, 0, score_layout.reduce(1));
    plgpu::store(lse->at(pl::axis_index("head"), ds(own_row(), group_rows)),
                 (largest + plgpu::log2(sum)) * static_cast<float>(M_LN2), {.mask = row < c.q - own_row()});
  }
};

void check(const FlashAttention& c) {
  const Rules rules("flash_attention");
  for (const auto& [name, value] :
       {std::pair{"batch", c.batch}, {"heads", c.heads}, {"kv_heads", c.kv_heads}, {"q", c.q}, {"kv", c.kv}})
    rules.at_least(name, value, 1);
  rules.require(c.head_dim == 64 || c.head_dim == 128 || c.head_dim == 256,
                fmt::format("head_dim={} must be 64, 128 or 256", c.head_dim));
  rules.divides("kv_heads", c.kv_heads, "heads", c.heads);
  rules.require(
      c.q % 8 == 0 && c.kv % 8 == 0,
      fmt::format("q={} and kv={} must be multiples of 8: rows of a tile in shared memory", c.q, c.kv));
  rules.require(!c.causal || c.q <= c.kv,
                fmt::format("causal with q={} rows needs as many of kv={}", c.q, c.kv));
  rules.require(c.consumers >= 1 && c.consumers <= 3,
                fmt::format("consumers={} must be 1, 2 or 3: an SM has registers for three", c.consumers));
  rules.require(c.block_kv % 16 == 0 && c.block_kv >= 16 && c.block_kv <= 256,
                fmt::format("block_kv={} must be a multiple of 16 up to 256", c.block_kv));
  rules.at_least("stages", c.stages, 1);
}

// What was fastest on an H200 of the settings that spill no register: pages/flash_attention.md.
int64_t fastest_block(const FlashAttention& c) {
  if (c.head_dim == 64) return c.causal ? 112 : 128;
  if (c.head_dim == 128) return c.causal ? 128 : 176;
  return 80;
}

}  // namespace

FlashAttention FlashAttention::resolved() const {
  FlashAttention c = *this;
  if (c.consumers == 0) c.consumers = c.head_dim == 64 ? 3 : 2;
  if (c.block_kv == 0) c.block_kv = fastest_block(c);
  return c;
}

plgpu::Kernel flash_attention(const FlashAttention& config) {
  const FlashAttention c = config.resolved();
  check(c);
  const int64_t blocks = pl::cdiv(c.q, c.consumers * group_rows), all_heads = c.batch * c.heads,
                all_kv_heads = c.batch * c.kv_heads;
  std::vector<pl::ShapeDtype> outputs = {c.q_type()};
  if (c.lse) outputs.push_back(c.lse_type());
  return plgpu::kernel(
      [&](const std::vector<Ref>& arrays, plgpu::Scratch& s) {
        const plgpu::PipelineParams ring{.stages = c.stages, .num_consumers = c.consumers};
        const Body body{.c = c,
                        .q = arrays[0].reshape({all_heads, c.q, c.head_dim}),
                        .k = arrays[1].reshape({all_kv_heads, c.kv, c.head_dim}),
                        .v = arrays[2].reshape({all_kv_heads, c.kv, c.head_dim}),
                        .out = arrays[3].reshape({all_heads, c.q, c.head_dim}),
                        .lse = c.lse ? std::optional(arrays[4].reshape({all_heads, c.q})) : std::nullopt,
                        .q_smem = s["q_smem"],
                        .k_smem = s["k_smem"],
                        .v_smem = s["v_smem"],
                        .q_full = s.barrier("q_full"),
                        .ks = plgpu::PipelineTmaAsync(ring, "k"),
                        .vs = plgpu::PipelineTmaAsync(ring, "v")};
        pl::when(body.group() == c.consumers, [&] { body.produce(); });
        pl::when(body.group() < c.consumers, [&] { body.consume(); });
      },
      {.in_types = {c.q_type(), c.kv_type(), c.kv_type()},
       .out_type = outputs,
       .scratch_types = {{"q_smem", tiled_smem({c.consumers, group_rows, c.head_dim}, c.dtype)},
                         {"k_smem", tiled_smem({c.stages, c.block_kv, c.head_dim}, c.dtype)},
                         {"v_smem", tiled_smem({c.stages, c.block_kv, c.head_dim}, c.dtype)},
                         {"q_full", plgpu::Barrier({.num_barriers = {c.consumers}})}},
       .compiler_params = {.approx_math = true},
       // CTAs that run together share heads of K and V, under a mask they have as many steps.
       .grid = c.causal ? pl::Shape{blocks, all_heads} : pl::Shape{all_heads, blocks},
       .grid_names = c.causal ? std::vector<std::string>{"q", "head"} : std::vector<std::string>{"head", "q"},
       .num_threads = static_cast<int>(c.consumers + 1),
       .thread_name = "wg",
       .name = "flash_attention"});
}

}  // namespace palladion::kernels
