// How paged_attention is chosen, and what it computes.
#include <algorithm>
#include <numeric>

#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/paged_attention.h"

namespace palladion::kernels {
namespace {

using C = PagedAttention;

int64_t clamped_length(const C& c, const Array& lengths, int64_t sequence) {
  return std::clamp<int64_t>(static_cast<int64_t>(value_at(lengths, sequence)), 0, c.most_keys());
}

// The first sequence has as many keys as it can, the second one none, the third one a single one.
Array lengths_of(const C& c, uint64_t seed) {
  const pl::ShapeDtype type{pl::s32, {c.batch}};
  if (c.length > 0)
    return filled(type, {.kind = Fill::Kind::constant, .value = static_cast<double>(c.length)});
  Array lengths =
      filled(type, {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = c.most_keys() + 1});
  const std::vector<int64_t> first = {c.most_keys(), 0, 1};
  for (size_t i = 0; i < first.size() && static_cast<int64_t>(i) + 1 < c.batch; ++i)
    set_value(lengths, static_cast<int64_t>(i), static_cast<double>(first[i]));
  return lengths;
}

// Pages in no order. Where there are enough, each is that of one sequence.
Array table_of(const C& c, uint64_t seed) {
  const Array keys =
      filled({pl::s32, {c.batch * c.pages_per_sequence}}, {.kind = Fill::Kind::rand, .seed = seed});
  std::vector<int64_t> order(static_cast<size_t>(keys.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return value_at(keys, i); });
  Array table(c.table_type());
  for (int64_t i = 0; i < table.size(); ++i)
    set_value(table, i, static_cast<double>(order[static_cast<size_t>(i)] % c.pages));
  return table;
}

std::vector<Array> made_inputs(const C& c, uint64_t seed) {
  std::vector<Array> inputs = normal_inputs({c.q_type(), c.cache_type(), c.cache_type()}, 5 * seed);
  inputs.push_back(table_of(c, 5 * seed + 3));
  inputs.push_back(lengths_of(c, 5 * seed + 4));
  return inputs;
}

// The keys of a sequence, one behind the other: (1, kv_heads, length, head_dim). Those of a page that is none
// are zeros.
Array keys_of(const C& c, const Array& cache, const Array& table, int64_t sequence, int64_t length) {
  Array keys({c.dtype, {1, c.kv_heads, length, c.head_dim}});
  const int64_t row = c.head_dim * pl::bytes(c.dtype);
  auto to = keys.bytes.begin();
  for (int64_t head = 0; head < c.kv_heads; ++head)
    for (int64_t key = 0; key < length; ++key, to += row) {
      const auto page =
          static_cast<int64_t>(value_at(table, sequence * c.pages_per_sequence + key / c.page_size));
      if (page < 0 || page >= c.pages) continue;
      const int64_t from = (head * c.pages + page) * c.page_size + key % c.page_size;
      std::copy_n(cache.bytes.begin() + from * row, row, to);
    }
  return keys;
}

Array reference(const C& c, const std::vector<Array>& in) {
  Array out(c.q_type());
  const int64_t bytes = c.heads * c.head_dim * pl::bytes(c.dtype);
  for (int64_t i = 0; i < c.batch; ++i) {
    const int64_t length = clamped_length(c, in[4], i);
    if (length == 0) continue;
    Array q({c.dtype, {1, c.heads, 1, c.head_dim}});
    std::copy_n(in[0].bytes.begin() + i * bytes, bytes, q.bytes.begin());
    const Array o = attention_reference(q, keys_of(c, in[1], in[3], i, length),
                                        keys_of(c, in[2], in[3], i, length), false, true);
    std::ranges::copy(o.bytes, out.bytes.begin() + i * bytes);
  }
  return out;
}

}  // namespace

KernelSpec paged_attention_spec() {
  KernelSpec spec =
      Spec("paged_attention", "Attention of one token a sequence to keys and values in pages",
           paged_attention)
          .size("batch", &C::batch, "sequences")
          .size("heads", &C::heads, "of Q and O")
          .size("kv_heads", &C::kv_heads, "of K and V: divides heads")
          .size("head_dim", &C::head_dim, "columns of a head: 64 or 128", {.multiple_of = 64})
          .size("pages", &C::pages, "of the cache")
          .size("page_size", &C::page_size, "keys of a page", {.multiple_of = 8})
          .size("pages_per_sequence", &C::pages_per_sequence, "columns of the page table")
          .setting("dtype", &C::dtype, "of Q, K, V and O", {pl::f16, pl::bf16})
          .setting("splits", &C::splits,
                   "CTAs that share the keys of a sequence: 1, 2, 4, 8; 0: as many as fill the SMs",
                   {.min = 0, .max = 8})
          .setting("block", &C::block, "keys a step", {.min = 16, .max = 256, .multiple_of = 16})
          .setting("stages", &C::stages, "steps of K and of V on their way", {.min = 1})
          .setting("length", &C::length, "of all sequences that are made up; 0: each has another one",
                   {.min = 0})
          .arrays({"q", "k_pages", "v_pages", "page_table", "lengths"}, {"o"})
          .inputs(made_inputs)
          .reference(reference);
  spec.tolerance = [](const Choice& choice) { return attention_tolerance(choice.dtype("dtype")); };
  return spec;
}

}  // namespace palladion::kernels
