// The hot loop of the tensor core, for any vector unit V. Include it only from tensor_core_avx2.cpp and
// tensor_core_avx512.cpp: all templates take a V of internal linkage, so that code for one unit never leaks into another.
//
// Per output: e_max = max over k of (field exponent of a + that of b), in bytes; then every product is formed exactly in
// f32, scaled by 2^(F - e_max) and converted to int32 toward zero, which is the truncation that the hardware does; the sum
// of the integers is exact. The caller sets MXCSR to round toward zero with flush-to-zero, so the last conversion truncates
// too. What the 32-bit or f32 ranges cannot hold is noticed and repaired by the scalar reference.
#pragma once

#include <type_traits>

#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tc {

template <Mode mode>
inline constexpr bool is_half = mode == Mode::f16 || mode == Mode::f16_fp8;

template <Mode mode>
inline constexpr bool is_of_fp8 = mode == Mode::f32_13_bits || mode == Mode::f16_fp8;

template <Mode mode>
using BitsOf = std::conditional_t<is_half<mode>, std::uint16_t, std::uint32_t>;

// What stays the same for a group of columns over all rows. Constants lie in memory on purpose: broadcast from there, they
// cost a load; made from immediates in each row, they cost the port that the arithmetic needs.
template <class V>
struct Group {
  const Job* job;
  const std::uint32_t* word;      // B from the group's first column, rows of block_n
  const std::int8_t* exponent;
  int k;
  int column;
  std::uint32_t largest;          // biased exponent that relative ones are relative to
  std::uint32_t scale_exponent;   // 254 + 25: less e_max, the biased exponent of 2^(25 - e_max)
  std::uint32_t unscale_bits;     // 254 << 23: less 2^(25 - e_max), the bits of 2^(e_max - 25)
  std::uint32_t fraction_mask;    // what RZ-E8M13 keeps of an f32
  std::uint32_t sign_bit;
  std::uint64_t special_columns;  // of the group's block
};

template <class V, Mode mode, bool partial>
static inline typename V::I load_c(const BitsOf<mode>* d, bool zero) {
  if (zero) return V::zero();
  if constexpr (is_half<mode>) {
    return V::template load_half<partial>(d);
  } else {
    return V::template load<partial>(d);
  }
}

// Biased field exponent of C, given as f32 bits; zero where C cannot raise e_max.
template <class V, Mode mode>
static inline typename V::I exponent_of_c(typename V::I c) {
  using I = typename V::I;
  const I magnitude = V::template shift_left<1>(c);
  const I field = V::template shift_right<24>(magnitude);
  if constexpr (!is_half<mode>) return field;
  // f16: subnormals count as 2^-14, zero as 2^-21.
  return V::max(field, V::select_zero(magnitude, V::set(127 - 21), V::set(127 - 14)));
}

// Max over k of the relative exponents of products, in bytes; -128 where all are zero (or 128 binades down).
template <class V>
static inline typename V::I largest_product(const Group<V>& g, const std::uint32_t* a_exponent) {
  auto e = V::add_bytes(V::broadcast(a_exponent), V::load_bytes(g.exponent));
  for (int k = 0; k < g.k; k += 4) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      e = V::max_bytes(e, V::add_bytes(V::broadcast(a_exponent + k + j), V::load_bytes(g.exponent + (k + j) * block_n)));
    }
  }
  return e;
}

// Integer sums become D.
template <class V, Mode mode, bool partial>
static inline void store_d(const Group<V>& g, typename V::I sum, typename V::F scale, BitsOf<mode>* d) {
  using F = typename V::F;
  const F unscale = V::as_float(V::sub(V::broadcast(&g.unscale_bits), V::as_int(scale)));
  F value = V::to_float(sum);  // toward zero
  if constexpr (is_half<mode>) {
    // To odd first, so that rounding to f16 counts what was cut off here.
    value = V::or_lowest_bit_if_different(value, V::truncate(value), sum);
    V::template store_half<partial>(d, V::mul(value, unscale));
  } else {
    V::template store<partial>(d, V::as_int(V::mul(value, unscale)));
  }
}

// Extremes of what the vector code must bound, over the vectors of a group: no bound is checked one by one.
template <class V>
struct Watch {
  typename V::I lowest_e = V::set(0x7FFFFFFF);
  typename V::I highest_e = V::zero();
  typename V::I lowest_sum = V::zero();
  typename V::I highest_sum = V::zero();
  typename V::I hidden = V::zero();

