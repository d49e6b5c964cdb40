// The hot loop of mxf4 and mxf4nvf4, for any vector unit V (see tensor_core_vector.h for who may include it).
//
// A group's products are summed exactly in bytes and int16: A as bytes without a sign, packed_offset too
// large, which is taken back once for each column. A sum and the significands of its scales fill less than 24
// bits, so f32 can hold the term and truncate it to whole units of 2^(e_max - 35); five of them below 2^49
// are added in f64.
#pragma once

#include "sim/numerics/tcgen05_kernels.h"

namespace palladion::sim::numerics::tcgen05 {

// Some columns of one row.
template <class V>
struct PackedLanes {
  typename V::I sum[groups];       // in quarters
  typename V::I exponent[groups];  // biased
  typename V::I nonzero;           // products or C
  typename V::I e_max;
};

template <class V, int words>
static inline void sum_groups(const PackedJob& job, int row, int column, PackedLanes<V>& x) {
  using I = typename V::I;
  const PackedB& b = *job.b;
  const auto& of_a = job.a->group;
  const std::uint32_t* a = job.a->word[row];
  const std::uint32_t* b_word = b.word[0] + column;
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) {
    I sum = V::load_aligned(b.offset[g] + column);
#pragma GCC unroll 8
    for (int w = 0; w < words; ++w, ++a, b_word += max_n)
      sum = V::add_byte_products(sum, V::broadcast(a), V::load_aligned(b_word));
    x.sum[g] = V::add_pairs(sum);
    const I nonzero =
        V::bit_and(V::broadcast(&of_a.nonzero[row][g]), V::load_aligned(b.group.nonzero[g] + column));
    const I scale =
        V::add(V::broadcast(&of_a.exponent[row][g]), V::load_aligned(b.group.exponent[g] + column));
    x.exponent[g] = V::select_zero(nonzero, V::set(no_exponent), scale);
    x.nonzero = V::bit_or(x.nonzero, nonzero);
    x.e_max = V::max(x.e_max, x.exponent[g]);
  }
}

// The sum of all terms in units of 2^(e_max - 35), as f32 rounded once.
template <class V, bool significands>
static inline typename V::F add_terms(const PackedJob& job, int row, int column, typename V::I c,
                                      const PackedLanes<V>& x) {
  using I = typename V::I;
  using F = typename V::F;
  constexpr int fraction = significands ? 8 : 2;  // bits of a sum times its significands
  const auto power = [](I biased) { return V::as_float(V::template shift_left<23>(biased)); };
  const F of_c = V::round_to_zero(V::mul(V::as_float(c), power(V::sub(V::set(254 + 35), x.e_max))));
  auto low = V::low_doubles(of_c), high = V::high_doubles(of_c);
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) {
    const I exponent = V::add(V::sub(x.exponent[g], x.e_max), V::set(127 + 35 - fraction));
    F sum = V::to_float(x.sum[g]);
    if constexpr (significands) {
      const F b = V::as_float(V::load_aligned(job.b->group.significand[g] + column));
      sum = V::mul(sum, V::mul(b, V::as_float(V::broadcast(&job.a->group.significand[row][g]))));
    }
    const F term = V::round_to_zero(V::mul(sum, power(V::max(exponent, V::set(1)))));
    low = V::add_doubles(low, V::low_doubles(term));
    high = V::add_doubles(high, V::high_doubles(term));
  }
  const F unit = power(V::sub(x.e_max, V::set(35)));
  const F rounded =
      V::from_doubles(V::mul_doubles(low, V::low_doubles(unit)), V::mul_doubles(high, V::high_doubles(unit)));
  return V::add_float(rounded, V::as_float(V::zero()));  // -0, of negative sums under scales of zero, is +0
}

template <class V, int words, bool significands, bool partial>
static inline void multiply_packed_lanes(const PackedJob& job, int row, int column) {
  using I = typename V::I;
  std::uint32_t* d = job.d + row * job.stride + column;
  const I c = job.zero_c ? V::zero() : V::template load<partial>(d);
  const I magnitude = V::template shift_left<1>(c);
  PackedLanes<V> x;
  x.nonzero = magnitude;
  x.e_max = V::template shift_right<24>(magnitude);
  sum_groups<V, words>(job, row, column, x);
  x.e_max = V::select_zero(x.nonzero, V::set(127), x.e_max);
  V::template store<partial>(d, V::as_int(add_terms<V, significands>(job, row, column, c, x)));
  const I bad = V::bit_or(V::sub(x.e_max, V::set(lowest_packed_exponent)),
                          V::sub(V::set(highest_packed_exponent), x.e_max));
  const bool nan = ((job.a->nan_rows[row / 64] >> row % 64) & 1) | (job.b->nan_columns[column / 64] != 0);
  if (V::any_negative(bad) || nan) [[unlikely]] {
    alignas(64) std::uint32_t saved[V::lanes];
    V::store_aligned(saved, c);
    repair_packed(job, row, column, partial ? V::lanes / 2 : V::lanes, saved);
  }
}

template <class V, int words, bool significands>
static void run_packed(const PackedJob& job) {
  int column = 0;
  for (; column + V::lanes <= job.n; column += V::lanes) {
    for (int row = 0; row < job.m; ++row)
      multiply_packed_lanes<V, words, significands, false>(job, row, column);
  }
  if constexpr (V::lanes == 16) {
    for (int row = 0; column < job.n && row < job.m; ++row)
      multiply_packed_lanes<V, words, significands, true>(job, row, column);
  }
}

template <class V>
static void run_packed_job(const PackedJob& job) {
  switch (job.words) {
    case 4:
      return job.significands ? run_packed<V, 4, true>(job) : run_packed<V, 4, false>(job);
    case 8:
      return job.significands ? run_packed<V, 8, true>(job) : run_packed<V, 8, false>(job);
  }
}

}  // namespace palladion::sim::numerics::tcgen05
