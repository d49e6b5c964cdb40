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

template <class From, class To, class D, class S>
LanesFn unsaturated() {
  using Field = std::conditional_t<(sizeof(From) < sizeof(To)), From, To>;
  constexpr bool mixed = std::is_signed_v<From> && std::is_unsigned_v<To> && sizeof(From) < sizeof(To);
  if constexpr (mixed && sizeof(To) < sizeof(D))
    return lanes::apply<ExtendTwice<From, To>, D, S>;
  else
    return lanes::apply<Extend<Field>, D, S>;
}

// One value type for signed and one for unsigned sources.
template <class T, class Register>
struct ReadWide {
  using Value = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  [[gnu::noinline]] static const Value* read(const void* s, Value* scratch) {
    for (int i = 0; i < warp_size; ++i) scratch[i] = static_cast<T>(static_cast<const Register*>(s)[i]);
    return scratch;
  }
};

template <class From, class To, class D, class S>
LanesFn saturated() {
  using Read = ReadWide<From, S>;
  return steps<
      Read, convert_lanes<format_of<To>, format_of<typename Read::Value>, Rounding::rn, CvtMods{.sat = true}>,
      To, D>;
}

// Is there a value of From that To does not have?
template <class From, class To>
constexpr bool can_exceed = std::is_signed_v<From> && !std::is_signed_v<To>  ? true
                            : std::is_signed_v<From> == std::is_signed_v<To> ? sizeof(From) > sizeof(To)
                                                                             : sizeof(From) >= sizeof(To);

}  // namespace

LanesFn integer_to_integer(const Request& r) {
  return lanes::for_integer(r.to, [&]<class To>() {
    return lanes::for_integer(r.from, [&]<class From>() {
      return for_register<sizeof(To) * 8>(r.to_width, [&]<class D>() {
        return for_register<sizeof(From) * 8>(r.from_width, [&]<class S>() -> LanesFn {
          if constexpr (can_exceed<From, To>) {
            if (r.sat) return saturated<From, To, D, S>();
          }
          return unsaturated<From, To, D, S>();
        });
      });
    });
  });
}

}  // namespace palladion::isa::cvt
