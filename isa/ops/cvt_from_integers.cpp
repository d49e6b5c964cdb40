// cvt from integers to floats. Results are never subnormal, so .ftz changes nothing.
#include "isa/ops/cvt.h"

namespace palladion::isa::cvt {

LanesFn integer_to_float(const Request& r) {
  return for_float(r.to, [&]<class To>() {
    return lanes::for_any_integer(r.from, [&]<class From>() -> LanesFn {
      using Source = ReadInteger<From>;
      using Format = format_of<typename Source::Value>;
      using Bits = num::bits_of<To>;
      if (r.sat)  // 0 or 1: exact
        return steps<Source, convert_lanes<To, Format, Rounding::rn, CvtMods{.sat = true}>, Bits>;
      return floats::for_rounding(r.rounding, []<Rounding R>() -> LanesFn {
        return steps<Source, convert_lanes<To, Format, R, CvtMods{}>, Bits>;
      });
    });
  });
}

}  // namespace palladion::isa::cvt
