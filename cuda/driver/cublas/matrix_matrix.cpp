// BLAS' third level but products and solutions: symmetric and triangular matrices, sums, diagonals. In f64.
#include <algorithm>

#include "cuda/driver/cublas/stored.h"

namespace palladion::cuda::cublas {
namespace {

bool is_binary(int value) { return value == 0 || value == 1; }  // cublasSideMode_t, cublasFillMode_t, ...

// C = alpha op(A) + beta op(B); a matrix whose factor is zero is not read.
template <class T>
Status geam(const Handle* h, const char* name, int op_a, int op_b, const T* alpha, Stored<T> a, const T* beta,
            Stored<T> b, Stored<T> c) {
  if (h == nullptr) return not_initialized;
  if (op_a != 0) std::swap(a.rows, a.columns);
  if (op_b != 0) std::swap(b.rows, b.columns);
  if (!is_operation(op_a) || !is_operation(op_b) || alpha == nullptr || beta == nullptr || !c.fits())
    return invalid_value;
  Pieces pieces(h);
  const bool reads_a = pieces.of_device() || *alpha != T(0), reads_b = pieces.of_device() || *beta != T(0);
  if ((reads_a && !a.fits()) || (reads_b && !b.fits())) return invalid_value;
  if (c.rows == 0 || c.columns == 0) return success;
  const auto by_a = pieces.number(alpha), by_b = pieces.number(beta);
  const int at_a = pieces.add(reads_a ? a.piece(true, false) : Piece{}),
            at_b = pieces.add(reads_b ? b.piece(true, false) : Piece{}),
            at_c = pieces.add(c.piece(false, true));
  return perform(h, name, pieces, [=](void* const* views) {
    Values<T> sum = Values<T>::Zero(c.rows, c.columns);
    if (by_a.value(views) != Wide<T>(0)) sum += by_a.value(views) * turned(op_a, a.read(views[at_a]));
    if (by_b.value(views) != Wide<T>(0)) sum += by_b.value(views) * turned(op_b, b.read(views[at_b]));
    c.write(sum, views[at_c]);
  });
}

// C = diag(x) A, or A diag(x) from the right.
template <class T>
Status dgmm(const Handle* h, const char* name, int side, Stored<T> a, Vector<T> x, Stored<T> c) {
  if (h == nullptr) return not_initialized;
  if (!is_binary(side) || !a.fits() || !c.fits()) return invalid_value;
  if (a.rows == 0 || a.columns == 0) return success;
  x.n = side == 0 ? a.rows : a.columns;
  Pieces pieces(h);
  const int at_a = pieces.add(a.piece(true, false)), at_x = pieces.add(x.piece(true, false)),
            at_c = pieces.add(c.piece(false, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const auto diagonal = x.read(views[at_x]).transpose().eval();
    const Values<T> values = a.read(views[at_a]);
    c.write(side == 0 ? Values<T>(diagonal.asDiagonal() * values) : Values<T>(values * diagonal.asDiagonal()),
            views[at_c]);
  });
}

// The triangle of C = alpha op(A) op(A)^T + beta C, or ^H. `S`: the type of alpha and beta.
template <class T, class S>
Status syrk(const Handle* h, const char* name, Half kind, int fill, int op, int64_t n, int64_t k,
            const S* alpha, Stored<T> a, const S* beta, Stored<T> c) {
  if (h == nullptr) return not_initialized;
  a.rows = op == 0 ? n : k;
  a.columns = op == 0 ? k : n;
  if (!is_binary(fill) || !is_operation(op) || alpha == nullptr || beta == nullptr || !a.fits() || !c.fits())
    return invalid_value;
  if (n == 0) return success;
  Pieces pieces(h);
  const bool reads_c = pieces.of_device() || *beta != S(0);
  const auto by = pieces.number(alpha), keeps = pieces.number(beta);
  const int at_a = pieces.add(a.piece(true, false));
  const int first = static_cast<int>(pieces.all().size());
  for (int64_t j = 0; j < n; ++j) {  // the columns of the triangle: the rest is not touched
    const int64_t begin = fill == 0 ? j : 0, end = fill == 0 ? n : j + 1;
    pieces.add({static_cast<const T*>(c.at) + j * c.leading + begin,
                static_cast<size_t>(end - begin) * sizeof(T), 1, 0, reads_c, true});
  }
  return perform(h, name, pieces, [=](void* const* views) {
    const Values<T> left = turned(op, a.read(views[at_a]));
    const Values<T> right = kind == Half::hermitian ? Values<T>(left.adjoint()) : Values<T>(left.transpose());
    const Values<T> product = by.value(views) * (left * right);
    for (int64_t j = 0; j < n; ++j) {
      const int64_t begin = fill == 0 ? j : 0, end = fill == 0 ? n : j + 1;
      auto* const column = static_cast<T*>(views[first + j]);
      for (int64_t i = begin; i < end; ++i) {
        Wide<T> value = product(i, j);
        if (keeps.value(views) != Wide<S>(0))
          value += keeps.value(views) * static_cast<Wide<T>>(column[i - begin]);
        if (kind == Half::hermitian && i == j) value = Eigen::numext::real(value);
        column[i - begin] = static_cast<T>(value);
      }
    }
  });
}

// C = alpha A B + beta C, or B A from the right, with a triangle of A.
template <class T>
Status symm(const Handle* h, const char* name, Half kind, int side, int fill, const T* alpha, Stored<T> a,
            Stored<T> b, const T* beta, Stored<T> c) {
  if (h == nullptr) return not_initialized;
  if (!is_binary(side) || !is_binary(fill) || alpha == nullptr || beta == nullptr || !b.fits() || !c.fits())
    return invalid_value;
  a.rows = a.columns = side == 0 ? c.rows : c.columns;
  if (!a.fits()) return invalid_value;
  if (c.rows == 0 || c.columns == 0) return success;
  Pieces pieces(h);
  const bool reads_c = pieces.of_device() || *beta != T(0);
  const auto by = pieces.number(alpha), keeps = pieces.number(beta);
  const int at_a = pieces.add(a.piece(true, false)), at_b = pieces.add(b.piece(true, false)),
            at_c = pieces.add(c.piece(reads_c, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Values<T> whole = completed(a.read(views[at_a]), fill, kind), other = b.read(views[at_b]);
    Values<T> sum = by.value(views) * (side == 0 ? Values<T>(whole * other) : Values<T>(other * whole));
    if (keeps.value(views) != Wide<T>(0)) sum += keeps.value(views) * c.read(views[at_c]);
    c.write(sum, views[at_c]);
  });
}

// C = alpha op(A) B, or B op(A) from the right, with a triangular A; C may be B.
template <class T>
Status trmm(const Handle* h, const char* name, int side, int fill, int op, int diagonal, const T* alpha,
            Stored<T> a, Stored<T> b, Stored<T> c) {
  if (h == nullptr) return not_initialized;
  if (!is_binary(side) || !is_binary(fill) || !is_operation(op) || !is_binary(diagonal) || alpha == nullptr ||
      !b.fits() || !c.fits())
    return invalid_value;
  a.rows = a.columns = side == 0 ? c.rows : c.columns;
  if (!a.fits()) return invalid_value;
  if (c.rows == 0 || c.columns == 0) return success;
  Pieces pieces(h);
  const auto by = pieces.number(alpha);
  const int at_a = pieces.add(a.piece(true, false)), at_b = pieces.add(b.piece(true, false)),
            at_c = pieces.add(c.piece(false, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Values<T> triangle =
        turned(op, completed(a.read(views[at_a]), fill, Half::triangle, diagonal != 0));
    const Values<T> other = b.read(views[at_b]);
    c.write(by.value(views) * (side == 0 ? Values<T>(triangle * other) : Values<T>(other * triangle)),
            views[at_c]);
  });
}

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_GEAM(NAME, INT, T)                                                                               \
  PLD_STAND_IN Status NAME(Handle* h, int op_a, int op_b, INT m, INT n, const T* alpha, const T* a, INT lda, \
                           const T* beta, const T* b, INT ldb, T* c, INT ldc) {                              \
    return geam<T>(h, #NAME, op_a, op_b, alpha, {a, m, n, lda}, beta, {b, m, n, ldb}, {c, m, n, ldc});       \
  }
#define PLD_DGMM(NAME, INT, T)                                                                           \
  PLD_STAND_IN Status NAME(Handle* h, int side, INT m, INT n, const T* a, INT lda, const T* x, INT step, \
                           T* c, INT ldc) {                                                              \
    return dgmm<T>(h, #NAME, side, {a, m, n, lda}, {x, 0, step}, {c, m, n, ldc});                        \
  }
#define PLD_SYRK(NAME, INT, T, S, KIND)                                                                    \
  PLD_STAND_IN Status NAME(Handle* h, int fill, int op, INT n, INT k, const S* alpha, const T* a, INT lda, \
                           const S* beta, T* c, INT ldc) {                                                 \
    return syrk<T, S>(h, #NAME, Half::KIND, fill, op, n, k, alpha, {a, 0, 0, lda}, beta, {c, n, n, ldc});  \
  }
#define PLD_SYMM(NAME, INT, T, KIND)                                                                         \
  PLD_STAND_IN Status NAME(Handle* h, int side, int fill, INT m, INT n, const T* alpha, const T* a, INT lda, \
                           const T* b, INT ldb, const T* beta, T* c, INT ldc) {                              \
    return symm<T>(h, #NAME, Half::KIND, side, fill, alpha, {a, 0, 0, lda}, {b, m, n, ldb}, beta,            \
                   {c, m, n, ldc});                                                                          \
  }
#define PLD_TRMM(NAME, INT, T)                                                                        \
  PLD_STAND_IN Status NAME(Handle* h, int side, int fill, int op, int diagonal, INT m, INT n,         \
                           const T* alpha, const T* a, INT lda, const T* b, INT ldb, T* c, INT ldc) { \
    return trmm<T>(h, #NAME, side, fill, op, diagonal, alpha, {a, 0, 0, lda}, {b, m, n, ldb},         \
                   {c, m, n, ldc});                                                                   \
  }
#define PLD_BOTH(MAKE, NAME, ...) \
  MAKE(NAME, int, ##__VA_ARGS__)  \
  MAKE(NAME##_64, int64_t, ##__VA_ARGS__)
#define PLD_OF_MATRICES(LETTER, T)                             \
  PLD_BOTH(PLD_GEAM, cublas##LETTER##geam, T)                  \
  PLD_BOTH(PLD_DGMM, cublas##LETTER##dgmm, T)                  \
  PLD_BOTH(PLD_SYRK, cublas##LETTER##syrk_v2, T, T, symmetric) \
  PLD_BOTH(PLD_SYMM, cublas##LETTER##symm_v2, T, symmetric)    \
  PLD_BOTH(PLD_TRMM, cublas##LETTER##trmm_v2, T)

PLD_OF_MATRICES(S, float)
PLD_OF_MATRICES(D, double)
PLD_OF_MATRICES(C, Complex32)
PLD_OF_MATRICES(Z, Complex64)
PLD_BOTH(PLD_SYRK, cublasCherk_v2, Complex32, float, hermitian)
PLD_BOTH(PLD_SYRK, cublasZherk_v2, Complex64, double, hermitian)
PLD_BOTH(PLD_SYMM, cublasChemm_v2, Complex32, hermitian)
PLD_BOTH(PLD_SYMM, cublasZhemm_v2, Complex64, hermitian)
