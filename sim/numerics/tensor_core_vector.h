// The hot loop of the tensor core, for any vector unit V. Include it only from tensor_core_avx2.cpp and
// tensor_core_avx512.cpp: all templates take a V of internal linkage, so that code for one unit never leaks
// into another.
//
// Per output: e_max = max over k of (field exponent of a + that of b), in bytes; then every product is formed
// exactly in f32, scaled by 2^(25 - e_max) and converted to int32 toward zero, which is the truncation that
// the hardware does; the sum of the integers is exact. The caller sets MXCSR to round toward zero with
// flush-to-zero, so the last conversion truncates too. fp8 has a shorter way (tensor_core_vector_fp8.h). What
// the 32-bit or f32 ranges cannot hold is noticed and repaired by the scalar reference.
#pragma once

#include "sim/numerics/tensor_core_vector_float.h"
#include "sim/numerics/tensor_core_vector_fp8.h"
#include "sim/numerics/tensor_core_vector_general.h"

namespace palladion::sim::numerics::tc {

template <class V, Mode mode, int rows, int count, bool partial>
static inline void multiply_rows(const Group<V>& g, int row, int next, Exponents<V, rows>& exponents) {
  if constexpr (is_of_fp8<mode>) {
    multiply_fp8_rows<V, mode, rows, count, partial>(g, row, next, exponents);
  } else if constexpr (is_general<mode>) {
    multiply_general_rows<V, mode, rows, count, partial>(g, row, next, exponents);
  } else {
    multiply_float_rows<V, mode, rows, count, partial>(g, row, next, exponents);
  }
}

// Rows [first, last), a multiple of `rows`.
template <class V, Mode mode, int rows, int count, bool partial>
static inline void run_rows(const Group<V>& g, int first, int last) {
  if (first >= last) return;
  Exponents<V, rows> exponents;
  exponents.clear();
  for (int k = 0; k < g.k; ++k) exponents.add(g, g.a_exponents(first) + k, g.exponent + k * block_n);
  for (int row = first; row < last; row += rows) {
    const int next = row + rows < last ? row + rows : row;
    multiply_rows<V, mode, rows, count, partial>(g, row, next, exponents);
  }
}

template <class V, Mode mode, int count, bool partial>
static void all_rows(const Group<V>& g) {
  const int m = g.job->a->m;
  const int whole = m / V::rows * V::rows;
  run_rows<V, mode, V::rows, count, partial>(g, 0, whole);
  if constexpr (V::rows > 1) run_rows<V, mode, 1, count, partial>(g, whole, m);
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
  g.c_scale = static_cast<std::uint32_t>(job.c_scale);
  g.hides = may_hide(job.a->type) ? ~0u : 0;
  g.nothing = may_hide(job.a->type) ? 0 : 127;
  g.highest = static_cast<std::uint32_t>(highest_safe_exponent + job.c_scale);
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
      case 4:
        run_group<V, mode, 4, false>(g);
        break;
      case 3:
        run_group<V, mode, 3, false>(g);
        break;
      case 2:
        run_group<V, mode, 2, false>(g);
        break;
      case 1:
        run_group<V, mode, 1, false>(g);
        break;
      default:
        if constexpr (lanes == 16) run_group<V, mode, 1, true>(g);
    }
  }
}

template <class V>
static void run_job(const Job& job) {
  const int k = job.a->k;
  switch (job.mode) {
    case Mode::f32:
      return run_groups<V, Mode::f32>(job, k);
    case Mode::f32_wide:
      return run_groups<V, Mode::f32_wide>(job, k);
    case Mode::f32_13_bits:
      return run_groups<V, Mode::f32_13_bits>(job, k);
    case Mode::f16:
      return run_groups<V, Mode::f16>(job, k);
    case Mode::f16_fp8:
      return run_groups<V, Mode::f16_fp8>(job, k);
    case Mode::f32_general:
      return run_groups<V, Mode::f32_general>(job, k);
    case Mode::f16_general:
      return run_groups<V, Mode::f16_general>(job, k);
    case Mode::s32:
      return run_groups<V, Mode::s32>(job, k / 2);
    case Mode::b1:
      return run_groups<V, Mode::b1>(job, k / 32);
  }
}

}  // namespace palladion::sim::numerics::tc
