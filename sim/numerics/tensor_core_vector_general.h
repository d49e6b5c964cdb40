// Floats with everything that Blackwell adds: up to 32 products of 25 fraction bits, block scales, a scaled
// C. Terms are units of 2^(e_max - 25) in int32 as in tensor_core_vector_float.h, but 32 of them may exceed
// 32 bits: the two halves of k, which cannot, are summed apart.
#pragma once

#include <utility>

#include "sim/numerics/tensor_core_vector_float.h"

namespace palladion::sim::numerics::tc {

// Of one vector of a row.
template <class V>
struct GeneralLanes {
  typename V::F scale;    // of products: 2^(25 - e_max) and the block scales
  typename V::F unscale;  // 2^(e_max - 25)
  typename V::I sum;      // C at first
};

// Biased field exponent of the scaled C.
template <class V, Mode mode>
static inline typename V::I exponent_of_scaled_c(const Group<V>& g, typename V::I c) {
  using I = typename V::I;
  const I scale = V::broadcast(&g.c_scale);
  const I magnitude = V::template shift_left<1>(c);
  const I field = V::add(V::template shift_right<24>(magnitude), scale);
  if constexpr (!is_half<mode>) return field;
  return V::max(field, V::select_zero(magnitude, V::set(127 - 21), V::add(V::set(127 - 14), scale)));
}

// Returns lanes that are negative where the vector code is not exact.
template <class V, Mode mode, bool partial>
static inline typename V::I start_general(const Group<V>& g, int row, int at, const std::int8_t* exponent,
                                          GeneralLanes<V>& x) {
  using I = typename V::I;
  const I c = load_c<V, mode, partial>(g.template d<const BitsOf<mode>>(row) + at, g.job->zero_c);
  const I of_c = exponent_of_scaled_c<V, mode>(g, c);
  const auto* column_scale = reinterpret_cast<const std::uint32_t*>(g.job->column_scale + g.column + at);
  const auto* row_scale = reinterpret_cast<const std::uint32_t*>(g.job->row_scale + row);
  const I block_scale = V::add(V::broadcast(row_scale), V::template load<partial>(column_scale));
  const I largest = V::add(V::broadcast(&g.largest), block_scale);
  const I relative = V::widen(exponent + at);
  const I visible = V::sub(relative, V::set(hidden_exponent));  // zero if no product is seen
  const I product = V::select_zero(visible, of_c, V::add(relative, largest));
  const I nothing = V::bit_or(visible, V::template shift_left<1>(c));
  const I e_max = V::select_zero(nothing, V::broadcast(&g.nothing), V::max(product, of_c));
  const I bound = V::add(largest, V::set(largest_hidden_exponent));
  const I hidden =
      V::bit_and(V::bit_and(V::sub(visible, V::set(1)), V::sub(of_c, bound)), V::broadcast(&g.hides));
  const I c_exponent = V::sub(V::add(V::broadcast(&g.scale_exponent), V::broadcast(&g.c_scale)), e_max);
  const I exponent_of_scale = V::sub(V::add(V::broadcast(&g.scale_exponent), block_scale), e_max);
  const I bounded = V::min(V::max(exponent_of_scale, V::set(1)), V::set(254));
  x.scale = V::as_float(V::template shift_left<23>(bounded));
  x.unscale = V::as_float(V::template shift_left<23>(V::sub(e_max, V::set(25))));
  x.sum = V::truncate(V::mul(V::as_float(c), V::as_float(V::template shift_left<23>(c_exponent))));
  return V::bit_or(hidden, V::bit_or(V::sub(e_max, V::set(lowest_safe_exponent)),
                                     V::sub(V::broadcast(&g.highest), e_max)));
}

// The sum of two halves that exceeds 32 bits, in units twice as large. What that cuts off stays to be seen as
// an odd sum; 24 bits of it are needed, so nothing else is lost.
template <class V>
static inline void widen_unit(GeneralLanes<V>& x, typename V::I first, typename V::I second,
                              typename V::I overflow) {
  using I = typename V::I;
  const I one = V::set(1);
  const I halves = V::add(V::halve(first), V::halve(second));
  const I carry = V::bit_and(V::bit_and(first, second), one);
  const I odd = V::bit_and(V::bit_xor(first, second), one);
  x.sum = V::select(overflow, V::bit_or(V::add(halves, carry), odd), x.sum);
  const I twice = V::add(V::as_int(x.unscale), V::set(1 << 23));
  x.unscale = V::as_float(V::select(overflow, twice, V::as_int(x.unscale)));
}

// x.sum becomes that of both halves. Each holds C (below 2^26 units) and 16 products of bytes (below 3.6 *
// 2^25) or 8 of others (below 4 * 2^25). What is infinite or a NaN shows elsewhere.
template <class V>
static inline void join_halves(GeneralLanes<V>& x, typename V::I first) {
  const auto second = x.sum;
  x.sum = V::add(first, second);
  const auto overflow = V::both_negative(V::bit_xor(first, x.sum), V::bit_xor(second, x.sum));
  if (V::any_negative(overflow)) [[unlikely]] {
    widen_unit<V>(x, first, second, overflow);
  }
}

template <class V, Mode mode, int count, bool partial>
static inline void finish_general_row(const Group<V>& g, int row, const std::int8_t* exponent, bool suspect,
                                      const GeneralLanes<V>* x) {
  constexpr int lanes = V::lanes;
  auto* d = g.template d<BitsOf<mode>>(row);
  alignas(64) std::int32_t sums[count * lanes];
  alignas(64) std::uint32_t c[count * lanes];
  if (suspect) [[unlikely]] {
    save_c<V, mode, count, partial>(d, g.job->zero_c, c);
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) V::store_aligned(sums + v * lanes, x[v].sum);
  }
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) store_float<V, mode, partial>(x[v].sum, x[v].unscale, d + v * lanes);
  if (suspect) [[unlikely]] {
    repair(*g.job, {row, g.column, partial ? lanes / 2 : count * lanes, exponent, sums, c});
  }
}

