// BLAS' first level: vectors. Sums are in f64.
#include "cuda/driver/cublas/vectors.h"

#include <algorithm>
#include <cmath>

namespace palladion::cuda::cublas {
namespace {

template <class T>
using Real = typename Eigen::NumTraits<T>::Real;

template <class T>
Status copy(const Handle* h, const char* name, Vector<T> x, Vector<T> y) {
  if (h == nullptr) return not_initialized;
  if (x.n <= 0) return success;
  Pieces pieces(h);
  const int from = pieces.add(x.piece(true, false)), to = pieces.add(y.piece(false, true));
  return perform(h, name, pieces, [=](void* const* views) { y.write(x.read(views[from]), views[to]); });
}

template <class T>
Status swap(const Handle* h, const char* name, Vector<T> x, Vector<T> y) {
  if (h == nullptr) return not_initialized;
  if (x.n <= 0) return success;
  Pieces pieces(h);
  const int at_x = pieces.add(x.piece(true, true)), at_y = pieces.add(y.piece(true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Row<T> kept = x.read(views[at_x]);
    x.write(y.read(views[at_y]), views[at_x]);
    y.write(kept, views[at_y]);
  });
}

// `S`: the factor's type, real or that of the vector.
template <class T, class S>
Status scale(const Handle* h, const char* name, const S* alpha, Vector<T> x) {
  if (h == nullptr) return not_initialized;
  if (alpha == nullptr) return invalid_value;
  if (x.n <= 0 || x.step <= 0) return success;
  Pieces pieces(h);
  const auto by = pieces.number(alpha);
  const int at = pieces.add(x.piece(true, true));
  return perform(h, name, pieces,
                 [=](void* const* views) { x.write(x.read(views[at]) * by.value(views), views[at]); });
}

template <class T>
Status add(const Handle* h, const char* name, const T* alpha, Vector<T> x, Vector<T> y) {
  if (h == nullptr) return not_initialized;
  if (alpha == nullptr) return invalid_value;
  if (x.n <= 0) return success;
  Pieces pieces(h);
  const auto by = pieces.number(alpha);
  const int at_x = pieces.add(x.piece(true, false)), at_y = pieces.add(y.piece(true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    y.write(y.read(views[at_y]) + by.value(views) * x.read(views[at_x]), views[at_y]);
  });
}

// f of the vector's values; `none` where it has none.
template <class R, class T, class F>
Status reduce(const Handle* h, const char* name, Vector<T> x, R* result, F f) {
  if (h == nullptr) return not_initialized;
  if (result == nullptr) return invalid_value;
  if (x.step <= 0) x.n = 0;
  x.n = std::max<int64_t>(x.n, 0);
  Pieces pieces(h);
  const int at = pieces.add(x.piece(true, false));
  return give(h, name, pieces, result,
              [=](void* const* views) { return static_cast<R>(f(x.read(views[at]))); });
}

template <class T>
Status dot(const Handle* h, const char* name, bool conjugated, Vector<T> x, Vector<T> y, T* result) {
  if (h == nullptr) return not_initialized;
  if (result == nullptr) return invalid_value;
  x.n = y.n = std::max<int64_t>(x.n, 0);
  Pieces pieces(h);
  const int at_x = pieces.add(x.piece(true, false)), at_y = pieces.add(y.piece(true, false));
  return give(h, name, pieces, result, [=](void* const* views) {
    Row<T> left = x.read(views[at_x]);
    if (conjugated) left = left.conjugate().eval();
    return static_cast<T>(left.cwiseProduct(y.read(views[at_y])).sum());
  });
}

template <class T>
Status rotate(const Handle* h, const char* name, Vector<T> x, Vector<T> y, const Real<T>* c, const T* s) {
  if (h == nullptr) return not_initialized;
  if (c == nullptr || s == nullptr) return invalid_value;
  if (x.n <= 0) return success;
  Pieces pieces(h);
  const auto cosine = pieces.number(c);
  const auto sine = pieces.number(s);
  const int at_x = pieces.add(x.piece(true, true)), at_y = pieces.add(y.piece(true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    const Row<T> a = x.read(views[at_x]), b = y.read(views[at_y]);
    const double by = cosine.value(views);
    const Wide<T> turned = sine.value(views);
    x.write(by * a + turned * b, views[at_x]);
    if constexpr (Eigen::NumTraits<T>::IsComplex)
      y.write(by * b - std::conj(turned) * a, views[at_y]);
    else
      y.write(by * b - turned * a, views[at_y]);
  });
}

// |re| + |im|, as BLAS measures.
template <class W>
double size_of_value(const W& value) {
  return std::abs(std::real(value)) + std::abs(std::imag(value));
}
constexpr auto sum_of_sizes = [](const auto& row) {
  double sum = 0;
  for (const auto& value : row) sum += size_of_value(value);
  return sum;
};
constexpr auto norm = [](const auto& row) { return row.size() == 0 ? 0.0 : row.stableNorm(); };
// The first of the largest, or smallest, from 1; 0: there is none.
template <bool largest>
int64_t extreme(const auto& row) {
  int64_t at = 0;
  for (int64_t i = 1; i < row.size(); ++i) {
    const double here = size_of_value(row[i]), best = size_of_value(row[at]);
    if (largest ? here > best : here < best) at = i;
  }
  return row.size() == 0 ? 0 : at + 1;
}
constexpr auto place_of_largest = [](const auto& row) { return extreme<true>(row); };
constexpr auto place_of_smallest = [](const auto& row) { return extreme<false>(row); };

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

// Each function with sizes of both widths.
#define PLD_COPY(NAME, INT, T)                                                           \
  PLD_STAND_IN Status NAME(Handle* h, INT n, const T* x, INT step_x, T* y, INT step_y) { \
    return copy<T>(h, #NAME, {x, n, step_x}, {y, n, step_y});                            \
  }
#define PLD_SWAP(NAME, INT, T)                                                     \
  PLD_STAND_IN Status NAME(Handle* h, INT n, T* x, INT step_x, T* y, INT step_y) { \
    return swap<T>(h, #NAME, {x, n, step_x}, {y, n, step_y});                      \
  }
#define PLD_SCAL(NAME, INT, T, S)                                              \
  PLD_STAND_IN Status NAME(Handle* h, INT n, const S* alpha, T* x, INT step) { \
    return scale<T, S>(h, #NAME, alpha, {x, n, step});                         \
  }
#define PLD_AXPY(NAME, INT, T)                                                                           \
  PLD_STAND_IN Status NAME(Handle* h, INT n, const T* alpha, const T* x, INT step_x, T* y, INT step_y) { \
    return add<T>(h, #NAME, alpha, {x, n, step_x}, {y, n, step_y});                                      \
  }
#define PLD_DOT(NAME, INT, T, CONJUGATED)                                                                 \
  PLD_STAND_IN Status NAME(Handle* h, INT n, const T* x, INT step_x, const T* y, INT step_y, T* result) { \
    return dot<T>(h, #NAME, CONJUGATED, {x, n, step_x}, {y, n, step_y}, result);                          \
  }
#define PLD_REDUCE(NAME, INT, T, R, F)                                          \
  PLD_STAND_IN Status NAME(Handle* h, INT n, const T* x, INT step, R* result) { \
    return reduce<R, T>(h, #NAME, {x, n, step}, result, F);                     \
  }
// The place has the width of the sizes.
#define PLD_PLACE(NAME, INT, T, F) PLD_REDUCE(NAME, INT, T, INT, F)
#define PLD_ROT(NAME, INT, T, C, S)                                                                        \
  PLD_STAND_IN Status NAME(Handle* h, INT n, T* x, INT step_x, T* y, INT step_y, const C* c, const S* s) { \
    return rotate<T>(h, #NAME, {x, n, step_x}, {y, n, step_y}, c, s);                                      \
  }
#define PLD_BOTH(MAKE, NAME, ...) \
  MAKE(NAME, int, ##__VA_ARGS__)  \
  MAKE(NAME##_64, int64_t, ##__VA_ARGS__)
#define PLD_ALL_TYPES(MAKE, NAME)               \
  PLD_BOTH(MAKE, cublasS##NAME##_v2, float)     \
  PLD_BOTH(MAKE, cublasD##NAME##_v2, double)    \
  PLD_BOTH(MAKE, cublasC##NAME##_v2, Complex32) \
  PLD_BOTH(MAKE, cublasZ##NAME##_v2, Complex64)
// A real number of a vector of each type.
#define PLD_SIZES(NAME, F)                                       \
  PLD_BOTH(PLD_REDUCE, cublasS##NAME##_v2, float, float, F)      \
  PLD_BOTH(PLD_REDUCE, cublasD##NAME##_v2, double, double, F)    \
  PLD_BOTH(PLD_REDUCE, cublasSc##NAME##_v2, Complex32, float, F) \
  PLD_BOTH(PLD_REDUCE, cublasDz##NAME##_v2, Complex64, double, F)
#define PLD_PLACES(NAME, F)                              \
  PLD_BOTH(PLD_PLACE, cublasIs##NAME##_v2, float, F)     \
  PLD_BOTH(PLD_PLACE, cublasId##NAME##_v2, double, F)    \
  PLD_BOTH(PLD_PLACE, cublasIc##NAME##_v2, Complex32, F) \
  PLD_BOTH(PLD_PLACE, cublasIz##NAME##_v2, Complex64, F)

PLD_ALL_TYPES(PLD_COPY, copy)
PLD_ALL_TYPES(PLD_SWAP, swap)
PLD_ALL_TYPES(PLD_AXPY, axpy)
PLD_BOTH(PLD_SCAL, cublasSscal_v2, float, float)
PLD_BOTH(PLD_SCAL, cublasDscal_v2, double, double)
PLD_BOTH(PLD_SCAL, cublasCscal_v2, Complex32, Complex32)
PLD_BOTH(PLD_SCAL, cublasZscal_v2, Complex64, Complex64)
PLD_BOTH(PLD_SCAL, cublasCsscal_v2, Complex32, float)
PLD_BOTH(PLD_SCAL, cublasZdscal_v2, Complex64, double)
PLD_BOTH(PLD_DOT, cublasSdot_v2, float, false)
PLD_BOTH(PLD_DOT, cublasDdot_v2, double, false)
PLD_BOTH(PLD_DOT, cublasCdotu_v2, Complex32, false)
PLD_BOTH(PLD_DOT, cublasZdotu_v2, Complex64, false)
PLD_BOTH(PLD_DOT, cublasCdotc_v2, Complex32, true)
PLD_BOTH(PLD_DOT, cublasZdotc_v2, Complex64, true)
PLD_SIZES(nrm2, norm)
PLD_SIZES(asum, sum_of_sizes)
PLD_PLACES(amax, place_of_largest)
PLD_PLACES(amin, place_of_smallest)
PLD_BOTH(PLD_ROT, cublasSrot_v2, float, float, float)
PLD_BOTH(PLD_ROT, cublasDrot_v2, double, double, double)
PLD_BOTH(PLD_ROT, cublasCrot_v2, Complex32, float, Complex32)
PLD_BOTH(PLD_ROT, cublasZrot_v2, Complex64, double, Complex64)
