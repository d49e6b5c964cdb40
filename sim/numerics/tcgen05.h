// The tensor core of Blackwell over the share of one CTA in one tcgen05.mma, bit by bit and fast:
//     D[m x n] = rho(trunc-sum over k of A[m][k] * B[k][n] (times block scales), C[m x n])
// Decode A and B once, multiply as often as wanted (one B serves two A) on D as tensor memory holds it;
// nothing allocates. The arithmetic is that of tcgen05_reference.h. It is a published model of the chip
// (MMA-Sim), not measured on one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numerics/tensor_core.h"

namespace palladion::sim::numerics::tcgen05 {

using tc::Element;
using tc::Major;
using tc::Result;
using tc::Rows;
using tc::SimdLevel;

inline constexpr int max_m = 128;
inline constexpr int max_n = 256;
inline constexpr int groups = 4;  // of k in one packed instruction: each is summed exactly

// The instruction's .kind. K = 96 of mxf4 and mxf4nvf4 (sm_103a) is not modelled: how its six groups are
// summed is not known.
enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// Block scales: 2^(x - 127) with FF as NaN, or e4m3 without its sign.
enum class Scale : std::uint8_t { ue8m0, ue4m3 };

// Elements are e2m1, two a byte, the lower k in the low bits.
constexpr bool is_packed(Kind kind) { return kind == Kind::mxf4 || kind == Kind::mxf4nvf4; }
constexpr bool is_block_scaled(Kind kind) { return kind >= Kind::mxf8f6f4; }

// K of one instruction; a sparse one has twice as much.
constexpr int k_of(Kind kind, bool sparse = false) {
  const int dense = kind == Kind::f16 ? 16 : kind == Kind::tf32 ? 8 : is_packed(kind) ? 64 : 32;
  return sparse ? 2 * dense : dense;
}

// Whether the kind multiplies these types into D: f16 takes f16 x f16 and bf16 x bf16 (f16 as D of f16 only);
// tf32; f8f6f4 and mxf8f6f4 any two of e4m3, e5m2, e2m3, e3m2, e2m1 (f16 as D of f8f6f4 only); i8 any two of
// s8, u8; mxf4 and mxf4nvf4 e2m1.
bool accepts(Kind kind, Element a, Element b, Result d);

// Whether scales of this type come so many a row: mxf8f6f4 one ue8m0; mxf4 two ue8m0; mxf4nvf4 two ue8m0,
// four ue8m0 or four ue4m3. Each is for an equal share of k.
bool accepts_scales(Kind kind, Scale type, int count);

struct Scales {
  Scale type = Scale::ue8m0;
  int count = 0;  // a row
  Rows rows;      // `count` bytes for each row of A (m) or column of B (n)
};

// One matrix as it lies in memory. Elements of f8f6f4 and mxf8f6f4 are one byte each, narrow ones in the low
// bits.
struct Matrix {
  Element type = Element::f16;
  Rows rows;               // raw little-endian elements: 32 bytes of k, 64 of a sparse instruction's
  Major major = Major::k;  // mn: rows[k] holds all m (or n). Packed kinds are Major::k only
  bool negate = false;     // not of integers
  Scales scales = {};      // of block-scaled kinds
};

// What each group of k of a packed matrix brings along; columns (of B) lie together.
template <int rows, int columns>
struct GroupTable {
  alignas(64) std::uint32_t nonzero[rows][columns];      // which elements are not; none if the scale is zero
  alignas(64) std::uint32_t exponent[rows][columns];     // of the scale; A's are biased by 127
  alignas(64) std::uint32_t significand[rows][columns];  // of the scale in eighths, as f32
};

inline constexpr int max_packed_words = 32;  // of four elements
inline constexpr int packed_offset = 12;     // of A's elements: they are bytes without a sign then

// Packed A: twice each e2m1, plus packed_offset, four of k a word.
struct PackedA {
  alignas(64) std::uint32_t word[max_m][max_packed_words];
  GroupTable<max_m, groups> group;
  std::uint64_t nan_rows[max_m / 64];  // with a NaN among their scales
};

// Packed B: twice each e2m1, four of k a word.
struct PackedB {
  alignas(64) std::uint32_t word[max_packed_words][max_n];
  GroupTable<groups, max_n> group;
  alignas(
      64) std::uint32_t offset[groups][max_n];  // int16: -packed_offset times the sum of the group's elements
  std::uint64_t nan_columns[max_n / 64];
};

// Decoded A and B. Rows of A lie in two parts, [0, 64) and [64, 128), where they are not packed. A NaN scale
// of mxf8f6f4 is decoded as a row of NaNs.
struct AOperand {
  Kind kind = Kind::f16;
  Element type = Element::f16;
  Scale scale_type = Scale::ue8m0;
  int m = 0;
  int k = 0;
  tc::AOperand part[2];
  std::int32_t scale[max_m];  // log2 of the block scale of mxf8f6f4
  PackedA packed;
};

struct BOperand {
  Kind kind = Kind::f16;
  Element type = Element::f16;
  Scale scale_type = Scale::ue8m0;
  int n = 0;
  int k = 0;
  tc::BOperand whole;
  alignas(64) std::int32_t scale[max_n];
  PackedB packed;
};

// m is 32, 64 or 128. selected: of a sparse instruction, whose A comes in dense form (k of the sparse
// instruction, zeros elsewhere): bit k of selected[row] if the metadata selected it; packed kinds have two
// words a row, of which none is read (a zero of theirs makes no product that could be seen).
void decode_a(AOperand& out, Kind kind, int m, const Matrix& a, const std::uint64_t* selected = nullptr);

// n is a multiple of 8. `sparse` doubles k.
void decode_b(BOperand& out, Kind kind, int n, const Matrix& b, bool sparse = false);

struct MultiplyOptions {
  bool zero_c = false;    // enable-input-d = 0: C counts as +0 and is not read
  bool saturate = false;  // of i8
  int scale_input_d = 0;  // C * 2^-scale_input_d, of kinds f16 and tf32: 0 to 15
  SimdLevel level = tc::best_simd_level();
};

// D = A * B + C in place. d is row-major with `stride` words between rows, a word for each element as in
// tensor memory: f32, s32, or f16 in the low half (the high half is written as zero: what the chip leaves
// there is not published).
void multiply(const AOperand& a, const BOperand& b, Result type, std::uint32_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& = {});

}  // namespace palladion::sim::numerics::tcgen05
