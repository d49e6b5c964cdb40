// Between sparse and dense matrices.
#include <memory>

#include "cuda/driver/cusparse/written_arrays.h"

namespace palladion::cuda::cusparse {
namespace {

Status check(const Handle* h, const char* name, const Dense* d, const Sparse* m) {
  if (h == nullptr) return not_initialized;
  if (d == nullptr || m == nullptr || d->rows != m->rows || d->columns != m->columns) return invalid_value;
  return d->type == m->type && !is_batch(*d, *m) ? success : refuse(name);
}

template <class T>
Status to_dense(const Handle* h, const Sparse& m, const Dense& d) {
  Pieces pieces(h);
  const Arrays arrays(pieces, m);
  const int to = pieces.add(d.piece(false, true));
  return perform(h, "cusparseSparseToDense", pieces, [=](void* const* views) {
    auto* const out = static_cast<T*>(views[to]);
    for (int64_t i = 0; i < d.rows; ++i)
      for (int64_t j = 0; j < d.columns; ++j) out[d.place(i, j)] = T{};
    const auto* const values = static_cast<const T*>(arrays.values(views));
    return arrays.for_each(views, [&](Place at, int64_t i) { out[d.place(at.row, at.column)] += values[i]; });
  });
}

template <class T>
std::vector<Entry<Wide<T>>> entries_of(const Dense& d, const void* view) {
  std::vector<Entry<Wide<T>>> entries;
  for (int64_t i = 0; i < d.rows; ++i)
    for (int64_t j = 0; j < d.columns; ++j)
      if (const T value = static_cast<const T*>(view)[d.place(i, j)]; value != T{})
        entries.push_back({{i, j}, static_cast<Wide<T>>(value)});
  return entries;
}

template <class T>
Status count_elements(const Handle* h, const Dense& d, Sparse& m) {
  Pieces pieces(h);
  const int from = pieces.add(d.piece(true, false));
  const auto count = std::make_shared<int64_t>(0);
  const Status status = perform_now(h, "cusparseDenseToSparse_analysis", pieces, [=](void* const* views) {
    *count = static_cast<int64_t>(entries_of<T>(d, views[from]).size());
  });
  if (status == success) m.count = *count;
  return status;
}

template <class T>
Status to_sparse(const Handle* h, const Dense& d, const Sparse& m) {
  Pieces pieces(h);
  const int from = pieces.add(d.piece(true, false));
  const WrittenArrays arrays(pieces, m);
  return perform(h, "cusparseDenseToSparse_convert", pieces, [=](void* const* views) {
    auto entries = entries_of<T>(d, views[from]);
    return arrays.write<T>(views, entries);
  });
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseSparseToDense_bufferSize(const Handle* h, const Sparse* m, const Dense* d,
                                                     int /*algorithm*/, size_t* bytes) {
  const Status status = check(h, "cusparseSparseToDense_bufferSize", d, m);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSparseToDense(const Handle* h, const Sparse* m, const Dense* d, int /*algorithm*/,
                                          void* /*workspace*/) {
  const Status status = check(h, "cusparseSparseToDense", d, m);
  if (status != success) return status;
  return with_type("cusparseSparseToDense", m->type,
                   [&](auto zero) { return to_dense<decltype(zero)>(h, *m, *d); });
}
PLD_STAND_IN Status cusparseDenseToSparse_bufferSize(const Handle* h, const Dense* d, const Sparse* m,
                                                     int /*algorithm*/, size_t* bytes) {
  const Status status = check(h, "cusparseDenseToSparse_bufferSize", d, m);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseDenseToSparse_analysis(const Handle* h, const Dense* d, Sparse* m,
                                                   int /*algorithm*/, void* /*workspace*/) {
  const Status status = check(h, "cusparseDenseToSparse_analysis", d, m);
  if (status != success) return status;
  return with_type("cusparseDenseToSparse_analysis", m->type,
                   [&](auto zero) { return count_elements<decltype(zero)>(h, *d, *m); });
}
PLD_STAND_IN Status cusparseDenseToSparse_convert(const Handle* h, const Dense* d, const Sparse* m,
                                                  int /*algorithm*/, void* /*workspace*/) {
  const Status status = check(h, "cusparseDenseToSparse_convert", d, m);
  if (status != success) return status;
  return with_type("cusparseDenseToSparse_convert", m->type,
                   [&](auto zero) { return to_sparse<decltype(zero)>(h, *d, *m); });
}
