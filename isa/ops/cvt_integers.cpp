// cvt between integers.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

// Without .sat a conversion extends the low bits that both types have.
template <class Field>
struct Extend {
  Field operator()(auto x) const { return static_cast<Field>(x); }
};
// Signed into unsigned into a still wider register: ones up to the type's width, zeros above.
template <class From, class To>
struct ExtendTwice {
  To operator()(auto x) const { return static_cast<To>(static_cast<From>(x)); }
};

// Extends from a register of type S into one of type D.
template <class From, class To, class D, class S>
LanesFn extension() {
  using Field = std::conditional_t<(sizeof(From) < sizeof(To)), From, To>;
  constexpr bool mixed = std::is_signed_v<From> && std::is_unsigned_v<To> && sizeof(From) < sizeof(To);
  if constexpr (mixed && sizeof(To) < sizeof(D))
    return lanes::apply<ExtendTwice<From, To>, D, S>;
  else
    return lanes::apply<Extend<Field>, D, S>;
}

// One value type for signed and one for unsigned sources.
template <class T>
struct ReadWide {
  using Value = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  static const Value* from(const void* s, uint32_t width, Value* scratch) {
    return read<T, Value>(s, width, scratch);
  }
};

// Calls f.operator()<uint32_t>() with the lane type of a register, if it holds at least `needed` bits.
template <int needed, class Fn>
LanesFn for_register(int width, Fn f) {
  if constexpr (needed <= 8) {
    if (width == 8) return f.template operator()<uint8_t>();
  }
  if constexpr (needed <= 16) {
    if (width == 16) return f.template operator()<uint16_t>();
  }
  if constexpr (needed <= 32) {
    if (width == 32) return f.template operator()<uint32_t>();
  }
  return width == 64 ? f.template operator()<uint64_t>() : nullptr;
}

// Is there a value of From that To does not have?
template <class From, class To>
constexpr bool can_exceed = [] {
  constexpr bool from_signed = std::is_signed_v<From>, to_signed = std::is_signed_v<To>;
  if (from_signed && !to_signed) return true;
  return from_signed == to_signed ? sizeof(From) > sizeof(To) : sizeof(From) >= sizeof(To);
}();

}  // namespace

LanesFn saturated_integer(const Request& r) {
  return lanes::for_any_integer(r.to, [&]<class To>() {
    return lanes::for_any_integer(r.from, [&]<class From>() -> LanesFn {
      if constexpr (can_exceed<From, To>) {
        using Format = format_of<typename ReadWide<From>::Value>;
        return steps<ReadWide<From>, convert_lanes<format_of<To>, Format, Rounding::rn, CvtMods{.sat = true}>,
                     To>;
      }
      return nullptr;
    });
  });
}

LanesFn integer_to_integer(const Request& r) {
  return lanes::for_any_integer(r.to, [&]<class To>() {
    return lanes::for_any_integer(r.from, [&]<class From>() {
      return for_register<sizeof(To) * 8>(r.to_width, [&]<class D>() {
        return for_register<sizeof(From) * 8>(
            r.from_width, [&]<class S>() -> LanesFn { return extension<From, To, D, S>(); });
      });
    });
  });
}

}  // namespace palladion::isa::cvt
