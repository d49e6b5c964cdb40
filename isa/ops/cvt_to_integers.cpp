// cvt from floats to integers: always saturating, so .sat changes nothing.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

// f16 and bf16 go through f32, which holds them exactly.
template <class Half>
struct ReadWidened {
  using Value = uint32_t;
  static const uint32_t* from(const void* s, uint32_t width, uint32_t* scratch) {
    uint16_t halves[warp_size];
    num::lanes::to_f32<Half>(ReadFloat<Half>::from(s, width, halves), scratch, warp_size);
    return scratch;
  }
};

template <class From>
using computed_format = std::conditional_t<std::is_same_v<From, num::F64>, num::F64, num::F32>;

template <class To, class From, Rounding R, bool ftz>
LanesFn converted() {
  using Source = std::conditional_t<(From::width < 32), ReadWidened<From>, ReadFloat<From>>;
  return steps<Source, convert_lanes<format_of<To>, computed_format<From>, R, CvtMods{.ftz = ftz}>, To>;
}

}  // namespace

LanesFn float_to_integer(const Request& r) {
  return lanes::for_any_integer(r.to, [&]<class To>() {
    return for_float(r.from, [&]<class From>() {
      return floats::for_rounding(r.rounding, [&]<Rounding R>() {
        if constexpr (std::is_same_v<From, num::F32>) {
          if (r.ftz) return converted<To, From, R, true>();
        }
        return converted<To, From, R, false>();
      });
    });
  });
}

}  // namespace palladion::isa::cvt
