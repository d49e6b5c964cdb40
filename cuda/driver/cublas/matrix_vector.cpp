// BLAS' second level: a matrix and a vector. Sums are in f64.
#include <algorithm>
#include <vector>

#include "cuda/driver/cublas/stored.h"

namespace palladion::cuda::cublas {
namespace {

// How the matrices of a batch lie: at equal distances, or named by arrays of addresses.
struct Places {
  int64_t count = 1;
  long long a = 0, x = 0, y = 0;  // elements
  bool by_pointers = false;
};

// y = alpha op(A) x + beta y, with alpha, beta of type S, the matrix and x of type T, y of type R.
template <class T, class R, class S>
struct Gemv {
  const char* name;
  int op;
  Stored<T> a;
  Vector<T> x;
  Vector<R> y;
  const S *alpha, *beta;
  Places batch;
};

template <class T>
const void* moved(const void* at, long long elements) {
  return static_cast<const char*>(at) + elements * static_cast<long long>(sizeof(T));
}

template <class T, class R, class S>
Status gemv(const Handle* h, Gemv<T, R, S> g) {
  if (h == nullptr) return not_initialized;
  if (g.a.rows < 0 || g.a.columns < 0 || g.batch.count < 0 || !is_operation(g.op) || !g.a.fits() ||
      g.x.step == 0 || g.y.step == 0 || g.alpha == nullptr || g.beta == nullptr)
    return invalid_value;
  g.x.n = g.op == 0 ? g.a.columns : g.a.rows;
  g.y.n = g.op == 0 ? g.a.rows : g.a.columns;
  if (g.y.n == 0 || g.x.n == 0 || g.batch.count == 0) return success;
  Pieces pieces(h);
  const bool reads_y = pieces.of_device() || *g.beta != S(0);
  const auto alpha = pieces.number(g.alpha), beta = pieces.number(g.beta);
  const auto count = static_cast<size_t>(g.batch.count);
  const size_t first = pieces.all().size();
  const auto add = [&](Piece piece, auto at) {
    if (g.batch.by_pointers) {
      piece.pointers = count;
      pieces.add(piece);
      return;
    }
    for (int64_t i = 0; i < g.batch.count; ++i) {
      piece.at = at(i);
      pieces.add(piece);
    }
  };
  add(g.a.piece(true, false), [&](int64_t i) { return moved<T>(g.a.at, i * g.batch.a); });
  add(g.x.piece(true, false), [&](int64_t i) { return moved<T>(g.x.at, i * g.batch.x); });
  add(g.y.piece(reads_y, true), [&](int64_t i) { return moved<R>(g.y.at, i * g.batch.y); });
  return perform(h, g.name, pieces, [=](void* const* views) {
    const Wide<S> by = alpha.value(views), keeps = beta.value(views);
    for (size_t i = first; i < first + count; ++i) {
      Row<R> sum = Row<R>::Zero(g.y.n);
      if (by != Wide<S>(0))
        sum = by * (turned(g.op, g.a.read(views[i])) * g.x.read(views[i + count]).transpose()).transpose();
      if (keeps != Wide<S>(0)) sum += keeps * g.y.read(views[i + 2 * count]);
      g.y.write(sum, views[i + 2 * count]);
    }
  });
}

// A += alpha x y^T, or y^H.
template <class T>
Status ger(const Handle* h, const char* name, bool conjugated, const T* alpha, Vector<T> x, Vector<T> y,
           Stored<T> a) {
  if (h == nullptr) return not_initialized;
  if (!a.fits() || x.step == 0 || y.step == 0 || alpha == nullptr) return invalid_value;
  if (a.rows == 0 || a.columns == 0) return success;
  Pieces pieces(h);
  const auto by = pieces.number(alpha);
  const int at_x = pieces.add(x.piece(true, false)), at_y = pieces.add(y.piece(true, false)),
            at_a = pieces.add(a.piece(true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    Row<T> right = y.read(views[at_y]);
    if (conjugated) right = right.conjugate().eval();
    const Values<T> more = by.value(views) * (x.read(views[at_x]).transpose() * right);
    a.write(a.read(views[at_a]) + more, views[at_a]);
  });
}

// y = alpha A x + beta y with a triangle of A.
template <class T>
Status symv(const Handle* h, const char* name, Half kind, int fill, const T* alpha, Stored<T> a, Vector<T> x,
            const T* beta, Vector<T> y) {
  if (h == nullptr) return not_initialized;
  if (!a.fits() || x.step == 0 || y.step == 0 || alpha == nullptr || beta == nullptr || fill < 0 || fill > 1)
    return invalid_value;
  if (a.rows == 0) return success;
  Pieces pieces(h);
  const bool reads_y = pieces.of_device() || *beta != T(0);
  const auto by = pieces.number(alpha), keeps = pieces.number(beta);
  const int at_a = pieces.add(a.piece(true, false)), at_x = pieces.add(x.piece(true, false)),
            at_y = pieces.add(y.piece(reads_y, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Values<T> whole = completed(a.read(views[at_a]), fill, kind);
    Row<T> sum = by.value(views) * (whole * x.read(views[at_x]).transpose()).transpose();
    if (keeps.value(views) != Wide<T>(0)) sum += keeps.value(views) * y.read(views[at_y]);
    y.write(sum, views[at_y]);
  });
}

// x = op(A) x, or the solution of op(A) x = b in b's place.
template <class T>
Status triangle(const Handle* h, const char* name, bool solves, int fill, int op, int diagonal, Stored<T> a,
                Vector<T> x) {
  if (h == nullptr) return not_initialized;
  if (!a.fits() || x.step == 0 || !is_operation(op) || fill < 0 || fill > 1 || diagonal < 0 || diagonal > 1)
    return invalid_value;
  if (a.rows == 0) return success;
  Pieces pieces(h);
  const int at_a = pieces.add(a.piece(true, false)), at_x = pieces.add(x.piece(true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Values<T> by = turned(op, completed(a.read(views[at_a]), fill, Half::triangle, diagonal != 0));
    Values<T> column = x.read(views[at_x]).transpose();
    if (!solves)
      column = (by * column).eval();
    else if ((op == 0) == (fill == 0))
      by.template triangularView<Eigen::Lower>().solveInPlace(column);
    else
      by.template triangularView<Eigen::Upper>().solveInPlace(column);
    x.write(Row<T>(column.transpose()), views[at_x]);
  });
}

using Half16 = Eigen::half;
using Brain16 = Eigen::bfloat16;

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_GEMV(NAME, INT, T)                                                                               \
  PLD_STAND_IN Status NAME(Handle* h, int op, INT m, INT n, const T* alpha, const T* a, INT lda, const T* x, \
                           INT step_x, const T* beta, T* y, INT step_y) {                                    \
    return gemv<T, T, T>(h, {#NAME, op, {a, m, n, lda}, {x, 0, step_x}, {y, 0, step_y}, alpha, beta, {}});   \
  }
#define PLD_GEMV_STRIDED(NAME, INT, T, R, S)                                                        \
  PLD_STAND_IN Status NAME(Handle* h, int op, INT m, INT n, const S* alpha, const T* a, INT lda,    \
                           long long sa, const T* x, INT step_x, long long sx, const S* beta, R* y, \
                           INT step_y, long long sy, INT batch) {                                   \
    return gemv<T, R, S>(h, {#NAME,                                                                 \
                             op,                                                                    \
                             {a, m, n, lda},                                                        \
                             {x, 0, step_x},                                                        \
                             {y, 0, step_y},                                                        \
                             alpha,                                                                 \
                             beta,                                                                  \
                             {batch, sa, sx, sy, false}});                                          \
  }
#define PLD_GEMV_BATCHED(NAME, INT, T, R, S)                                                            \
  PLD_STAND_IN Status NAME(Handle* h, int op, INT m, INT n, const S* alpha, const T* const* a, INT lda, \
                           const T* const* x, INT step_x, const S* beta, R* const* y, INT step_y,       \
                           INT batch) {                                                                 \
    const auto untyped = [](const auto* array) { return static_cast<const void*>(array); };             \
    return gemv<T, R, S>(h, {#NAME,                                                                     \
                             op,                                                                        \
                             {untyped(a), m, n, lda},                                                   \
                             {untyped(x), 0, step_x},                                                   \
                             {untyped(y), 0, step_y},                                                   \
                             alpha,                                                                     \
                             beta,                                                                      \
                             {batch, 0, 0, 0, true}});                                                  \
  }
#define PLD_GER(NAME, INT, T, CONJUGATED)                                                               \
  PLD_STAND_IN Status NAME(Handle* h, INT m, INT n, const T* alpha, const T* x, INT step_x, const T* y, \
                           INT step_y, T* a, INT lda) {                                                 \
    return ger<T>(h, #NAME, CONJUGATED, alpha, {x, m, step_x}, {y, n, step_y}, {a, m, n, lda});         \
  }
#define PLD_SYMV(NAME, INT, T, KIND)                                                                         \
  PLD_STAND_IN Status NAME(Handle* h, int fill, INT n, const T* alpha, const T* a, INT lda, const T* x,      \
                           INT step_x, const T* beta, T* y, INT step_y) {                                    \
    return symv<T>(h, #NAME, Half::KIND, fill, alpha, {a, n, n, lda}, {x, n, step_x}, beta, {y, n, step_y}); \
  }
#define PLD_TRIANGLE(NAME, INT, T, SOLVES)                                                              \
  PLD_STAND_IN Status NAME(Handle* h, int fill, int op, int diagonal, INT n, const T* a, INT lda, T* x, \
                           INT step) {                                                                  \
    return triangle<T>(h, #NAME, SOLVES, fill, op, diagonal, {a, n, n, lda}, {x, n, step});             \
  }
#define PLD_BOTH(MAKE, NAME, ...) \
  MAKE(NAME, int, ##__VA_ARGS__)  \
  MAKE(NAME##_64, int64_t, ##__VA_ARGS__)
#define PLD_OF_TYPE(LETTER, T)                                            \
  PLD_BOTH(PLD_GEMV, cublas##LETTER##gemv_v2, T)                          \
  PLD_BOTH(PLD_GEMV_STRIDED, cublas##LETTER##gemvStridedBatched, T, T, T) \
  PLD_BOTH(PLD_GEMV_BATCHED, cublas##LETTER##gemvBatched, T, T, T)        \
  PLD_BOTH(PLD_SYMV, cublas##LETTER##symv_v2, T, symmetric)               \
  PLD_BOTH(PLD_TRIANGLE, cublas##LETTER##trmv_v2, T, false)               \
  PLD_BOTH(PLD_TRIANGLE, cublas##LETTER##trsv_v2, T, true)
#define PLD_NARROW(LETTERS, T, R)                                              \
  PLD_BOTH(PLD_GEMV_STRIDED, cublas##LETTERS##gemvStridedBatched, T, R, float) \
  PLD_BOTH(PLD_GEMV_BATCHED, cublas##LETTERS##gemvBatched, T, R, float)

PLD_OF_TYPE(S, float)
PLD_OF_TYPE(D, double)
PLD_OF_TYPE(C, Complex32)
PLD_OF_TYPE(Z, Complex64)
PLD_NARROW(HSH, Half16, Half16)
PLD_NARROW(HSS, Half16, float)
PLD_NARROW(TST, Brain16, Brain16)
PLD_NARROW(TSS, Brain16, float)
PLD_BOTH(PLD_SYMV, cublasChemv_v2, Complex32, hermitian)
PLD_BOTH(PLD_SYMV, cublasZhemv_v2, Complex64, hermitian)
PLD_BOTH(PLD_GER, cublasSger_v2, float, false)
PLD_BOTH(PLD_GER, cublasDger_v2, double, false)
PLD_BOTH(PLD_GER, cublasCgeru_v2, Complex32, false)
PLD_BOTH(PLD_GER, cublasZgeru_v2, Complex64, false)
PLD_BOTH(PLD_GER, cublasCgerc_v2, Complex32, true)
PLD_BOTH(PLD_GER, cublasZgerc_v2, Complex64, true)
