#pragma once
// Cholesky's factor of a matrix, and solutions by it.
#include "cuda/driver/cusolver/handle.h"

namespace palladion::cuda::cusolver {

// L of A = L L^H in the lower triangle. The number of the first leading minor that is not positive; 0: none.
template <class W>
int cholesky(Matrix<W>& a) {
  for (int64_t j = 0; j < a.rows(); ++j) {
    const double square = std::real(a(j, j)) - a.row(j).head(j).squaredNorm();
    if (!(square > 0)) return static_cast<int>(j + 1);
    a(j, j) = std::sqrt(square);
    const int64_t below = a.rows() - j - 1;
    a.col(j).tail(below).noalias() -= a.block(j + 1, 0, below, j) * a.row(j).head(j).adjoint();
    a.col(j).tail(below) /= a(j, j);
  }
  return 0;
}
template <class W>
void solve_cholesky(const Matrix<W>& l, Matrix<W>& b) {
  l.template triangularView<Eigen::Lower>().solveInPlace(b);
  l.template triangularView<Eigen::Lower>().adjoint().solveInPlace(b);
}
// The lower triangle, wherever the factor or the matrix is stored.
template <class W>
Matrix<W> as_lower(int uplo, const Matrix<W>& a) {
  return uplo == lower ? a : Matrix<W>(a.adjoint());
}

}  // namespace palladion::cuda::cusolver
