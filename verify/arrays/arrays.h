#pragma once
// Arrays on the host: inputs and outputs of kernels, how to make them from a seed and how to compare two of
// them.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/core/types.h"

namespace palladion {

// Row-major.
struct Array {
  pl::ShapeDtype type;  // shape and element type
  // Row-major, little endian; elements shorter than a byte are packed, the first in the low bits.
  std::vector<std::byte> bytes;

  Array() = default;
  explicit Array(pl::ShapeDtype t) : type(std::move(t)), bytes(size_t(type.bytes())) {}

  // Number of elements.
  int64_t size() const { return pl::volume(type.shape); }
  // Element type.
  pl::DType dtype() const { return type.dtype; }
  // T must have the dtype's size. (Elements that share a byte: value_at, bits_at.)
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// Bits, and value: exact for every dtype except 64-bit integers beyond 2^53.
uint64_t bits_at(const Array& array, int64_t index);
double value_at(const Array& array, int64_t index);
// Rounded to nearest even (floats), to the nearest power of two (ue8m0) or toward zero and clamped
// (integers).
void set_value(Array& array, int64_t index, double value);

std::vector<double> to_doubles(const Array& array);  // All elements; exact but for integers beyond 2^53.
std::vector<float> to_floats(const Array& array);    // All elements, rounded to f32.
// Rounds each value to the type, to nearest even. Error: their number is not that of the shape.
Array from_floats(pl::ShapeDtype type, std::span<const float> values);
Array from_doubles(pl::ShapeDtype type, std::span<const double> values);  // The same of f64.

// ---- contents from a rule ------------------------------------------------------------------------
// Element i depends on the seed and on i alone, through integer arithmetic, exact sums and one rounding:
// the same array on every machine.
struct Fill {
  // How an array is filled.
  enum class Kind : uint8_t {
    zeros,
    constant,  // `value`
    iota,      // 0, 1, 2, ... row-major
    rand,      // floats: uniform in [0, 1); integers: uniform bits; bool: 0 or 1
    randn,     // mean 0, variance 1: twelve uniform numbers, summed; integers: rounded
    randint,   // uniform integers, low <= x < high
  };
  Kind kind = Kind::zeros;    // which of them
  uint64_t seed = 0;          // of normal and uniform numbers
  double value = 0;           // of a constant
  int64_t low = 0, high = 0;  // of uniform integers, both included
};
Array filled(pl::ShapeDtype type, const Fill& fill);  // An array with these contents, the same on every host.
// "zeros", "iota", "const(0.5)", "rand(7)", "randn(7)", "randint(7,-3,4)"; nothing for other words.
std::optional<Fill> fill_named(std::string_view text);
std::string name(const Fill& fill);
std::optional<pl::DType> dtype_named(std::string_view name);  // "f16"; i32 and s32 are the same
// Every byte 0xFF: NaN in every float format. The contents of an output before the kernel writes it.
void poison(Array& array);

// ---- comparison ----------------------------------------------------------------------------------
// FNV-1a, 64 bits.
uint64_t hash(std::span<const std::byte> bytes);
inline uint64_t hash(const Array& array) { return hash(std::span<const std::byte>(array.bytes)); }
// One element that differs.
struct Mismatch {
  std::vector<int64_t> index;              // of the element
  double got = 0, wanted = 0;              // both values
  uint64_t got_bits = 0, wanted_bits = 0;  // and their bits
};
// How two arrays differ, and whether a tolerance covers it.
struct Comparison {
  bool comparable = true;           // the same dtype and shape
  bool bits_equal = false;          // every bit
  int64_t elements = 0;             // compared
  int64_t differing = 0;            // elements with other bits
  int64_t outside = 0;              // of those, the ones that the tolerance does not cover
  uint64_t max_ulps = 0;            // steps between neighbours of the format; -0 and +0 are one step apart
  double max_abs = 0, max_rel = 0;  // largest difference; relative to the wanted value
  int64_t nan_against_number = 0;   // in one array only; counted in `outside`, in no maximum
  std::optional<Mismatch> first;    // outside the tolerance if any is, else the first that differs
  // Within the tolerance.
  bool ok() const { return comparable && outside == 0; }
};

// |got - wanted| <= absolute + relative * |wanted| passes; with both zero, only equal bits do.
struct Tolerance {
  double relative = 0, absolute = 0;  // an element may differ by absolute + relative |wanted|
  // Bits must be equal.
  bool exact() const { return relative == 0 && absolute == 0; }
};
// Element by element. NaNs equal each other.
Comparison compare(const Array& got, const Array& wanted, Tolerance tolerance = {});

// "0.4375 (0x3700)"
std::string describe_element(pl::DType dtype, double value, uint64_t bits);

}  // namespace palladion
