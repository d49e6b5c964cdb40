#pragma once
// How pure functions run over the 32 lanes of a warp: compute all lanes into a local array (so that
// the compiler vectorises and destinations may be sources), then write the lanes of the mask.
#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/core/effects.h"

namespace palladion::isa::lanes {

inline constexpr int warp_size = 32;

template <class D>
inline void commit(void* destination, const D* values, uint32_t mask) {
  D* d = static_cast<D*>(destination);
  if (mask == ~0u) {
    std::memcpy(d, values, sizeof(D) * warp_size);
    return;
  }
  for (int i = 0; i < warp_size; ++i) d[i] = (mask >> i & 1) != 0 ? values[i] : d[i];
}

inline void commit_mask(void* destination, uint32_t value, uint32_t mask) {
  auto* d = static_cast<uint32_t*>(destination);
  *d = (*d & ~mask) | (value & mask);
}

inline uint32_t mask_source(const LaneArgs& a, int i) { return *static_cast<const uint32_t*>(a.s[i]); }

template <class S>
inline const S* source(const LaneArgs& a, int i) {
  return static_cast<const S*>(a.s[i]);
}

namespace detail {
template <class F, class D, class... S, size_t... index>
inline void map(const LaneArgs& a, D* t, std::index_sequence<index...>) {
  const F f{};
  for (int i = 0; i < warp_size; ++i) t[i] = static_cast<D>(f(source<S>(a, index)[i]...));
}
template <class F, class... S, size_t... index>
inline uint32_t test(const LaneArgs& a, std::index_sequence<index...>) {
  const F f{};
  alignas(32) uint8_t t[warp_size];
  for (int i = 0; i < warp_size; ++i) t[i] = f(source<S>(a, index)[i]...) ? 0xFF : 0;
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(t))));
}
}  // namespace detail

// d = F(s...), D and S the types of one lane. F is a stateless functor.
template <class F, class D, class... S>
void apply(const LaneArgs& a) {
  D t[warp_size];
  detail::map<F, D, S...>(a, t, std::index_sequence_for<S...>{});
  commit(a.d[0], t, a.mask);
}

// The lanes for which F(s...) is true.
template <class F, class... S>
uint32_t test(const LaneArgs& a) {
  return detail::test<F, S...>(a, std::index_sequence_for<S...>{});
}

template <class F, class... S>
void test_into(const LaneArgs& a) {
  commit_mask(a.d[0], test<F, S...>(a), a.mask);
}

// Calls f.operator()<T>() with the host type of an integer type of 16 bits or more.
template <class Fn>
auto for_integer(Type type, Fn f) -> decltype(f.template operator()<uint16_t>()) {
  switch (type) {
    case Type::s16:
      return f.template operator()<int16_t>();
    case Type::s32:
      return f.template operator()<int32_t>();
    case Type::s64:
      return f.template operator()<int64_t>();
    default:
      break;
  }
  if (is_float(type)) return {};
  if (bits(type) == 16) return f.template operator()<uint16_t>();
  if (bits(type) == 32) return f.template operator()<uint32_t>();
  if (bits(type) == 64) return f.template operator()<uint64_t>();
  return {};
}

// Of any integer type.
template <class Fn>
LanesFn for_any_integer(Type type, Fn f) {
  if (bits(type) != 8) return for_integer(type, f);
  return is_signed(type) ? f.template operator()<int8_t>() : f.template operator()<uint8_t>();
}

// The integer type of twice the width.
namespace detail {
uint32_t wider(uint16_t);
int32_t wider(int16_t);
uint64_t wider(uint32_t);
int64_t wider(int32_t);
unsigned __int128 wider(uint64_t);
__int128 wider(int64_t);
}  // namespace detail
template <class T>
using wider_t = decltype(detail::wider(T{}));

}  // namespace palladion::isa::lanes
