// The tensor core of Hopper over whole tiles, bit-exact and fast:
//     D[m x n] = rho(trunc-sum over k of A[m][k] * B[k][n], C[m x n])
// for one wgmma instruction: m <= 64, n a multiple of 8 up to 256, k of one instruction (32 bytes a row; 64
// for the dense form of sparse operands). Decode A and B once, multiply as often as wanted on a dense
// row-major accumulator tile; nothing allocates. The arithmetic is that of tensor_core_reference.h, which
// also serves the few outputs that the vector code cannot (infinities, NaNs, exponents near the ends of f32).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numerics/tensor_core_types.h"

namespace palladion::sim::numerics::tc {

inline constexpr int max_m = 64;
inline constexpr int max_n = 256;
inline constexpr int max_k = 64;
inline constexpr int block_n = 64;  // columns that lie together in a decoded B

// What decode found in a tile of floats. Exponents are field exponents + 127, over finite non-zero elements.
struct ExponentRange {
  int smallest = 127;
  int largest = 127;
};

// Decoded A, row-major [m][k]. Words are f32 values; for s8/u8 pairs of int16 [m][k/2]; for b1 32 bits of k
// [m][k/32]. `exponent` holds the field exponent relative to range.largest, -64 at least (as zeros have), as
// four equal bytes.
struct AOperand {
  Element type = Element::f16;
  int m = 0;
  int k = 0;
  ExponentRange range;
  std::uint64_t special_rows = 0;  // rows with an infinity or NaN
  bool sparse = false;  // only elements in `selected` exist: the others make no product, not even 0 * inf
  std::uint64_t selected[max_m];  // bit k, used if sparse
  alignas(64) std::uint32_t word[max_m * max_k];
  alignas(64) std::uint32_t exponent[max_m * max_k];
};

// Decoded B, [n / 64][k][64]; words and exponents as in AOperand (one byte each). If split (fp8 of Hopper),
// the words are [n / 64][k][2][64]: first the values that are not negative, then those that are, each with +0
// in the place of the others.
struct BOperand {
  Element type = Element::f16;
  bool split = false;
  int n = 0;
  int k = 0;
  ExponentRange range;
  std::uint64_t special_columns[max_n / block_n] = {};
  alignas(64) std::uint32_t word[max_n * max_k * 2];
  alignas(64) std::int8_t exponent[max_n * max_k + block_n];  // a vector may be read from any column
};

// Where the element rows of an operand lie: equally spaced, or anywhere (swizzled shared memory, registers).
struct Rows {
  const void* base = nullptr;
  std::ptrdiff_t stride = 0;          // bytes
  const void* const* rows = nullptr;  // if set: one pointer a row

  const std::uint8_t* operator[](int row) const {
    return static_cast<const std::uint8_t*>(rows ? rows[row]
                                                 : static_cast<const std::uint8_t*>(base) + row * stride);
  }
};

// How the rows run. k: each row holds all k of one m (or n). mn: each row holds all m (or n) of one k.
enum class Major : std::uint8_t { k, mn };

// Whose sums of fp8 products: with 13 fraction bits, or with 25 as those of other floats.
enum class Generation : std::uint8_t { hopper, blackwell };

// Rows hold raw little-endian elements. k * element_bits must be a multiple of 256 (pad shorter ones with
// zeros: they change no result), so must m * element_bits for Major::mn; n is a multiple of 8. b1 is Major::k
// only. negate flips the sign of every element (scale-a, scale-b = -1; floats only).
void decode_a(AOperand& out, Element type, int m, int k, Rows rows, Major major = Major::k,
              bool negate = false);
void decode_b(BOperand& out, Element type, int n, int k, Rows rows, Major major = Major::k,
              bool negate = false, Generation generation = Generation::hopper);

// Marks the elements of a sparse A that the metadata selected: bit k of selected[row]. A itself is decoded in
// dense form (k of the sparse instruction, zeros elsewhere).
void select_sparse(AOperand& a, const std::uint64_t* selected);

enum class SimdLevel : std::uint8_t { avx2, avx512 };
SimdLevel best_simd_level();  // what this processor can do

struct MultiplyOptions {
  bool zero_c = false;    // scale-d = 0: C counts as +0 and is not read
  bool saturate = false;  // .satfinite of integers
  SimdLevel level = best_simd_level();
};

// D = A * B + C in place; d is row-major with `stride` elements between rows.
void multiply(const AOperand& a, const BOperand& b, float* d, std::ptrdiff_t stride,
              const MultiplyOptions& = {});
void multiply(const AOperand& a, const BOperand& b, std::uint16_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& = {});
void multiply(const AOperand& a, const BOperand& b, std::int32_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& = {});

}  // namespace palladion::sim::numerics::tc
