#include "verify/arrays/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "isa/core/hash.h"
#include "isa/num/round.h"

namespace palladion {
namespace {

using pl::DType;
namespace num = isa::num;

struct U2 : num::IntFormat<2, std::uint8_t> {};

// Calls f with a value of the format (isa/num) of a dtype.
template <class F>
decltype(auto) with_format(DType dtype, F&& f) {
  switch (dtype) {
    case DType::bool_:
    case DType::u8:
      return f(num::U8{});
    case DType::u16:
      return f(num::U16{});
    case DType::u32:
      return f(num::U32{});
    case DType::u64:
      return f(num::U64{});
    case DType::s8:
      return f(num::S8{});
    case DType::s16:
      return f(num::S16{});
    case DType::s32:
      return f(num::S32{});
    case DType::s64:
      return f(num::S64{});
    case DType::f16:
      return f(num::F16{});
    case DType::bf16:
      return f(num::Bf16{});
    case DType::f32:
      return f(num::F32{});
    case DType::f64:
      return f(num::F64{});
    case DType::e4m3:
      return f(num::E4m3{});
    case DType::e5m2:
      return f(num::E5m2{});
    case DType::ue8m0:
      return f(num::Ue8m0{});
    case DType::e2m1:
      return f(num::E2m1{});
    case DType::u2:
      break;
  }
  return f(U2{});
}

// Bits of element i. Elements of fewer than 8 bits share a byte, the first in its low bits.
template <class Format>
num::bits_of<Format> element(const std::byte* bytes, size_t i) {
  num::bits_of<Format> bits{};
  if constexpr (Format::width < 8) {
    constexpr size_t per = 8 / Format::width;
    bits =
        std::to_integer<uint8_t>(bytes[i / per] >> (Format::width * (i % per))) & ((1u << Format::width) - 1);
  } else {
    std::memcpy(&bits, bytes + i * sizeof(bits), sizeof(bits));
  }
  return bits;
}

template <class Format>
void set_element(std::byte* bytes, size_t i, num::bits_of<Format> bits) {
  if constexpr (Format::width < 8) {
    constexpr size_t per = 8 / Format::width;
    const size_t low = Format::width * (i % per);
    std::byte& byte = bytes[i / per];
    byte = (byte & ~std::byte(((1u << Format::width) - 1) << low)) | std::byte(bits) << low;
  } else {
    std::memcpy(bytes + i * sizeof(bits), &bits, sizeof(bits));
  }
}

// The nearest power of two; of two equally near ones the larger.
num::bits_of<num::Ue8m0> nearest_power_of_two(double value) {
  if (std::isnan(value)) return num::Ue8m0::canonical_nan;
  int exponent = 0;
  const double fraction = std::frexp(std::max(value, 0.0), &exponent);  // [0.5, 1), or 0
  const int power = fraction == 0 ? -127 : exponent - (fraction < 0.75 ? 1 : 0);
  return static_cast<uint8_t>(std::clamp(power, -127, 127) + 127);
}

template <class Format>
double decode(num::bits_of<Format> bits) {
  if constexpr (Format::is_float) {
    return num::to_double<Format>(bits);
  } else {
    return static_cast<double>(static_cast<typename Format::value_type>(bits));
  }
}

template <class Format>
num::bits_of<Format> encode(double value) {
  if constexpr (std::is_same_v<Format, num::F64>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<Format, num::Ue8m0>) {
    return nearest_power_of_two(value);
  } else if constexpr (Format::is_float) {
    return num::encode_f64<Format, num::Rounding::rn>(value);
  } else {
    using Value = typename Format::value_type;
    constexpr Value least = std::numeric_limits<Value>::min(),
                    most = Format::width < 8 ? Value((1 << (Format::width % 8)) - 1)
                                             : std::numeric_limits<Value>::max();
    constexpr double low = static_cast<double>(least), high = static_cast<double>(most);
    if (!(value > low)) return static_cast<num::bits_of<Format>>(least);
    if (value >= high) return static_cast<num::bits_of<Format>>(most);
    return static_cast<num::bits_of<Format>>(static_cast<Value>(value));
  }
}

template <class T, class F>
void write_each(Array& array, F&& value_of) {
  with_format(array.dtype(), [&](auto format) {
    using Format = decltype(format);
    const auto size = size_t(array.size());
    for (size_t i = 0; i < size; ++i)
      set_element<Format>(array.bytes.data(), i, encode<Format>(static_cast<double>(value_of(i))));
  });
}

template <class T>
std::vector<T> read_each(const Array& array) {
  std::vector<T> out(size_t(array.size()));
  with_format(array.dtype(), [&](auto format) {
    using Format = decltype(format);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<T>(decode<Format>(element<Format>(array.bytes.data(), i)));
  });
  return out;
}

// SplitMix64's finaliser (Steele, Lea, Flood 2014) over a Weyl sequence: the n-th number of stream `seed`.
uint64_t random_bits(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (n + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double uniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The sum of twelve 16-bit uniform numbers has variance 1 - 2^-32 and every step of it is exact.
double normal(uint64_t seed, uint64_t i) {
  int64_t sum = 0;
  for (uint64_t word = 0; word < 3; ++word) {
    const uint64_t bits = random_bits(seed, 3 * i + word);
    sum +=
        static_cast<int64_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
  }
  return static_cast<double>(2 * sum - 12 * 65535) * 0x1p-17;
}

void fill_random_bits(Array& array, uint64_t seed) {
  if (array.dtype() == DType::bool_) {
    for (size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = std::byte(random_bits(seed, i) & 1);
    return;
  }
  const size_t step = pl::bits(array.dtype()) < 8 ? 1 : size_t(pl::bytes(array.dtype()));
  for (size_t i = 0; i < array.bytes.size(); i += step) {
    const uint64_t bits = random_bits(seed, i / step);
    std::memcpy(array.bytes.data() + i, &bits, step);
  }
}

// Patterns as integers whose order is the order of numbers.
template <class Format>
uint64_t ulps_between(num::bits_of<Format> a, num::bits_of<Format> b) {
  if constexpr (std::is_same_v<Format, num::Ue8m0>) {
    return a > b ? a - b : b - a;
  } else if constexpr (Format::is_float) {
    const auto place = [](num::bits_of<Format> x) {
      const auto magnitude = static_cast<int64_t>(x & Format::magnitude_mask);
      return (x & Format::sign_mask) != 0 ? -magnitude - 1 : magnitude;
    };
    const int64_t pa = place(a), pb = place(b);
    return pa > pb ? uint64_t(pa) - uint64_t(pb) : uint64_t(pb) - uint64_t(pa);
  } else {
    using Value = typename Format::value_type;
    const auto va = static_cast<Value>(a), vb = static_cast<Value>(b);
    return va > vb ? uint64_t(va) - uint64_t(vb) : uint64_t(vb) - uint64_t(va);
  }
}

std::vector<int64_t> index_of(const pl::Shape& shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

template <class Format>
void compare_element(num::bits_of<Format> a, num::bits_of<Format> b, Tolerance tolerance, Comparison& c,
                     bool& outside) {
  const double x = decode<Format>(a), y = decode<Format>(b);
  outside = true;
  if (std::isnan(x) != std::isnan(y)) {
    ++c.nan_against_number;
    return;
  }
  if (std::isnan(x)) {
    outside = tolerance.exact();
    return;
  }
  c.max_ulps = std::max(c.max_ulps, ulps_between<Format>(a, b));
  const double error = x == y ? 0 : std::abs(x - y);
  c.max_abs = std::max(c.max_abs, error);
  if (y != 0) c.max_rel = std::max(c.max_rel, error / std::abs(y));
  outside = tolerance.exact() || !(error <= tolerance.absolute + tolerance.relative * std::abs(y));
}

}  // namespace

uint64_t bits_at(const Array& array, int64_t index) {
  return with_format(array.dtype(), [&](auto format) -> uint64_t {
    return element<decltype(format)>(array.bytes.data(), size_t(index));
  });
}

double value_at(const Array& array, int64_t index) {
  return with_format(array.dtype(), [&](auto format) {
    using Format = decltype(format);
    return decode<Format>(static_cast<num::bits_of<Format>>(bits_at(array, index)));
  });
}

void set_value(Array& array, int64_t index, double value) {
  with_format(array.dtype(), [&](auto format) {
    using Format = decltype(format);
    set_element<Format>(array.bytes.data(), size_t(index), encode<Format>(value));
  });
}

std::vector<double> to_doubles(const Array& array) { return read_each<double>(array); }
std::vector<float> to_floats(const Array& array) { return read_each<float>(array); }

Array from_floats(pl::ShapeDtype type, std::span<const float> values) {
  Array array(std::move(type));
  write_each<float>(array, [&](size_t i) { return values[i]; });
  return array;
}

Array from_doubles(pl::ShapeDtype type, std::span<const double> values) {
  Array array(std::move(type));
  write_each<double>(array, [&](size_t i) { return values[i]; });
  return array;
}

Array filled(pl::ShapeDtype type, const Fill& fill) {
  Array array(std::move(type));
  switch (fill.kind) {
    case Fill::Kind::zeros:
      break;
    case Fill::Kind::constant:
      write_each<double>(array, [&](size_t) { return fill.value; });
      break;
    case Fill::Kind::iota:
      write_each<double>(array, [](size_t i) { return static_cast<double>(i); });
      break;
    case Fill::Kind::rand:
      if (!pl::is_float(array.dtype())) {
        fill_random_bits(array, fill.seed);
      } else {
        write_each<double>(array, [&](size_t i) { return uniform(random_bits(fill.seed, i)); });
      }
      break;
    case Fill::Kind::randn:
      write_each<double>(array, [&](size_t i) {
        const double x = normal(fill.seed, i);
        return pl::is_float(array.dtype()) ? x : std::nearbyint(x);
      });
      break;
    case Fill::Kind::randint:
      write_each<double>(array, [&](size_t i) {
        const auto range = static_cast<uint64_t>(fill.high - fill.low);
        return static_cast<double>(fill.low + static_cast<int64_t>(random_bits(fill.seed, i) % range));
      });
      break;
  }
  return array;
}

void poison(Array& array) { std::ranges::fill(array.bytes, std::byte{0xFF}); }

uint64_t hash(std::span<const std::byte> bytes) { return isa::Fnv1a().add(bytes).value(); }

Comparison compare(const Array& got, const Array& wanted, Tolerance tolerance) {
  Comparison c;
  c.elements = got.size();
  c.comparable = got.type == wanted.type;
  c.bits_equal = c.comparable && got.bytes == wanted.bytes;
  if (c.bits_equal || !c.comparable) return c;
  int64_t shown = -1, shown_outside = -1;
  with_format(got.dtype(), [&](auto format) {
    using Format = decltype(format);
    for (size_t i = 0; i < size_t(c.elements); ++i) {
      const auto a = element<Format>(got.bytes.data(), i), b = element<Format>(wanted.bytes.data(), i);
      if (a == b) continue;
      bool outside = false;
      compare_element<Format>(a, b, tolerance, c, outside);
      ++c.differing;
      c.outside += outside;
      if (shown < 0) shown = int64_t(i);
      if (shown_outside < 0 && outside) shown_outside = int64_t(i);
    }
  });
  const int64_t at = shown_outside >= 0 ? shown_outside : shown;
  c.first = Mismatch{index_of(got.type.shape, at), value_at(got, at), value_at(wanted, at), bits_at(got, at),
                     bits_at(wanted, at)};
  return c;
}

std::string describe_element(pl::DType dtype, double value, uint64_t bits) {
  return fmt::format("{} (0x{:0{}x})", value, bits, std::max(1, pl::bits(dtype) / 4));
}

}  // namespace palladion
