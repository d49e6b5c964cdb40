// Descriptors of the generic functions: matrices and vectors in the device's memory.
#include <cstring>

#include "cuda/driver/cusparse/handle.h"

namespace palladion::cuda::cusparse {
namespace {

// Sizes whose bytes can be counted.
template <class... T>
bool fit(T... sizes) {
  constexpr int64_t most = int64_t{1} << 48;
  return ((sizes >= 0 && sizes <= most) && ...);
}
bool is_index(Index t) { return t == Index::u16 || t == Index::i32 || t == Index::i64; }
bool is_base(int base) { return base == 0 || base == 1; }

template <class D>
Status create(D** out, const char* name, const D& as, bool fits) {
  if (out == nullptr || !fits) return invalid_value;
  if (size_of(as.type) == 0) return refuse(name);
  const Status status = Descriptors::create(out);
  if (status == success) **out = as;
  return status;
}
Status create_sparse(Sparse** out, const char* name, const Sparse& m) {
  const bool fits = fit(m.rows, m.columns, m.count) && is_index(m.first_type) && is_index(m.second_type);
  return create(out, name, m, fits && is_base(m.base));
}

template <class T>
void give(T* to, T value) {
  if (to != nullptr) *to = value;
}

struct SparseAsked {
  int64_t *rows, *columns, *count;
  void **first, **second, **values;
};
Status get(const Sparse* m, Format format, const SparseAsked& to, Index* first_type, Index* second_type,
           int* base, Type* type) {
  if (m == nullptr || m->format != format) return invalid_value;
  give(to.rows, m->rows), give(to.columns, m->columns), give(to.count, m->count);
  give(to.first, m->first), give(to.second, m->second), give(to.values, m->values);
  give(first_type, m->first_type), give(second_type, m->second_type), give(base, m->base);
  return give(type, m->type), success;
}
Status set_pointers(Sparse* m, Format format, void* first, void* second, void* values) {
  if (m == nullptr || m->format != format) return invalid_value;
  m->first = first, m->second = second, m->values = values;
  return success;
}

Status set_batch(Sparse* m, int count, int64_t first_step, int64_t step) {
  if (count < 1 || !fit(first_step, step)) return invalid_value;
  m->batch = count, m->first_step = first_step, m->step = step;
  return success;
}

int* attribute_of(Sparse* m, int attribute, const void* data, size_t bytes) {
  if (m == nullptr || data == nullptr || bytes != sizeof(int)) return nullptr;
  return attribute == 0 ? &m->upper : attribute == 1 ? &m->unit : nullptr;
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

// Each in two forms: values that may be written, and such that are read alone.
#define PLD_TWICE(DEFINE) DEFINE(, void) DEFINE(Const, const void)
#define PLD_ARRAY(AT) const_cast<void*>(static_cast<const void*>(AT))

#define PLD_COO(CONST, V)                                                                                    \
  PLD_STAND_IN Status cusparseCreate##CONST##Coo(Sparse** out, int64_t rows, int64_t columns, int64_t count, \
                                                 V* row_indices, V* column_indices, V* values, Index index,  \
                                                 int base, Type type) {                                      \
    return create_sparse(out, "cusparseCreateCoo",                                                           \
                         {Format::coo, rows, columns, count, PLD_ARRAY(row_indices),                         \
                          PLD_ARRAY(column_indices), PLD_ARRAY(values), index, index, base, type});          \
  }                                                                                                          \
  PLD_STAND_IN Status cusparse##CONST##CooGet(const Sparse* m, int64_t* rows, int64_t* columns,              \
                                              int64_t* count, void** row_indices, void** column_indices,     \
                                              void** values, Index* index, int* base, Type* type) {          \
    return get(m, Format::coo, {rows, columns, count, row_indices, column_indices, values}, index, nullptr,  \
               base, type);                                                                                  \
  }
PLD_TWICE(PLD_COO)
#define PLD_COMPRESSED(CONST, V, NAME, FORMAT)                                                           \
  PLD_STAND_IN Status cusparseCreate##CONST##NAME(Sparse** out, int64_t rows, int64_t columns,           \
                                                  int64_t count, V* offsets, V* indices, V* values,      \
                                                  Index offset, Index index, int base, Type type) {      \
    return create_sparse(out, "cusparseCreate" #NAME,                                                    \
                         {Format::FORMAT, rows, columns, count, PLD_ARRAY(offsets), PLD_ARRAY(indices),  \
                          PLD_ARRAY(values), offset, index, base, type});                                \
  }                                                                                                      \
  PLD_STAND_IN Status cusparse##CONST##NAME##Get(                                                        \
      const Sparse* m, int64_t* rows, int64_t* columns, int64_t* count, void** offsets, void** indices,  \
      void** values, Index* offset, Index* index, int* base, Type* type) {                               \
    return get(m, Format::FORMAT, {rows, columns, count, offsets, indices, values}, offset, index, base, \
               type);                                                                                    \
  }
