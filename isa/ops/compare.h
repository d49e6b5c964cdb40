#pragma once
// Comparisons for setp and set: 32 lanes of numbers to a mask, then the combination with a predicate. A
// comparison is a function of its own; what else the words say (PTX, "Comparison and Selection
// Instructions", "Half Precision Comparison Instructions") is known at run time, so that the many
// combinations of words stay small.
#include <bit>
#include <string_view>

#include "isa/ops/floats.h"

namespace palladion::isa::compare {

// The words `lo`, `ls`, `hi`, `hs` are lt, le, gt, ge of unsigned types.
enum class Cmp : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class BoolOp : uint8_t { none, and_, or_, xor_ };

// What the words say, as the constant of a function for several of them.
struct Words {
  Cmp cmp;
  BoolOp op;
  uint16_t has_q;
  uint32_t yes;  // what `set` gives where the comparison holds
};
static_assert(sizeof(Words) == sizeof(uint64_t) && std::has_unique_object_representations_v<Words>);

inline Words words_of(const Instruction& i) {
  using enum Cmp;
  using enum BoolOp;
  static constexpr std::pair<std::string_view, Cmp> comparisons[] = {
      {"eq", eq},   {"ne", ne},   {"lt", lt},   {"le", le},   {"gt", gt},   {"ge", ge},
      {"lo", lt},   {"ls", le},   {"hi", gt},   {"hs", ge},   {"equ", equ}, {"neu", neu},
      {"ltu", ltu}, {"leu", leu}, {"gtu", gtu}, {"geu", geu}, {"num", num}, {"nan", nan}};
  static constexpr std::pair<std::string_view, BoolOp> combinations[] = {
      {"", none}, {"and", and_}, {"or", or_}, {"xor", xor_}};
  return {.cmp = decode::word_of(i.mod("cmp"), comparisons),
          .op = decode::word_of(i.mod("bool"), combinations),
          .has_q = i.form->operand("q") >= 0 && i.operand("q") != nullptr,
          .yes = 0};
}

// --- vectors of 32 bytes --------------------------------------------------------------------------------
// All ones where the comparison holds: the `u` forms for NaN as well, the others not.
template <Cmp c, class Vector>
auto holds(Vector a, Vector b) {
  if constexpr (c == Cmp::eq) return a == b;
  if constexpr (c == Cmp::ne) return (a < b) | (a > b);
  if constexpr (c == Cmp::lt) return a < b;
  if constexpr (c == Cmp::le) return a <= b;
  if constexpr (c == Cmp::gt) return a > b;
  if constexpr (c == Cmp::ge) return a >= b;
  if constexpr (c == Cmp::equ) return ~((a < b) | (a > b));
  if constexpr (c == Cmp::neu) return a != b;
  if constexpr (c == Cmp::ltu) return ~(a >= b);
  if constexpr (c == Cmp::leu) return ~(a > b);
  if constexpr (c == Cmp::gtu) return ~(a <= b);
  if constexpr (c == Cmp::geu) return ~(a < b);
  if constexpr (c == Cmp::num) return (a == a) & (b == b);  // NOLINT: no NaN
  if constexpr (c == Cmp::nan) return (a != a) | (b != b);  // NOLINT
}

template <Cmp c, class T>
__m256i held(const T* a, const T* b) {
  typedef T Vector [[gnu::vector_size(32)]];
  Vector x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return (__m256i)holds<c>(x, y);  // NOLINT: vectors of one size
}

template <Cmp c, class T>
uint32_t mask_of(const T* a, const T* b) {
  constexpr int step = 32 / sizeof(T);
  if constexpr (sizeof(T) == 2) {
    const __m256i bytes = _mm256_packs_epi16(held<c>(a, b), held<c>(a + step, b + step));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(bytes, 0b11011000)));
  }
  uint32_t mask = 0;
  for (int i = 0; i < lanes::warp_size; i += step) {
    const __m256i t = held<c>(a + i, b + i);
    const int bits = sizeof(T) == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(t))
                                    : _mm256_movemask_pd(_mm256_castsi256_pd(t));
    mask |= static_cast<uint32_t>(bits) << i;
  }
  return mask;
}

