// Comparison and selection of integers and untyped bits (PTX, "Comparison and Selection Instructions").
// The floating forms of setp and set are in floating.cpp and half.cpp.
#include <limits>

#include "isa/core/op.h"
#include "isa/ops/compare.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

constexpr Timing alu{Unit::alu, "alu"};

Effect setp(const Instruction& i, const DecodeContext&) {
  return lanes::for_integer(i.type(), [&]<class T>() { return compare::setp_for<compare::Read<T>>(i); });
}
Effect set(const Instruction& i, const DecodeContext&) {
  return lanes::for_integer(i.type(), [&]<class T>() { return compare::set_for<compare::Read<T>>(i); });
}

template <class T>
void select(const LaneArgs& a) {
  const T* x = lanes::source<T>(a, 0);
  const T* y = lanes::source<T>(a, 1);
  const uint32_t p = lanes::mask_source(a, 2);
  T t[lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i) t[i] = (p >> i & 1) != 0 ? x[i] : y[i];
  lanes::commit(a.d[0], t, a.mask);
}

LanesFn select_for(Type type) {
  switch (bits(type)) {
    case 8:
      return select<uint8_t>;
    case 16:
      return select<uint16_t>;
    case 32:
      return select<uint32_t>;
    case 64:
      return select<uint64_t>;
    default:
      return nullptr;
  }
}

template <class T>
struct SelectSigned {
  T operator()(T a, T b, int32_t c) const { return c >= 0 ? a : b; }
};
// A float c: selects by c >= 0, where -0 counts as 0 and NaN does not.
template <class T>
struct SelectFloat {
  T operator()(T a, T b, float c) const { return c >= 0.0F ? a : b; }
};
// .ftz makes a negative subnormal c -0 first (seen on an H200).
template <class T>
struct SelectFlushed {
  T operator()(T a, T b, float c) const { return c > -std::numeric_limits<float>::min() ? a : b; }
};
template <class T>
Pure select_by_sign(const Instruction& i) {
  if (i.type("ctype") == Type::s32) return {lanes::apply<SelectSigned<T>, T, T, T, int32_t>};
  if (i.has("ftz")) return {lanes::apply<SelectFlushed<T>, T, T, T, float>};
  return {lanes::apply<SelectFloat<T>, T, T, T, float>};
}

Effect slct(const Instruction& i, const DecodeContext&) {
  if (bits(i.type()) == 16) return select_by_sign<uint16_t>(i);
  return bits(i.type()) == 64 ? select_by_sign<uint64_t>(i) : select_by_sign<uint32_t>(i);
}

}  // namespace

std::vector<OpDef> comparisons() {
  return {
      OpDef{
          "setp",
          "p = a cmp b, and q its complement, each combined with c. Comparison and Selection: setp.",
          {"setp.cmp:eq|ne.type:b16|b32|b64 =p:pred|=q?:pred, a:type, b:type",
           "setp.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs.type:u16|u32|u64 =p:pred|=q?:pred, a:type, b:type",
           "setp.cmp:eq|ne|lt|le|gt|ge.type:s16|s32|s64 =p:pred|=q?:pred, a:type, b:type",
           "setp.cmp:eq|ne.bool:%bool.type:b16|b32|b64 =p:pred|=q?:pred, a:type, b:type, c:pred",
           "setp.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs.bool:%bool.type:u16|u32|u64 =p:pred|=q?:pred, a:type, "
           "b:type, c:pred",
           "setp.cmp:eq|ne|lt|le|gt|ge.bool:%bool.type:s16|s32|s64 =p:pred|=q?:pred, a:type, b:type, c:pred"},
          alu,
          setp,
          Operation::compare},
      OpDef{"set",
            "d = all ones (1.0f) where a cmp b. Comparison and Selection: set.",
            {"set.cmp:eq|ne.dtype:u32|s32|f32.type:b16|b32|b64 =d:dtype, a:type, b:type",
             "set.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs.dtype:u32|s32|f32.type:u16|u32|u64 =d:dtype, a:type, "
             "b:type",
             "set.cmp:eq|ne|lt|le|gt|ge.dtype:u32|s32|f32.type:s16|s32|s64 =d:dtype, a:type, b:type",
             "set.cmp:eq|ne.bool:%bool.dtype:u32|s32|f32.type:b16|b32|b64 =d:dtype, a:type, b:type, c:pred",
             "set.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs.bool:%bool.dtype:u32|s32|f32.type:u16|u32|u64 =d:dtype, "
             "a:type, b:type, c:pred",
             "set.cmp:eq|ne|lt|le|gt|ge.bool:%bool.dtype:u32|s32|f32.type:s16|s32|s64 =d:dtype, a:type, "
             "b:type, c:pred"},
            alu,
            set,
            Operation::set},
      OpDef{"selp",
            "d = c ? a : b. Comparison and Selection: selp.",
            {"selp.type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64 =d:type, a:type, b:type, c:pred"},
            alu,
            [](const Instruction& i, const DecodeContext&) -> Effect { return Pure{select_for(i.type())}; },
            Operation::select},
      OpDef{
          "slct",
          "d = c >= 0 ? a : b. Comparison and Selection: slct.",
          {"slct.type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64.ctype:s32 =d:type, a:type, b:type, c:ctype",
           "slct{.ftz}.type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64.ctype:f32 =d:type, a:type, b:type, "
           "c:ctype"},
          alu,
          slct,
          Operation::select_by_sign},
  };
}

}  // namespace palladion::isa::ops