// Products of k in [first, last), and the exponents of the next rows on the way.
template <class V, int rows, int count>
static inline void add_products(const Group<V>& g, int row, int next, int first, int last,
                                Exponents<V, rows>& exponents, GeneralLanes<V> (&x)[rows][count]) {
  using F = typename V::F;
  const std::uint32_t* a = g.a_words(row);
  const std::uint32_t* a_exponent = g.a_exponents(next);
  const std::uint32_t* b = g.word + first * block_n;
  const std::int8_t* b_exponent = g.exponent + first * block_n;
  for (int k = first; k < last; k += 2, b += 2 * block_n, b_exponent += 2 * block_n) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      exponents.add(g, a_exponent + k + j, b_exponent + j * block_n);
#pragma GCC unroll 4
      for (int v = 0; v < count; ++v) {
        const F y = V::as_float(V::load_aligned(b + j * block_n + v * V::lanes));
#pragma GCC unroll 2
        for (int r = 0; r < rows; ++r) {
          const F product = V::mul(V::as_float(V::broadcast(a + r * g.k + k + j)), y);
          x[r][v].sum = V::add(x[r][v].sum, V::truncate(V::mul(product, x[r][v].scale)));
          asm("" : "+v"(x[r][v].sum));  // see multiply_float_rows
        }
      }
    }
  }
}

// As multiply_float_rows, for each half of k.
template <class V, Mode mode, int rows, int count, bool partial>
static inline void multiply_general_rows(const Group<V>& g, int row, int next,
                                         Exponents<V, rows>& exponents) {
  using I = typename V::I;
  alignas(64) std::int8_t exponent[rows][4 * V::lanes];
  GeneralLanes<V> x[rows][count];
  I first[rows][count];
  I bad[rows];
  exponents.store(exponent);
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
    bad[r] = V::zero();
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      bad[r] =
          V::bit_or(bad[r], start_general<V, mode, partial>(g, row + r, v * V::lanes, exponent[r], x[r][v]));
    }
  }
  exponents.clear();
  add_products(g, row, next, 0, g.k / 2, exponents, x);
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) first[r][v] = std::exchange(x[r][v].sum, V::zero());
  }
  add_products(g, row, next, g.k / 2, g.k, exponents, x);
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) join_halves<V>(x[r][v], first[r][v]);
    const bool suspect = V::any_negative(bad[r]) || g.has_special(row + r);
    finish_general_row<V, mode, count, partial>(g, row + r, exponent[r], suspect, x[r]);
  }
}

}  // namespace palladion::sim::numerics::tc