#define PLD_CSR(CONST, V) PLD_COMPRESSED(CONST, V, Csr, csr)
#define PLD_CSC(CONST, V) PLD_COMPRESSED(CONST, V, Csc, csc)
PLD_TWICE(PLD_CSR)
PLD_TWICE(PLD_CSC)
PLD_STAND_IN Status cusparseDestroySpMat(Sparse* m) { return Descriptors::destroy(m); }
PLD_STAND_IN Status cusparseCooSetPointers(Sparse* m, void* rows, void* columns, void* values) {
  return set_pointers(m, Format::coo, rows, columns, values);
}
PLD_STAND_IN Status cusparseCsrSetPointers(Sparse* m, void* offsets, void* columns, void* values) {
  return set_pointers(m, Format::csr, offsets, columns, values);
}
PLD_STAND_IN Status cusparseCscSetPointers(Sparse* m, void* offsets, void* rows, void* values) {
  return set_pointers(m, Format::csc, offsets, rows, values);
}
PLD_STAND_IN Status cusparseCooSetStridedBatch(Sparse* m, int count, int64_t step) {
  if (m == nullptr || m->format != Format::coo) return invalid_value;
  return set_batch(m, count, step, step);
}
PLD_STAND_IN Status cusparseCsrSetStridedBatch(Sparse* m, int count, int64_t of_offsets, int64_t step) {
  if (m == nullptr || m->format != Format::csr) return invalid_value;
  return set_batch(m, count, of_offsets, step);
}
PLD_STAND_IN Status cusparseSpMatGetStridedBatch(const Sparse* m, int* count) {
  return Descriptors::get(m, &Sparse::batch, count);
}
PLD_STAND_IN Status cusparseSpMatGetSize(const Sparse* m, int64_t* rows, int64_t* columns, int64_t* count) {
  if (m == nullptr) return invalid_value;
  give(rows, m->rows), give(columns, m->columns), give(count, m->count);
  return success;
}
PLD_STAND_IN Status cusparseSpMatGetFormat(const Sparse* m, Format* format) {
  return Descriptors::get(m, &Sparse::format, format);
}
PLD_STAND_IN Status cusparseSpMatGetIndexBase(const Sparse* m, int* base) {
  return Descriptors::get(m, &Sparse::base, base);
}
PLD_STAND_IN Status cusparseSpMatSetAttribute(Sparse* m, int attribute, const void* data, size_t bytes) {
  int* const at = attribute_of(m, attribute, data, bytes);
  return at == nullptr ? invalid_value : (std::memcpy(at, data, sizeof *at), success);
}
PLD_STAND_IN Status cusparseSpMatGetAttribute(Sparse* m, int attribute, void* data, size_t bytes) {
  const int* const at = attribute_of(m, attribute, data, bytes);
  return at == nullptr ? invalid_value : (std::memcpy(data, at, sizeof *at), success);
}

#define PLD_DENSE(CONST, V)                                                                                  \
  PLD_STAND_IN Status cusparseCreate##CONST##DnMat(Dense** out, int64_t rows, int64_t columns,               \
                                                   int64_t leading, V* values, Type type, Order order) {     \
    const int64_t width = order == Order::columns ? rows : columns;                                          \
    const bool is_order = order == Order::columns || order == Order::rows;                                   \
    return create(out, "cusparseCreateDnMat", Dense{rows, columns, leading, PLD_ARRAY(values), type, order}, \
                  is_order && fit(rows, columns, leading) && leading >= width);                              \
  }                                                                                                          \
  PLD_STAND_IN Status cusparse##CONST##DnMatGet(const Dense* m, int64_t* rows, int64_t* columns,             \
                                                int64_t* leading, void** values, Type* type, Order* order) { \
    if (m == nullptr) return invalid_value;                                                                  \
    give(rows, m->rows), give(columns, m->columns), give(leading, m->leading);                               \
    give(values, m->values), give(type, m->type), give(order, m->order);                                     \
    return success;                                                                                          \
  }
