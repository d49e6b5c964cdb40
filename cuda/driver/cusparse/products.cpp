// Products of a sparse matrix with vectors and matrices that are dense, and of two dense ones where a sparse
// one has elements.
#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {
namespace {

struct Shape {
  int64_t rows = 0, columns = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};
template <class M>
Shape shape_of(const M& m, int operation) {
  return operation == as_it_is ? Shape{m.rows, m.columns} : Shape{m.columns, m.rows};
}
bool is_operation(int operation) { return operation >= as_it_is && operation <= conjugate_transposed; }

// An element of op(B).
template <class T>
Wide<T> element(const Dense& b, int operation, const void* view, int64_t row, int64_t column) {
  if (operation != as_it_is) std::swap(row, column);
  const auto value = static_cast<Wide<T>>(static_cast<const T*>(view)[b.place(row, column)]);
  return operation == conjugate_transposed ? conjugate(value) : value;
}

struct Product {
  const char* name;
  int of_a, of_b;
  const void *alpha, *beta;
};

// Where the matrices of one product are, and what it is multiplied by.
template <class T>
struct Operands {
  Arrays a;
  int b, c;
  Pieces::Number<T> alpha, beta;
};

// C = alpha op(A) op(B) + beta C
template <class T>
const char* multiply(const Product& p, const Operands<T>& at, const Dense& b, const Dense& c,
                     void* const* views) {
  std::vector<Entry<Wide<T>>> entries;
  if (const char* const wrong = read_entries<T>(at.a, views, p.of_a, entries)) return wrong;
  const auto times = at.alpha.value(views), kept = at.beta.value(views);
  std::vector<Wide<T>> sums(static_cast<size_t>(c.rows * c.columns));
  for (const auto& e : entries)
    for (int64_t j = 0; j < c.columns; ++j)
      sums[static_cast<size_t>(e.at.row * c.columns + j)] +=
          e.value * element<T>(b, p.of_b, views[at.b], e.at.column, j);
  auto* const out = static_cast<T*>(views[at.c]);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      T& to = out[c.place(i, j)];
      const Wide<T> sum = times * sums[static_cast<size_t>(i * c.columns + j)];
      to = static_cast<T>(kept == Wide<T>{} ? sum : sum + kept * static_cast<Wide<T>>(to));
    }
  return nullptr;
}
// For each of a batch; a factor that is no batch belongs to all of them.
template <class T>
Status multiply_all(const Handle* h, const Product& p, const Sparse& a, const Dense& b, const Dense& c) {
  Pieces pieces(h);
  const auto alpha = pieces.number(static_cast<const T*>(p.alpha));
  const auto beta = pieces.number(static_cast<const T*>(p.beta));
  std::vector<Operands<T>> all;
  for (int i = 0; i < c.batch; ++i)
    all.push_back({Arrays(pieces, a.of_batch(a.batch == 1 ? 0 : i)),
                   pieces.add(b.of_batch(b.batch == 1 ? 0 : i).piece(true, false)),
                   pieces.add(c.of_batch(i).piece(!beta.is_zero(), true)), alpha, beta});
  return perform(h, p.name, pieces, [=](void* const* views) -> const char* {
    for (const Operands<T>& one : all)
      if (const char* const wrong = multiply(p, one, b, c, views)) return wrong;
    return nullptr;
  });
}

Status check_product(const Handle* h, const Product& p, const Sparse* a, const Dense& b, const Dense& c,
                     Type type) {
  if (h == nullptr) return not_initialized;
  if (a == nullptr || p.alpha == nullptr || p.beta == nullptr) return invalid_value;
  if (!is_operation(p.of_a) || !is_operation(p.of_b)) return invalid_value;
  if (a->type != type || b.type != type || c.type != type) return refuse(p.name);  // of several types
  const Shape left = shape_of(*a, p.of_a), right = shape_of(b, p.of_b);
  const bool fits = left.columns == right.rows && Shape{c.rows, c.columns} == Shape{left.rows, right.columns};
  const auto is_one_or_all = [&](int batch) { return batch == 1 || batch == c.batch; };
  return fits && is_one_or_all(a->batch) && is_one_or_all(b.batch) ? success : invalid_value;
}
Status product(const Handle* h, const Product& p, const Sparse* a, const Dense& b, const Dense& c,
               Type type) {
  if (const Status status = check_product(h, p, a, b, c, type); status != success) return status;
  return with_type(p.name, type, [&](auto zero) { return multiply_all<decltype(zero)>(h, p, *a, b, c); });
}

