#pragma once
// PTX's comparison operators for integers and floats, and the combination of setp/set with a third
// predicate: shared by the integer and floating definitions.
#include <cmath>
#include <optional>
#include <string_view>

#include "isa/core/effects.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::compare {

enum class Cmp : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class BoolOp : uint8_t { none, and_, or_, xor_ };

// "lo", "ls", "hi", "hs" are lt, le, gt, ge of unsigned types.
inline Cmp cmp_named(std::string_view s) {
  static constexpr std::pair<std::string_view, Cmp> words[] = {
      {"eq", Cmp::eq},   {"ne", Cmp::ne},   {"lt", Cmp::lt},   {"le", Cmp::le},   {"gt", Cmp::gt},
      {"ge", Cmp::ge},   {"lo", Cmp::lt},   {"ls", Cmp::le},   {"hi", Cmp::gt},   {"hs", Cmp::ge},
      {"equ", Cmp::equ}, {"neu", Cmp::neu}, {"ltu", Cmp::ltu}, {"leu", Cmp::leu}, {"gtu", Cmp::gtu},
      {"geu", Cmp::geu}, {"num", Cmp::num}, {"nan", Cmp::nan}};
  for (const auto& [word, c] : words)
    if (word == s) return c;
  return Cmp::eq;
}

inline BoolOp bool_named(std::string_view s) {
  return s == "and" ? BoolOp::and_ : s == "or" ? BoolOp::or_ : s == "xor" ? BoolOp::xor_ : BoolOp::none;
}

template <Cmp c, class T>
struct Compare {
  bool operator()(T a, T b) const {
    switch (c) {
      case Cmp::eq:
        return a == b;
      case Cmp::ne:
        return a < b || a > b;  // ordered: false for NaN
      case Cmp::lt:
        return a < b;
      case Cmp::le:
        return a <= b;
      case Cmp::gt:
        return a > b;
      case Cmp::ge:
        return a >= b;
      case Cmp::equ:
        return !(a < b || a > b);
      case Cmp::neu:
        return a != b;
      case Cmp::ltu:
        return !(a >= b);
      case Cmp::leu:
        return !(a > b);
      case Cmp::gtu:
        return !(a <= b);
      case Cmp::geu:
        return !(a < b);
      case Cmp::num:
        return a == a && b == b;
      case Cmp::nan:
        return a != a || b != b;
    }
    return false;
  }
};

inline uint32_t combine(BoolOp op, uint32_t t, uint32_t c) {
  switch (op) {
    case BoolOp::none:
      return t;
    case BoolOp::and_:
      return t & c;
    case BoolOp::or_:
      return t | c;
    case BoolOp::xor_:
      return t ^ c;
  }
  return t;
}

// setp: p = (a cmp b) op c, q = !(a cmp b) op c; sources a, b[, c], destinations p[, q].
// `L` maps a stored lane to the compared value (identity for integers, decoding for half floats).
template <Cmp c, BoolOp op, bool has_q, class T, class L>
void set_predicate(const LaneArgs& a) {
  struct F {
    bool operator()(T x, T y) const { return Compare<c, decltype(L{}(x))>{}(L{}(x), L{}(y)); }
  };
  const uint32_t t = lanes::test<F, T, T>(a);
  const uint32_t third = op == BoolOp::none ? 0 : lanes::mask_source(a, 2);
  lanes::commit_mask(a.d[0], combine(op, t, third), a.mask);
  if constexpr (has_q) lanes::commit_mask(a.d[1], combine(op, ~t, third), a.mask);
}

struct Identity {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

template <class T, class L, Cmp c, bool has_q>
LanesFn set_predicate_for(BoolOp op) {
  switch (op) {
    case BoolOp::none:
      return set_predicate<c, BoolOp::none, has_q, T, L>;
    case BoolOp::and_:
      return set_predicate<c, BoolOp::and_, has_q, T, L>;
    case BoolOp::or_:
      return set_predicate<c, BoolOp::or_, has_q, T, L>;
    case BoolOp::xor_:
      return set_predicate<c, BoolOp::xor_, has_q, T, L>;
  }
  return nullptr;
}

// Calls f.operator()<Cmp>() for a comparison known at run time.
template <class Fn>
LanesFn for_cmp(Cmp c, Fn f) {
  switch (c) {
    case Cmp::eq:
      return f.template operator()<Cmp::eq>();
    case Cmp::ne:
      return f.template operator()<Cmp::ne>();
    case Cmp::lt:
      return f.template operator()<Cmp::lt>();
    case Cmp::le:
      return f.template operator()<Cmp::le>();
    case Cmp::gt:
      return f.template operator()<Cmp::gt>();
    case Cmp::ge:
      return f.template operator()<Cmp::ge>();
    case Cmp::equ:
      return f.template operator()<Cmp::equ>();
    case Cmp::neu:
      return f.template operator()<Cmp::neu>();
    case Cmp::ltu:
      return f.template operator()<Cmp::ltu>();
    case Cmp::leu:
      return f.template operator()<Cmp::leu>();
    case Cmp::gtu:
      return f.template operator()<Cmp::gtu>();
    case Cmp::geu:
      return f.template operator()<Cmp::geu>();
    case Cmp::num:
      return f.template operator()<Cmp::num>();
    case Cmp::nan:
      return f.template operator()<Cmp::nan>();
  }
  return nullptr;
}

}  // namespace palladion::isa::compare
