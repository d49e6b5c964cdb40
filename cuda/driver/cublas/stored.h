#pragma once
// A matrix of the call's own type in the device's memory, by columns.
#include "cuda/driver/cublas/vectors.h"

namespace palladion::cuda::cublas {

template <class T>
using Values = Matrix<Wide<T>>;

template <class T>
struct Stored {
  const void* at = nullptr;
  int64_t rows = 0, columns = 0, leading = 0;

  bool fits() const { return rows >= 0 && columns >= 0 && leading >= std::max<int64_t>(1, rows); }
  Piece piece(bool reads, bool writes, size_t pointers = 0) const {
    if (rows <= 0 || columns <= 0) return {};
    return {at, rows * sizeof(T), static_cast<size_t>(columns), leading * sizeof(T), reads, writes, pointers};
  }
  Values<T> read(const void* view) const {
    if (rows <= 0 || columns <= 0)
      return Values<T>::Zero(std::max<int64_t>(rows, 0), std::max<int64_t>(columns, 0));
    return read_as<Wide<T>, T>(view, rows, columns, leading);
  }
  void write(const Values<T>& values, void* view) const {
    if (rows > 0 && columns > 0) write_as<T>(values, view, leading);
  }
};

inline bool is_operation(int op) { return op >= 0 && op <= 2; }
// cublasOperation_t: as it is, transposed, conjugate transposed.
template <class M>
M turned(int op, const M& a) {
  if (op == 0) return a;
  return op == 1 ? M(a.transpose()) : M(a.adjoint());
}

// What a triangle stands for.
enum class Half { triangle, symmetric, hermitian };
// The matrix of which the triangle is stored; cublasFillMode_t: 0 is the lower one. A triangle whose diagonal
// is `unit` has it without reading it.
template <class M>
M completed(const M& stored, int fill, Half kind, bool unit = false) {
  M a = M::Zero(stored.rows(), stored.cols());
  const auto is_inside = [&](int64_t i, int64_t j) { return fill == 0 ? i > j : i < j; };
  for (int64_t j = 0; j < a.cols(); ++j) {
    for (int64_t i = 0; i < a.rows(); ++i) {
      if (!is_inside(i, j)) continue;
      a(i, j) = stored(i, j);
      if (kind == Half::symmetric) a(j, i) = stored(i, j);
      if (kind == Half::hermitian) a(j, i) = Eigen::numext::conj(stored(i, j));
    }
    a(j, j) = unit ? typename M::Scalar(1) : stored(j, j);
    if (kind == Half::hermitian) a(j, j) = Eigen::numext::real(a(j, j));
  }
  return a;
}

}  // namespace palladion::cuda::cublas
