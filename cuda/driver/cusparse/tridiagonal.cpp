// Solutions of tridiagonal systems (gtsv2). All are solved with interchanged rows, those that NVIDIA's solves
// without as well.
#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {
namespace {

// Of `count` systems each of m equations; a line of the matrix begins `stride` elements after the one before.
struct Systems {
  int64_t m, count, stride;
};

// The rows of one matrix: element i of `lower` stands left of the diagonal in row i. `second` appears right
// of `upper` where rows were interchanged.
template <class W>
struct Tridiagonal {
  std::vector<W> lower, diagonal, upper, second;
};

template <class T>
std::vector<Wide<T>> widened(const void* view, int64_t begin, int64_t n) {
  const T* const from = static_cast<const T*>(view) + begin;
  return {from, from + n};
}

// Row i + 1 without its first element; the larger of the two is the pivot.
template <class W>
void eliminate(Tridiagonal<W>& a, std::vector<W>& x, size_t i) {
  if (std::abs(a.diagonal[i]) < std::abs(a.lower[i + 1])) {
    std::swap(a.diagonal[i], a.lower[i + 1]);
    std::swap(a.upper[i], a.diagonal[i + 1]);
    std::swap(a.second[i], a.upper[i + 1]);
    std::swap(x[i], x[i + 1]);
  }
  const W factor = a.lower[i + 1] / a.diagonal[i];
  a.diagonal[i + 1] -= factor * a.upper[i];
  a.upper[i + 1] -= factor * a.second[i];
  x[i + 1] -= factor * x[i];
}

template <class W>
void solve(Tridiagonal<W> a, std::vector<W>& x) {
  const size_t n = x.size();
  a.upper.back() = W{};
  for (size_t i = 0; i + 1 < n; ++i) eliminate(a, x, i);
  for (size_t i = n; i-- > 0;) {
    if (i + 1 < n) x[i] -= a.upper[i] * x[i + 1];
    if (i + 2 < n) x[i] -= a.second[i] * x[i + 2];
    x[i] /= a.diagonal[i];
  }
}

struct Lines {
  const void *lower, *diagonal, *upper;
};

// One matrix for all right sides (stride 0), or one for each.
template <class T>
Status solve_all(const Handle* h, const char* name, const Systems& s, const Lines& lines, T* x,
                 int64_t distance) {
  const auto bytes = [](int64_t n) { return static_cast<size_t>(n) * sizeof(T); };
  const auto part = [&](const void* at, int64_t step, bool writes) -> Piece {
    const int64_t parts = step == 0 ? std::min<int64_t>(1, s.count) : s.count;
    return {at, bytes(s.m), static_cast<size_t>(parts), bytes(step), true, writes};
  };
  Pieces pieces(h);
  const int lower = pieces.add(part(lines.lower, s.stride, false));
  const int diagonal = pieces.add(part(lines.diagonal, s.stride, false));
  const int upper = pieces.add(part(lines.upper, s.stride, false));
  const int right = pieces.add(part(x, distance, true));
  return perform(h, name, pieces, [=](void* const* views) {
    for (int64_t i = 0; i < s.count; ++i) {
      const auto line = [&](int piece) { return widened<T>(views[piece], i * s.stride, s.m); };
      auto solution = widened<T>(views[right], i * distance, s.m);
      solve<Wide<T>>({line(lower), line(diagonal), line(upper), std::vector<Wide<T>>(solution.size())},
                     solution);
      std::ranges::transform(solution, static_cast<T*>(views[right]) + i * distance,
                             [](const auto& value) { return static_cast<T>(value); });
    }
  });
}

Status check(const Handle* h, int m, int count, int distance) {
  if (h == nullptr) return not_initialized;
  return m < 3 || count < 0 || distance < m ? invalid_value : success;
}

template <class T>
Status solve_one(const Handle* h, const char* name, int m, int n, const Lines& lines, T* b, int leading) {
  const Status status = check(h, m, n, leading);
  return status == success ? solve_all(h, name, {m, n, 0}, lines, b, leading) : status;
}
template <class T>
Status solve_batch(const Handle* h, const char* name, int m, const Lines& lines, T* x, int count,
                   int distance) {
  const Status status = check(h, m, count, distance);
  return status == success ? solve_all(h, name, {m, count, distance}, lines, x, distance) : status;
}
Status ask(const Handle* h, int m, int count, int distance, size_t* bytes) {
  const Status status = check(h, m, count, distance);
  return status == success ? ask_workspace(bytes) : status;
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

#define PLD_TRIDIAGONAL(NAME, T)                                                                        \
  PLD_STAND_IN Status cusparse##NAME(const Handle* h, int m, int n, const T* lower, const T* diagonal,  \
                                     const T* upper, T* b, int leading, void*) {                        \
    return solve_one(h, "cusparse" #NAME, m, n, {lower, diagonal, upper}, b, leading);                  \
  }                                                                                                     \
  PLD_STAND_IN Status cusparse##NAME##_bufferSizeExt(const Handle* h, int m, int n, const T*, const T*, \
                                                     const T*, const T*, int leading, size_t* bytes) {  \
    return ask(h, m, n, leading, bytes);                                                                \
  }
#define PLD_TRIDIAGONALS(LETTER, T)                                                                      \
  PLD_TRIDIAGONAL(LETTER##gtsv2, T)                                                                      \
  PLD_TRIDIAGONAL(LETTER##gtsv2_nopivot, T)                                                              \
  PLD_STAND_IN Status cusparse##LETTER##gtsv2StridedBatch(const Handle* h, int m, const T* lower,        \
                                                          const T* diagonal, const T* upper, T* x,       \
                                                          int count, int distance, void*) {              \
    return solve_batch(h, "cusparse" #LETTER "gtsv2StridedBatch", m, {lower, diagonal, upper}, x, count, \
                       distance);                                                                        \
  }                                                                                                      \
  PLD_STAND_IN Status cusparse##LETTER##gtsv2StridedBatch_bufferSizeExt(                                 \
      const Handle* h, int m, const T*, const T*, const T*, const T*, int count, int distance,           \
      size_t* bytes) {                                                                                   \
    return ask(h, m, count, distance, bytes);                                                            \
  }
PLD_TRIDIAGONALS(S, float)
PLD_TRIDIAGONALS(D, double)
PLD_TRIDIAGONALS(C, Complex32)
PLD_TRIDIAGONALS(Z, Complex64)
