// Eigenvalues of Hermitian matrices, and singular values.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>

#include "cuda/driver/cusolver/handle.h"

namespace palladion::cuda::cusolver {
namespace {

constexpr int with_vectors = 1;  // cusolverEigMode_t

// Of a batch of matrices one behind the other: the values in rising order, the vectors in A's place.
template <class T>
struct Spectrum {
  const char* name;
  int mode, uplo;
  Operand<T> a;
  Real<T>* values;
  int* info;
  int64_t batch = 1;
};
// The values of the matrix whose triangle is stored, whose vectors take its place where they are wanted. 0:
// found.
template <class W>
int eigenvalues(int uplo, int mode, Matrix<W>& a, Vector<double>& values) {
  const Matrix<W> stored = uplo == lower ? a : Matrix<W>(a.adjoint());
  const auto how = mode == with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
  const Eigen::SelfAdjointEigenSolver<Matrix<W>> found(stored, how);  // reads the lower triangle
  values = found.eigenvalues();
  if (found.info() != Eigen::Success) return 1;
  if (mode == with_vectors) a = found.eigenvectors();
  return 0;
}
template <class T>
Status syev(Handle* h, const Spectrum<T>& s) {
  const int64_t n = s.a.rows;
  if (!s.a.fits() || s.batch < 0) return invalid_value;
  const Operand<T> all{s.a.at, n, n * s.batch, s.a.leading};
  return run(h, s.name,
             {all.piece(true, s.mode == with_vectors), row_of(s.values, n * s.batch).piece(false, true),
              row_of(s.info, s.batch).piece(false, true)},
             [=](void* const* views) {
               for (int64_t i = 0; i < s.batch; ++i) {
                 int& info = static_cast<int*>(views[2])[i];
                 info = 0;
                 if (n == 0) continue;
                 T* const at = static_cast<T*>(views[0]) + i * n * s.a.leading;
                 auto matrix = s.a.read(at);
                 Vector<double> values;
                 info = eigenvalues(s.uplo, s.mode, matrix, values);
                 row_of(s.values, n).write(values, static_cast<Real<T>*>(views[1]) + i * n);
                 if (s.mode == with_vectors) s.a.write(matrix, at);
               }
             });
}

// A = U S V^H. U and V have as many columns as are wanted, none where nothing is.
template <class T>
struct Singular {
  const char* name;
  Operand<T> a;
  Real<T>* values;
  Operand<T> u, v;
  bool v_transposed = false;  // V^H is stored
  int* info = nullptr;
  int64_t batch = 1;
};
template <class W>
struct Decomposed {
  Vector<double> values;
  Matrix<W> u, v;
};
template <class W>
Decomposed<W> decompose(const Matrix<W>& a, int64_t of_u, int64_t of_v) {
  const int64_t count = std::min(a.rows(), a.cols());
  const auto wanted = [&](int64_t columns, unsigned thin, unsigned full) {
    return columns == 0 ? 0U : columns > count ? full : thin;
  };
  const Eigen::JacobiSVD<Matrix<W>> found(a, wanted(of_u, Eigen::ComputeThinU, Eigen::ComputeFullU) |
                                                 wanted(of_v, Eigen::ComputeThinV, Eigen::ComputeFullV));
  Decomposed<W> d{found.singularValues(), {}, {}};
  if (of_u > 0) d.u = found.matrixU().leftCols(of_u);
  if (of_v > 0) d.v = found.matrixV().leftCols(of_v);
  return d;
}
template <class T>
void find(const Singular<T>& s, int64_t i, void* const* views) {
  const int64_t count = std::min(s.a.rows, s.a.columns);
  const auto at = [&](const Operand<T>& o, size_t view) {
    return static_cast<T*>(views[view]) + i * o.leading * o.columns;
  };
  const int64_t of_v = s.v_transposed ? s.v.rows : s.v.columns;
  const auto found = decompose(s.a.read(at(s.a, 0)), s.u.columns, of_v);
  row_of(s.values, count).write(found.values, static_cast<Real<T>*>(views[1]) + i * count);
  if (s.u.columns > 0) s.u.write(found.u, at(s.u, 2));
  if (of_v > 0) s.v.write(s.v_transposed ? Matrix<Wide<T>>(found.v.adjoint()) : found.v, at(s.v, 3));
}
// A is overwritten by cuSOLVER with what no manual says, unless vectors take its place: here it is kept.
template <class T>
Status gesvd(Handle* h, const Singular<T>& s) {
  if (!s.a.fits() || !s.u.fits() || !s.v.fits() || s.batch < 0) return invalid_value;
  const auto all = [&](const Operand<T>& o, bool writes) {
    const Operand<T> every{o.at, o.rows, o.columns * s.batch, o.leading};
    return o.columns == 0 || o.rows == 0 ? Piece{} : every.piece(!writes, writes);
  };
  const int64_t count = std::min(s.a.rows, s.a.columns);
  return run(h, s.name,
             {all(s.a, false), row_of(s.values, count * s.batch).piece(false, true), all(s.u, true),
              all(s.v, true), row_of(s.info, s.batch).piece(false, true)},
             [=](void* const* views) {
               std::fill_n(static_cast<int*>(views[4]), s.batch, 0);
               for (int64_t i = 0; i < s.batch && count > 0; ++i) find(s, i, views);
             });
}
// gesvd's letters: all columns, those of singular values, the same in A's place, none.
template <class T>
Status gesvd_by_letters(Handle* h, Singular<T> s, signed char of_u, signed char of_v, T* u, int64_t ldu,
                        T* vt, int64_t ldvt) {
  if (of_u == 'O' && of_v == 'O') return invalid_value;
  const int64_t m = s.a.rows, n = s.a.columns, count = std::min(m, n);
  const auto kept = [&](signed char letter, int64_t all) {
    return letter == 'A' ? all : letter == 'S' || letter == 'O' ? count : 0;
  };
  const int64_t kept_u = kept(of_u, m), kept_v = kept(of_v, n);
  if (of_u == 'O') u = const_cast<T*>(s.a.at), ldu = s.a.leading;
  if (of_v == 'O') vt = const_cast<T*>(s.a.at), ldvt = s.a.leading;
  s.u = {u, kept_u == 0 ? 0 : m, kept_u, std::max<int64_t>(1, ldu)};
  s.v = {vt, kept_v, kept_v == 0 ? 0 : n, std::max<int64_t>(1, ldvt)};
  s.v_transposed = true;
  return gesvd(h, s);
}
// gesvdj's: vectors or none, thin or whole; V itself.
template <class T>
Status gesvdj(Handle* h, Singular<T> s, int mode, bool thin, T* u, int64_t ldu, T* v, int64_t ldv) {
  const int64_t m = s.a.rows, n = s.a.columns, count = std::min(m, n);
  if (mode == with_vectors) {
    s.u = {u, m, thin ? count : m, ldu};
    s.v = {v, n, thin ? count : n, ldv};
  } else {
    s.u.leading = s.v.leading = 1;
  }
  return gesvd(h, s);
}

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

#define PLD_SPECTRA(X, T, R, SY)                                                                             \
  PLD_STAND_IN Status cusolverDn##X##SY##evd_bufferSize(Handle*, int, int, int, const T*, int, const R*,     \
                                                        int* room) {                                         \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##SY##evd(Handle* h, int mode, int uplo, int n, T* a, int lda, R* w, T*,  \
                                             int, int* info) {                                               \
    return syev<T>(h, {"cusolverDn" #X #SY "evd", mode, uplo, {a, n, n, lda}, w, info});                     \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##SY##evj_bufferSize(Handle*, int, int, int, const T*, int, const R*,     \
                                                        int* room, void*) {                                  \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##SY##evj(Handle* h, int mode, int uplo, int n, T* a, int lda, R* w, T*,  \
                                             int, int* info, void*) {                                        \
    return syev<T>(h, {"cusolverDn" #X #SY "evj", mode, uplo, {a, n, n, lda}, w, info});                     \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##SY##evjBatched_bufferSize(Handle*, int, int, int, const T*, int,        \
                                                               const R*, int* room, void*, int) {            \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##SY##evjBatched(Handle* h, int mode, int uplo, int n, T* a, int lda,     \
                                                    R* w, T*, int, int* info, void*, int batch) {            \
    return syev<T>(h, {"cusolverDn" #X #SY "evjBatched", mode, uplo, {a, n, n, lda}, w, info, batch});       \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvd_bufferSize(Handle*, int, int, int* room) {                        \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvd(Handle* h, signed char of_u, signed char of_v, int m, int n,      \
                                           T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt, T*, int, R*, \
                                           int* info) {                                                      \
    Singular<T> all{"cusolverDn" #X "gesvd", {a, m, n, lda}, s};                                             \
    all.info = info;                                                                                         \
    return gesvd_by_letters<T>(h, all, of_u, of_v, u, ldu, vt, ldvt);                                        \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvdj_bufferSize(Handle*, int, int, int, int, const T*, int, const R*, \
                                                       const T*, int, const T*, int, int* room, void*) {     \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvdj(Handle* h, int mode, int thin, int m, int n, T* a, int lda,      \
                                            R* s, T* u, int ldu, T* v, int ldv, T*, int, int* info, void*) { \
    Singular<T> all{"cusolverDn" #X "gesvdj", {a, m, n, lda}, s};                                            \
    all.info = info;                                                                                         \
    return gesvdj<T>(h, all, mode, thin != 0, u, ldu, v, ldv);                                               \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvdjBatched_bufferSize(Handle*, int, int, int, const T*, int,         \
                                                              const R*, const T*, int, const T*, int,        \
                                                              int* room, void*, int) {                       \
    return no_room(room);                                                                                    \
  }                                                                                                          \
  PLD_STAND_IN Status cusolverDn##X##gesvdjBatched(Handle* h, int mode, int m, int n, T* a, int lda, R* s,   \
                                                   T* u, int ldu, T* v, int ldv, T*, int, int* info, void*,  \
                                                   int batch) {                                              \
    Singular<T> all{"cusolverDn" #X "gesvdjBatched", {a, m, n, lda}, s};                                     \
    all.info = info;                                                                                         \
    all.batch = batch;                                                                                       \
    return gesvdj<T>(h, all, mode, false, u, ldu, v, ldv);                                                   \
  }
PLD_SPECTRA(S, float, float, sy)
PLD_SPECTRA(D, double, double, sy)
PLD_SPECTRA(C, Complex32, float, he)
PLD_SPECTRA(Z, Complex64, double, he)

PLD_STAND_IN Status cusolverDnXsyevd_bufferSize(Handle*, void*, int, int, int64_t, Type, const void*, int64_t,
                                                Type, const void*, Type, size_t* device, size_t* host) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXsyevd(Handle* h, void*, int mode, int uplo, int64_t n, Type type, void* a,
                                     int64_t lda, Type, void* w, Type, void*, size_t, void*, size_t,
                                     int* info) {
  return with_type("cusolverDnXsyevd", type, [&]<class T>(T) {
    return syev<T>(
        h, {"cusolverDnXsyevd", mode, uplo, {static_cast<T*>(a), n, n, lda}, static_cast<Real<T>*>(w), info});
  });
}
PLD_STAND_IN Status cusolverDnXsyevBatched_bufferSize(Handle*, void*, int, int, int64_t, Type, const void*,
                                                      int64_t, Type, const void*, Type, size_t* device,
                                                      size_t* host, int64_t) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXsyevBatched(Handle* h, void*, int mode, int uplo, int64_t n, Type type,
                                           void* a, int64_t lda, Type, void* w, Type, void*, size_t, void*,
                                           size_t, int* info, int64_t batch) {
  return with_type("cusolverDnXsyevBatched", type, [&]<class T>(T) {
    return syev<T>(h, {"cusolverDnXsyevBatched",
                       mode,
                       uplo,
                       {static_cast<T*>(a), n, n, lda},
                       static_cast<Real<T>*>(w),
                       info,
                       batch});
  });
}
PLD_STAND_IN Status cusolverDnXgesvd_bufferSize(Handle*, void*, signed char, signed char, int64_t, int64_t,
                                                Type, const void*, int64_t, Type, const void*, Type,
                                                const void*, int64_t, Type, const void*, int64_t, Type,
                                                size_t* device, size_t* host) {
  return no_room(device, host);
}
PLD_STAND_IN Status cusolverDnXgesvd(Handle* h, void*, signed char of_u, signed char of_v, int64_t m,
                                     int64_t n, Type type, void* a, int64_t lda, Type, void* s, Type, void* u,
                                     int64_t ldu, Type, void* vt, int64_t ldvt, Type, void*, size_t, void*,
                                     size_t, int* info) {
  return with_type("cusolverDnXgesvd", type, [&]<class T>(T) {
    Singular<T> all{"cusolverDnXgesvd", {static_cast<T*>(a), m, n, lda}, static_cast<Real<T>*>(s)};
    all.info = info;
    return gesvd_by_letters<T>(h, all, of_u, of_v, static_cast<T*>(u), ldu, static_cast<T*>(vt), ldvt);
  });
}
