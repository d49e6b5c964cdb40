// Factors of matrices, and solutions by them: Cholesky, LU, QR. As LAPACK stores them.
#include <Eigen/QR>
#include <algorithm>

#include "cuda/driver/cusolver/cholesky.h"

namespace palladion::cuda::cusolver {
namespace {

// ---- Cholesky --------------------------------------------------------------------------------------------
template <class T>
Status potrf(Handle* h, const char* name, int uplo, Operand<T> a, int* info) {
  if (!a.fits()) return invalid_value;
  return run(h, name, {a.piece(true, true), row_of(info, 1).piece(false, true)}, [=](void* const* views) {
    auto stored = a.read(views[0]);
    auto factor = as_lower(uplo, stored);
    *static_cast<int*>(views[1]) = cholesky(factor);
    if (uplo == lower)
      stored.template triangularView<Eigen::Lower>() = factor;
    else
      stored.template triangularView<Eigen::Upper>() = factor.adjoint();
    a.write(stored, views[0]);
  });
}
template <class T>
Status potrs(Handle* h, const char* name, int uplo, Operand<T> a, Operand<T> b, int* info) {
  if (!a.fits() || !b.fits()) return invalid_value;
  return run(h, name, {a.piece(true, false), b.piece(true, true), row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[2]) = 0;
               if (a.rows == 0 || b.columns == 0) return;
               auto x = b.read(views[1]);
               solve_cholesky(as_lower(uplo, a.read(views[0])), x);
               b.write(x, views[1]);
             });
}

// ---- LU --------------------------------------------------------------------------------------------------
using Pivots = std::vector<int64_t>;  // row k was exchanged with this one; empty: none was

// With partial pivoting where `pivots` has room. The number of the first pivot that is zero; 0: none.
template <class W>
int factor_lu(Matrix<W>& a, Pivots& pivots) {
  int first_zero = 0;
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    if (!pivots.empty()) {
      int64_t at = 0;
      a.col(k).tail(a.rows() - k).cwiseAbs().maxCoeff(&at);
      pivots[static_cast<size_t>(k)] = at += k;
      if (at != k) a.row(k).swap(a.row(at));
    }
    if (a(k, k) == W(0)) {
      if (first_zero == 0) first_zero = static_cast<int>(k + 1);
      continue;
    }
    const int64_t below = a.rows() - k - 1, right = a.cols() - k - 1;
    a.col(k).tail(below) /= a(k, k);
    a.bottomRightCorner(below, right).noalias() -= a.col(k).tail(below) * a.row(k).tail(right);
  }
  return first_zero;
}
template <class W>
void solve_lu(int op, const Matrix<W>& factor, const Pivots& pivots, Matrix<W>& b) {
  const auto exchange = [&](size_t k) { b.row(static_cast<int64_t>(k)).swap(b.row(pivots[k])); };
  if (op == as_it_is) {
    for (size_t k = 0; k < pivots.size(); ++k) exchange(k);
    factor.template triangularView<Eigen::UnitLower>().solveInPlace(b);
    factor.template triangularView<Eigen::Upper>().solveInPlace(b);
    return;
  }
  const Matrix<W> turned = op == transposed ? Matrix<W>(factor.transpose()) : Matrix<W>(factor.adjoint());
  turned.template triangularView<Eigen::Lower>().solveInPlace(b);
  turned.template triangularView<Eigen::UnitUpper>().solveInPlace(b);
  for (size_t k = pivots.size(); k-- > 0;) exchange(k);
}

template <class T, class Pivot>
Status getrf(Handle* h, const char* name, Operand<T> a, Pivot* pivots, int* info) {
  if (!a.fits()) return invalid_value;
  const auto count = pivots == nullptr ? 0 : std::min(a.rows, a.columns);
  return run(
      h, name,
      {a.piece(true, true), row_of(pivots, count).piece(false, true), row_of(info, 1).piece(false, true)},
      [=](void* const* views) {
        auto factor = a.read(views[0]);
        Pivots found(static_cast<size_t>(count));
        *static_cast<int*>(views[2]) = factor_lu(factor, found);
        a.write(factor, views[0]);
        std::ranges::transform(found, static_cast<Pivot*>(views[1]),
                               [](int64_t row) { return static_cast<Pivot>(row + 1); });
      });
}
template <class T, class Pivot>
Status getrs(Handle* h, const char* name, int op, Operand<T> a, const Pivot* pivots, Operand<T> b,
             int* info) {
  if (!a.fits() || !b.fits()) return invalid_value;
  const int64_t count = pivots == nullptr ? 0 : a.rows;
  return run(h, name,
             {a.piece(true, false), row_of(pivots, count).piece(true, false), b.piece(true, true),
              row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[3]) = 0;
               if (a.rows == 0 || b.columns == 0) return;
               Pivots rows(static_cast<size_t>(count));
               std::transform(static_cast<const Pivot*>(views[1]),
                              static_cast<const Pivot*>(views[1]) + count, rows.begin(),
                              [](Pivot row) { return int64_t{row} - 1; });
               auto x = b.read(views[2]);
               solve_lu(op, a.read(views[0]), rows, x);
               b.write(x, views[2]);
             });
}