  // An infinite or NaN C shows as the sum INT_MIN.
  template <Mode mode>
  bool odd() const {
    auto bad = V::sub(lowest_e, V::set(lowest_safe_exponent));
    if constexpr (mode == Mode::f32_wide) {
      bad = V::bit_or(V::bit_or(bad, hidden), V::sub(V::set(highest_safe_exponent), highest_e));
    }
    bad = V::bit_or(bad, V::add(lowest_sum, V::set(largest_safe_sum)));
    bad = V::bit_or(bad, V::sub(V::set(largest_safe_sum), highest_sum));
    return V::any_negative(bad);
  }
};

// One row of A against `count` vectors of columns.
template <class V, Mode mode, int count, bool partial>
static inline void row_of_group(const Group<V>& g, int row) {
  using I = typename V::I;
  using F = typename V::F;
  using Bits = BitsOf<mode>;
  constexpr int lanes = V::lanes;
  const Job& job = *g.job;
  Bits* d = static_cast<Bits*>(job.d) + row * job.stride + g.column;

  alignas(64) std::int8_t product_exponent[4 * lanes];
  V::store_bytes(product_exponent, largest_product<V>(g, job.a->exponent + row * g.k));
  asm("" : "+m"(product_exponent));  // widened from memory: taking registers apart needs the busiest port

  F scale[count];
  I sum[count];
  Watch<V> watch;
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const I c = load_c<V, mode, partial>(d + v * lanes, job.zero_c);
    const I of_c = exponent_of_c<V, mode>(c);
    const I relative = V::widen(product_exponent + v * lanes);
    const I e_max = V::max(V::add(relative, V::broadcast(&g.largest)), of_c);
    watch.lowest_e = V::min(watch.lowest_e, e_max);
    if constexpr (mode == Mode::f32_wide) {
      // Non-zero products may hide 128 or more binades below the largest: harmless only under a larger C.
      watch.hidden = V::bit_or(watch.hidden, V::bit_and(V::sub(relative, V::set(-127)), V::sub(of_c, e_max)));
      watch.highest_e = V::max(watch.highest_e, e_max);
    }
    scale[v] = V::as_float(V::template shift_left<23>(V::sub(V::broadcast(&g.scale_exponent), e_max)));
    sum[v] = V::truncate(V::mul(V::as_float(c), scale[v]));
  }

  const std::uint32_t* a = job.a->word + row * g.k;
  const std::uint32_t* b = g.word;
  for (int k = 0; k < g.k; k += 4, b += 4 * block_n) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const F x = V::as_float(V::broadcast(a + k + j));
#pragma GCC unroll 4
      for (int v = 0; v < count; ++v) {
        const F y = V::as_float(V::load_aligned(b + j * block_n + v * lanes));
        sum[v] = V::add(sum[v], V::truncate(V::mul(V::mul(x, y), scale[v])));
        asm("" : "+v"(sum[v]));  // else the compiler regroups the sums and runs out of registers
      }
    }
  }

#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    watch.lowest_sum = V::min(watch.lowest_sum, sum[v]);
    watch.highest_sum = V::max(watch.highest_sum, sum[v]);
  }
  const bool suspect = watch.template odd<mode>() || g.special_columns || ((job.a->special_rows >> row) & 1);
  alignas(64) std::int32_t sums[count * lanes];
  alignas(64) std::uint32_t c_bits[count * lanes];
  if (suspect) [[unlikely]] {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      V::store_aligned(sums + v * lanes, sum[v]);
      V::store_aligned(c_bits + v * lanes, load_c<V, mode, partial>(d + v * lanes, job.zero_c));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) store_d<V, mode, partial>(g, sum[v], scale[v], d + v * lanes);
  if (suspect) [[unlikely]] {
    repair(job, {row, g.column, partial ? lanes / 2 : count * lanes, product_exponent, sums, c_bits});
  }
}

