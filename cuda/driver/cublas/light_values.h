#pragma once
// Matrices of cublasLt: their memory, their values.
#include "cuda/driver/cublas/light.h"

namespace palladion::cuda::cublas::light {

// The i-th of a batch: at its distance, or where the i-th address of an array says.
inline Piece piece_of(const Layout& l, const void* at, int64_t i, bool reads, bool writes) {
  const size_t size = size_of(l.type);
  const uint64_t inner = l.order == 0 ? l.rows : l.columns, outer = l.order == 0 ? l.columns : l.rows;
  const int64_t distance =
      l.by_pointers() ? static_cast<int64_t>(sizeof(void*)) : l.stride * static_cast<int64_t>(size);
  return {static_cast<const char*>(at) + i * distance, inner * size, outer,
          static_cast<size_t>(l.leading) * size,       reads,        writes,
          l.by_pointers() ? size_t{1} : size_t{0}};
}
inline Piece number(const void* at, size_t size, bool writes = false) {
  return at == nullptr ? Piece{} : Piece{at, size, 1, 0, !writes, writes};
}

template <class T>
Matrix<T> values_of(const Layout& l, const void* view) {
  const auto rows = static_cast<int64_t>(l.rows), columns = static_cast<int64_t>(l.columns);
  if (l.order == 0) return read<T>(l.type, view, rows, columns, l.leading);
  return read<T>(l.type, view, columns, rows, l.leading).transpose();
}
template <class T>
Matrix<T> operand(const Layout& l, int op, const void* view) {
  const Matrix<T> stored = values_of<T>(l, view);
  return op == 0 ? stored : op == 1 ? Matrix<T>(stored.transpose()) : Matrix<T>(stored.adjoint());
}
template <class T>
void put(const Matrix<T>& m, const Layout& l, void* view) {
  if (l.order == 0) return write(m, l.type, view, l.leading);
  write(Matrix<T>(m.transpose()), l.type, view, l.leading);
}

}  // namespace palladion::cuda::cublas::light
