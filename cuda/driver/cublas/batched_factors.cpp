// LU factors of many small matrices, given by arrays of addresses; solutions and inverses by them. In f64.
#include <algorithm>
#include <vector>

#include "cuda/driver/cublas/stored.h"

namespace palladion::cuda::cublas {
namespace {

// Rows of LAPACK's kind, from 1: row k was exchanged with row pivots[k]. Empty: none was.
using Pivots = std::vector<int>;

// In A's place, with partial pivoting where `pivots` has room. The number of the first pivot that is zero.
template <class M>
int factor(M& a, Pivots& pivots) {
  int first_zero = 0;
  for (int64_t k = 0; k < a.rows(); ++k) {
    const int64_t below = a.rows() - k - 1;
    if (!pivots.empty()) {
      int64_t at = 0;
      a.col(k).tail(below + 1).cwiseAbs().maxCoeff(&at);
      pivots[static_cast<size_t>(k)] = static_cast<int>(at + k + 1);
      if (at != 0) a.row(k).swap(a.row(k + at));
    }
    if (a(k, k) == typename M::Scalar(0)) {
      if (first_zero == 0) first_zero = static_cast<int>(k + 1);
      continue;
    }
    a.col(k).tail(below) /= a(k, k);
    a.bottomRightCorner(below, below).noalias() -= a.col(k).tail(below) * a.row(k).tail(below);
  }
  return first_zero;
}

template <class M>
void exchange_rows(M& b, const Pivots& pivots, bool backwards) {
  for (size_t i = 0; i < pivots.size(); ++i) {
    const auto k = static_cast<int64_t>(backwards ? pivots.size() - 1 - i : i);
    const int64_t other = pivots[static_cast<size_t>(k)] - 1;
    if (other != k && other >= 0 && other < b.rows()) b.row(k).swap(b.row(other));
  }
}

template <class M>
void solve(int op, const M& factors, const Pivots& pivots, M& b) {
  if (op == 0) {
    exchange_rows(b, pivots, false);
    factors.template triangularView<Eigen::UnitLower>().solveInPlace(b);
    factors.template triangularView<Eigen::Upper>().solveInPlace(b);
    return;
  }
  const M other = turned(op, factors);
  other.template triangularView<Eigen::Lower>().solveInPlace(b);
  other.template triangularView<Eigen::UnitUpper>().solveInPlace(b);
  exchange_rows(b, pivots, true);
}

// The first diagonal element of U that is zero, from 1; 0: none.
template <class M>
int first_zero_of(const M& factors) {
  for (int64_t k = 0; k < factors.rows(); ++k)
    if (factors(k, k) == typename M::Scalar(0)) return static_cast<int>(k + 1);
  return 0;
}

Piece row_of(const void* at, int64_t n, bool reads, bool writes) {
  return at == nullptr ? Piece{} : Piece{at, static_cast<size_t>(n) * sizeof(int), 1, 0, reads, writes};
}
Pivots pivots_of(const void* view, int64_t n, int64_t which) {
  if (view == nullptr) return {};
  const auto* const first = static_cast<const int*>(view) + which * n;
  return {first, first + n};
}

template <class T>
struct Matrices {
  const Handle* h;
  const char* name;
  int64_t n = 0, count = 0;
  Stored<T> matrix(const void* arrays, int64_t columns, int64_t leading) const {
    return {arrays, n, columns, leading};
  }
  bool is_empty() const { return n == 0 || count == 0; }
};

template <class T>
Status getrf(const Matrices<T>& b, Stored<T> a, int* pivots, int* info) {
  if (b.h == nullptr) return not_initialized;
  if (b.count < 0 || !a.fits() || info == nullptr) return invalid_value;
  if (b.is_empty()) return success;
  Pieces pieces(b.h);
  const int at_p = pieces.add(row_of(pivots, b.n * b.count, false, true)),
            at_info = pieces.add(row_of(info, b.count, false, true)),
            at_a = pieces.add(a.piece(true, true, static_cast<size_t>(b.count)));
  return perform(b.h, b.name, pieces, [=](void* const* views) {
    auto* const rows = static_cast<int*>(views[at_p]);
    for (int64_t i = 0; i < b.count; ++i) {
      Values<T> values = a.read(views[at_a + i]);
      Pivots exchanged(rows == nullptr ? 0 : static_cast<size_t>(b.n));
      static_cast<int*>(views[at_info])[i] = factor(values, exchanged);
      std::ranges::copy(exchanged, rows + i * b.n);
      a.write(values, views[at_a + i]);
    }
  });
}

// X in B's place. `info` is of the host.
template <class T>
Status getrs(const Matrices<T>& b, int op, Stored<T> a, const int* pivots, Stored<T> x, int* info) {
  if (b.h == nullptr) return not_initialized;
  if (info == nullptr || b.count < 0 || !is_operation(op) || !a.fits() || !x.fits()) return invalid_value;
  *info = 0;
  if (b.is_empty() || x.columns == 0) return success;
  Pieces pieces(b.h);
  const auto count = static_cast<size_t>(b.count);
  const int at_p = pieces.add(row_of(pivots, b.n * b.count, true, false)),
            at_a = pieces.add(a.piece(true, false, count));
  const int at_x = at_a + static_cast<int>(count);
  pieces.add(x.piece(true, true, count));
  return perform(b.h, b.name, pieces, [=](void* const* views) {
    for (int64_t i = 0; i < b.count; ++i) {
      Values<T> values = x.read(views[at_x + i]);
      solve(op, a.read(views[at_a + i]), pivots_of(views[at_p], b.n, i), values);
      x.write(values, views[at_x + i]);
    }
  });
}

// The inverse of what getrf has factored, or, with `factored` false, of the matrix itself.
template <class T>
Status invert(const Matrices<T>& b, bool factored, Stored<T> a, const int* pivots, Stored<T> c, int* info) {
  if (b.h == nullptr) return not_initialized;
  if (b.count < 0 || !a.fits() || !c.fits() || info == nullptr) return invalid_value;
  if (b.is_empty()) return success;
  Pieces pieces(b.h);
  const auto count = static_cast<size_t>(b.count);
  const int at_p = pieces.add(row_of(pivots, b.n * b.count, true, false)),
            at_info = pieces.add(row_of(info, b.count, false, true)),
            at_a = pieces.add(a.piece(true, false, count));
  const int at_c = at_a + static_cast<int>(count);
  pieces.add(c.piece(false, true, count));
  return perform(b.h, b.name, pieces, [=](void* const* views) {
    for (int64_t i = 0; i < b.count; ++i) {
      Values<T> values = a.read(views[at_a + i]);
      Pivots exchanged = pivots_of(views[at_p], b.n, i);
      if (!factored) {
        exchanged.resize(static_cast<size_t>(b.n));
        factor(values, exchanged);
      }
      const int zero = first_zero_of(values);
      static_cast<int*>(views[at_info])[i] = zero;
      if (zero != 0) continue;
      Values<T> inverse = Values<T>::Identity(b.n, b.n);
      solve(0, values, exchanged, inverse);
      c.write(inverse, views[at_c + i]);
    }
  });
}

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_FACTORS(LETTER, T)                                                                             \
  PLD_STAND_IN Status cublas##LETTER##getrfBatched(Handle* h, int n, T* const* a, int lda, int* pivots,    \
                                                   int* info, int batch) {                                 \
    const Matrices<T> b{h, "cublas" #LETTER "getrfBatched", n, batch};                                     \
    return getrf<T>(b, b.matrix(static_cast<const void*>(a), n, lda), pivots, info);                       \
  }                                                                                                        \
  PLD_STAND_IN Status cublas##LETTER##getrsBatched(Handle* h, int op, int n, int sides, const T* const* a, \
                                                   int lda, const int* pivots, T* const* x, int ldx,       \
                                                   int* info, int batch) {                                 \
    const Matrices<T> b{h, "cublas" #LETTER "getrsBatched", n, batch};                                     \
    return getrs<T>(b, op, b.matrix(static_cast<const void*>(a), n, lda), pivots,                          \
                    b.matrix(static_cast<const void*>(x), sides, ldx), info);                              \
  }                                                                                                        \
  PLD_STAND_IN Status cublas##LETTER##getriBatched(Handle* h, int n, const T* const* a, int lda,           \
                                                   const int* pivots, T* const* c, int ldc, int* info,     \
                                                   int batch) {                                            \
    const Matrices<T> b{h, "cublas" #LETTER "getriBatched", n, batch};                                     \
    return invert<T>(b, true, b.matrix(static_cast<const void*>(a), n, lda), pivots,                       \
                     b.matrix(static_cast<const void*>(c), n, ldc), info);                                 \
  }                                                                                                        \
  PLD_STAND_IN Status cublas##LETTER##matinvBatched(Handle* h, int n, const T* const* a, int lda,          \
                                                    T* const* c, int ldc, int* info, int batch) {          \
    const Matrices<T> b{h, "cublas" #LETTER "matinvBatched", n, batch};                                    \
    constexpr int most = 32;                                                                               \
    if (n > most) return invalid_value;                                                                    \
    return invert<T>(b, false, b.matrix(static_cast<const void*>(a), n, lda), nullptr,                     \
                     b.matrix(static_cast<const void*>(c), n, ldc), info);                                 \
  }

PLD_FACTORS(S, float)
PLD_FACTORS(D, double)
PLD_FACTORS(C, Complex32)
PLD_FACTORS(Z, Complex64)