// The same for fp8, where all is smaller: terms are below 2^15 units of 2^(e_max - 13), 32 of them below 2^20, so f32 itself
// can hold the running sum. It starts at 2^23 units, where one unit is the last bit: a fused multiply-add toward zero then
// truncates each product exactly as the hardware does, provided that the sum's sign is the product's. Hence two sums:
// `plus` from 2^23 units up, `minus` from -2^23 units down; B lies split by sign, and A's sign says which half goes where.
template <class V, Mode mode, int count, bool partial>
static inline void row_of_fp8_group(const Group<V>& g, int row) {
  using I = typename V::I;
  using F = typename V::F;
  using Bits = BitsOf<mode>;
  constexpr int lanes = V::lanes;
  const Job& job = *g.job;
  Bits* d = static_cast<Bits*>(job.d) + row * job.stride + g.column;

  alignas(64) std::int8_t product_exponent[4 * lanes];
  V::store_bytes(product_exponent, largest_product<V>(g, job.a->exponent + row * g.k));
  asm("" : "+m"(product_exponent));

  F plus[count];
  F minus[count];
  I lowest_e = V::set(0x7FFFFFFF);
  I highest_e = V::zero();
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const I c = load_c<V, mode, partial>(d + v * lanes, job.zero_c);
    const I relative = V::widen(product_exponent + v * lanes);
    const I e_max = V::max(V::add(relative, V::broadcast(&g.largest)), exponent_of_c<V, mode>(c));
    lowest_e = V::min(lowest_e, e_max);
    highest_e = V::max(highest_e, e_max);
    const I start = V::template shift_left<23>(V::add(e_max, V::set(10)));
    const I minus_start = V::bit_xor(start, V::broadcast(&g.sign_bit));
    plus[v] = V::add_float(V::as_float(start), V::max_float(V::as_float(c), V::as_float(V::zero())));
    minus[v] = V::add_float(V::as_float(minus_start), V::min_float(V::as_float(c), V::as_float(V::zero())));
  }

  const std::uint32_t* a = job.a->word + row * g.k;
  const std::uint32_t* b = g.word;
  for (int k = 0; k < g.k; ++k, b += 2 * block_n) {
    const F x = V::as_float(V::broadcast(a + k));
    const std::ptrdiff_t to_plus = (static_cast<std::int32_t>(a[k]) >> 31) & block_n;
    const std::uint32_t* b_plus = b + to_plus;
    const std::uint32_t* b_minus = b + (to_plus ^ block_n);
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      plus[v] = V::fma(x, V::as_float(V::load_aligned(b_plus + v * lanes)), plus[v]);
      minus[v] = V::fma(x, V::as_float(V::load_aligned(b_minus + v * lanes)), minus[v]);
    }
  }

  const I bad = V::bit_or(V::sub(lowest_e, V::set(lowest_safe_exponent)),
                          V::sub(V::set(highest_safe_exponent_of_fp8), highest_e));
  const bool suspect = V::any_negative(bad) || g.special_columns || ((job.a->special_rows >> row) & 1);
  alignas(64) std::uint32_t c_bits[count * lanes];
  if (suspect) [[unlikely]] {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      V::store_aligned(c_bits + v * lanes, load_c<V, mode, partial>(d + v * lanes, job.zero_c));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const F exact = V::add_float(plus[v], minus[v]);
    if constexpr (is_half<mode>) {
      V::template store_half<partial>(d + v * lanes, exact);
    } else {
      V::template store<partial>(d + v * lanes, V::bit_and(V::as_int(exact), V::broadcast(&g.fraction_mask)));
    }
  }
  if (suspect) [[unlikely]] {
    repair(job, {row, g.column, partial ? lanes / 2 : count * lanes, product_exponent, nullptr, c_bits});
  }
}

template <class V, Mode mode, int count, bool partial>
static void all_rows(const Group<V>& g) {
  for (int row = 0; row < g.job->a->m; ++row) {
    if constexpr (is_of_fp8<mode>) {
      row_of_fp8_group<V, mode, count, partial>(g, row);
    } else {
      row_of_group<V, mode, count, partial>(g, row);
    }
  }
}

// Products of integers: pairs of int16 along k.
template <class V>
static inline typename V::I integer_sum(const Group<V>& g, const std::uint32_t* a, int offset) {
  typename V::I sum = V::zero();
  for (int k = 0; k < g.k; ++k) {
    sum = V::add(sum, V::dot_pairs(V::broadcast(a + k), V::load_aligned(g.word + k * block_n + offset)));
  }
  return sum;
}