// C = alpha (op(A) op(B)) where C has elements + beta C
template <class T>
Status sample(const Handle* h, const Product& p, const Dense& a, const Dense& b, const Sparse& c) {
  Pieces pieces(h);
  const auto alpha = pieces.number(static_cast<const T*>(p.alpha));
  const auto beta = pieces.number(static_cast<const T*>(p.beta));
  const Arrays arrays(pieces, c, !beta.is_zero(), true);
  const int at_a = pieces.add(a.piece(true, false)), at_b = pieces.add(b.piece(true, false));
  const int64_t depth = shape_of(a, p.of_a).columns;
  return perform(h, p.name, pieces, [=](void* const* views) {
    const auto times = alpha.value(views), kept = beta.value(views);
    auto* const values = static_cast<T*>(arrays.values(views));
    return arrays.for_each(views, [&](Place at, int64_t i) {
      Wide<T> sum{};
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            element<T>(a, p.of_a, views[at_a], at.row, k) * element<T>(b, p.of_b, views[at_b], k, at.column);
      sum *= times;
      values[i] = static_cast<T>(kept == Wide<T>{} ? sum : sum + kept * static_cast<Wide<T>>(values[i]));
    });
  });
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

#define PLD_MV_ARGUMENTS                                                                    \
  const Handle *h, int operation, const void *alpha, const Sparse *a, const DenseVector *x, \
      const void *beta, DenseVector *y, Type type, int /*algorithm*/
PLD_STAND_IN Status cusparseSpMV(PLD_MV_ARGUMENTS, void* /*workspace*/) {
  if (x == nullptr || y == nullptr) return invalid_value;
  return product(h, {"cusparseSpMV", operation, as_it_is, alpha, beta}, a, x->matrix(), y->matrix(), type);
}
PLD_STAND_IN Status cusparseSpMV_bufferSize(PLD_MV_ARGUMENTS, size_t* bytes) {
  if (x == nullptr || y == nullptr) return invalid_value;
  const Status status = check_product(h, {"cusparseSpMV_bufferSize", operation, as_it_is, alpha, beta}, a,
                                      x->matrix(), y->matrix(), type);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSpMV_preprocess(PLD_MV_ARGUMENTS, void* /*workspace*/) {
  if (x == nullptr || y == nullptr) return invalid_value;
  return check_product(h, {"cusparseSpMV_preprocess", operation, as_it_is, alpha, beta}, a, x->matrix(),
                       y->matrix(), type);
}

#define PLD_MM_ARGUMENTS(A, C)                                                                          \
  const Handle *h, int of_a, int of_b, const void *alpha, const A *a, const Dense *b, const void *beta, \
      C *c, Type type, int /*algorithm*/
PLD_STAND_IN Status cusparseSpMM(PLD_MM_ARGUMENTS(Sparse, Dense), void* /*workspace*/) {
  if (b == nullptr || c == nullptr) return invalid_value;
  return product(h, {"cusparseSpMM", of_a, of_b, alpha, beta}, a, *b, *c, type);
}
PLD_STAND_IN Status cusparseSpMM_bufferSize(PLD_MM_ARGUMENTS(Sparse, Dense), size_t* bytes) {
  if (b == nullptr || c == nullptr) return invalid_value;
  const Status status =
      check_product(h, {"cusparseSpMM_bufferSize", of_a, of_b, alpha, beta}, a, *b, *c, type);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSpMM_preprocess(PLD_MM_ARGUMENTS(Sparse, Dense), void* /*workspace*/) {
  if (b == nullptr || c == nullptr) return invalid_value;
  return check_product(h, {"cusparseSpMM_preprocess", of_a, of_b, alpha, beta}, a, *b, *c, type);
}

namespace {

Status check_sampled(PLD_MM_ARGUMENTS(Dense, Sparse)) {
  if (h == nullptr) return not_initialized;
  if (a == nullptr || b == nullptr || c == nullptr || alpha == nullptr || beta == nullptr)
    return invalid_value;
  if (!is_operation(of_a) || !is_operation(of_b)) return invalid_value;
  if (a->type != type || b->type != type || c->type != type) return refuse("cusparseSDDMM of several types");
  if (is_batch(*a, *b, *c)) return refuse("cusparseSDDMM of a batch");
  const Shape left = shape_of(*a, of_a), right = shape_of(*b, of_b);
  const bool fits =
      left.columns == right.rows && Shape{c->rows, c->columns} == Shape{left.rows, right.columns};
  return fits ? success : invalid_value;
}

}  // namespace

PLD_STAND_IN Status cusparseSDDMM(PLD_MM_ARGUMENTS(Dense, Sparse), void* /*workspace*/) {
  if (const Status status = check_sampled(h, of_a, of_b, alpha, a, b, beta, c, type, 0); status != success)
    return status;
  const Product p{"cusparseSDDMM", of_a, of_b, alpha, beta};
  return with_type(p.name, type, [&](auto zero) { return sample<decltype(zero)>(h, p, *a, *b, *c); });
}
PLD_STAND_IN Status cusparseSDDMM_bufferSize(PLD_MM_ARGUMENTS(Dense, Sparse), size_t* bytes) {
  const Status status = check_sampled(h, of_a, of_b, alpha, a, b, beta, c, type, 0);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSDDMM_preprocess(PLD_MM_ARGUMENTS(Dense, Sparse), void* /*workspace*/) {
  return check_sampled(h, of_a, of_b, alpha, a, b, beta, c, type, 0);
}
