// Solutions of op(A) Y = alpha op(B), where A is triangular. Elements of the other triangle do not count.
#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {
namespace {

struct Plan {};  // cusparseSpSVDescr_t, cusparseSpSMDescr_t: nothing is analysed
struct Solve {
  const char* name;
  int of_a, of_b;
  const void* alpha;
};

// The rows of a triangle, without its diagonal.
template <class W>
struct Triangle {
  std::vector<std::vector<std::pair<int64_t, W>>> rows;  // column, value
  std::vector<W> diagonal;
  bool upper = false;
};
template <class T>
Triangle<Wide<T>> triangle_of(const Sparse& a, int operation, const std::vector<Entry<Wide<T>>>& entries) {
  Triangle<Wide<T>> t;
  t.upper = (a.upper != 0) != (operation != as_it_is);
  t.rows.resize(static_cast<size_t>(a.rows));
  t.diagonal.assign(static_cast<size_t>(a.rows), a.unit != 0 ? Wide<T>(1) : Wide<T>(0));
  for (const auto& e : entries) {
    const auto row = static_cast<size_t>(e.at.row);
    if (e.at.row == e.at.column) {
      if (a.unit == 0) t.diagonal[row] += e.value;
    } else if ((e.at.column > e.at.row) == t.upper) {
      t.rows[row].emplace_back(e.at.column, e.value);
    }
  }
  return t;
}

template <class W>
void solve_column(const Triangle<W>& t, std::vector<W>& x) {
  const size_t n = t.rows.size();
  for (size_t step = 0; step < n; ++step) {
    const size_t row = t.upper ? n - 1 - step : step;
    for (const auto& [column, value] : t.rows[row]) x[row] -= value * x[static_cast<size_t>(column)];
    x[row] /= t.diagonal[row];
  }
}

template <class T>
Status solve(const Handle* h, const Solve& s, const Sparse& a, const Dense& b, const Dense& y) {
  Pieces pieces(h);
  const auto alpha = pieces.number(static_cast<const T*>(s.alpha));
  const Arrays arrays(pieces, a);
  const int at_b = pieces.add(b.piece(true, false)), at_y = pieces.add(y.piece(false, true));
  return perform(h, s.name, pieces, [=](void* const* views) -> const char* {
    std::vector<Entry<Wide<T>>> entries;
    if (const char* const wrong = read_entries<T>(arrays, views, s.of_a, entries)) return wrong;
    const auto triangle = triangle_of<T>(a, s.of_a, entries);
    const auto times = alpha.value(views);
    std::vector<std::vector<Wide<T>>> columns(static_cast<size_t>(y.columns));  // B may be Y
    for (int64_t j = 0; j < y.columns; ++j)
      for (int64_t i = 0; i < y.rows; ++i) {
        const int64_t place = s.of_b == as_it_is ? b.place(i, j) : b.place(j, i);
        const auto value = static_cast<Wide<T>>(static_cast<const T*>(views[at_b])[place]);
        columns[static_cast<size_t>(j)].push_back(
            times * (s.of_b == conjugate_transposed ? conjugate(value) : value));
      }
    for (int64_t j = 0; j < y.columns; ++j) {
      auto& column = columns[static_cast<size_t>(j)];
      solve_column(triangle, column);
      for (int64_t i = 0; i < y.rows; ++i)
        static_cast<T*>(views[at_y])[y.place(i, j)] = static_cast<T>(column[static_cast<size_t>(i)]);
    }
    return nullptr;
  });
}

Status check(const Handle* h, const Solve& s, const Sparse* a, const Dense& b, const Dense& y, Type type) {
  if (h == nullptr) return not_initialized;
  if (a == nullptr || s.alpha == nullptr || a->rows != a->columns) return invalid_value;
  if (a->type != type || b.type != type || y.type != type) return refuse(s.name);  // of several types
  if (is_batch(*a, b, y)) return refuse(s.name);
  const int64_t rows = s.of_b == as_it_is ? b.rows : b.columns,
                columns = s.of_b == as_it_is ? b.columns : b.rows;
  return rows == a->rows && y.rows == rows && y.columns == columns ? success : invalid_value;
}
Status solve_any(const Handle* h, const Solve& s, const Sparse* a, const Dense& b, const Dense& y,
                 Type type) {
  if (const Status status = check(h, s, a, b, y, type); status != success) return status;
  return with_type(s.name, type, [&](auto zero) { return solve<decltype(zero)>(h, s, *a, b, y); });
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseSpSV_createDescr(Plan** out) { return Descriptors::create(out); }
PLD_STAND_IN Status cusparseSpSV_destroyDescr(Plan* p) { return Descriptors::destroy(p); }
PLD_STAND_IN Status cusparseSpSM_createDescr(Plan** out) { return Descriptors::create(out); }
PLD_STAND_IN Status cusparseSpSM_destroyDescr(Plan* p) { return Descriptors::destroy(p); }

#define PLD_SV_ARGUMENTS                                                                                    \
  const Handle *h, int operation, const void *alpha, const Sparse *a, const DenseVector *x, DenseVector *y, \
      Type type, int /*algorithm*/, const Plan * /*plan*/
PLD_STAND_IN Status cusparseSpSV_bufferSize(PLD_SV_ARGUMENTS, size_t* bytes) {
  if (x == nullptr || y == nullptr) return invalid_value;
  const Status status =
      check(h, {"cusparseSpSV_bufferSize", operation, as_it_is, alpha}, a, x->matrix(), y->matrix(), type);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSpSV_analysis(PLD_SV_ARGUMENTS, void* /*workspace*/) {
  if (x == nullptr || y == nullptr) return invalid_value;
  return check(h, {"cusparseSpSV_analysis", operation, as_it_is, alpha}, a, x->matrix(), y->matrix(), type);
}
PLD_STAND_IN Status cusparseSpSV_solve(PLD_SV_ARGUMENTS) {
  if (x == nullptr || y == nullptr) return invalid_value;
  return solve_any(h, {"cusparseSpSV_solve", operation, as_it_is, alpha}, a, x->matrix(), y->matrix(), type);
}

#define PLD_SM_ARGUMENTS                                                                             \
  const Handle *h, int of_a, int of_b, const void *alpha, const Sparse *a, const Dense *b, Dense *y, \
      Type type, int /*algorithm*/, const Plan * /*plan*/
PLD_STAND_IN Status cusparseSpSM_bufferSize(PLD_SM_ARGUMENTS, size_t* bytes) {
  if (b == nullptr || y == nullptr) return invalid_value;
  const Status status = check(h, {"cusparseSpSM_bufferSize", of_a, of_b, alpha}, a, *b, *y, type);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSpSM_analysis(PLD_SM_ARGUMENTS, void* /*workspace*/) {
  if (b == nullptr || y == nullptr) return invalid_value;
  return check(h, {"cusparseSpSM_analysis", of_a, of_b, alpha}, a, *b, *y, type);
}
PLD_STAND_IN Status cusparseSpSM_solve(PLD_SM_ARGUMENTS) {
  if (b == nullptr || y == nullptr) return invalid_value;
  return solve_any(h, {"cusparseSpSM_solve", of_a, of_b, alpha}, a, *b, *y, type);
}
