#pragma once
// Addresses of tensor memory, and where the registers of tcgen05.ld and tcgen05.st and the rows of a matrix
// product lie in it (PTX, "Tensor Memory Addressing", "tcgen05 Data Path Layout Organization", "tcgen05
// Matrix Fragments").
#include <cstdint>

#include "isa/core/effects.h"

namespace palladion::isa {

// Lanes 0 to 127 in the upper half of an address, columns of 32 bits in the lower.
struct TensorPlace {
  int lane = 0, column = 0;
  friend constexpr bool operator==(TensorPlace, TensorPlace) = default;
};
constexpr uint32_t tensor_address(TensorPlace p) {
  return static_cast<uint32_t>(p.lane) << 16 | static_cast<uint32_t>(p.column);
}
constexpr TensorPlace tensor_place(uint32_t address) {
  return {static_cast<int>(address >> 16), static_cast<int>(address & 0xFFFF)};
}
// Of the warps of a warpgroup each reaches a quarter of the lanes.
inline constexpr int lanes_of_a_warp = 32;
constexpr int first_lane_of_warp(uint32_t warp) { return static_cast<int>(warp % 4) * lanes_of_a_warp; }

// --- tcgen05.ld and tcgen05.st ---------------------------------------------------------------------------
struct TensorShapeSize {
  int lanes;      // from the address' on
  int columns;    // of one repetition
  int registers;  // of a thread, for one repetition
};
constexpr TensorShapeSize size_of(TensorShape shape) {
  using enum TensorShape;
  switch (shape) {
    case l32x32b:
      return {32, 1, 1};
    case l16x64b:
      return {16, 2, 1};
    case l16x128b:
      return {16, 4, 2};
    case l16x256b:
      return {16, 8, 4};
    case l16x32bx2:
      return {16, 1, 1};
  }
  return {};
}
// Relative to the address: where register `r` of `thread` is. `split`: columns from the first half of
// 16x32bx2 to the second.
constexpr TensorPlace tensor_fragment(TensorShape shape, int thread, int r, int split) {
  using enum TensorShape;
  switch (shape) {
    case l32x32b:
      return {thread, r};
    case l16x64b:
      return {thread / 4 + 8 * (thread & 1), 2 * r + (thread >> 1 & 1)};
    case l16x128b:
      return {thread / 4 + 8 * (r & 1), 4 * (r >> 1) + (thread & 3)};
    case l16x256b:
      return {thread / 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (thread & 3) + (r & 1)};
    case l16x32bx2:
      return {thread & 15, r + (thread >> 4) * split};
  }
  return {};
}

// --- matrix products -------------------------------------------------------------------------------------
// Which lanes and columns of a CTA hold D, by the letters of the manual's figures.
enum class DataPath : uint8_t {
  a,  // M 256, two CTAs: 128 rows in each, a lane each
  b,  // M 128, two CTAs: 64 rows in each; the second half of N in lanes 64 to 127
  c,  // the same, sparse: 16 rows in each quarter
  d,  // M 128: a lane each
  e,  // M 64, .ws: as b
  f,  // M 64: as c
  g,  // M 32, .ws: a quarter of N in each quarter of the lanes
};
constexpr DataPath data_path(int m, int ctas, bool weight_stationary, bool sparse) {
  using enum DataPath;
  if (ctas == 2) return m == 256 ? a : sparse ? c : b;
  if (weight_stationary) return m == 128 ? d : m == 64 ? e : g;
  return m == 128 ? d : f;
}
// Rows of D in each CTA.
constexpr int rows_of_cta(int m, int ctas) { return m / ctas; }
// How often N is divided over the lanes.
constexpr int column_parts(DataPath path) {
  return path == DataPath::b || path == DataPath::e ? 2 : path == DataPath::g ? 4 : 1;
}
// The lane of row `row` (of the CTA's) in part `part` of the columns; relative to the lane of the address
// where layouts c and f can start at 16.
constexpr int lane_of_row(DataPath path, int row, int part = 0) {
  using enum DataPath;
  switch (path) {
    case a:
    case d:
      return row;
    case b:
    case e:
      return row + 64 * part;
    case c:
    case f:
      return row % 16 + 32 * (row / 16);
    case g:
      return row + 32 * part;
  }
  return row;
}

// --- scales ----------------------------------------------------------------------------------------------
// One byte for each row (or column of B) and block of K, from column `column` on: rows 32 apart in
// neighbouring columns, the same in all four quarters of the lanes (PTX, "tcgen05 block scaling").
constexpr TensorPlace scale_place(int row) { return {row % 32, row / 32}; }
// CUTLASS keeps the number of the first scale's byte in bits 30 and 31 of the address; the descriptor states
// it.
constexpr uint32_t scale_address(uint32_t operand) { return operand & 0x3FFF'FFFF; }

// --- metadata of sparse products -------------------------------------------------------------------------
// A nibble selects among four elements (two of tf32, four pairs of mxf4). Where nibble `i` of row `row` of a
// CTA is, with M = 128 of a CTA and .ws (the manual has figures only; as CUTLASS lays it out): elements of 16
// and 32 bits have rows eight apart in the halves of a word, and the second half of K eight lanes further.
struct MetadataPlace {
  int lane = 0, column = 0, bit = 0;
  friend constexpr bool operator==(MetadataPlace, MetadataPlace) = default;
};
constexpr MetadataPlace metadata_place(int element_bits, int row, int i) {
  if (element_bits <= 8) return {row, i / 8, 4 * (i % 8)};
  return {row / 16 * 16 + row % 8 + 8 * (i / 4), 0, 16 * (row / 8 % 2) + 4 * (i % 4)};
}

}  // namespace palladion::isa
