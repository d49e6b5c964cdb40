#include "kernels/frame/reference.h"

#include <Eigen/Dense>
#include <cmath>

namespace palladion::kernels {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Matrix<T> matrix_of(const Array& a) {
  const auto values = [&] {
    if constexpr (std::is_same_v<T, float>)
      return to_floats(a);
    else
      return to_doubles(a);
  }();
  return Eigen::Map<const Matrix<T>>(values.data(), a.type.shape[0], a.type.shape[1]);
}

template <class T>
Matrix<T> product(const Array& a, bool transpose_a, const Array& b, bool transpose_b, const Array* c) {
  const Matrix<T> ma = matrix_of<T>(a), mb = matrix_of<T>(b);
  Matrix<T> d;
  if (transpose_a && transpose_b)
    d = ma.transpose() * mb.transpose();
  else if (transpose_a)
    d = ma.transpose() * mb;
  else if (transpose_b)
    d = ma * mb.transpose();
  else
    d = ma * mb;
  if (c != nullptr) d += matrix_of<T>(*c);
  return d;
}

// Bits of the significand, the hidden one included.
int precision(pl::DType d) {
  switch (d) {
    case pl::DType::f16:
      return 11;
    case pl::DType::bf16:
      return 8;
    case pl::DType::e4m3:
      return 4;
    case pl::DType::e5m2:
      return 3;
    case pl::DType::e2m1:
      return 2;
    default:
      return 24;
  }
}

}  // namespace

Array matmul_reference(const Array& a, bool transpose_a, const Array& b, bool transpose_b, const Array* c,
                       pl::DType out) {
  if (pl::is_integer(a.type.dtype)) {
    const Matrix<double> d = product<double>(a, transpose_a, b, transpose_b, c);
    return from_doubles({out, {d.rows(), d.cols()}}, {d.data(), static_cast<size_t>(d.size())});
  }
  const Matrix<float> d = product<float>(a, transpose_a, b, transpose_b, c);
  return from_floats({out, {d.rows(), d.cols()}}, {d.data(), static_cast<size_t>(d.size())});
}

Tolerance matmul_tolerance(pl::DType in, pl::DType out, int64_t k) {
  // fp8 products are summed with 13 fraction bits on Hopper, the others with 23 and truncation.
  const int sum_bits = pl::bits(in) == 8 ? 13 : 22;
  const double magnitude = 4 * std::sqrt(static_cast<double>(k));
  const double steps = static_cast<double>(k) / 16;
  return {.relative = std::ldexp(1.0, 1 - precision(out)),
          .absolute = magnitude * steps * std::ldexp(1.0, -sum_bits)};
}

Tolerance attention_tolerance(pl::DType dtype) {
  const double unit = std::ldexp(1.0, 1 - precision(dtype));
  return {.relative = unit, .absolute = unit};
}

Tolerance row_tolerance(pl::DType out) {
  const double in_f32 = std::ldexp(32.0, -24);
  if (out == pl::DType::f32) return {.relative = in_f32};
  const double smallest = out == pl::DType::f16 ? std::ldexp(1.0, -24) : 0;  // subnormal steps
  return {.relative = std::ldexp(1.0, 1 - precision(out)), .absolute = smallest};
}

Tolerance row_tolerance(pl::DType out, double largest) {
  Tolerance t = row_tolerance(out);
  t.absolute += std::ldexp(32.0, -24) * largest;
  return t;
}

}  // namespace palladion::kernels
