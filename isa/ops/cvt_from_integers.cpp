// cvt from integers to floats. Results are never subnormal, so .ftz changes nothing.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {
namespace {

template <class To, class From, Rounding R, CvtMods M>
LanesFn with_registers(const Request& r) {
  return for_float_register<To>(r.to_width, [&]<class D>() {
    return for_register<sizeof(From) * 8>(r.from_width, [&]<class S>() -> LanesFn {
      using Read = ReadInteger<From, S>;
      return steps<Read, convert_lanes<To, format_of<typename Read::Value>, R, M>, num::bits_of<To>, D>;
    });
  });
}

}  // namespace

LanesFn integer_to_float(const Request& r) {
  return for_float(r.to, [&]<class To>() {
    return lanes::for_integer(r.from, [&]<class From>() {
      if (r.sat) return with_registers<To, From, Rounding::rn, CvtMods{.sat = true}>(r);  // 0 or 1: exact
      return floats::for_rounding(r.rounding,
                                  [&]<Rounding R>() { return with_registers<To, From, R, CvtMods{}>(r); });
    });
  });
}

}  // namespace palladion::isa::cvt
