// Sums of sparse matrices (csrgeam2), and matrices without their small elements; by rows, with 32-bit
// indices.
#include <cmath>
#include <memory>
#include <numeric>

#include "cuda/driver/cusparse/written_arrays.h"

namespace palladion::cuda::cusparse {
namespace {

template <class T>
constexpr Type type_of = std::is_same_v<T, float>       ? Type::f32
                         : std::is_same_v<T, double>    ? Type::f64
                         : std::is_same_v<T, Complex32> ? Type::c32
                                                        : Type::c64;

struct Given {  // a matrix as the older functions take it
  const Description* description;
  int count;
  const void* values;
  const int *offsets, *columns;
};
Sparse matrix(int rows, int columns, const Given& g, Type type) {
  return {Format::csr,
          rows,
          columns,
          g.count,
          const_cast<int*>(g.offsets),
          const_cast<int*>(g.columns),
          const_cast<void*>(g.values),
          Index::i32,
          Index::i32,
          g.description->base,
          type};
}

// Integers of the device, to the host, which waits for them.
Status read_now(const Handle* h, const char* name, const int* at, int64_t count, std::vector<int>& out) {
  Pieces pieces(h);
  const int from = pieces.add(Arrays::piece(at, count, sizeof(int), true, false));
  const auto read = std::make_shared<std::vector<int>>(static_cast<size_t>(count));
  const Status status = perform_now(h, name, pieces, [=](void* const* views) {
    std::copy_n(static_cast<const int*>(views[from]), count, read->begin());
  });
  out = std::move(*read);
  return status;
}

// A number that a call gives: to the device with the others, or to the host, which waits.
Status give_count(const Handle* h, const char* name, Pieces& pieces, int* to, auto compute) {
  if (pieces.of_device()) {
    const int place = pieces.add({to, sizeof(int), 1, 0, false, true});
    return perform(h, name, pieces,
                   [=](void* const* views) { return compute(views, static_cast<int*>(views[place])); });
  }
  const auto count = std::make_shared<int>(0);
  const Status status =
      perform_now(h, name, pieces, [=](void* const* views) { return compute(views, count.get()); });
  if (status == success && to != nullptr) *to = *count;
  return status;
}

// ---- sums ----

Status check_sum(const Handle* h, int rows, int columns, const Given& a, const Given& b,
                 const Description* c) {
  if (h == nullptr) return not_initialized;
  if (a.description == nullptr || b.description == nullptr || c == nullptr) return invalid_value;
  return rows < 0 || columns < 0 || a.count < 0 || b.count < 0 ? invalid_value : success;
}

Status count_sum(const Handle* h, int rows, int columns, const Given& a, const Given& b, const Description* c,
                 int* offsets, int* total) {
  if (const Status status = check_sum(h, rows, columns, a, b, c); status != success) return status;
  Pieces pieces(h);
  const Arrays of_a(pieces, matrix(rows, columns, a, Type::f32), false);
  const Arrays of_b(pieces, matrix(rows, columns, b, Type::f32), false);
  const int to = pieces.add(Arrays::piece(offsets, int64_t{rows} + 1, sizeof(int), false, true));
  const int base = c->base;
  return give_count(h, "cusparseXcsrgeam2Nnz", pieces, total,
                    [=](void* const* views, int* count) -> const char* {
                      std::vector<Place> places;
                      const auto add = [&](Place at, int64_t) { places.push_back(at); };
                      if (const char* const wrong = of_a.for_each(views, add)) return wrong;
                      if (const char* const wrong = of_b.for_each(views, add)) return wrong;
                      std::ranges::sort(places);
                      const auto repeated = std::ranges::unique(places);
                      places.erase(repeated.begin(), repeated.end());
                      auto* const out = static_cast<int*>(views[to]);
                      std::fill_n(out, rows + 1, 0);
                      for (const Place& at : places) ++out[at.row + 1];
                      out[0] = base;
                      std::partial_sum(out, out + rows + 1, out);
                      *count = static_cast<int>(places.size());
                      return nullptr;
                    });
}

struct Weights {
  const void *alpha, *beta;
};

template <class T>
Status sum(const Handle* h, const char* name, int rows, int columns, const Weights& by, const Given& a,
           const Given& b, Given c) {
  if (const Status status = check_sum(h, rows, columns, a, b, c.description); status != success)
    return status;
  if (by.alpha == nullptr || by.beta == nullptr) return invalid_value;
  std::vector<int> offsets;  // they say how many elements there are
  if (const Status status = read_now(h, name, c.offsets, int64_t{rows} + 1, offsets); status != success)
    return status;
  c.count = offsets.back() - c.description->base;
  if (c.count < 0) return invalid_value;
  Pieces pieces(h);
  const auto alpha = pieces.number(static_cast<const T*>(by.alpha));
  const auto beta = pieces.number(static_cast<const T*>(by.beta));
  const Arrays of_a(pieces, matrix(rows, columns, a, type_of<T>)),
      of_b(pieces, matrix(rows, columns, b, type_of<T>));
  const WrittenArrays out(pieces, matrix(rows, columns, c, type_of<T>));
  return perform(h, name, pieces, [=](void* const* views) -> const char* {
    std::vector<Entry<Wide<T>>> entries, more;
    if (const char* const wrong = read_entries<T>(of_a, views, as_it_is, entries)) return wrong;
    if (const char* const wrong = read_entries<T>(of_b, views, as_it_is, more)) return wrong;
    for (auto& e : entries) e.value *= alpha.value(views);
    for (auto& e : more) e.value *= beta.value(views);
    entries.insert(entries.end(), more.begin(), more.end());
    sum_duplicates(entries);
    return out.write<T>(views, entries);
  });
}

// ---- small elements ----

double size_of_value(double x) { return std::abs(x); }
double size_of_value(const Complex64& x) { return std::abs(x); }
template <class T>
double limit(const T& tolerance) {
  return static_cast<double>(std::real(tolerance));
}

// How many elements of each row are larger, and of all.
template <class T>
Status count_large(const Handle* h, const char* name, int rows, const Description* d, const T* values,
                   const int* offsets, int* of_rows, int* total, T tolerance) {
  if (h == nullptr) return not_initialized;
  if (d == nullptr || rows < 0 || std::isnan(limit(tolerance)) || limit(tolerance) < 0) return invalid_value;
  std::vector<int> all;
  if (const Status status = read_now(h, name, offsets, int64_t{rows} + 1, all); status != success)
    return status;
  const int base = d->base, count = all.back() - base;
  if (count < 0 || all.front() != base || !std::ranges::is_sorted(all)) return invalid_value;
  Pieces pieces(h);
  const int from = pieces.add(Arrays::piece(values, count, sizeof(T), true, false));
  const int to = pieces.add(Arrays::piece(of_rows, rows, sizeof(int), false, true));
  return give_count(h, name, pieces, total, [=](void* const* views, int* sum) -> const char* {
    *sum = 0;
    for (int row = 0; row < rows; ++row) {
      int large = 0;
      for (int i = all[static_cast<size_t>(row)]; i < all[static_cast<size_t>(row) + 1]; ++i)
        large += size_of_value(static_cast<Wide<T>>(static_cast<const T*>(views[from])[i - base])) >
                 limit(tolerance);
      static_cast<int*>(views[to])[row] = large;
      *sum += large;
    }
    return nullptr;
  });
}

template <class T>
Status compress(const Handle* h, const char* name, int rows, int columns, const Given& a, const int* of_rows,
                Given c, T tolerance) {
  if (h == nullptr) return not_initialized;
  if (a.description == nullptr || rows < 0 || columns < 0 || a.count < 0) return invalid_value;
  std::vector<int> counts;
  if (const Status status = read_now(h, name, of_rows, rows, counts); status != success) return status;
  c.count = std::accumulate(counts.begin(), counts.end(), 0);
  if (c.count < 0) return invalid_value;
  c.description = a.description;
  Pieces pieces(h);
  const Arrays from(pieces, matrix(rows, columns, a, type_of<T>));
  const WrittenArrays to(pieces, matrix(rows, columns, c, type_of<T>));
  return perform(h, name, pieces, [=](void* const* views) -> const char* {
    std::vector<Entry<Wide<T>>> entries;
    if (const char* const wrong = read_entries<T>(from, views, as_it_is, entries)) return wrong;
    std::erase_if(entries, [&](const auto& e) { return !(size_of_value(e.value) > limit(tolerance)); });
    return to.write<T>(views, entries);
  });
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseXcsrgeam2Nnz(const Handle* h, int m, int n, const Description* of_a, int count_a,
                                         const int* offsets_a, const int* columns_a, const Description* of_b,
                                         int count_b, const int* offsets_b, const int* columns_b,
                                         const Description* of_c, int* offsets_c, int* total,
                                         void* /*workspace*/) {
  return count_sum(h, m, n, {of_a, count_a, nullptr, offsets_a, columns_a},
                   {of_b, count_b, nullptr, offsets_b, columns_b}, of_c, offsets_c, total);
}
#define PLD_SUM_ARGUMENTS(T, CONST)                                                                       \
  const Handle *h, int m, int n, const T *alpha, const Description *of_a, int count_a, const T *values_a, \
      const int *offsets_a, const int *columns_a, const T *beta, const Description *of_b, int count_b,    \
      const T *values_b, const int *offsets_b, const int *columns_b, const Description *of_c,             \
      CONST T *values_c, CONST int *offsets_c, CONST int *columns_c
#define PLD_SUM(LETTER, T)                                                                                   \
  PLD_STAND_IN Status cusparse##LETTER##csrgeam2_bufferSizeExt(PLD_SUM_ARGUMENTS(T, const), size_t* bytes) { \
    (void)alpha, (void)beta, (void)values_c, (void)offsets_c, (void)columns_c;                               \
    const Status status = check_sum(h, m, n, {of_a, count_a, values_a, offsets_a, columns_a},                \
                                    {of_b, count_b, values_b, offsets_b, columns_b}, of_c);                  \
    return status == success ? ask_workspace(bytes) : status;                                                \
  }                                                                                                          \
  PLD_STAND_IN Status cusparse##LETTER##csrgeam2(PLD_SUM_ARGUMENTS(T, ), void*) {                            \
    return sum<T>(h, "cusparse" #LETTER "csrgeam2", m, n, {alpha, beta},                                     \
                  {of_a, count_a, values_a, offsets_a, columns_a},                                           \
                  {of_b, count_b, values_b, offsets_b, columns_b},                                           \
                  {of_c, 0, values_c, offsets_c, columns_c});                                                \
  }                                                                                                          \
  PLD_STAND_IN Status cusparse##LETTER##nnz_compress(const Handle* h, int m, const Description* d,           \
                                                     const T* values, const int* offsets, int* of_rows,      \
                                                     int* total, T tolerance) {                              \
    return count_large<T>(h, "cusparse" #LETTER "nnz_compress", m, d, values, offsets, of_rows, total,       \
                          tolerance);                                                                        \
  }                                                                                                          \
  PLD_STAND_IN Status cusparse##LETTER##csr2csr_compress(                                                    \
      const Handle* h, int m, int n, const Description* d, const T* values, const int* columns,              \
      const int* offsets, int count, const int* of_rows, T* to_values, int* to_columns, int* to_offsets,     \
      T tolerance) {                                                                                         \
    return compress<T>(h, "cusparse" #LETTER "csr2csr_compress", m, n, {d, count, values, offsets, columns}, \
                       of_rows, {nullptr, 0, to_values, to_offsets, to_columns}, tolerance);                 \
  }
PLD_SUM(S, float)
PLD_SUM(D, double)
PLD_SUM(C, Complex32)
PLD_SUM(Z, Complex64)
