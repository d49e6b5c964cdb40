#pragma once
// What the functions of cuSPARSE have in common: handles, descriptors, calls.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda/driver/stand_in_handles.h"
#include "cuda/driver/stand_in_numbers.h"

extern "C" int cuStreamSynchronize(void* stream);

namespace palladion::cuda::cusparse {

using cuda::Complex32, cuda::Complex64;

using Status = int;  // cusparseStatus_t
constexpr Status success = 0, not_initialized = 1, alloc_failed = 2, invalid_value = 3, execution_failed = 6,
                 not_supported = 10;

using Descriptors = Handles<HandleStatus{success, invalid_value, alloc_failed, invalid_value}>;

struct Handle {
  void* stream = nullptr;
  int pointer_mode = 0;  // numbers are of the host; 1: of the device
};
struct Description {  // cusparseMatDescr_t
  int type = 0, fill = 0, diagonal = 0, base = 0;
};

constexpr int as_it_is = 0, conjugate_transposed = 2;  // cusparseOperation_t; 1: transposed
enum class Format : int { csr = 1, csc = 2, coo = 3 };
enum class Index : int { u16 = 1, i32 = 2, i64 = 3 };  // cusparseIndexType_t
enum class Order : int { columns = 1, rows = 2 };      // cusparseOrder_t
using Type = NumberType;

inline size_t size_of(Index t) { return t == Index::u16 ? 2 : t == Index::i32 ? 4 : 8; }
// 0: there is no such type of values here.
inline size_t size_of(Type t) {
  return t == Type::f32 ? 4 : t == Type::f64 || t == Type::c32 ? 8 : t == Type::c64 ? 16 : 0;
}

// An address of the device; it may be null.
inline void* ahead(void* at, int64_t elements, size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at) + static_cast<size_t>(elements) * bytes);
}

// A matrix in the device's memory. `first`: offsets of rows (csr) or of columns (csc), or rows (coo);
// `second`: the others' indices.
struct Sparse {
  Format format = Format::csr;
  int64_t rows = 0, columns = 0, count = 0;
  void *first = nullptr, *second = nullptr, *values = nullptr;
  Index first_type = Index::i32, second_type = Index::i32;
  int base = 0;
  Type type = Type::f32;
  int upper = 0, unit = 0;  // attributes: of a triangular matrix
  int batch = 1;
  int64_t first_step = 0, step = 0;  // elements of `first`, and of the others, to the next one of a batch

  int64_t lines() const { return format == Format::csc ? columns : rows; }
  int64_t firsts() const { return format == Format::coo ? count : lines() + 1; }
  Sparse of_batch(int64_t i) const {
    Sparse one = *this;
    one.first = ahead(first, i * first_step, size_of(first_type));
    one.second = ahead(second, i * step, size_of(second_type));
    one.values = ahead(values, i * step, size_of(type));
    return one;
  }
};
struct Dense {
  int64_t rows = 0, columns = 0, leading = 0;
  void* values = nullptr;
  Type type = Type::f32;
  Order order = Order::columns;
  int batch = 1;
  int64_t step = 0;  // elements to the next one of a batch

  int64_t place(int64_t row, int64_t column) const {
    return order == Order::columns ? row + column * leading : row * leading + column;
  }
  Piece piece(bool reads, bool writes) const {
    const int64_t lines = order == Order::columns ? columns : rows;
    const int64_t width = order == Order::columns ? rows : columns;
    const size_t bytes = size_of(type);
    return {values, width * bytes, static_cast<size_t>(lines), leading * bytes, reads, writes};
  }
  Dense of_batch(int64_t i) const {
    Dense one = *this;
    one.values = ahead(values, i * step, size_of(type));
    return one;
  }
};
struct DenseVector {
  int64_t size = 0;
  void* values = nullptr;
  Type type = Type::f32;

  Dense matrix() const { return {size, 1, std::max<int64_t>(1, size), values, type}; }
};
// Such are multiplied alone (SpMM).
template <class... M>
bool is_batch(const M&... matrices) {
  return ((matrices.batch != 1) || ...);
}
struct SparseVector {
  int64_t size = 0, count = 0;
  void *indices = nullptr, *values = nullptr;
  Index index_type = Index::i32;
  int base = 0;
  Type type = Type::f32;
};

// f(views), where each of the pieces lies, as an operation of the handle's stream.
template <class F>
Status perform(const Handle* h, const char* name, const Pieces& pieces, F f) {
  return compute_on_host(name, h->stream, pieces.all(), std::move(f)) == 0 ? success : execution_failed;
}
// The same, which is over when the call returns: the host gets a number.
template <class F>
Status perform_now(const Handle* h, const char* name, const Pieces& pieces, F f) {
  const Status status = perform(h, name, pieces, std::move(f));
  if (status != success) return status;
  return cuStreamSynchronize(h->stream) == 0 ? success : execution_failed;
}

inline Status refuse(const char* name) { return palladion_exec_unsupported(name), not_supported; }

template <class F>
Status with_type(const char* name, Type type, F f) {
  return cuda::with_type(name, type, not_supported, f);
}

// Programs take an address of no bytes for a question, so some are asked for.
constexpr size_t workspace = 16;
template <class T>
Status ask_workspace(T* bytes) {
  return bytes == nullptr ? invalid_value : (*bytes = workspace, success);
}

}  // namespace palladion::cuda::cusparse