// --- where the compared numbers come from: `read` gives 32 of them, in `scratch` if need be ---------
template <class T>
struct Read {
  using Value = T;
  static const T* read(const void* s, T*) { return static_cast<const T*>(s); }
};
struct ReadF32Flushed {
  using Value = float;
  PLD_NUM_INLINE static const float* read(const void* s, float* scratch) {
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
  PLD_NUM_INLINE static const float* read(const void* s, float* scratch) {
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

template <class Source, Cmp c>
[[gnu::noinline]] uint32_t compare_lanes(const void* a, const void* b) {
  alignas(32) typename Source::Value x[lanes::warp_size], y[lanes::warp_size];
  return mask_of<c>(Source::read(a, x), Source::read(b, y));
}

// Integers have the first six.
template <class Source, class Fn>
auto for_cmp(Cmp cmp, Fn f) {
  using enum Cmp;
  if constexpr (std::is_integral_v<typename Source::Value>)
    return num::with_constant<eq, ne, lt, le, gt, ge>(cmp, f);
  else
    return num::with_constant<eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, Cmp::num, nan>(cmp, f);
}

using Comparison = uint32_t (*)(const void* a, const void* b);
template <class Source>
Comparison comparison(Cmp cmp) {
  return for_cmp<Source>(cmp, []<Cmp c>() -> Comparison { return compare_lanes<Source, c>; });
}

// --- two results: of a comparison and its complement, or of the low and the high halves of pairs ------
struct Masks {
  uint32_t p, q;
};

template <class Source>
Masks compare_pairs(Cmp cmp, const void* a, const void* b) {
  const Comparison compare = comparison<Source>(cmp);
  uint16_t half[2][2][lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i) {
    const uint32_t x = static_cast<const uint32_t*>(a)[i], y = static_cast<const uint32_t*>(b)[i];
    half[0][0][i] = static_cast<uint16_t>(x);
    half[0][1][i] = static_cast<uint16_t>(y);
    half[1][0][i] = static_cast<uint16_t>(x >> 16);
    half[1][1][i] = static_cast<uint16_t>(y >> 16);
  }
  return {compare(half[0][0], half[0][1]), compare(half[1][0], half[1][1])};
}

inline uint32_t combine(BoolOp op, uint32_t t, uint32_t c) {
  switch (op) {
    case BoolOp::none:
      return t;
    case BoolOp::and_:
      return t & c;
    case BoolOp::or_:
      return t | c;
    case BoolOp::xor_:
      return t ^ c;
  }
  return t;
}

inline Words words_of(const LaneArgs& a) { return std::bit_cast<Words>(*lanes::source<uint64_t>(a, 0)); }

// Sources: the words, a, b, and c if they name a combination.
inline Masks combined(const LaneArgs& a, Words words, Masks t) {
  const uint32_t third = words.op == BoolOp::none ? 0 : lanes::mask_source(a, 3);
  return {combine(words.op, t.p, third), combine(words.op, t.q, third)};
}

// --- setp -------------------------------------------------------------------------------------------
// One result, no combination; numbers that are compared as they are, in line.
template <class Source, Cmp c>
void setp_plain(const LaneArgs& a) {
  using T = typename Source::Value;
  if constexpr (std::is_same_v<Source, Read<T>>)
    lanes::commit_mask(a.d[0], mask_of<c>(lanes::source<T>(a, 0), lanes::source<T>(a, 1)), a.mask);
  else
    lanes::commit_mask(a.d[0], compare_lanes<Source, c>(a.s[0], a.s[1]), a.mask);
}

inline void commit_setp(const LaneArgs& a, Words words, Masks compared) {
  const Masks t = combined(a, words, compared);
  lanes::commit_mask(a.d[0], t.p, a.mask);
  if (words.has_q != 0) lanes::commit_mask(a.d[1], t.q, a.mask);
}

template <class Source, Cmp c>
void setp_lanes(const LaneArgs& a) {
  const uint32_t t = compare_lanes<Source, c>(a.s[1], a.s[2]);
  commit_setp(a, words_of(a), {t, ~t});
}

template <class Source>
void setp_pairs(const LaneArgs& a) {
  const Words words = words_of(a);
  commit_setp(a, words, compare_pairs<Source>(words.cmp, a.s[1], a.s[2]));
}

template <class Source, bool pairs = false>
Pure setp_for(const Instruction& i) {
  const Words words = words_of(i);
  const auto constant = std::bit_cast<uint64_t>(words);
  if constexpr (pairs) return {.fn = setp_pairs<Source>, .constant = constant};
  if (words.op == BoolOp::none && words.has_q == 0)
    return {for_cmp<Source>(words.cmp, []<Cmp c>() -> LanesFn { return setp_plain<Source, c>; })};
  return {.fn = for_cmp<Source>(words.cmp, []<Cmp c>() -> LanesFn { return setp_lanes<Source, c>; }),
          .constant = constant};
}

// --- set: `yes` where the comparison holds, else 0 ------------------------------------------------------
template <class D>
[[gnu::noinline]] inline void write_chosen(const LaneArgs& a, uint32_t chosen, D yes) {
  D t[lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i) t[i] = (chosen >> i & 1) != 0 ? yes : D{0};
  lanes::commit(a.d[0], t, a.mask);
}

[[gnu::noinline]] inline void write_chosen_pairs(const LaneArgs& a, Masks chosen, uint32_t yes) {
  uint32_t t[lanes::warp_size];
  for (int i = 0; i < lanes::warp_size; ++i)
    t[i] = ((chosen.p >> i & 1) != 0 ? yes : 0) | ((chosen.q >> i & 1) != 0 ? yes << 16 : 0);
  lanes::commit(a.d[0], t, a.mask);
}

template <class Source, class D>
void set_lanes(const LaneArgs& a) {
  const Words words = words_of(a);
  const uint32_t t = comparison<Source>(words.cmp)(a.s[1], a.s[2]);
  write_chosen(a, combined(a, words, {t, ~t}).p, static_cast<D>(words.yes));
}

template <class Source>
void set_pairs(const LaneArgs& a) {
  const Words words = words_of(a);
  const Masks t = compare_pairs<Source>(words.cmp, a.s[1], a.s[2]);
  write_chosen_pairs(a, combined(a, words, t), words.yes & 0xFFFF);
}

// All ones of the type of the result, or its number one.
inline uint32_t yes_of(Type d) {
  if (d == Type::f32) return num::F32::one;
  if (d == Type::f16 || d == Type::f16x2) return num::F16::one;
  return d == Type::bf16 || d == Type::bf16x2 ? num::Bf16::one : ~0U;
}

template <class Source, bool pairs = false>
Pure set_for(const Instruction& i) {
  Words words = words_of(i);
  words.yes = yes_of(i.type("dtype"));
  const auto constant = std::bit_cast<uint64_t>(words);
  if constexpr (pairs) return {.fn = set_pairs<Source>, .constant = constant};
  const bool narrow = bits(i.type("dtype")) == 16;
  return {.fn = narrow ? set_lanes<Source, uint16_t> : set_lanes<Source, uint32_t>, .constant = constant};
}

}  // namespace palladion::isa::compare
