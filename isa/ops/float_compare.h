#pragma once
// Comparisons of floats and halves for setp and set: 32 lanes to a mask, then the combination with a
// predicate. Each step is its own function, so that the many combinations of words stay small.
#include "isa/ops/compare.h"
#include "isa/ops/floats.h"

namespace palladion::isa::compare {

// The quiet predicate of vcmpps for a comparison: none raises an exception, `u` forms hold for NaN.
constexpr int vector_predicate(Cmp c) {
  switch (c) {
    case Cmp::eq:
      return _CMP_EQ_OQ;
    case Cmp::ne:
      return _CMP_NEQ_OQ;
    case Cmp::lt:
      return _CMP_LT_OQ;
    case Cmp::le:
      return _CMP_LE_OQ;
    case Cmp::gt:
      return _CMP_GT_OQ;
    case Cmp::ge:
      return _CMP_GE_OQ;
    case Cmp::equ:
      return _CMP_EQ_UQ;
    case Cmp::neu:
      return _CMP_NEQ_UQ;
    case Cmp::ltu:
      return _CMP_NGE_UQ;
    case Cmp::leu:
      return _CMP_NGT_UQ;
    case Cmp::gtu:
      return _CMP_NLE_UQ;
    case Cmp::geu:
      return _CMP_NLT_UQ;
    case Cmp::num:
      return _CMP_ORD_Q;
    case Cmp::nan:
      return _CMP_UNORD_Q;
  }
  return _CMP_EQ_OQ;
}

template <Cmp c>
uint32_t mask_of(const float* a, const float* b) {
  uint32_t mask = 0;
  for (int i = 0; i < lanes::warp_size; i += 8) {
    const __m256 holds = _mm256_cmp_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), vector_predicate(c));
    mask |= static_cast<uint32_t>(_mm256_movemask_ps(holds)) << i;
  }
  return mask;
}

template <Cmp c>
uint32_t mask_of(const double* a, const double* b) {
  uint32_t mask = 0;
  for (int i = 0; i < lanes::warp_size; i += 4) {
    const __m256d holds = _mm256_cmp_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), vector_predicate(c));
    mask |= static_cast<uint32_t>(_mm256_movemask_pd(holds)) << i;
  }
  return mask;
}

// --- where the compared numbers come from: `read` gives 32 of them, in `scratch` if need be ---------
struct ReadF32 {
  using Value = float;
  static const float* read(const void* s, float*) { return static_cast<const float*>(s); }
};
struct ReadF64 {
  using Value = double;
  static const double* read(const void* s, double*) { return static_cast<const double*>(s); }
};
struct ReadF32Flushed {
  using Value = float;
  static const float* read(const void* s, float* scratch) {
    uint32_t t[lanes::warp_size];
    for (int i = 0; i < lanes::warp_size; ++i)
      t[i] = num::flush_subnormal<num::F32>(static_cast<const uint32_t*>(s)[i]);
    std::memcpy(scratch, t, sizeof t);
    return scratch;
  }
};
template <class Format, bool ftz>
struct ReadHalf {
  using Value = float;
  static const float* read(const void* s, float* scratch) {
    const auto* halves = static_cast<const uint16_t*>(s);
    uint16_t t[lanes::warp_size];
    if constexpr (ftz) {
      for (int i = 0; i < lanes::warp_size; ++i) t[i] = num::flush_subnormal<Format>(halves[i]);
      halves = t;
    }
    uint32_t wide[lanes::warp_size];
    num::lanes::to_f32<Format>(halves, wide, lanes::warp_size);
    std::memcpy(scratch, wide, sizeof wide);
    return scratch;
  }
};
template <class T>
struct ReadInteger {
  using Value = T;
};

template <class Read, Cmp c>
[[gnu::noinline]] uint32_t compare_lanes(const void* a, const void* b) {
  using Value = typename Read::Value;
  if constexpr (std::is_integral_v<Value>) {
    LaneArgs args;
    args.s[0] = a;
    args.s[1] = b;
    return lanes::test<Compare<c, Value>, Value, Value>(args);
  } else {
    alignas(32) Value x[lanes::warp_size], y[lanes::warp_size];
    return mask_of<c>(Read::read(a, x), Read::read(b, y));
  }
}

// The halves of packed lanes, low ones first.
struct PairMask {
  uint32_t low, high;
};
template <class Read, Cmp c>
[[gnu::noinline]] PairMask compare_pairs(const void* a, const void* b) {
  uint16_t half[2][2][lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i) {
    const uint32_t x = static_cast<const uint32_t*>(a)[i], y = static_cast<const uint32_t*>(b)[i];
    half[0][0][i] = static_cast<uint16_t>(x);
    half[0][1][i] = static_cast<uint16_t>(y);
    half[1][0][i] = static_cast<uint16_t>(x >> 16);
    half[1][1][i] = static_cast<uint16_t>(y >> 16);
  }
  return {compare_lanes<Read, c>(half[0][0], half[0][1]), compare_lanes<Read, c>(half[1][0], half[1][1])};
}

template <BoolOp op>
uint32_t third_source(const LaneArgs& a) {
  return op == BoolOp::none ? 0 : lanes::mask_source(a, 2);
}

