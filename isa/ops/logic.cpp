// Logic, shifts, byte permutation (PTX, "Logic and Shift Instructions", "prmt", "lop3", "shf").
#include "isa/core/op.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

using lanes::for_integer;

constexpr Timing alu{Unit::alu, "alu"};

template <class T>
struct And {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct Or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct Xor {
  T operator()(T a, T b) const { return a ^ b; }
};
template <class T>
struct Not {
  T operator()(T a) const { return T(~a); }
};
template <class T>
struct Cnot {
  T operator()(T a) const { return a == 0 ? 1 : 0; }
};

// Shift amounts beyond the width clamp (PTX, "shl").
template <class T>
struct Shl {
  T operator()(T a, uint32_t b) const { return b >= sizeof(T) * 8 ? T{0} : T(a << b); }
};
template <class T>
struct Shr {
  T operator()(T a, uint32_t b) const {
    constexpr uint32_t width = sizeof(T) * 8;
    if (b >= width) return a < 0 ? T(-1) : T(0);
    return T(a >> b);
  }
};

struct Lop3 {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t lut) const {
    uint32_t r = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t all = 0u - (lut >> i & 1);
      r |= all & ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    }
    return r;
  }
};

enum class FunnelMode { clamp, wrap };
template <bool left, FunnelMode mode>
struct Funnel {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t n = mode == FunnelMode::wrap ? c & 31 : (c > 32 ? 32 : c);
    const uint64_t both = uint64_t{b} << 32 | a;
    return left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
  }
};

uint32_t select_byte(uint64_t bytes, uint32_t selector) {
  const auto b = static_cast<uint8_t>(bytes >> 8 * (selector & 7));
  if ((selector & 8) == 0) return b;
  return (b & 0x80) != 0 ? 0xFF : 0;  // replicate the sign
}
enum class PermuteMode { index, f4e, b4e, rc8, ecl, ecr, rc16 };
template <PermuteMode mode>
struct Permute {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t r = 0;
    for (uint32_t i = 0; i < 4; ++i) r |= select_byte(bytes, selector(c, i)) << 8 * i;
    return r;
  }
  static uint32_t selector(uint32_t c, uint32_t i) {
    const uint32_t n = c & 3;
    switch (mode) {
      case PermuteMode::index:
        return c >> 4 * i & 0xF;
      case PermuteMode::f4e:
        return n + i;
      case PermuteMode::b4e:
        return (n - i) & 7;
      case PermuteMode::rc8:
        return n;
      case PermuteMode::ecl:
        return i > n ? i : n;
      case PermuteMode::ecr:
        return i < n ? i : n;
      case PermuteMode::rc16:
        return (n & 1) * 2 + (i & 1);
    }
    return 0;
  }
};

template <class F>
void on_predicates2(const LaneArgs& a) {
  lanes::commit_mask(a.d[0], F{}(lanes::mask_source(a, 0), lanes::mask_source(a, 1)), a.mask);
}
template <class F>
void on_predicate(const LaneArgs& a) {
  lanes::commit_mask(a.d[0], F{}(lanes::mask_source(a, 0)), a.mask);
}

template <template <class> class F>
Effect binary(const Instruction& i, const DecodeContext&) {
  if (i.type() == Type::pred) return Pure{on_predicates2<F<uint32_t>>};
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T, T>; })};
}

template <template <class> class F>
Effect shift(const Instruction& i, const DecodeContext&) {
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T, uint32_t>; })};
}

Effect invert(const Instruction& i, const DecodeContext&) {
  if (i.type() == Type::pred) return Pure{on_predicate<Not<uint32_t>>};
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<Not<T>, T, T>; })};
}

// lop3.BoolOp.b32 d|p, a, b, c, lut, q: p = (d != 0) BoolOp q.
template <bool is_and>
void lop3_predicate(const LaneArgs& a) {
  uint32_t t[lanes::warp_size], nonzero = 0;
  for (int i = 0; i < lanes::warp_size; ++i) {
    t[i] = Lop3{}(lanes::source<uint32_t>(a, 0)[i], lanes::source<uint32_t>(a, 1)[i],
                  lanes::source<uint32_t>(a, 2)[i], lanes::source<uint32_t>(a, 3)[i]);
    nonzero |= uint32_t{t[i] != 0} << i;
  }
  const uint32_t q = lanes::mask_source(a, 4);
  lanes::commit(a.d[0], t, a.mask);
  lanes::commit_mask(a.d[1], is_and ? nonzero & q : nonzero | q, a.mask);
}