PLD_TWICE(PLD_DENSE)
PLD_STAND_IN Status cusparseDnMatSetStridedBatch(Dense* m, int count, int64_t step) {
  if (m == nullptr || count < 1 || !fit(step)) return invalid_value;
  m->batch = count, m->step = step;
  return success;
}
PLD_STAND_IN Status cusparseDnMatGetStridedBatch(const Dense* m, int* count, int64_t* step) {
  if (m == nullptr) return invalid_value;
  give(count, m->batch), give(step, m->step);
  return success;
}
PLD_STAND_IN Status cusparseDestroyDnMat(Dense* m) { return Descriptors::destroy(m); }

#define PLD_DENSE_VECTOR(CONST, V)                                                                          \
  PLD_STAND_IN Status cusparseCreate##CONST##DnVec(DenseVector** out, int64_t size, V* values, Type type) { \
    return create(out, "cusparseCreateDnVec", DenseVector{size, PLD_ARRAY(values), type}, fit(size));       \
  }                                                                                                         \
  PLD_STAND_IN Status cusparse##CONST##DnVecGet(const DenseVector* v, int64_t* size, void** values,         \
                                                Type* type) {                                               \
    if (v == nullptr) return invalid_value;                                                                 \
    give(size, v->size), give(values, v->values), give(type, v->type);                                      \
    return success;                                                                                         \
  }
PLD_TWICE(PLD_DENSE_VECTOR)
PLD_STAND_IN Status cusparseDestroyDnVec(DenseVector* v) { return Descriptors::destroy(v); }

#define PLD_SPARSE_VECTOR(CONST, V)                                                                     \
  PLD_STAND_IN Status cusparseCreate##CONST##SpVec(SparseVector** out, int64_t size, int64_t count,     \
                                                   V* indices, V* values, Index index, int base,        \
                                                   Type type) {                                         \
    return create(out, "cusparseCreateSpVec",                                                           \
                  SparseVector{size, count, PLD_ARRAY(indices), PLD_ARRAY(values), index, base, type},  \
                  fit(size, count) && is_index(index) && is_base(base));                                \
  }                                                                                                     \
  PLD_STAND_IN Status cusparse##CONST##SpVecGet(const SparseVector* v, int64_t* size, int64_t* count,   \
                                                void** indices, void** values, Index* index, int* base, \
                                                Type* type) {                                           \
    if (v == nullptr) return invalid_value;                                                             \
    give(size, v->size), give(count, v->count), give(indices, v->indices), give(values, v->values);     \
    give(index, v->index_type), give(base, v->base), give(type, v->type);                               \
    return success;                                                                                     \
  }
PLD_TWICE(PLD_SPARSE_VECTOR)
PLD_STAND_IN Status cusparseDestroySpVec(SparseVector* v) { return Descriptors::destroy(v); }
PLD_STAND_IN Status cusparseSpVecGetIndexBase(const SparseVector* v, int* base) {
  return Descriptors::get(v, &SparseVector::base, base);
}

#define PLD_VALUES(NAME, D)                                                       \
  PLD_STAND_IN Status cusparse##NAME##GetValues(const D* d, void** values) {      \
    return Descriptors::get(d, &D::values, values);                               \
  }                                                                               \
  PLD_STAND_IN Status cusparseConst##NAME##GetValues(const D* d, void** values) { \
    return Descriptors::get(d, &D::values, values);                               \
  }                                                                               \
  PLD_STAND_IN Status cusparse##NAME##SetValues(D* d, void* values) {             \
    return Descriptors::set(d, &D::values, values);                               \
  }
PLD_VALUES(SpMat, Sparse)
PLD_VALUES(DnMat, Dense)
PLD_VALUES(DnVec, DenseVector)
PLD_VALUES(SpVec, SparseVector)
