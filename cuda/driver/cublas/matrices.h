#pragma once
// Matrices in the device's memory, by columns, as the host computes with them.
#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cuda/driver/stand_in_numbers.h"
#include "isa/num/storage.h"

namespace palladion::cuda::cublas {

using cuda::Complex32, cuda::Complex64;

enum class Type : int {  // cudaDataType
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  c32 = 4,
  c64 = 5,
  i32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29
};
inline size_t size_of(Type t) {
  switch (t) {
    case Type::i8:
    case Type::e4m3:
    case Type::e5m2:
      return 1;
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::f32:
    case Type::i32:
      return 4;
    case Type::f64:
    case Type::c32:
      return 8;
    case Type::c64:
      return 16;
  }
  return 0;
}

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class To, class From>
Matrix<To> read_as(const void* view, int64_t rows, int64_t columns, int64_t leading) {
  using Stored = Eigen::Map<const Matrix<From>, 0, Eigen::OuterStride<>>;
  return Stored(static_cast<const From*>(view), rows, columns, Eigen::OuterStride<>(leading))
      .template cast<To>();
}
template <class To>
Matrix<To> read(Type type, const void* view, int64_t rows, int64_t columns, int64_t leading) {
  if constexpr (std::is_same_v<To, Complex32>) return read_as<To, Complex32>(view, rows, columns, leading);
  if constexpr (std::is_same_v<To, Complex64>) return read_as<To, Complex64>(view, rows, columns, leading);
  if constexpr (std::is_same_v<To, double>) return read_as<To, double>(view, rows, columns, leading);
  if constexpr (std::is_same_v<To, int32_t>)
    return type == Type::i8 ? read_as<To, int8_t>(view, rows, columns, leading)
                            : read_as<To, int32_t>(view, rows, columns, leading);
  if constexpr (std::is_same_v<To, float>) {
    if (type == Type::f16) return read_as<To, Eigen::half>(view, rows, columns, leading);
    if (type == Type::bf16) return read_as<To, Eigen::bfloat16>(view, rows, columns, leading);
    if (type == Type::i8) return read_as<To, int8_t>(view, rows, columns, leading);
    if (type == Type::e4m3) return read_as<To, isa::num::e4m3_t>(view, rows, columns, leading);
    if (type == Type::e5m2) return read_as<To, isa::num::e5m2_t>(view, rows, columns, leading);
    return read_as<To, float>(view, rows, columns, leading);
  }
}
template <class Stored, class T>
void write_as(const Matrix<T>& values, void* view, int64_t leading) {
  using Target = Eigen::Map<Matrix<Stored>, 0, Eigen::OuterStride<>>;
  Target(static_cast<Stored*>(view), values.rows(), values.cols(), Eigen::OuterStride<>(leading)) =
      values.template cast<Stored>();
}
template <class T>
void write(const Matrix<T>& values, Type type, void* view, int64_t leading) {
  if constexpr (std::is_same_v<T, float>) {
    if (type == Type::f16) return write_as<Eigen::half>(values, view, leading);
    if (type == Type::bf16) return write_as<Eigen::bfloat16>(values, view, leading);
    if (type == Type::e4m3) return write_as<isa::num::e4m3_t>(values, view, leading);
    if (type == Type::e5m2) return write_as<isa::num::e5m2_t>(values, view, leading);
  }
  write_as<T>(values, view, leading);
}

template <class T>
T scalar(Type type, const void* at) {
  if constexpr (std::is_same_v<T, float>)
    if (type == Type::f16) return static_cast<float>(*static_cast<const Eigen::half*>(at));
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// f(T(0)) with the type of scalars and sums; f32 for what is narrower.
template <class F>
auto with_scalar(Type type, F f) {
  switch (type) {
    case Type::f64:
      return f(double(0));
    case Type::c32:
      return f(Complex32(0));
    case Type::c64:
      return f(Complex64(0));
    case Type::i32:
      return f(int32_t(0));
    default:
      return f(float(0));
  }
}

inline bool is_zero(Type type, const void* at) {
  return with_scalar(type, [&]<class T>(T zero) { return scalar<T>(type, at) == zero; });
}

// What cublasComputeType_t sums in; none: nothing that is here. In f32 where it may be narrower (TF32, bf16).
inline std::optional<Type> summed(int compute, Type c) {
  constexpr int f16 = 64, f16_pedantic = 65, f64 = 70, f64_pedantic = 71, f64_emulated = 79, i32 = 72,
                i32_pedantic = 73;
  const bool complex = c == Type::c32 || c == Type::c64;
  if (compute == f16 || compute == f16_pedantic) return Type::f16;
  if (compute == f64 || compute == f64_pedantic || compute == f64_emulated)
    return complex ? Type::c64 : Type::f64;
  if (compute == i32 || compute == i32_pedantic) return c == Type::i32 ? Type::i32 : Type::f32;
  constexpr int first_f32 = 68, last_f32 = 78;
  if (compute < first_f32 || compute > last_f32) return std::nullopt;
  return complex ? Type::c32 : Type::f32;
}

}  // namespace palladion::cuda::cublas