Effect lop3(const Instruction& i, const DecodeContext&) {
  if (!i.has("bool")) return Pure{lanes::apply<Lop3, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>};
  return Pure{i.mod("bool") == "and" ? lop3_predicate<true> : lop3_predicate<false>};
}

Effect shf(const Instruction& i, const DecodeContext&) {
  using M = FunnelMode;
  const bool wrap = i.mod("mode") == "wrap";
  if (i.mod("dir") == "l") {
    return Pure{wrap ? lanes::apply<Funnel<true, M::wrap>, uint32_t, uint32_t, uint32_t, uint32_t>
                     : lanes::apply<Funnel<true, M::clamp>, uint32_t, uint32_t, uint32_t, uint32_t>};
  }
  return Pure{wrap ? lanes::apply<Funnel<false, M::wrap>, uint32_t, uint32_t, uint32_t, uint32_t>
                   : lanes::apply<Funnel<false, M::clamp>, uint32_t, uint32_t, uint32_t, uint32_t>};
}

template <PermuteMode mode>
constexpr LanesFn permute = lanes::apply<Permute<mode>, uint32_t, uint32_t, uint32_t, uint32_t>;

Effect prmt(const Instruction& i, const DecodeContext&) {
  using M = PermuteMode;
  const std::string_view mode = i.mod("mode");
  if (mode == "f4e") return Pure{permute<M::f4e>};
  if (mode == "b4e") return Pure{permute<M::b4e>};
  if (mode == "rc8") return Pure{permute<M::rc8>};
  if (mode == "ecl") return Pure{permute<M::ecl>};
  if (mode == "ecr") return Pure{permute<M::ecr>};
  if (mode == "rc16") return Pure{permute<M::rc16>};
  return Pure{permute<M::index>};
}

}  // namespace

std::vector<OpDef> logic() {
  return {
      OpDef{"and",
            "d = a & b. Logic and Shift Instructions: and.",
            {"and.type:pred|b16|b32|b64 =d:type, a:type, b:type"},
            alu,
            binary<And>,
            Operation::and_},
      OpDef{"or",
            "d = a | b. Logic and Shift Instructions: or.",
            {"or.type:pred|b16|b32|b64 =d:type, a:type, b:type"},
            alu,
            binary<Or>,
            Operation::or_},
      OpDef{"xor",
            "d = a ^ b. Logic and Shift Instructions: xor.",
            {"xor.type:pred|b16|b32|b64 =d:type, a:type, b:type"},
            alu,
            binary<Xor>,
            Operation::xor_},
      OpDef{"not",
            "d = ~a. Logic and Shift Instructions: not.",
            {"not.type:pred|b16|b32|b64 =d:type, a:type"},
            alu,
            invert,
            Operation::not_},
      OpDef{"cnot",
            "d = a == 0. Logic and Shift Instructions: cnot.",
            {"cnot.type:b16|b32|b64 =d:type, a:type"},
            alu,
            [](const Instruction& i, const DecodeContext&) -> Effect {
              return Pure{
                  for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<Cnot<T>, T, T>; })};
            }},
      OpDef{
          "lop3",
          "d = any function of three bits, by its truth table. Logic and Shift Instructions: lop3.",
          {"lop3.type:b32 =d:type, a:type, b:type, c:type, lut:imm",
           "[8.2 sm_70] lop3.bool:or|and.type:b32 =d:type|=p:pred, a:type, b:type, c:type, lut:imm, q:pred"},
          alu,
          lop3,
          Operation::logic3},
      OpDef{"shl",
            "d = a << b. Logic and Shift Instructions: shl.",
            {"shl.type:b16|b32|b64 =d:type, a:type, b:u32"},
            alu,
            shift<Shl>,
            Operation::shift_left},
      OpDef{"shr",
            "d = a >> b, arithmetic for signed types. Logic and Shift Instructions: shr.",
            {"shr.type:b16|b32|b64|u16|u32|u64|s16|s32|s64 =d:type, a:type, b:u32"},
            alu,
            shift<Shr>,
            Operation::shift_right},
      OpDef{"shf",
            "d = the funnel shift of b:a by c. Logic and Shift Instructions: shf.",
            {"shf.dir:l|r.mode:clamp|wrap.type:b32 =d:type, a:type, b:type, c:u32"},
            alu,
            shf},
      OpDef{"prmt",
            "d = four bytes chosen from b:a. Data Movement Instructions: prmt.",
            {"prmt.type:b32{.mode:f4e|b4e|rc8|ecl|ecr|rc16} =d:type, a:type, b:type, c:u32"},
            alu,
            prmt},
  };
}

}  // namespace palladion::isa::ops
