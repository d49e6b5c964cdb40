#pragma once
// What the floating families share: reading the words that round, and running over arrays of lanes
// or, for packed halves, over both halves of each lane.
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/core/form.h"
#include "isa/core/instruction.h"
#include "isa/core/op.h"
#include "isa/num/lanes.h"
#include "isa/num/order.h"
#include "isa/ops/decode.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::floats {

using num::ArithMods;
using num::Rounding;

// "rn", "rni" and an absent word are nearest even.
inline Rounding rounding_named(std::string_view word) {
  using enum Rounding;
  static constexpr std::pair<std::string_view, Rounding> words[] = {
      {"", rn},   {"rn", rn},  {"rni", rn}, {"rz", rz},  {"rzi", rz},
      {"rm", rm}, {"rmi", rm}, {"rp", rp},  {"rpi", rp}, {"rna", rna}};
  return decode::word_of(word, words);
}

// Whether a slot that only some forms of the op have is filled.
inline bool has(const Instruction& i, std::string_view slot) {
  return i.form->slot(slot) >= 0 && i.has(slot);
}

// Calls f.operator()<Rounding>() for one of the four IEEE roundings.
template <class Fn>
LanesFn for_rounding(Rounding r, Fn f) {
  using enum Rounding;
  return num::with_constant<rn, rz, rm, rp>(r == rna ? rn : r, f);
}

// F over `count` elements of T that are contiguous; packed pairs are 64 elements of half a lane's width,
// written back lane by lane.
template <class F, class T, int count, int sources>
void elements(const LaneArgs& a) {
  static_assert(count == lanes::warp_size || (count == 2 * lanes::warp_size && sizeof(T) <= 4));
  using Pair = std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>;
  using Lane = std::conditional_t<count == lanes::warp_size, T, Pair>;
  alignas(32) T t[count];
  const F f{};
  for (int i = 0; i < count; ++i) {
    if constexpr (sources == 1) t[i] = f(lanes::source<T>(a, 0)[i]);
    if constexpr (sources == 2) t[i] = f(lanes::source<T>(a, 0)[i], lanes::source<T>(a, 1)[i]);
    if constexpr (sources == 3)
      t[i] = f(lanes::source<T>(a, 0)[i], lanes::source<T>(a, 1)[i], lanes::source<T>(a, 2)[i]);
  }
  Lane whole[lanes::warp_size];
  static_assert(sizeof whole == sizeof t);
  std::memcpy(whole, t, sizeof t);
  lanes::commit(a.d[0], whole, a.mask);
}

template <class Format, class F, int sources>
inline constexpr LanesFn lanes_of = elements<F, num::bits_of<Format>, lanes::warp_size, sources>;
template <class Format, class F, int sources>
inline constexpr LanesFn pairs_of = elements<F, num::bits_of<Format>, 2 * lanes::warp_size, sources>;

template <class F, bool ftz>
struct Neg {
  auto operator()(num::bits_of<F> a) const { return num::neg<F, ftz>(a); }
};
template <class F, bool ftz>
struct Abs {
  auto operator()(num::bits_of<F> a) const { return num::abs<F, ftz>(a); }
};
template <class F, num::MinMaxMods M>
struct Min {
  auto operator()(num::bits_of<F> a, num::bits_of<F> b) const { return num::min<F, M>(a, b); }
};
template <class F, num::MinMaxMods M>
struct Max {
  auto operator()(num::bits_of<F> a, num::bits_of<F> b) const { return num::max<F, M>(a, b); }
};

}  // namespace palladion::isa::floats

namespace palladion::isa::ops {
// Of the family of floating-point instructions, without those that round.
std::vector<OpDef> signs_and_order(), tests();
}  // namespace palladion::isa::ops
