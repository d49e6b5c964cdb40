// Indices: between offsets and rows, sorting, transposition.
#include <cstring>
#include <numeric>

#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {
namespace {

Piece ints(const int* at, int64_t count, bool reads, bool writes) {
  return Arrays::piece(at, count, sizeof(int), reads, writes);
}
const int* ints_at(void* const* views, int piece) { return static_cast<const int*>(views[piece]); }

// Rows, sorted, to offsets.
Status to_offsets(const Handle* h, const int* rows, int count, int lines, int* offsets, int base) {
  if (h == nullptr) return not_initialized;
  if (count < 0 || lines < 0) return invalid_value;
  Pieces pieces(h);
  const int from = pieces.add(ints(rows, count, true, false));
  const int to = pieces.add(ints(offsets, int64_t{lines} + 1, false, true));
  return perform(h, "cusparseXcoo2csr", pieces, [=](void* const* views) -> const char* {
    std::vector<int> counted(static_cast<size_t>(lines) + 1);
    for (int i = 0; i < count; ++i) {
      const int row = ints_at(views, from)[i] - base;
      if (row < 0 || row >= lines) return bad_index;
      ++counted[static_cast<size_t>(row) + 1];
    }
    std::partial_sum(counted.begin(), counted.end(), counted.begin());
    for (size_t i = 0; i < counted.size(); ++i) static_cast<int*>(views[to])[i] = counted[i] + base;
    return nullptr;
  });
}

// A pattern in 32-bit indices, by rows.
Sparse pattern(int rows, int columns, int count, const int* offsets, const int* indices, int base) {
  return {Format::csr, rows,       columns,    count, const_cast<int*>(offsets), const_cast<int*>(indices),
          nullptr,     Index::i32, Index::i32, base};
}

Status to_rows(const Handle* h, const int* offsets, int count, int lines, int* rows, int base) {
  if (h == nullptr) return not_initialized;
  if (count < 0 || lines < 0) return invalid_value;
  Pieces pieces(h);
  const int from = pieces.add(ints(offsets, int64_t{lines} + 1, true, false));
  const int to = pieces.add(ints(rows, count, false, true));
  return perform(h, "cusparseXcsr2coo", pieces, [=](void* const* views) -> const char* {
    const int* const at = ints_at(views, from);
    for (int line = 0; line < lines; ++line) {
      if (at[line] < base || at[line + 1] < at[line] || at[line + 1] - base > count) return bad_offsets;
      std::fill(static_cast<int*>(views[to]) + (at[line] - base),
                static_cast<int*>(views[to]) + (at[line + 1] - base), line + base);
    }
    return nullptr;
  });
}

Status count_up(const Handle* h, int n, int* permutation) {
  if (h == nullptr) return not_initialized;
  if (n < 0) return invalid_value;
  Pieces pieces(h);
  const int to = pieces.add(ints(permutation, n, false, true));
  return perform(h, "cusparseCreateIdentityPermutation", pieces, [=](void* const* views) {
    std::iota(static_cast<int*>(views[to]), static_cast<int*>(views[to]) + n, 0);
  });
}

// ---- sorting: a permutation, which may be null, goes with the indices ----

template <class T>
void reorder(T* values, const std::vector<int>& order) {
  std::vector<T> kept;
  for (const int i : order) kept.push_back(values[i]);
  std::ranges::copy(kept, values);
}

Status sort_lines(const Handle* h, const char* name, const Sparse& m, int* indices, int* permutation) {
  if (h == nullptr) return not_initialized;
  if (m.rows < 0 || m.columns < 0 || m.count < 0) return invalid_value;
  Pieces pieces(h);
  const Arrays arrays(pieces, m, false);
  const int at = pieces.add(ints(indices, m.count, true, true));
  const int moved = permutation == nullptr ? -1 : pieces.add(ints(permutation, m.count, true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    std::vector<Place> places(static_cast<size_t>(m.count));
    std::vector<int> order;
    const char* const wrong = arrays.for_each(views, [&](Place place, int64_t i) {
      places[static_cast<size_t>(i)] = place;
      order.push_back(static_cast<int>(i));
    });
    if (wrong != nullptr) return wrong;
    std::ranges::stable_sort(order, {}, [&](int i) { return places[static_cast<size_t>(i)]; });
    reorder(static_cast<int*>(views[at]), order);
    if (moved >= 0) reorder(static_cast<int*>(views[moved]), order);
    return wrong;
  });
}

Status sort_places(const Handle* h, const char* name, int count, int* first, int* second, int* permutation) {
  if (h == nullptr) return not_initialized;
  if (count < 0) return invalid_value;
  Pieces pieces(h);
  const int at_first = pieces.add(ints(first, count, true, true));
  const int at_second = pieces.add(ints(second, count, true, true));
  const int moved = permutation == nullptr ? -1 : pieces.add(ints(permutation, count, true, true));
  return perform(h, name, pieces, [=](void* const* views) {
    std::vector<int> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) {
      return std::pair(ints_at(views, at_first)[i], ints_at(views, at_second)[i]);
    });
    for (const int piece : {at_first, at_second, moved})
      if (piece >= 0) reorder(static_cast<int*>(views[piece]), order);
  });
}

// ---- transposition ----

