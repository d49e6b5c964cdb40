#include "cuda/driver/cudnn/tensor.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace palladion::cuda::cudnn {
namespace {

// f(T()) for the type's elements.
template <class F>
auto with_type(ElementType type, F f) {
  switch (type) {
    case ElementType::f64:
      return f(double());
    case ElementType::f16:
      return f(Eigen::half());
    case ElementType::bf16:
      return f(Eigen::bfloat16());
    case ElementType::i8:
      return f(int8_t());
    case ElementType::u8:
      return f(uint8_t());
    case ElementType::i32:
      return f(int32_t());
    case ElementType::i64:
      return f(int64_t());
    case ElementType::f32:
      break;
  }
  return f(float());
}

// Integers are rounded to the nearest, and stay in their range.
template <class T>
T stored(double value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
    return value <= static_cast<double>(Limits::min()) ? Limits::min()
                                                       : static_cast<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace

bool is_known(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::f64:
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::i32:
    case ElementType::i64:
      return true;
  }
  return false;
}

std::vector<int64_t> offsets(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  std::vector<int64_t> out = {0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> more;
    more.reserve(out.size() * static_cast<size_t>(sizes[d]));
    for (const int64_t base : out)
      for (int64_t i = 0; i < sizes[d]; ++i) more.push_back(base + i * strides[d]);
    out = std::move(more);
  }
  return out;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> out(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) out[d - 1] = out[d] * sizes[d];
  return out;
}

int64_t Tensor::elements() const {
  int64_t out = 1;
  for (const int64_t n : sizes) out *= n;
  return out;
}

size_t Tensor::bytes() const {
  if (elements() == 0) return 0;
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return static_cast<size_t>(last + 1) * with_type(type, [](auto t) { return sizeof t; });
}

Piece Tensor::piece(const void* at, bool reads, bool writes) const {
  return {at, bytes(), 1, 0, reads, writes};
}

Values Tensor::read(const void* memory) const {
  Values out;
  out.reserve(static_cast<size_t>(elements()));
  with_type(type, [&](auto value) {
    for (const int64_t at : offsets(sizes, strides)) {
      std::memcpy(&value, static_cast<const char*>(memory) + at * int64_t{sizeof value}, sizeof value);
      out.push_back(static_cast<double>(value));
    }
  });
  return out;
}

void Tensor::write(const Values& values, void* memory) const {
  with_type(type, [&](auto t) {
    auto next = values.begin();
    for (const int64_t at : offsets(sizes, strides)) {
      const auto value = stored<decltype(t)>(*next++);
      std::memcpy(static_cast<char*>(memory) + at * int64_t{sizeof value}, &value, sizeof value);
    }
  });
}

void Tensor::round(Values& values) const {
  with_type(type, [&](auto t) {
    for (double& value : values) value = static_cast<double>(stored<decltype(t)>(value));
  });
}

}  // namespace palladion::cuda::cudnn