// ---- QR --------------------------------------------------------------------------------------------------
template <class W>
Vector<W> factor_qr(Matrix<W>& a) {
  const Eigen::HouseholderQR<Matrix<W>> qr(a);
  a = qr.matrixQR();
  return qr.hCoeffs().conjugate();
}
// op(Q) times C, Q of the reflectors in V.
template <class W>
void multiply_by_q(int op, const Matrix<W>& v, const Vector<W>& tau, Matrix<W>& c) {
  const auto q = Eigen::householderSequence(v, tau).setLength(tau.size());
  if (op == as_it_is)
    c.applyOnTheLeft(q);
  else
    c.applyOnTheLeft(q.adjoint());
}

template <class T>
Status geqrf(Handle* h, const char* name, Operand<T> a, T* tau, int* info) {
  if (!a.fits()) return invalid_value;
  const int64_t count = std::min(a.rows, a.columns);
  return run(h, name,
             {a.piece(true, true), row_of(tau, count).piece(false, true), row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[2]) = 0;
               if (count == 0) return;
               auto factor = a.read(views[0]);
               row_of(tau, count).write(factor_qr(factor), views[1]);
               a.write(factor, views[0]);
             });
}
template <class T>
Status orgqr(Handle* h, const char* name, Operand<T> a, int64_t k, const T* tau, int* info) {
  if (!a.fits() || k < 0 || k > a.columns || a.columns > a.rows) return invalid_value;
  return run(h, name,
             {a.piece(true, true), row_of(tau, k).piece(true, false), row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[2]) = 0;
               if (a.columns == 0) return;
               using W = Wide<T>;
               Matrix<W> q = Matrix<W>::Identity(a.rows, a.columns);
               if (k > 0)
                 multiply_by_q<W>(as_it_is, a.read(views[0]).leftCols(k), row_of(tau, k).read(views[1]), q);
               a.write(q, views[0]);
             });
}
// C op(Q) is the adjoint of op(Q)^H C^H.
template <class T>
Status ormqr(Handle* h, const char* name, bool left, int op, Operand<T> a, const T* tau, Operand<T> c,
             int* info) {
  if (!a.fits() || !c.fits()) return invalid_value;
  const int64_t k = a.columns;
  return run(h, name,
             {a.piece(true, false), row_of(tau, k).piece(true, false), c.piece(true, true),
              row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[3]) = 0;
               if (k == 0 || c.rows == 0 || c.columns == 0) return;
               using W = Wide<T>;
               Matrix<W> all = c.read(views[2]);
               if (!left) all.adjointInPlace();
               const int turned = left ? op : op == as_it_is ? transposed : as_it_is;
               multiply_by_q<W>(turned, a.read(views[0]), row_of(tau, k).read(views[1]), all);
               if (!left) all.adjointInPlace();
               c.write(all, views[2]);
             });
}

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

