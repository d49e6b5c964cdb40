// A value that is known at run time, as a constant of a template.
#pragma once

#define PLD_NUM_INLINE [[gnu::always_inline]] inline

namespace palladion::isa::num {

/// Calls `fn.template operator()<v>()` with the v of the list that `value` is and gives its result; a value
/// that is not in the list gives an empty one.
template <auto first, auto... rest, class Fn>
PLD_NUM_INLINE auto with_constant(auto value, Fn&& fn) {
  decltype(fn.template operator()<first>()) result {};
  static_cast<void>((value == first && (result = fn.template operator()<first>(), true)) ||
                    (... || (value == rest && (result = fn.template operator()<rest>(), true))));
  return result;
}

}  // namespace palladion::isa::num
