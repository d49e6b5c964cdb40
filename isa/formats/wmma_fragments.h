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

// The m8n32k16 of a fragment is m32n8k16 transposed: D^T = B^T A^T.
constexpr bool is_transposed(int m, int n) { return m == 8 && n == 32; }
constexpr WmmaMatrix transposed(WmmaMatrix matrix) {
  return matrix == WmmaMatrix::a ? WmmaMatrix::b : matrix == WmmaMatrix::b ? WmmaMatrix::a : WmmaMatrix::c;
}

// Tile `number` of a fragment (of a shape that is not transposed): the fragment of an mma.sync, and its
// place.
struct Tile {
  FragmentLayout layout;
  MatrixIndex first;
};
inline Tile tile(WmmaMatrix matrix, int m, int n, int k, Type type, int number) {
  const int rows = m < 16 ? m : 16;
  if (matrix == WmmaMatrix::a) return {mma_a(rows, k, bits(type)), {number * rows % m, 0}};
  if (matrix == WmmaMatrix::b) return {mma_b(k, bits(type)), {0, number * 8 % n}};
  return {mma_c(rows, bits(type)), n > 8 ? MatrixIndex{0, number * 8} : MatrixIndex{number * rows, 0}};
}

// The element that part `part` of a register holds.
inline MatrixIndex element(WmmaMatrix matrix, int m, int n, int k, Type type, int lane, int reg, int part) {
  if (is_transposed(m, n)) {
    const MatrixIndex t = element(transposed(matrix), n, m, k, type, lane, reg, part);
    return {t.col, t.row};
  }
  const int registers = tile(matrix, m, n, k, type, 0).layout.registers;
  const Tile t = tile(matrix, m, n, k, type, reg / registers);
  const MatrixIndex at = t.layout.element(lane, reg % registers, part);
  return {t.first.row + at.row, t.first.col + at.col};
}

}  // namespace palladion::isa::wmma
