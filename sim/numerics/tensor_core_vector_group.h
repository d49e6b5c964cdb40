// What the vector kernels of the tensor core share: a group of columns, its C, its exponents. See
// tensor_core_vector.h.
#pragma once

#include <type_traits>

#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tc {

template <Mode mode>
inline constexpr bool is_half = mode == Mode::f16 || mode == Mode::f16_fp8 || mode == Mode::f16_general;

template <Mode mode>
inline constexpr bool is_of_fp8 = mode == Mode::f32_13_bits || mode == Mode::f16_fp8;

template <Mode mode>
inline constexpr bool is_general = mode == Mode::f32_general || mode == Mode::f16_general;

template <Mode mode>
using BitsOf = std::conditional_t<is_half<mode>, std::uint16_t, std::uint32_t>;

// Up to four vectors of columns, over all rows. Constants lie in memory on purpose: broadcast from there,
// they cost a load; made from immediates in each row, they cost the port that the arithmetic needs.
template <class V>
struct Group {
  const Job* job;
  const std::uint32_t* word;  // B from the group's first column, rows of words_of_k
  const std::int8_t* exponent;
  int k;
  int column;
  std::uint32_t largest;         // biased exponent that relative ones are relative to
  std::uint32_t scale_exponent;  // 254 + 25: less e_max, the biased exponent of 2^(25 - e_max)
  std::uint32_t unscale_bits;    // 254 << 23: less 2^(25 - e_max), the bits of 2^(e_max - 25)
  std::uint32_t fraction_mask;   // what RZ-E8M13 keeps of an f32
  std::uint32_t sign_bit;
  std::uint32_t c_scale;          // log2 of what C is multiplied with
  std::uint32_t hides;            // all ones if products that are not zero may be hidden
  std::uint32_t nothing;          // e_max where no product is seen and C is zero
  std::uint32_t highest;          // safe e_max: below that of an infinite C
  std::uint64_t special_columns;  // of the group's block

  const std::uint32_t* a_words(int row) const { return job->a->word + row * k; }
  const std::uint32_t* a_exponents(int row) const { return job->a->exponent + row * k; }
  bool has_special(int row) const { return special_columns || ((job->a->special_rows >> row) & 1); }

  template <class Bits>
  Bits* d(int row) const {
    return static_cast<Bits*>(job->d) + row * job->stride + column;
  }
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

// Max over k of the relative exponents of products, in bytes, for `rows` rows of A. That of the next rows is
// computed among the products of these, whose ports it leaves free and whose latency it hides.
template <class V, int rows>
struct Exponents {
  typename V::I e[rows];

  void clear() {
    for (auto& x : e) x = V::set(static_cast<int>(0x80808080u));
  }
  // a: exponents of the rows at some k, g.k apart.
  void add(const Group<V>& g, const std::uint32_t* a, const std::int8_t* b) {
    const auto y = V::load_bytes(b);
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) e[r] = V::max_bytes(e[r], V::add_bytes(V::broadcast(a + r * g.k), y));
  }
  // Bytes to widen from memory: taking registers apart needs the busiest port.
  void store(std::int8_t (*to)[4 * V::lanes]) const {
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) V::store_bytes(to[r], V::hide(e[r]));
    asm("" ::: "memory");
  }
};

// Keeps C, which the results are about to overwrite, for repair().
template <class V, Mode mode, int count, bool partial>
static inline void save_c(const BitsOf<mode>* d, bool zero, std::uint32_t* to) {
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v)
    V::store_aligned(to + v * V::lanes, load_c<V, mode, partial>(d + v * V::lanes, zero));
}

}  // namespace palladion::sim::numerics::tc
