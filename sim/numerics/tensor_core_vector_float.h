// 16-bit and tf32 floats: terms of 2^25 units, summed in int32. See tensor_core_vector.h.
#pragma once

#include "sim/numerics/tensor_core_vector_group.h"

namespace palladion::sim::numerics::tc {

// Scales and the truncated C of one row. Returns whether e_max leaves the safe range somewhere.
template <class V, Mode mode, int count, bool partial>
static inline bool start_float_row(const Group<V>& g, int row, const std::int8_t* exponent,
                                   typename V::F* scale, typename V::I* sum) {
  using I = typename V::I;
  const auto* d = g.template d<const BitsOf<mode>>(row);
  I lowest = V::set(0x7FFFFFFF);
  I highest = V::zero();
  I hidden = V::zero();
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const I c = load_c<V, mode, partial>(d + v * V::lanes, g.job->zero_c);
    const I of_c = exponent_of_c<V, mode>(c);
    const I relative = V::widen(exponent + v * V::lanes);
    const I e_max = V::max(V::add(relative, V::broadcast(&g.largest)), of_c);
    lowest = V::min(lowest, e_max);
    if constexpr (mode == Mode::f32_wide) {
      // Non-zero products may hide 64 or more binades below the largest: harmless only under a larger C.
      const I bound = V::add(V::broadcast(&g.largest), V::set(largest_hidden_exponent));
      hidden =
          V::bit_or(hidden, V::bit_and(V::sub(relative, V::set(hidden_exponent + 1)), V::sub(of_c, bound)));
      highest = V::max(highest, e_max);
    }
    scale[v] = V::as_float(V::template shift_left<23>(V::sub(V::broadcast(&g.scale_exponent), e_max)));
    sum[v] = V::truncate(V::mul(V::as_float(c), scale[v]));
  }
  I bad = V::sub(lowest, V::set(lowest_safe_exponent));
  if constexpr (mode == Mode::f32_wide) {
    bad = V::bit_or(V::bit_or(bad, hidden), V::sub(V::set(highest_safe_exponent), highest));
  }
  return V::any_negative(bad);
}

// Integer sums become D.
template <class V, Mode mode, bool partial>
static inline void store_float(typename V::I sum, typename V::F unscale, BitsOf<mode>* d) {
  using F = typename V::F;
  F value = V::to_float(sum);  // toward zero
  if constexpr (is_half<mode>) {
    // To odd first, so that rounding to f16 counts what was cut off here.
    value = V::or_lowest_bit_if_different(value, V::truncate(value), sum);
    V::template store_half<partial>(d, V::mul(value, unscale));
  } else {
    V::template store<partial>(d, V::as_int(V::mul(value, unscale)));
  }
}

template <class V, Mode mode, int count, bool partial>
static inline void finish_float_row(const Group<V>& g, int row, const std::int8_t* exponent, bool suspect,
                                    const typename V::I* sum, const typename V::F* scale) {
  constexpr int lanes = V::lanes;
  auto* d = g.template d<BitsOf<mode>>(row);
  alignas(64) std::int32_t sums[count * lanes];
  alignas(64) std::uint32_t c[count * lanes];
  if (suspect) [[unlikely]] {
    save_c<V, mode, count, partial>(d, g.job->zero_c, c);
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) V::store_aligned(sums + v * lanes, sum[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const auto unscale = V::as_float(V::sub(V::broadcast(&g.unscale_bits), V::as_int(scale[v])));
    store_float<V, mode, partial>(sum[v], unscale, d + v * lanes);
  }
  if (suspect) [[unlikely]] {
    repair(*g.job, {row, g.column, partial ? lanes / 2 : count * lanes, exponent, sums, c});
  }
}

// `rows` rows of A at once against `count` vectors of columns; `exponents` are theirs, then those of the rows
// from `next`. An infinite or NaN C shows as the sum INT_MIN.
template <class V, Mode mode, int rows, int count, bool partial>
static inline void multiply_float_rows(const Group<V>& g, int row, int next, Exponents<V, rows>& exponents) {
  using I = typename V::I;
  using F = typename V::F;
  alignas(64) std::int8_t exponent[rows][4 * V::lanes];
  F scale[rows][count];
  I sum[rows][count];
  bool odd[rows];
  exponents.store(exponent);
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
    odd[r] = start_float_row<V, mode, count, partial>(g, row + r, exponent[r], scale[r], sum[r]);
  }
  exponents.clear();
  const std::uint32_t* a = g.a_words(row);
  const std::uint32_t* a_exponent = g.a_exponents(next);
  const std::uint32_t* b = g.word;
  const std::int8_t* b_exponent = g.exponent;
  for (int k = 0; k < g.k; k += 2, b += 2 * block_n, b_exponent += 2 * block_n) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      exponents.add(g, a_exponent + k + j, b_exponent + j * block_n);
#pragma GCC unroll 4
      for (int v = 0; v < count; ++v) {
        const F y = V::as_float(V::load_aligned(b + j * block_n + v * V::lanes));
#pragma GCC unroll 2
        for (int r = 0; r < rows; ++r) {
          const F x = V::as_float(V::broadcast(a + r * g.k + k + j));
          sum[r][v] = V::add(sum[r][v], V::truncate(V::mul(V::mul(x, y), scale[r][v])));
          asm("" : "+v"(sum[r][v]));  // else the compiler regroups the sums and runs out of registers
        }
      }
    }
  }
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
    I lowest = V::zero();
    I highest = V::zero();
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      lowest = V::min(lowest, sum[r][v]);
      highest = V::max(highest, sum[r][v]);
    }
    const I bad =
        V::bit_or(V::add(lowest, V::set(largest_safe_sum)), V::sub(V::set(largest_safe_sum), highest));
    const bool suspect = V::any_negative(bad) || odd[r] || g.has_special(row + r);
    finish_float_row<V, mode, count, partial>(g, row + r, exponent[r], suspect, sum[r], scale[r]);
  }
}

}  // namespace palladion::sim::numerics::tc
