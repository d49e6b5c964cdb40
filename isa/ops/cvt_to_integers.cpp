// cvt from floats to integers: always saturating, so .sat changes nothing.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

// f16 and bf16 go through f32, which holds them exactly.
template <class Half, class Register>
struct ReadWidened {
  using Value = uint32_t;
  static const uint32_t* read(const void* s, uint32_t* scratch) {
    using Read = ReadFloat<Half, Register>;
    uint16_t halves[warp_size];
    num::lanes::to_f32<Half>(Read::read(s, halves), scratch, warp_size);
    return scratch;
  }
};

template <class From>
using computed_format = std::conditional_t<std::is_same_v<From, num::F64>, num::F64, num::F32>;

template <class From, class Register>
using Reader = std::conditional_t<(From::width < 32), ReadWidened<From, Register>, ReadFloat<From, Register>>;

template <class To, class From, Rounding R, CvtMods M>
LanesFn with_registers(const Request& r) {
  using Value = typename To::value_type;
  return for_register<To::width>(r.to_width, [&]<class D>() {
    return for_float_register<From>(r.from_width, [&]<class S>() -> LanesFn {
      return steps<Reader<From, S>, convert_lanes<To, computed_format<From>, R, M>, Value, D>;
    });
  });
}

}  // namespace

LanesFn float_to_integer(const Request& r) {
  return lanes::for_integer(r.to, [&]<class To>() {
    return for_float(r.from, [&]<class From>() {
      return floats::for_rounding(r.rounding, [&]<Rounding R>() {
        if constexpr (std::is_same_v<From, num::F32>) {
          if (r.ftz) return with_registers<format_of<To>, From, R, CvtMods{.ftz = true}>(r);
        }
        return with_registers<format_of<To>, From, R, CvtMods{}>(r);
      });
    });
  });
}

}  // namespace palladion::isa::cvt
