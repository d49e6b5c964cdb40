// Solutions by triangular matrices: op(A) X = alpha B or X op(A) = alpha B, X in B's place, one or a batch of
// them by arrays of addresses. In f64 for each type.
#include <type_traits>

#include "cuda/driver/cublas/handle.h"
#include "cuda/driver/cublas/matrices.h"

namespace palladion::cuda::cublas {
namespace {

struct Shape {
  bool left, upper, unit;
  int op = 0;  // cublasOperation_t: as it is, transposed, conjugate transposed
  int64_t m = 0, n = 0, lda = 0, ldb = 0;
  int64_t batch = 1;
  bool by_pointers = false;
  int64_t order() const { return left ? m : n; }
  bool is_valid() const {
    return m >= 0 && n >= 0 && batch >= 0 && op >= 0 && op <= 2 && lda >= std::max<int64_t>(1, order()) &&
           ldb >= std::max<int64_t>(1, m);
  }
};

template <class W>
void solve(bool upper, bool unit, const Matrix<W>& a, Matrix<W>& b) {
  if (upper && unit) return a.template triangularView<Eigen::UnitUpper>().solveInPlace(b);
  if (upper) return a.template triangularView<Eigen::Upper>().solveInPlace(b);
  if (unit) return a.template triangularView<Eigen::UnitLower>().solveInPlace(b);
  a.template triangularView<Eigen::Lower>().solveInPlace(b);
}
// X op(A) = B is op(A)^T X^T = B^T.
template <class W>
void solve(const Shape& s, Matrix<W> a, Matrix<W>& b) {
  bool upper = s.upper;
  if (s.op == 2) a = a.conjugate().eval();
  if ((s.op != 0) == s.left) {
    a.transposeInPlace();
    upper = !upper;
  }
  if (!s.left) b.transposeInPlace();
  solve(upper, s.unit, a, b);
  if (!s.left) b.transposeInPlace();
}

template <class T>
Status trsm(const Handle* h, const char* name, const Shape& s, const T* alpha, const void* a, const void* b) {
  using W = std::conditional_t<Eigen::NumTraits<T>::IsComplex, Complex64, double>;
  if (h == nullptr) return not_initialized;
  if (!s.is_valid() || alpha == nullptr) return invalid_value;
  if (s.m == 0 || s.n == 0 || s.batch == 0) return success;
  const int64_t k = s.order();
  const bool of_device = h->pointer_mode == 1;
  const size_t pointers = s.by_pointers ? static_cast<size_t>(s.batch) : 0;
  std::vector<Piece> pieces = {
      {a, k * sizeof(T), static_cast<size_t>(k), s.lda * sizeof(T), true, false, pointers},
      {b, s.m * sizeof(T), static_cast<size_t>(s.n), s.ldb * sizeof(T), true, true, pointers},
      of_device ? Piece{alpha, sizeof(T), 1, 0, true, false} : Piece{}};
  const T factor = of_device ? T(1) : *alpha;
  const int done = compute_on_host(name, h->stream, pieces, [=](void* const* views) {
    const W by(of_device ? *static_cast<const T*>(views[2 * s.batch]) : factor);
    for (int64_t i = 0; i < s.batch; ++i) {
      void* const right = views[s.batch + i];
      Matrix<W> x = by * read_as<W, T>(right, s.m, s.n, s.ldb);
      solve<W>(s, read_as<W, T>(views[i], k, k, s.lda), x);
      write_as<T>(x, right, s.ldb);
    }
  });
  return done == 0 ? success : execution_failed;
}

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_TRSM(NAME, INT, T)                                                                        \
  PLD_STAND_IN Status NAME(Handle* h, int side, int uplo, int op, int diagonal, INT m, INT n,         \
                           const T* alpha, const T* a, INT lda, T* b, INT ldb) {                      \
    return trsm<T>(h, #NAME, {side == 0, uplo != 0, diagonal != 0, op, m, n, lda, ldb}, alpha, a, b); \
  }
#define PLD_TRSM_BATCHED(NAME, INT, T)                                                                      \
  PLD_STAND_IN Status NAME(Handle* h, int side, int uplo, int op, int diagonal, INT m, INT n,               \
                           const T* alpha, const T* const* a, INT lda, T* const* b, INT ldb, INT batch) {   \
    return trsm<T>(h, #NAME, {side == 0, uplo != 0, diagonal != 0, op, m, n, lda, ldb, batch, true}, alpha, \
                   static_cast<const void*>(a), static_cast<const void*>(b));                               \
  }
#define PLD_TRSM_BOTH(NAME, T)       \
  PLD_TRSM(NAME##_v2, int, T)        \
  PLD_TRSM(NAME##_v2_64, int64_t, T) \
  PLD_TRSM_BATCHED(NAME##Batched, int, T) PLD_TRSM_BATCHED(NAME##Batched_64, int64_t, T)
PLD_TRSM_BOTH(cublasStrsm, float)
PLD_TRSM_BOTH(cublasDtrsm, double)
PLD_TRSM_BOTH(cublasCtrsm, Complex32)
PLD_TRSM_BOTH(cublasZtrsm, Complex64)