struct Transposed {
  void* values;
  int *offsets, *rows;
};

Status transpose(const Handle* h, const Sparse& m, const Transposed& to, size_t bytes) {
  Pieces pieces(h);
  const Arrays arrays(pieces, m, false);
  const int from = pieces.add(Arrays::piece(m.values, m.count, bytes, true, false));
  const int values = pieces.add(Arrays::piece(to.values, m.count, bytes, false, true));
  const int offsets = pieces.add(ints(to.offsets, m.columns + 1, false, true));
  const int rows = pieces.add(ints(to.rows, m.count, false, true));
  return perform(h, "cusparseCsr2cscEx2", pieces, [=](void* const* views) {
    std::vector<std::pair<Place, int64_t>> all;
    const char* const wrong = arrays.for_each(views, [&](Place at, int64_t i) { all.emplace_back(at, i); });
    if (wrong != nullptr) return wrong;
    std::ranges::stable_sort(all, {}, [](const auto& element) { return element.first.column; });
    auto* const out = static_cast<int*>(views[offsets]);
    std::fill_n(out, m.columns + 1, m.base);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& [at, number] = all[i];
      ++out[at.column + 1];
      static_cast<int*>(views[rows])[i] = static_cast<int>(at.row) + m.base;
      if (bytes != 0)
        std::memcpy(static_cast<char*>(views[values]) + i * bytes,
                    static_cast<const char*>(views[from]) + static_cast<size_t>(number) * bytes, bytes);
    }
    for (int64_t j = 0; j < m.columns; ++j) out[j + 1] += out[j] - m.base;
    return wrong;
  });
}

Status check_transposed(const Handle* h, const Sparse& m) {
  if (h == nullptr) return not_initialized;
  return m.rows < 0 || m.columns < 0 || m.count < 0 ? invalid_value : success;
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseXcoo2csr(const Handle* h, const int* rows, int count, int lines, int* offsets,
                                     int base) {
  return to_offsets(h, rows, count, lines, offsets, base);
}
PLD_STAND_IN Status cusparseXcsr2coo(const Handle* h, const int* offsets, int count, int lines, int* rows,
                                     int base) {
  return to_rows(h, offsets, count, lines, rows, base);
}
PLD_STAND_IN Status cusparseCreateIdentityPermutation(const Handle* h, int n, int* permutation) {
  return count_up(h, n, permutation);
}

#define PLD_SORT(NAME, ROWS, COLUMNS)                                                                 \
  PLD_STAND_IN Status cusparseX##NAME##_bufferSizeExt(const Handle* h, int, int, int, const int*,     \
                                                      const int*, size_t* bytes) {                    \
    return h == nullptr ? not_initialized : ask_workspace(bytes);                                     \
  }                                                                                                   \
  PLD_STAND_IN Status cusparseX##NAME(const Handle* h, int m, int n, int count, const Description* d, \
                                      const int* offsets, int* indices, int* permutation, void*) {    \
    if (d == nullptr) return invalid_value;                                                           \
    return sort_lines(h, "cusparseX" #NAME, pattern(ROWS, COLUMNS, count, offsets, indices, d->base), \
                      indices, permutation);                                                          \
  }
PLD_SORT(csrsort, m, n)
PLD_SORT(cscsort, n, m)
PLD_STAND_IN Status cusparseXcoosort_bufferSizeExt(const Handle* h, int, int, int, const int*, const int*,
                                                   size_t* bytes) {
  return h == nullptr ? not_initialized : ask_workspace(bytes);
}
PLD_STAND_IN Status cusparseXcoosortByRow(const Handle* h, int, int, int count, int* rows, int* columns,
                                          int* permutation, void*) {
  return sort_places(h, "cusparseXcoosortByRow", count, rows, columns, permutation);
}
PLD_STAND_IN Status cusparseXcoosortByColumn(const Handle* h, int, int, int count, int* rows, int* columns,
                                             int* permutation, void*) {
  return sort_places(h, "cusparseXcoosortByColumn", count, columns, rows, permutation);
}

#define PLD_TRANSPOSE_ARGUMENTS                                                                         \
  const Handle *h, int m, int n, int count, const void *values, const int *offsets, const int *columns, \
      void *to_values, int *to_offsets, int *to_rows, Type type, int action, int base, int /*algorithm*/
PLD_STAND_IN Status cusparseCsr2cscEx2(PLD_TRANSPOSE_ARGUMENTS, void* /*workspace*/) {
  Sparse from = pattern(m, n, count, offsets, columns, base);
  from.values = const_cast<void*>(values);
  if (const Status status = check_transposed(h, from); status != success) return status;
  const size_t bytes = size_of(type);
  if (action != 0 && bytes == 0) return refuse("cusparseCsr2cscEx2");
  return transpose(h, from, {to_values, to_offsets, to_rows}, action == 0 ? 0 : bytes);
}
PLD_STAND_IN Status cusparseCsr2cscEx2_bufferSize(PLD_TRANSPOSE_ARGUMENTS, size_t* bytes) {
  (void)values, (void)to_values, (void)to_offsets, (void)to_rows, (void)type, (void)action;
  const Status status = check_transposed(h, pattern(m, n, count, offsets, columns, base));
  return status == success ? ask_workspace(bytes) : status;
}