#define PLD_FACTORS(X, T, ORGQR, ORMQR)                                                                     \
  PLD_STAND_IN Status cusolverDn##X##potrf_bufferSize(Handle*, int, int, T*, int, int* room) {              \
    return no_room(room);                                                                                   \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##potrf(Handle* h, int uplo, int n, T* a, int lda, T*, int, int* info) { \
    return potrf<T>(h, "cusolverDn" #X "potrf", uplo, {a, n, n, lda}, info);                                \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##potrs(Handle* h, int uplo, int n, int nrhs, const T* a, int lda, T* b, \
                                           int ldb, int* info) {                                            \
    return potrs<T>(h, "cusolverDn" #X "potrs", uplo, {a, n, n, lda}, {b, n, nrhs, ldb}, info);             \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##getrf_bufferSize(Handle*, int, int, T*, int, int* room) {              \
    return no_room(room);                                                                                   \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##getrf(Handle* h, int m, int n, T* a, int lda, T*, int* pivots,         \
                                           int* info) {                                                     \
    return getrf<T, int>(h, "cusolverDn" #X "getrf", {a, m, n, lda}, pivots, info);                         \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##getrs(Handle* h, int op, int n, int nrhs, const T* a, int lda,         \
                                           const int* pivots, T* b, int ldb, int* info) {                   \
    return getrs<T, int>(h, "cusolverDn" #X "getrs", op, {a, n, n, lda}, pivots, {b, n, nrhs, ldb}, info);  \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##geqrf_bufferSize(Handle*, int, int, T*, int, int* room) {              \
    return no_room(room);                                                                                   \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##geqrf(Handle* h, int m, int n, T* a, int lda, T* tau, T*, int,         \
                                           int* info) {                                                     \
    return geqrf<T>(h, "cusolverDn" #X "geqrf", {a, m, n, lda}, tau, info);                                 \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##ORGQR##_bufferSize(Handle*, int, int, int, const T*, int, const T*,    \
                                                        int* room) {                                        \
    return no_room(room);                                                                                   \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##ORGQR(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T*, \
                                           int, int* info) {                                                \
    return orgqr<T>(h, "cusolverDn" #X #ORGQR, {a, m, n, lda}, k, tau, info);                               \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##ORMQR##_bufferSize(Handle*, int, int, int, int, int, const T*, int,    \
                                                        const T*, const T*, int, int* room) {               \
    return no_room(room);                                                                                   \
  }                                                                                                         \
  PLD_STAND_IN Status cusolverDn##X##ORMQR(Handle* h, int side, int op, int m, int n, int k, const T* a,    \
                                           int lda, const T* tau, T* c, int ldc, T*, int, int* info) {      \
    return ormqr<T>(h, "cusolverDn" #X #ORMQR, side == 0, op, {a, side == 0 ? m : n, k, lda}, tau,          \
                    {c, m, n, ldc}, info);                                                                  \
  }
PLD_FACTORS(S, float, orgqr, ormqr)
PLD_FACTORS(D, double, orgqr, ormqr)
PLD_FACTORS(C, Complex32, ungqr, unmqr)
PLD_FACTORS(Z, Complex64, ungqr, unmqr)

PLD_STAND_IN Status cusolverDnXpotrf_bufferSize(Handle*, void*, int, int64_t, Type, const void*, int64_t,
                                                Type, size_t* device, size_t* host) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXpotrf(Handle* h, void*, int uplo, int64_t n, Type type, void* a, int64_t lda,
                                     Type, void*, size_t, void*, size_t, int* info) {
  return with_type("cusolverDnXpotrf", type, [&]<class T>(T) {
    return potrf<T>(h, "cusolverDnXpotrf", uplo, {static_cast<T*>(a), n, n, lda}, info);
  });
}
PLD_STAND_IN Status cusolverDnXpotrs(Handle* h, void*, int uplo, int64_t n, int64_t nrhs, Type type,
                                     const void* a, int64_t lda, Type, void* b, int64_t ldb, int* info) {
  return with_type("cusolverDnXpotrs", type, [&]<class T>(T) {
    return potrs<T>(h, "cusolverDnXpotrs", uplo, {static_cast<const T*>(a), n, n, lda},
                    {static_cast<T*>(b), n, nrhs, ldb}, info);
  });
}
PLD_STAND_IN Status cusolverDnXgetrf_bufferSize(Handle*, void*, int64_t, int64_t, Type, const void*, int64_t,
                                                Type, size_t* device, size_t* host) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXgetrf(Handle* h, void*, int64_t m, int64_t n, Type type, void* a, int64_t lda,
                                     int64_t* pivots, Type, void*, size_t, void*, size_t, int* info) {
  return with_type("cusolverDnXgetrf", type, [&]<class T>(T) {
    return getrf<T, int64_t>(h, "cusolverDnXgetrf", {static_cast<T*>(a), m, n, lda}, pivots, info);
  });
}
PLD_STAND_IN Status cusolverDnXgetrs(Handle* h, void*, int op, int64_t n, int64_t nrhs, Type type,
                                     const void* a, int64_t lda, const int64_t* pivots, Type, void* b,
                                     int64_t ldb, int* info) {
  return with_type("cusolverDnXgetrs", type, [&]<class T>(T) {
    return getrs<T, int64_t>(h, "cusolverDnXgetrs", op, {static_cast<const T*>(a), n, n, lda}, pivots,
                             {static_cast<T*>(b), n, nrhs, ldb}, info);
  });
}
PLD_STAND_IN Status cusolverDnXgeqrf_bufferSize(Handle*, void*, int64_t, int64_t, Type, const void*, int64_t,
                                                Type, const void*, Type, size_t* device, size_t* host) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXgeqrf(Handle* h, void*, int64_t m, int64_t n, Type type, void* a, int64_t lda,
                                     Type, void* tau, Type, void*, size_t, void*, size_t, int* info) {
  return with_type("cusolverDnXgeqrf", type, [&]<class T>(T) {
    return geqrf<T>(h, "cusolverDnXgeqrf", {static_cast<T*>(a), m, n, lda}, static_cast<T*>(tau), info);
  });
}
