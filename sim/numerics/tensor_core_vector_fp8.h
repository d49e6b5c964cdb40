// fp8: all is smaller. Terms are below 2^15 units of 2^(e_max - 13) and 32 of them below 2^20, so f32 itself
// can hold the running sum. It starts at 2^23 units, where one unit is the last bit: a fused multiply-add
// toward zero then truncates each product exactly as the hardware does, provided that the sum has the
// product's sign. Hence two sums, one from 2^23 units up and one from -2^23 units down; B lies split by sign,
// and the sign of A says which half goes where.
#pragma once

#include "sim/numerics/tensor_core_vector_group.h"

namespace palladion::sim::numerics::tc {

// The starts of both sums of one row, C included. Returns whether e_max leaves the safe range somewhere.
template <class V, Mode mode, int count, bool partial>
static inline bool start_fp8_row(const Group<V>& g, int row, const std::int8_t* exponent, typename V::F* plus,
                                 typename V::F* minus) {
  using I = typename V::I;
  const auto* d = g.template d<const BitsOf<mode>>(row);
  I lowest = V::set(0x7FFFFFFF);
  I highest = V::zero();
  const auto zero = V::as_float(V::zero());
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const I c = load_c<V, mode, partial>(d + v * V::lanes, g.job->zero_c);
    const I relative = V::widen(exponent + v * V::lanes);
    const I e_max = V::max(V::add(relative, V::broadcast(&g.largest)), exponent_of_c<V, mode>(c));
    lowest = V::min(lowest, e_max);
    highest = V::max(highest, e_max);
    const I start = V::template shift_left<23>(V::add(e_max, V::set(10)));
    const I minus_start = V::bit_xor(start, V::broadcast(&g.sign_bit));
    plus[v] = V::add_float(V::as_float(start), V::max_float(V::as_float(c), zero));
    minus[v] = V::add_float(V::as_float(minus_start), V::min_float(V::as_float(c), zero));
  }
  return V::any_negative(V::bit_or(V::sub(lowest, V::set(lowest_safe_exponent)),
                                   V::sub(V::set(highest_safe_exponent_of_fp8), highest)));
}

template <class V, Mode mode, int count, bool partial>
static inline void finish_fp8_row(const Group<V>& g, int row, const std::int8_t* exponent, bool suspect,
                                  const typename V::F* plus, const typename V::F* minus) {
  constexpr int lanes = V::lanes;
  auto* d = g.template d<BitsOf<mode>>(row);
  alignas(64) std::uint32_t c[count * lanes];
  if (suspect) [[unlikely]] {
    save_c<V, mode, count, partial>(d, g.job->zero_c, c);
  }
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    const auto exact = V::add_float(plus[v], minus[v]);
    if constexpr (is_half<mode>) {
      V::template store_half<partial>(d + v * lanes, exact);
    } else {
      V::template store<partial>(d + v * lanes, V::bit_and(V::as_int(exact), V::broadcast(&g.fraction_mask)));
    }
  }
  if (suspect) [[unlikely]] {
    repair(*g.job, {row, g.column, partial ? lanes / 2 : count * lanes, exponent, nullptr, c});
  }
}

template <class V, Mode mode, int rows, int count, bool partial>
static inline void multiply_fp8_rows(const Group<V>& g, int row, int next, Exponents<V, rows>& exponents) {
  using F = typename V::F;
  alignas(64) std::int8_t exponent[rows][4 * V::lanes];
  F plus[rows][count];
  F minus[rows][count];
  bool odd[rows];
  exponents.store(exponent);
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
    odd[r] = start_fp8_row<V, mode, count, partial>(g, row + r, exponent[r], plus[r], minus[r]);
  }
  exponents.clear();
  const std::uint32_t* a = g.a_words(row);
  const std::uint32_t* a_exponent = g.a_exponents(next);
  const std::uint32_t* b = g.word;
  const std::int8_t* b_exponent = g.exponent;
  for (int k = 0; k < g.k; ++k, b += 2 * block_n, b_exponent += block_n) {
    exponents.add(g, a_exponent + k, b_exponent);
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t* word = a + r * g.k + k;
      const F x = V::as_float(V::broadcast(word));
      const std::ptrdiff_t to_plus = (static_cast<std::int32_t>(*word) >> 31) & block_n;
      const std::uint32_t* b_plus = b + to_plus;
      const std::uint32_t* b_minus = b + (to_plus ^ block_n);
#pragma GCC unroll 4
      for (int v = 0; v < count; ++v) {
        plus[r][v] = V::fma(x, V::as_float(V::load_aligned(b_plus + v * V::lanes)), plus[r][v]);
        minus[r][v] = V::fma(x, V::as_float(V::load_aligned(b_minus + v * V::lanes)), minus[r][v]);
      }
    }
  }
#pragma GCC unroll 2
  for (int r = 0; r < rows; ++r) {
    const bool suspect = odd[r] || g.has_special(row + r);
    finish_fp8_row<V, mode, count, partial>(g, row + r, exponent[r], suspect, plus[r], minus[r]);
  }
}

}  // namespace palladion::sim::numerics::tc
