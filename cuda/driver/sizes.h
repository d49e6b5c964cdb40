#pragma once
// Sizes and offsets that a program gives: sums and products of them stay at the largest number where they
// would overflow, and no memory is that large.
#include <cstddef>
#include <cstdint>

namespace palladion::cuda::driver {

struct Size {
  size_t n = 0;
  constexpr Size(size_t value) : n(value) {}
  friend constexpr Size operator+(Size a, Size b) { return a.n > SIZE_MAX - b.n ? SIZE_MAX : a.n + b.n; }
  friend constexpr Size operator*(Size a, Size b) {
    return b.n != 0 && a.n > SIZE_MAX / b.n ? SIZE_MAX : a.n * b.n;
  }
};

// Whether `count` from `at` on lie in `size`.
constexpr bool fits(size_t at, size_t count, size_t size) { return at <= size && count <= size - at; }

}  // namespace palladion::cuda::driver
