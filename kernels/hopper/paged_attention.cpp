#include "kernels/hopper/paged_attention.h"

#include <fmt/format.h>

#include "kernels/frame/helpers.h"
#include "kernels/frame/rules.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/online_softmax.h"

namespace palladion::kernels {
namespace {

// What a CTA knows of its share of the keys: products of weights and values, sums of weights, largest scores.
struct Partial {
  plgpu::Array o, sum, largest;
};

struct Body {
  const PagedAttention& c;
  Ref q, k, v;         // of this CTA's heads: (group, head_dim); (keys of all pages, head_dim)
  Ref pages, out;      // the sequence's row of the table; (group, head_dim)
  Scalar length;       // of the sequence
  Ref q_smem;          // (64, head_dim)
  Ref k_smem, v_smem;  // (stages, block, head_dim)
  BarrierRef k_full, v_full;
  Ref part, part_rows;  // what the other CTAs of the cluster read: o; sum and largest
  BarrierRef published;

  Scalar split() const { return c.splits == 1 ? Scalar(0) : pl::axis_index("split"); }
  Scalar share() const { return pl::cdiv(pl::cdiv(length, c.block), c.splits); }
  Scalar first() const { return split() * share(); }
  Scalar last() const { return pl::minimum(first() + share(), pl::cdiv(length, c.block)); }
  int64_t rows_of_copy() const { return std::min(c.block, c.page_size); }

  // Where the keys of a step lie, a number for each of its copies: behind all pages where the sequence has no
  // page, or one that is none. There TMA brings zeros, from no memory.
  std::vector<Scalar> places(const Scalar& step) const {
    std::vector<Scalar> rows;
    for (int64_t key = 0; key < c.block; key += rows_of_copy()) {
      const Scalar at = step * c.block + key, slot = pl::minimum(at / c.page_size, c.pages_per_sequence - 1);
      const Scalar page = pages.at(slot).load_scalar();
      const Scalar valid = at < length && page >= 0 && page < c.pages;
      rows.push_back(pl::where(valid, page * c.page_size + at % c.page_size, c.pages * c.page_size));
    }
    return rows;
  }
  void fetch(const Ref& from, const std::vector<Scalar>& rows, const Ref& slot,
             const BarrierRef& full) const {
    const int64_t n = rows_of_copy();
    for (size_t i = 0; i < rows.size(); ++i)
      plgpu::copy_gmem_to_smem(from.at(ds(rows[i], n)), slot.at(ds(int64_t(i) * n, n)), full);
  }

  // The heads of Q are the first rows of a product; the others are zeros, and what becomes of them is not
  // stored.
  plgpu::Array is_head(int64_t columns) const {
    return plgpu::broadcasted_iota(pl::s32, {group_rows, columns}, 0, score_layout) < c.group();
  }
  // Not kept in registers: ptxas 13.0 gives those to the weights, too, and the second step multiplies with
  // them.
  void load_queries() const {
    q_smem.store(plgpu::load(q.at(ds(0, group_rows)), {.mask = is_head(c.head_dim), .other = 0}));
    plgpu::commit_smem();
  }

  // Minus infinity behind the last key.
  plgpu::Array masked(const plgpu::Array& s, const Scalar& keys) const {
    const plgpu::Array key = plgpu::broadcasted_iota(pl::s32, s.shape(), 1, score_layout);
    return plgpu::where(key < keys, s, minus_infinity);
  }
  // What a page holds behind the last key may be NaN, which no weight of 0 hides.
  void clear(const Ref& values, const Scalar& keys) const {
    pl::when(keys < c.block, [&] {
      const plgpu::Array key = plgpu::broadcasted_iota(pl::s32, values.shape(), 0);
      plgpu::store(values, 0, {.mask = key >= keys});
      plgpu::commit_smem();
    });
  }

