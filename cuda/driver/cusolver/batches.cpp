// Cholesky's factors of many small matrices, given by arrays of addresses in device memory.
#include "cuda/driver/cusolver/cholesky.h"

namespace palladion::cuda::cusolver {
namespace {

// An array of so many addresses of such matrices.
template <class T>
Piece arrays_of(Operand<T> one, const void* addresses, int batch, bool writes) {
  Piece piece = one.piece(true, writes);
  piece.at = addresses;
  piece.pointers = static_cast<size_t>(batch);
  return piece;
}

template <class T>
Status potrf_batched(Handle* h, const char* name, int uplo, Operand<T> a, const void* addresses, int* info,
                     int batch) {
  if (!a.fits() || batch < 0) return invalid_value;
  if (a.rows == 0 || batch == 0) return success;
  return run(h, name, {row_of(info, batch).piece(false, true), arrays_of(a, addresses, batch, true)},
             [=](void* const* views) {
               for (int i = 0; i < batch; ++i) {
                 auto stored = a.read(views[1 + i]);
                 auto factor = as_lower(uplo, stored);
                 static_cast<int*>(views[0])[i] = cholesky(factor);
                 if (uplo == lower)
                   stored.template triangularView<Eigen::Lower>() = factor;
                 else
                   stored.template triangularView<Eigen::Upper>() = factor.adjoint();
                 a.write(stored, views[1 + i]);
               }
             });
}

template <class T>
Status potrs_batched(Handle* h, const char* name, int uplo, Operand<T> a, const void* as, Operand<T> b,
                     const void* bs, int* info, int batch) {
  if (!a.fits() || !b.fits() || batch < 0) return invalid_value;
  if (a.rows == 0 || b.columns == 0 || batch == 0) return success;
  return run(
      h, name,
      {row_of(info, 1).piece(false, true), arrays_of(a, as, batch, false), arrays_of(b, bs, batch, true)},
      [=](void* const* views) {
        *static_cast<int*>(views[0]) = 0;
        for (int i = 0; i < batch; ++i) {
          auto x = b.read(views[1 + batch + i]);
          solve_cholesky(as_lower(uplo, a.read(views[1 + i])), x);
          b.write(x, views[1 + batch + i]);
        }
      });
}

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

#define PLD_POTRF_BATCHED(LETTER, T)                                                                       \
  PLD_STAND_IN Status cusolverDn##LETTER##potrfBatched(Handle* h, int uplo, int n, T* const* a, int lda,   \
                                                       int* info, int batch) {                             \
    return potrf_batched<T>(h, "cusolverDn" #LETTER "potrfBatched", uplo, {nullptr, n, n, lda},            \
                            static_cast<const void*>(a), info, batch);                                     \
  }                                                                                                        \
  PLD_STAND_IN Status cusolverDn##LETTER##potrsBatched(Handle* h, int uplo, int n, int sides, T* const* a, \
                                                       int lda, T* const* b, int ldb, int* info,           \
                                                       int batch) {                                        \
    return potrs_batched<T>(h, "cusolverDn" #LETTER "potrsBatched", uplo, {nullptr, n, n, lda},            \
                            static_cast<const void*>(a), {nullptr, n, sides, ldb},                         \
                            static_cast<const void*>(b), info, batch);                                     \
  }
PLD_POTRF_BATCHED(S, float)
PLD_POTRF_BATCHED(D, double)
PLD_POTRF_BATCHED(C, Complex32)
PLD_POTRF_BATCHED(Z, Complex64)
