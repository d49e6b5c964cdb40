#pragma once
// Numbers of things that do not mix: a warp in its CTA is not a warp in its cluster.
#include <fmt/core.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace palladion::isa {

// The number of a thing of the kind Tag, from 0. It is made explicitly and read as a number; it converts to
// no other kind, and is compared with none.
template <class Tag, std::integral Number = uint32_t>
class Index {
 public:
  constexpr Index() = default;
  template <std::integral N>
  explicit constexpr Index(N number) : number_(static_cast<Number>(number)) {}
  // Never called: with it, `c ? 0 : index` could convert either operand, and does not compile. Without it the
  // index would become an int.
  template <std::integral N, std::same_as<N>... None>
    requires(sizeof(N) < sizeof(Number))
  consteval Index(N, None...) {  // NOLINT: implicit on purpose
    throw "a number becomes an index by its name alone";
  }
  constexpr operator Number() const { return number_; }
  // Templates, so that no number is converted for them.
  template <std::same_as<Index> I>
  friend constexpr auto operator<=>(I a, I b) {
    return a.number_ <=> b.number_;
  }
  template <std::same_as<Index> I>
  friend constexpr bool operator==(I a, I b) {
    return a.number_ == b.number_;
  }

  // The one so many places behind or before; a number that has more bits gives a number.
  template <std::integral N>
    requires(sizeof(N) <= sizeof(Number))
  friend constexpr Index operator+(Index index, N count) {
    return Index(index.number_ + static_cast<Number>(count));
  }
  template <std::integral N>
    requires(sizeof(N) <= sizeof(Number))
  friend constexpr Index operator-(Index index, N count) {
    return Index(index.number_ - static_cast<Number>(count));
  }
  template <std::integral N>
  constexpr Index& operator+=(N count) {
    number_ += static_cast<Number>(count);
    return *this;
  }
  constexpr Index& operator++() {
    ++number_;
    return *this;
  }
  constexpr Index& operator--() {
    --number_;
    return *this;
  }

 private:
  Number number_ = 0;
};

template <class A, class N, class B, class M>
  requires(!std::same_as<A, B>)
bool operator==(Index<A, N>, Index<B, M>) = delete;
template <class A, class N, class B, class M>
  requires(!std::same_as<A, B>)
bool operator<=>(Index<A, N>, Index<B, M>) = delete;

}  // namespace palladion::isa

template <class Tag, class Number>
struct std::hash<palladion::isa::Index<Tag, Number>> : std::hash<Number> {};

template <class Tag, class Number>
struct fmt::formatter<palladion::isa::Index<Tag, Number>> : fmt::formatter<Number> {
  auto format(palladion::isa::Index<Tag, Number> index, auto& context) const {
    return fmt::formatter<Number>::format(index, context);
  }
};