  Partial attend(const Ref& o) const {
    pl::fori_loop(first(), pl::minimum(first() + c.stages, last()), [&](const Scalar& i) {
      const Scalar slot = i - first();
      const std::vector<Scalar> rows = places(i);
      fetch(k, rows, k_smem.at(slot), k_full.at(slot));
      fetch(v, rows, v_smem.at(slot), v_full.at(slot));
    });
    load_queries();
    const auto step = [&](const Scalar& i, const plgpu::Array& largest, const plgpu::Array& sum) {
      const Scalar slot = (i - first()) % c.stages, keys = length - i * c.block,
                   wanted = i + c.stages < last();
      const std::vector<Scalar> next = places(i + c.stages);
      plgpu::barrier_wait(k_full.at(slot));
      const plgpu::Array s = pl::run_scoped(
          [&](const Ref& scores) {
            plgpu::wgmma(scores, q_smem, plgpu::transpose_ref(k_smem.at(slot), {1, 0}));
            return scores.load();
          },
          plgpu::ACC({group_rows, c.block}, pl::f32));
      pl::when(wanted, [&] { fetch(k, next, k_smem.at(slot), k_full.at(slot)); });
      const OnlineSoftmax now = online_softmax(masked(s, keys), largest, c.head_dim, true);
      o.store(o.load() * over(now.shrink, c.head_dim));
      plgpu::barrier_wait(v_full.at(slot));
      clear(v_smem.at(slot), keys);
      plgpu::wgmma(o, now.p.astype(c.dtype), v_smem.at(slot));
      plgpu::wgmma_wait(0);
      pl::when(wanted, [&] { fetch(v, next, v_smem.at(slot), v_full.at(slot)); });
      return std::tuple{now.largest, sum * now.shrink + now.p.sum(1)};
    };
    const auto [largest, sum] = pl::fori_loop(first(), last(), step, per_row(minus_infinity), per_row(0));
    return {o.load(), sum, largest};
  }

  // Each CTA of the cluster adds up its share of the columns, always in the same order.
  void combine(const Partial& own) const {
    plgpu::store(part, own.o, {.mask = is_head(c.head_dim)});
    part_rows.at(0).store(own.sum);
    part_rows.at(1).store(own.largest);
    plgpu::barrier_arrive(published);
    plgpu::barrier_wait(published);
    const int64_t columns = c.head_dim / c.splits;
    const auto own_columns = ds(split() * columns, columns);
    const plgpu::Array row = plgpu::broadcasted_iota(pl::s32, {c.group(), columns}, 0);
    std::vector<Partial> all;
    for (int64_t s = 0; s < c.splits; ++s) {
      const auto theirs = [&](const Ref& x) { return c.splits == 1 ? x : plgpu::cluster_ref(x, "split", s); };
      all.push_back({.o = theirs(part).at(ds(0, c.group()), own_columns).load(row.layout()),
                     .sum = plgpu::load(theirs(part_rows).at(0), {row}),
                     .largest = plgpu::load(theirs(part_rows).at(1), {row})});
    }
    plgpu::Array largest = all[0].largest;
    for (const Partial& p : all) largest = plgpu::maximum(largest, p.largest);
    const plgpu::Array shift = shift_of(largest);
    plgpu::Array o = plgpu::zeros(row.shape(), pl::f32), sum = o;
    for (const Partial& p : all) {
      const plgpu::Array weight = plgpu::exp2(p.largest - shift);
      o = plgpu::fma(p.o, weight, o);
      sum = plgpu::fma(p.sum, weight, sum);
    }
    // A sequence without keys: zeros.
    const plgpu::Array scale = plgpu::reciprocal(plgpu::where(sum == 0.0F, 1.0F, sum));
    out.at(pl::all, own_columns).store((o * scale).astype(c.dtype));
  }

