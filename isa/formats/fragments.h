#pragma once
// Which register of which lane holds which element of a matrix (PTX, "Matrix Fragments for mma" and
// "Register Fragments" of wgmma). All NVIDIA fragments since Volta's successors are one family: with
//   group = lane / 4, tig = lane % 4,
// a row comes from the group and a column from tig, `parts` neighbours share a register, and further
// registers step over the other half of the rows first, then along K (or N).
#include <cstdint>

namespace palladion::isa {

struct MatrixIndex {
  int row, col;
  friend constexpr bool operator==(MatrixIndex, MatrixIndex) = default;
};

// Lane 0..31 of one warp; 0..127 of a warpgroup. Part 0 is in the lowest bits of the register.
struct FragmentIndex {
  int lane, reg, part;
  friend constexpr bool operator==(FragmentIndex, FragmentIndex) = default;
};

// `registers` are 32 bits wide, except for f64 (64) and s32/f32 accumulators of a single part.
struct FragmentLayout {
  int rows, cols;
  int lanes;        // 32, or 128 for a warpgroup (warp w holds rows 16w...)
  int registers;    // per lane
  int parts;        // elements per register
  bool transposed;  // B operands: rows run along registers (K), columns along groups (N)

  // How many 8-row groups one lane holds: registers step over them first.
  constexpr int row_halves() const { return transposed ? 1 : (rows / (lanes / 32)) / 8; }

  constexpr MatrixIndex element(int lane, int reg, int part) const {
    const int group = lane % 32 / 4, tig = lane % 4, warp = lane / 32;
    const int halves = row_halves();
    const int along = parts_along();
    // `along` neighbours of the K (or N) direction belong to one lane before the next lane's begin.
    const int in_lane = parts > 1 ? part : reg % along;
    const int step = parts > 1 ? reg : reg / along;
    const int across = group + 8 * (step % halves) + warp * 16;
    const int k = tig * along + in_lane + 4 * along * (step / halves);
    return transposed ? MatrixIndex{k, across} : MatrixIndex{across, k};
  }

  constexpr FragmentIndex holder(int row, int col) const {
    const int across = transposed ? col : row, k = transposed ? row : col;
    const int halves = row_halves(), along = parts_along();
    const int warp = lanes == 128 ? across / 16 : 0;
    const int in_warp = across - warp * 16;
    const int lane = warp * 32 + in_warp % 8 * 4 + k / along % 4;
    const int step = in_warp / 8 + halves * (k / (4 * along));
    return parts > 1 ? FragmentIndex{lane, step, k % along}
                     : FragmentIndex{lane, step * along + k % along, 0};
  }

  // Neighbours along K (or N) that one lane holds: in one register, or, for accumulators of 32 and 64
  // bits, in two.
  bool pairs_of_registers = false;
  constexpr int parts_along() const { return pairs_of_registers ? 2 : parts; }
};

// mma.sync A (rows M = 8 or 16, K columns) of `bits` per element: f16/bf16 16, tf32 32, fp8/int8 8,
// int4 4, b1 1, f64 64. Not Volta's m8n8k4 f16, whose fragments are another family.
constexpr FragmentLayout mma_a(int m, int k, int bits) {
  const int parts = bits >= 32 ? 1 : 32 / bits;
  return {m, k, 32, (m / 8) * (k / (4 * parts)), parts, false};
}

// mma.sync B (K rows, N = 8 columns).
constexpr FragmentLayout mma_b(int k, int bits) {
  const int parts = bits >= 32 ? 1 : 32 / bits;
  return {k, 8, 32, k / (4 * parts), parts, true};
}

// mma.sync C and D (M rows, N = 8 columns): bits 32 and 64 one element a register, 16 two.
constexpr FragmentLayout mma_c(int m, int bits) {
  if (bits == 16) return {m, 8, 32, m / 8, 2, false};
  return {m, 8, 32, m / 4, 1, false, true};
}

// wgmma D (64 rows, N columns) of 32 bits (f32, s32) or 16 (f16, two a register).
constexpr FragmentLayout wgmma_d(int n, int bits) {
  if (bits == 16) return {64, n, 128, n / 4, 2, false};
  return {64, n, 128, n / 2, 1, false, true};
}

// wgmma A from registers: 64 rows, K of one instruction (32 bytes), four 32-bit registers.
constexpr FragmentLayout wgmma_a(int bits) {
  return {64, 256 / bits, 128, 4, bits >= 32 ? 1 : 32 / bits, false};
}

// ldmatrix / stmatrix .m8n8: lane 8i + r gives the address of row r of matrix i; afterwards register i
// of every lane holds two neighbouring 16-bit elements of matrix i (PTX, "ldmatrix").
constexpr int ldmatrix_address_lane(int matrix, int row) { return matrix * 8 + row; }

constexpr MatrixIndex ldmatrix_element(int lane, int part, bool transposed) {
  const MatrixIndex straight{lane / 4, lane % 4 * 2 + part};
  return transposed ? MatrixIndex{straight.col, straight.row} : straight;
}

// Which lane and half hold element (row, col) of an 8x8 matrix of 16-bit elements; the register is the
// matrix' number.
constexpr FragmentIndex ldmatrix_holder(int row, int col, bool transposed) {
  const int r = transposed ? col : row, c = transposed ? row : col;
  return {r * 4 + c / 2, 0, c % 2};
}

}  // namespace palladion::isa
