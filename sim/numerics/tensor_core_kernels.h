// Between tensor_core.cpp and its two vector kernels. No inline code here: what the AVX-512 file instantiates
// must not be shared with others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numerics/tensor_core.h"

namespace palladion::sim::numerics::tc {

enum class Mode : std::uint8_t {
  f32,          // 16-bit and tf32 floats
  f32_wide,     // the same where exponents span too much for a byte, or reach the upper end of f32
  f32_13_bits,  // fp8 -> f32
  f16,          // f16 -> f16
  f16_fp8,      // fp8 -> f16
  f32_general,  // any floats -> f32, as Blackwell sums them: 32 products, block scales, scaled C
  f16_general,  // the same -> f16
  s32,
  b1
};

// Bounds within which the vector code is exact, on biased e_max and on the sum in units of 2^(e_max - F).
// Below the first, the unit of f32 modes nears the smallest normal number (f16 modes start at 2^-21); above
// the second, D may exceed f32 (C alone cannot, which is why only Mode::f32_wide tests it); beyond the third,
// 16 products of nearly 4 and C may have wrapped around 2^31.
inline constexpr int lowest_safe_exponent = 30;
inline constexpr int highest_safe_exponent = 247;
inline constexpr int highest_safe_exponent_of_fp8 = 240;  // the running sum starts at 2^(e_max + 10)
inline constexpr int largest_safe_sum = 0x78000000;

// Relative exponents of elements lie in [-64, 0], so that sums of two fit a byte. Sums of -64 and below stand
// for products that are zero or that far under the tile's largest; the vector code puts them all at -128.
inline constexpr int hidden_element_exponent = -64;
inline constexpr int largest_hidden_exponent = -64;
inline constexpr int hidden_exponent = -128;

inline constexpr std::int32_t no_scales[max_n] = {};

// Types whose exponents span more than that.
constexpr bool may_hide(Element type) { return type == Element::bf16 || type == Element::tf32; }

struct Job {
  const AOperand* a;
  const BOperand* b;
  void* d;                // float, uint16 or int32 tile
  std::ptrdiff_t stride;  // elements
  Mode mode;
  bool zero_c;
  bool saturate;
  // Of general modes: log2 of the factors of products, by row and by column, and of C.
  const std::int32_t* row_scale = no_scales;
  const std::int32_t* column_scale = no_scales;
  int c_scale = 0;
};

// Columns [column, column + count) of one row, for which the vector code saw something unusual in some lane.
struct Suspects {
  int row;
  int column;
  int count;
  const std::int8_t* exponent;  // max over k of the relative exponent sums, hidden_exponent if hidden
  const std::int32_t*
      sum;                 // the vector code's sums, C included; null for fp8, whose sums are always in range
  const std::uint32_t* c;  // C as f32 bits
};

// Words of one k in a decoded B.
constexpr int words_of_k(bool split) { return split ? 2 * block_n : block_n; }

// Puts right the columns of `suspects` that the vector code could not do, by the scalar reference; the others
// stay.
void repair(const Job& job, const Suspects& suspects);

// Rounds toward zero and flushes results (not operands) that are subnormal, without exceptions, until it
// ends.
class TruncatingMode {
 public:
  TruncatingMode();
  ~TruncatingMode();
  TruncatingMode(const TruncatingMode&) = delete;
  TruncatingMode& operator=(const TruncatingMode&) = delete;

 private:
  unsigned saved_;
};

// Runs a job on a level, with the rounding mode that its kernel expects.
void run(const Job& job, SimdLevel level);

void multiply_avx2(const Job& job);
void multiply_avx512(const Job& job);

}  // namespace palladion::sim::numerics::tc