  void run() const {
    const auto [o, sum, largest] = pl::run_scoped(
        [&](const Ref& acc) {
          const Partial p = attend(acc);
          return std::tuple{p.o, p.sum, p.largest};
        },
        plgpu::ACC({group_rows, c.head_dim}, pl::f32));
    combine({o, sum, largest});
  }
};

void check(const PagedAttention& c) {
  const Rules rules("paged_attention");
  for (const auto& [name, value] : {std::pair{"batch", c.batch},
                                    {"heads", c.heads},
                                    {"kv_heads", c.kv_heads},
                                    {"pages", c.pages},
                                    {"pages_per_sequence", c.pages_per_sequence},
                                    {"stages", c.stages}})
    rules.at_least(name, value, 1);
  rules.require(c.head_dim == 64 || c.head_dim == 128,
                fmt::format("head_dim={} must be 64 or 128", c.head_dim));
  rules.divides("kv_heads", c.kv_heads, "heads", c.heads);
  rules.require(c.group() <= group_rows,
                fmt::format("{} heads share one of K and V: at most {} can", c.group(), group_rows));
  rules.require(c.splits == 1 || c.splits == 2 || c.splits == 4 || c.splits == 8,
                fmt::format("splits={} must be 1, 2, 4 or 8: CTAs of a cluster", c.splits));
  rules.require(c.block % 16 == 0 && c.block >= 16 && c.block <= 256,
                fmt::format("block={} must be a multiple of 16 up to 256", c.block));
  rules.require(
      c.page_size >= 8 && c.page_size % 8 == 0,
      fmt::format("page_size={} must be a multiple of 8: rows of a tile in shared memory", c.page_size));
  rules.require(
      c.page_size % c.block == 0 || c.block % c.page_size == 0,
      fmt::format("page_size={} must divide block={} or be a multiple of it", c.page_size, c.block));
  rules.require(c.pages * c.page_size <= int64_t{1} << 30,
                fmt::format("pages={} of page_size={} have more than 2^30 keys", c.pages, c.page_size));
}

plgpu::KernelOptions options_of(const PagedAttention& c) {
  const int64_t copies = std::max<int64_t>(c.block / c.page_size, 1);
  plgpu::KernelOptions o{
      .in_types = {c.q_type(), c.cache_type(), c.cache_type(), c.table_type(), {pl::s32, {c.batch}}},
      .out_type = c.q_type(),

      // No lane reads what another one wrote, but behind commit_smem and `published`.
      .compiler_params = {.approx_math = true, .unsafe_no_auto_barriers = true},
      .grid = {c.batch, c.kv_heads},
      .grid_names = {"sequence", "kv_head"},
      .name = "paged_attention"};
  const plgpu::SmemType ring = tiled_smem({c.stages, c.block, c.head_dim}, c.dtype);
  // Sums of products are exchanged where keys and values were.
  o.scratch_types = {
      {"smem", plgpu::RefUnion({{ring, ring}, {plgpu::SMEM({group_rows, c.head_dim}, pl::f32)}})},
      {"q_smem", tiled_smem({group_rows, c.head_dim}, c.dtype)},
      {"part_rows", plgpu::SMEM({2, group_rows}, pl::f32)},
      {"k_full", plgpu::Barrier({.num_arrivals = copies, .num_barriers = {c.stages}})},
      {"v_full", plgpu::Barrier({.num_arrivals = copies, .num_barriers = {c.stages}})},
      {"published", c.splits == 1
                        ? plgpu::Barrier()
                        : plgpu::ClusterBarrier({.collective_axes = {"split"}, .orders_memory = true})}};
  if (c.splits > 1) {
    o.cluster = {c.splits};
    o.cluster_names = {"split"};
  }
  return o;
}

}  // namespace

PagedAttention PagedAttention::resolved() const {
  PagedAttention c = *this;
  if (c.splits != 0) return c;
  // The most CTAs that run together: two have room on an SM.
  const int64_t together = 2 * isa::default_arch().sm_count;
  for (c.splits = 8; c.splits > 1 && c.batch * c.kv_heads * c.splits > together;) c.splits /= 2;
  return c;
}

plgpu::Kernel paged_attention(const PagedAttention& config) {
  const PagedAttention c = config.resolved();
  check(c);
  const pl::Shape by_head{c.kv_heads, c.pages * c.page_size, c.head_dim},
      by_group{c.batch, c.kv_heads, c.group(), c.head_dim};
  return plgpu::kernel(
      [&](const Ref& q, const Ref& k, const Ref& v, const Ref& table, const Ref& lengths, const Ref& out,
          plgpu::Scratch& s) {
        const Scalar sequence = pl::axis_index("sequence"), head = pl::axis_index("kv_head");
        const Scalar length = lengths.at(sequence).load_scalar();
        Body{.c = c,
             .q = q.reshape(by_group).at(sequence, head),
             .k = k.reshape(by_head).at(head),
             .v = v.reshape(by_head).at(head),
             .pages = table.at(sequence),
             .out = out.reshape(by_group).at(sequence, head),
             .length = pl::minimum(pl::maximum(length, 0), c.most_keys()),
             .q_smem = s["q_smem"],
             .k_smem = s.ref_union("smem")[0][0],
             .v_smem = s.ref_union("smem")[0][1],
             .k_full = s.barrier("k_full"),
             .v_full = s.barrier("v_full"),
             .part = s.ref_union("smem")[1][0],
             .part_rows = s["part_rows"],
             .published = s.barrier("published")}
            .run();
      },
      options_of(c));
}

}  // namespace palladion::kernels