// --- setp -------------------------------------------------------------------------------------------
template <class Read, Cmp c, BoolOp op, bool has_q>
void setp_lanes(const LaneArgs& a) {
  const uint32_t t = compare_lanes<Read, c>(a.s[0], a.s[1]), third = third_source<op>(a);
  lanes::commit_mask(a.d[0], combine(op, t, third), a.mask);
  if constexpr (has_q) lanes::commit_mask(a.d[1], combine(op, ~t, third), a.mask);
}

// p is about the low halves, q about the high ones.
template <class Read, Cmp c, BoolOp op, bool has_q>
void setp_pairs(const LaneArgs& a) {
  const PairMask t = compare_pairs<Read, c>(a.s[0], a.s[1]);
  const uint32_t third = third_source<op>(a);
  lanes::commit_mask(a.d[0], combine(op, t.low, third), a.mask);
  if constexpr (has_q) lanes::commit_mask(a.d[1], combine(op, t.high, third), a.mask);
}

// Calls f.operator()<BoolOp>() for a combination known at run time.
template <class Fn>
LanesFn for_bool(BoolOp op, Fn f) {
  switch (op) {
    case BoolOp::and_:
      return f.template operator()<BoolOp::and_>();
    case BoolOp::or_:
      return f.template operator()<BoolOp::or_>();
    case BoolOp::xor_:
      return f.template operator()<BoolOp::xor_>();
    case BoolOp::none:
      break;
  }
  return f.template operator()<BoolOp::none>();
}

template <class Read, bool pairs>
LanesFn setp_for(const Instruction& i) {
  const bool has_q = i.operand("q") != nullptr;
  return for_cmp(cmp_named(i.mod("cmp")), [&]<Cmp c>() {
    return for_bool(bool_named(i.mod("bool")), [&]<BoolOp op>() -> LanesFn {
      if constexpr (pairs) return has_q ? setp_pairs<Read, c, op, true> : setp_pairs<Read, c, op, false>;
      return has_q ? setp_lanes<Read, c, op, true> : setp_lanes<Read, c, op, false>;
    });
  });
}

// --- set: `yes` where the comparison holds, else 0 ------------------------------------------------------
template <class D>
[[gnu::noinline]] inline void write_chosen(const LaneArgs& a, uint32_t chosen, D yes) {
  D t[lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i) t[i] = (chosen >> i & 1) != 0 ? yes : D{0};
  lanes::commit(a.d[0], t, a.mask);
}

[[gnu::noinline]] inline void write_chosen_pairs(const LaneArgs& a, PairMask chosen, uint32_t yes) {
  uint32_t t[lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i)
    t[i] = ((chosen.low >> i & 1) != 0 ? yes : 0) | ((chosen.high >> i & 1) != 0 ? yes << 16 : 0);
  lanes::commit(a.d[0], t, a.mask);
}

template <class Read, Cmp c, BoolOp op, class D, D yes>
void set_lanes(const LaneArgs& a) {
  write_chosen<D>(a, combine(op, compare_lanes<Read, c>(a.s[0], a.s[1]), third_source<op>(a)), yes);
}

template <class Read, Cmp c, BoolOp op, uint32_t yes>
void set_pairs(const LaneArgs& a) {
  const PairMask t = compare_pairs<Read, c>(a.s[0], a.s[1]);
  const uint32_t third = third_source<op>(a);
  write_chosen_pairs(a, {combine(op, t.low, third), combine(op, t.high, third)}, yes);
}

// Calls f.operator()<Cmp, BoolOp>(); what a type does not have gives no function.
template <class Read, class Fn>
LanesFn for_set(const Instruction& i, Fn f) {
  return for_cmp(cmp_named(i.mod("cmp")), [&]<Cmp c>() -> LanesFn {
    if constexpr (std::is_integral_v<typename Read::Value> && c > Cmp::ge) {
      return nullptr;
    } else {
      return for_bool(bool_named(i.mod("bool")), [&]<BoolOp op>() { return f.template operator()<c, op>(); });
    }
  });
}

// The result is all ones of the type of the result, or its number one.
template <class Read>
LanesFn set_for(const Instruction& i) {
  return for_set<Read>(i, [&]<Cmp c, BoolOp op>() -> LanesFn {
    switch (i.type("dtype")) {
      case Type::u32:
      case Type::s32:
        return set_lanes<Read, c, op, uint32_t, ~0U>;
      case Type::f32:
        return set_lanes<Read, c, op, uint32_t, num::F32::one>;
      case Type::u16:
      case Type::s16:
        return set_lanes<Read, c, op, uint16_t, 0xFFFF>;
      case Type::f16:
        return set_lanes<Read, c, op, uint16_t, num::F16::one>;
      case Type::bf16:
        return set_lanes<Read, c, op, uint16_t, num::Bf16::one>;
      default:
        return nullptr;
    }
  });
}

template <class Read>
LanesFn set_pairs_for(const Instruction& i) {
  return for_set<Read>(i, [&]<Cmp c, BoolOp op>() -> LanesFn {
    switch (i.type("dtype")) {
      case Type::f16x2:
        return set_pairs<Read, c, op, num::F16::one>;
      case Type::bf16x2:
        return set_pairs<Read, c, op, num::Bf16::one>;
      default:
        return set_pairs<Read, c, op, 0xFFFF>;
    }
  });
}

}  // namespace palladion::isa::compare
