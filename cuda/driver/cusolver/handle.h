#pragma once
// What the functions of cuSOLVER have in common.
#include <Eigen/Core>
#include <cstdint>

#include "cuda/driver/stand_in_numbers.h"

namespace palladion::cuda::cusolver {

using Status = int;  // cusolverStatus_t
constexpr Status success = 0, not_initialized = 1, alloc_failed = 2, invalid_value = 3, execution_failed = 6,
                 not_supported = 9;

struct Handle {
  void* stream = nullptr;
  int deterministic = 1, math_mode = 0;
};

using cuda::Complex32, cuda::Complex64;
template <class T>
using Real = typename Eigen::NumTraits<T>::Real;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
// All is computed in Wide<T>, so that each algorithm is compiled for two types.

// A matrix in the device's memory, by columns; of a batch the first one.
template <class T>
struct Operand {
  const T* at = nullptr;
  int64_t rows = 0, columns = 0, leading = 0;
  bool fits() const { return rows >= 0 && columns >= 0 && leading >= std::max<int64_t>(1, rows); }
  Piece piece(bool reads, bool writes) const {
    return {at, rows * sizeof(T), static_cast<size_t>(columns), leading * sizeof(T), reads, writes};
  }
  Matrix<Wide<T>> read(const void* view) const {
    return Stored<const Matrix<T>>(static_cast<const T*>(view), rows, columns, Eigen::OuterStride<>(leading))
        .template cast<Wide<T>>();
  }
  void write(const Matrix<Wide<T>>& values, void* view) const {
    Stored<Matrix<T>>(static_cast<T*>(view), rows, columns, Eigen::OuterStride<>(leading)) =
        values.template cast<T>();
  }

 private:
  template <class M>
  using Stored = Eigen::Map<M, 0, Eigen::OuterStride<>>;
};
template <class T>
Operand<T> row_of(const T* at, int64_t count) {
  return {at, count, 1, std::max<int64_t>(1, count)};
}

// f(views), where each of the pieces lies, as an operation of the handle's stream.
template <class F>
Status run(const Handle* handle, const char* name, const std::vector<Piece>& pieces, F f) {
  if (handle == nullptr) return not_initialized;
  return compute_on_host(name, handle->stream, pieces, std::move(f)) == 0 ? success : execution_failed;
}

// The answer to a question for a workspace: nothing here needs one.
inline Status no_room(int* elements) {
  return elements == nullptr ? invalid_value : (*elements = 0, success);
}
inline Status no_room(size_t* of_device, size_t* of_host) {
  return of_device == nullptr || of_host == nullptr ? invalid_value : (*of_device = 0, *of_host = 0, success);
}

constexpr int lower = 0;                     // cublasFillMode_t; else upper
constexpr int as_it_is = 0, transposed = 1;  // cublasOperation_t; else conjugate transposed

using Type = NumberType;
template <class F>
Status with_type(const char* name, Type type, F f) {
  return cuda::with_type(name, type, not_supported, f);
}

}  // namespace palladion::cuda::cusolver
