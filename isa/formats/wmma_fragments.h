#pragma once
// The chip's layouts of wmma fragments, which PTX leaves open: the tiles of mma.sync (fragments.h), one after
// the other. A matrix of 32 rows (A) or columns (B) is two tiles of 16; a B of 16 columns or a C of 16
// columns two of 8. m8n32k16 is m32n8k16 transposed.
#include "isa/core/effects.h"
#include "isa/core/types.h"
#include "isa/formats/fragments.h"

namespace palladion::isa::wmma {

struct Size {
  int rows, cols;
};
constexpr Size size_of(WmmaMatrix matrix, int m, int n, int k) {
  return matrix == WmmaMatrix::a ? Size{m, k} : matrix == WmmaMatrix::b ? Size{k, n} : Size{m, n};
}

// Registers that PTX gives a fragment. Halves of A and B have eight, whatever the shape: elements are held
// more than once.
inline int registers(WmmaMatrix matrix, int m, int n, int k, Type type) {
  const Size s = size_of(matrix, m, n, k);
  if (matrix != WmmaMatrix::c && type == Type::f16) return 8;
  if (type == Type::f64) return s.rows * s.cols / 32;
  const int words = s.rows * s.cols * bits(type) / 32 / 32;
  return words == 0 ? 1 : words;
}

// Elements in a register.
inline int parts(Type type) { return bits(type) >= 32 ? 1 : 32 / bits(type); }

// The element that part `part` of a register holds.
inline MatrixIndex element(WmmaMatrix matrix, int m, int n, int k, Type type, int lane, int reg, int part) {
  const bool swapped = m == 8 && n == 32;  // D^T = B^T A^T
  if (swapped) {
    const WmmaMatrix other = matrix == WmmaMatrix::a   ? WmmaMatrix::b
                             : matrix == WmmaMatrix::b ? WmmaMatrix::a
                                                       : WmmaMatrix::c;
    const MatrixIndex t = element(other, n, m, k, type, lane, reg, part);
    return {t.col, t.row};
  }
  const int b = bits(type);
  if (matrix == WmmaMatrix::a) {
    const int rows = m < 16 ? m : 16;
    const FragmentLayout tile = mma_a(rows, k, b);
    const MatrixIndex at = tile.element(lane, reg % tile.registers, part);
    return {at.row + (reg / tile.registers * rows) % m, at.col};
  }
  if (matrix == WmmaMatrix::b) {
    const FragmentLayout tile = mma_b(k, b);
    const MatrixIndex at = tile.element(lane, reg % tile.registers, part);
    return {at.row, at.col + (reg / tile.registers * 8) % n};
  }
  const int rows = m < 16 ? m : 16;
  const FragmentLayout tile = mma_c(rows, b);
  const MatrixIndex at = tile.element(lane, reg % tile.registers, part);
  const int number = reg / tile.registers;
  return n > 8 ? MatrixIndex{at.row, at.col + number * 8} : MatrixIndex{at.row + number * rows, at.col};
}

}  // namespace palladion::isa::wmma