// popcount(a & b), counted in bytes: at most 8 * 8 of them.
template <class V>
static inline typename V::I binary_sum(const Group<V>& g, const std::uint32_t* a, int offset) {
  typename V::I bytes = V::zero();
  for (int k = 0; k < g.k; ++k) {
    const auto both = V::bit_and(V::broadcast(a + k), V::load_aligned(g.word + k * block_n + offset));
    bytes = V::add_bytes(bytes, V::popcount_bytes(both));
  }
  return V::add_four_bytes(bytes);
}

// The clamp of the exact sum: a wrapped result shows by its sign.
template <class V>
static inline typename V::I saturating_add(typename V::I c, typename V::I sum) {
  const auto wrapped = V::add(c, sum);
  const auto limit = V::bit_xor(V::both_negative(c, c), V::set(0x7FFFFFFF));
  const auto overflow = V::both_negative(V::bit_xor(c, wrapped), V::bit_xor(sum, wrapped));
  return V::select(overflow, limit, wrapped);
}

template <class V, Mode mode, int count, bool partial>
static void all_rows_integer(const Group<V>& g) {
  const Job& job = *g.job;
  for (int row = 0; row < job.a->m; ++row) {
    std::uint32_t* d = static_cast<std::uint32_t*>(job.d) + row * job.stride + g.column;
    const std::uint32_t* a = job.a->word + row * g.k;
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      const int offset = v * V::lanes;
      const auto sum = mode == Mode::b1 ? binary_sum<V>(g, a, offset) : integer_sum<V>(g, a, offset);
      const auto c = job.zero_c ? V::zero() : V::template load<partial>(d + offset);
      V::template store<partial>(d + offset, job.saturate ? saturating_add<V>(c, sum) : V::add(c, sum));
    }
  }
}

template <class V, Mode mode, int count, bool partial>
static void run_group(const Group<V>& g) {
  if constexpr (mode == Mode::s32 || mode == Mode::b1) {
    all_rows_integer<V, mode, count, partial>(g);
  } else {
    all_rows<V, mode, count, partial>(g);
  }
}

template <class V, Mode mode>
static void run_groups(const Job& job, int words_per_row) {
  constexpr int lanes = V::lanes;
  const BOperand& b = *job.b;
  Group<V> g{};
  g.job = &job;
  g.k = words_per_row;
  g.largest = static_cast<std::uint32_t>(job.a->range.largest + b.range.largest - 127);
  g.scale_exponent = 254 + 25;
  g.unscale_bits = 254 << 23;
  g.fraction_mask = ~0x3FFu;
  g.sign_bit = 1u << 31;
  for (int column = 0, width; column < b.n; column += width) {
    const int inside = column % block_n;
    const std::ptrdiff_t at = std::ptrdiff_t{column / block_n} * words_per_row * block_n + inside;
    g.word = b.word + (is_of_fp8<mode> ? 2 * (at - inside) + inside : at);
    g.exponent = b.exponent + at;
    g.column = column;
    g.special_columns = b.special_columns[column / block_n];
    const int left = b.n - column < block_n - inside ? b.n - column : block_n - inside;
    const int vectors = left / lanes < 4 ? left / lanes : 4;
    width = vectors ? vectors * lanes : lanes / 2;
    asm("" : "+m"(g));  // see Group: these are not to be seen as constants
    switch (vectors) {
      case 4: run_group<V, mode, 4, false>(g); break;
      case 3: run_group<V, mode, 3, false>(g); break;
      case 2: run_group<V, mode, 2, false>(g); break;
      case 1: run_group<V, mode, 1, false>(g); break;
      default:
        if constexpr (lanes == 16) run_group<V, mode, 1, true>(g);
    }
  }
}

template <class V>
static void run_job(const Job& job) {
  const int k = job.a->k;
  switch (job.mode) {
    case Mode::f32: return run_groups<V, Mode::f32>(job, k);
    case Mode::f32_wide: return run_groups<V, Mode::f32_wide>(job, k);
    case Mode::f32_13_bits: return run_groups<V, Mode::f32_13_bits>(job, k);
    case Mode::f16: return run_groups<V, Mode::f16>(job, k);
    case Mode::f16_fp8: return run_groups<V, Mode::f16_fp8>(job, k);
    case Mode::s32: return run_groups<V, Mode::s32>(job, k / 2);
    case Mode::b1: return run_groups<V, Mode::b1>(job, k / 32);
  }
}

}  // namespace palladion::sim::numerics::tc
