#pragma once
// Values that live across the iterations of a loop or the branches of a condition: scalars, arrays, and
// tuples, pairs, std::arrays and std::vectors of them.
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/scalar.h"

namespace palladion::frontend {

struct CarryLeaf {
  bool is_array = false;
  pl::DType dtype = pl::DType::s32;
  pl::Shape shape;
  plgpu::Layout layout;
  std::vector<Operand> registers;
  bool nonnegative = false;
  Type type = Type::b32;  // of the registers
};
using Carry = std::vector<CarryLeaf>;

void add_leaf(Carry& carry, const pl::Scalar& value);
void add_leaf(Carry& carry, const plgpu::Array& value);
pl::Scalar scalar_of(const CarryLeaf& leaf);
plgpu::Array array_of(const CarryLeaf& leaf);

// Registers of its own with these values.
Carry copy_carry(Recorder& r, const Carry& from);
// All at once: to[i] = from[i]; what differs in dtype, shape or layout is an error that names `verb`.
void assign_carry(Recorder& r, const Carry& to, const Carry& from, std::string_view verb);

template <class T>
struct CarryTraits {
  static_assert(never<T>,
                "a carry is a number, an array, or a tuple, pair, std::array or std::vector of them; "
                "references, barriers and accumulators stay where they are: capture them");
  using Result = T;
  static void add(Carry&, const T&) {}
  static Result get(const Carry&, size_t&, const T& like) { return like; }
};

template <class T>
  requires std::integral<T> || std::floating_point<T>
struct CarryTraits<T> {
  using Result = pl::Scalar;
  static void add(Carry& c, T v) { add_leaf(c, pl::Scalar(v)); }
  static Result get(const Carry& c, size_t& i, const T&) { return scalar_of(c[i++]); }
};
template <>
struct CarryTraits<pl::Scalar> {
  using Result = pl::Scalar;
  static void add(Carry& c, const pl::Scalar& v) { add_leaf(c, v); }
  static Result get(const Carry& c, size_t& i, const pl::Scalar&) { return scalar_of(c[i++]); }
};
template <>
struct CarryTraits<plgpu::Array> {
  using Result = plgpu::Array;
  static void add(Carry& c, const plgpu::Array& v) { add_leaf(c, v); }
  static Result get(const Carry& c, size_t& i, const plgpu::Array&) { return array_of(c[i++]); }
};
template <class... Ts>
struct CarryTraits<std::tuple<Ts...>> {
  using Result = std::tuple<typename CarryTraits<Ts>::Result...>;
  static void add(Carry& c, const std::tuple<Ts...>& v) {
    std::apply([&](const Ts&... x) { (CarryTraits<Ts>::add(c, x), ...); }, v);
  }
  static Result get(const Carry& c, size_t& i, const std::tuple<Ts...>& like) {
    return std::apply([&](const Ts&... x) { return Result{CarryTraits<Ts>::get(c, i, x)...}; }, like);
  }
};
template <class A, class B>
struct CarryTraits<std::pair<A, B>> {
  using Result = std::pair<typename CarryTraits<A>::Result, typename CarryTraits<B>::Result>;
  static void add(Carry& c, const std::pair<A, B>& v) {
    CarryTraits<A>::add(c, v.first);
    CarryTraits<B>::add(c, v.second);
  }
  static Result get(const Carry& c, size_t& i, const std::pair<A, B>& like) {
    auto first = CarryTraits<A>::get(c, i, like.first);
    return {std::move(first), CarryTraits<B>::get(c, i, like.second)};
  }
};
template <class T, size_t n>
struct CarryTraits<std::array<T, n>> {
  using Result = std::array<typename CarryTraits<T>::Result, n>;
  static void add(Carry& c, const std::array<T, n>& v) {
    for (const T& x : v) CarryTraits<T>::add(c, x);
  }
  static Result get(const Carry& c, size_t& i, const std::array<T, n>& like) {
    Result out;
    for (size_t k = 0; k < n; ++k) out[k] = CarryTraits<T>::get(c, i, like[k]);
    return out;
  }
};
template <class T>
struct CarryTraits<std::vector<T>> {
  using Result = std::vector<typename CarryTraits<T>::Result>;
  static void add(Carry& c, const std::vector<T>& v) {
    for (const T& x : v) CarryTraits<T>::add(c, x);
  }
  static Result get(const Carry& c, size_t& i, const std::vector<T>& like) {
    Result out;
    for (const T& x : like) out.push_back(CarryTraits<T>::get(c, i, x));
    return out;
  }
};

template <class T>
using CarryResult = typename CarryTraits<std::decay_t<T>>::Result;

template <class T>
Carry flatten(const T& value) {
  Carry c;
  CarryTraits<std::decay_t<T>>::add(c, value);
  return c;
}
template <class T>
CarryResult<T> rebuild(const Carry& c, const T& like) {
  size_t i = 0;
  return CarryTraits<std::decay_t<T>>::get(c, i, like);
}

}  // namespace palladion::frontend
