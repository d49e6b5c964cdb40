// Between tcgen05.cpp and the vector kernel of packed kinds. No inline code here, as in
// tensor_core_kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numerics/tcgen05.h"

namespace palladion::sim::numerics::tcgen05 {

struct PackedJob {
  const PackedA* a;
  const PackedB* b;
  int m;
  int n;
  int words;  // of four elements, in a group: 4, or 8 if sparse
  std::uint32_t* d;
  std::ptrdiff_t stride;
  bool zero_c;
  bool significands;  // of the scales are not all 1
};

// Biased e_max within which the vector code is exact: units of 2^(e_max - 35) and D are normal f32.
inline constexpr int lowest_packed_exponent = 40;
inline constexpr int highest_packed_exponent = 240;
inline constexpr int no_exponent = -2000;  // of a group without products

// Columns [column, column + count) of one row by the scalar reference; c as f32 bits.
void repair_packed(const PackedJob& job, int row, int column, int count, const std::uint32_t* c);

void multiply_packed_avx2(const PackedJob& job);
void multiply_packed_avx512(const PackedJob& job);

}  // namespace palladion::sim::numerics::tcgen05
