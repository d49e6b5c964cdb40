// Extended-precision integer arithmetic (PTX, the section of that name): the carry flag CC is a
// predicate mask.
#include "isa/core/op.h"
#include "isa/ops/integers.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

using lanes::for_integer;
using namespace integers;  // NOLINT: this file is about them

constexpr Timing alu{Unit::alu, "alu"};
Timing imad(const Instruction& i) { return {Unit::fma, bits(i.type()) == 64 ? "imad64" : "imad"}; }

template <class T, bool carry_in, bool carry_out, bool subtract>
void carried(const LaneArgs& a) {
  T t[lanes::warp_size];
  uint32_t out = 0;
  const uint32_t in = carry_in ? lanes::mask_source(a, 2) : 0;
  for (int i = 0; i < lanes::warp_size; ++i) {
    const T x = lanes::source<T>(a, 0)[i], y = lanes::source<T>(a, 1)[i], c = in >> i & 1;
    t[i] = subtract ? x - y - c : x + y + c;
    const bool overflow = subtract ? (x < y || (c != 0 && x == y)) : (t[i] < x || (c != 0 && t[i] == x));
    out |= uint32_t{overflow} << i;
  }
  lanes::commit(a.d[0], t, a.mask);
  if (carry_out) lanes::commit_mask(a.d[1], out, a.mask);
}

template <class T, bool high, bool carry_in, bool carry_out>
void mad_carried(const LaneArgs& a) {
  using U = Unsigned<T>;
  U t[lanes::warp_size];
  uint32_t out = 0;
  const uint32_t in = carry_in ? lanes::mask_source(a, 3) : 0;
  for (int i = 0; i < lanes::warp_size; ++i) {
    const T x = lanes::source<T>(a, 0)[i], y = lanes::source<T>(a, 1)[i];
    const U product = high ? U(MulHi<T>{}(x, y)) : U(MulLo<T>{}(x, y)), c = U(lanes::source<T>(a, 2)[i]),
            k = in >> i & 1;
    t[i] = product + c + k;
    out |= uint32_t{t[i] < product || (k != 0 && t[i] == product)} << i;
  }
  lanes::commit(a.d[0], t, a.mask);
  if (carry_out) lanes::commit_mask(a.d[1], out, a.mask);
}

template <bool subtract, bool carry_in>
Effect decode_carried(const Instruction& i, const DecodeContext&) {
  const bool out = i.has("cc");
  const bool wide = bits(i.type()) == 64;
  LanesFn fn;
  if (wide)
    fn = out ? carried<uint64_t, carry_in, true, subtract> : carried<uint64_t, carry_in, false, subtract>;
  else
    fn = out ? carried<uint32_t, carry_in, true, subtract> : carried<uint32_t, carry_in, false, subtract>;
  return Pure{fn, carry_in, out};
}

template <bool carry_in>
Effect decode_mad_carried(const Instruction& i, const DecodeContext&) {
  const bool out = i.has("cc"), high = i.mod("half") == "hi";
  const LanesFn fn = for_integer(i.type(), [&]<class T>() -> LanesFn {
    if constexpr (sizeof(T) < 4) {
      return nullptr;
    } else {
      if (high) return out ? mad_carried<T, true, carry_in, true> : mad_carried<T, true, carry_in, false>;
      return out ? mad_carried<T, false, carry_in, true> : mad_carried<T, false, carry_in, false>;
    }
  });
  return Pure{fn, carry_in, out};
}

}  // namespace

std::vector<OpDef> extended_precision() {
  return {
      OpDef{"add",
            "d = a + b, the carry goes to CC. Extended-Precision Integer Arithmetic: add.cc.",
            {"add.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type"},
            alu,
            decode_carried<false, false>,
            Operation::add},
      OpDef{"addc",
            "d = a + b + CC. Extended-Precision Integer Arithmetic: addc.",
            {"addc{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type"},
            alu,
            decode_carried<false, true>},
      OpDef{"sub",
            "d = a - b, the borrow goes to CC. Extended-Precision Integer Arithmetic: sub.cc.",
            {"sub.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type"},
            alu,
            decode_carried<true, false>,
            Operation::subtract},
      OpDef{"subc",
            "d = a - (b + CC). Extended-Precision Integer Arithmetic: subc.",
            {"subc{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type"},
            alu,
            decode_carried<true, true>},
      OpDef{"mad",
            "d = a * b + c, the carry goes to CC. Extended-Precision Integer Arithmetic: mad.cc.",
            {"mad.half:lo|hi.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type, c:type"},
            imad,
            decode_mad_carried<false>,
            Operation::multiply_add},
      OpDef{"madc",
            "d = a * b + c + CC. Extended-Precision Integer Arithmetic: madc.",
            {"madc.half:lo|hi{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type, c:type"},
            imad,
            decode_mad_carried<true>},
  };
}

}  // namespace palladion::isa::ops
