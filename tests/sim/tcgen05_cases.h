#pragma once
// One tcgen05.mma with operands made from a seed, and what the manual's text makes of them: elements are
// placed in shared and tensor memory one by one, results are sums of small numbers, which are exact in any
// order.
#include <cmath>

#include "isa/formats/tcgen05_descriptor.h"
#include "tests/sim/tcgen05_runner.h"

namespace palladion::sim::testing {

using isa::Tcgen05Kind;

enum class Mode : uint8_t { none, b32, b64, b128, base32 };  // swizzle

struct ProductCase {
  Tcgen05Kind kind = Tcgen05Kind::f16;
  const char* a_type = "f16";
  const char* b_type = "f16";
  const char* d_type = "f32";
  int m = 128, n = 64, ctas = 1;
  Mode a_mode = Mode::none, b_mode = Mode::none;
  bool transpose_a = false, transpose_b = false;
  int k_offset = 0;  // of both, in steps of 32 bytes inside the swizzled line
  bool a_in_tensor = false, ws = false, sparse = false, accumulate = true;
  int scale_vectors = 0;  // of block-scaled kinds
  bool ue4m3 = false;
  int a_id = 0, b_id = 0, selector = 0;
  int lane = 0;         // where D (and A of tensor memory) begin: 0 or 16
  int input_scale = 0;  // D * 2^-s
  bool negate_a = false, negate_b = false;
  std::vector<uint32_t> disabled = {};
  uint64_t zero_mask = 0;
  uint64_t seed = 1;

  int rows() const { return m / ctas; }
  bool packed() const { return kind >= Tcgen05Kind::mxf4; }
  int element_bytes() const { return kind == Tcgen05Kind::f16 ? 2 : kind == Tcgen05Kind::tf32 ? 4 : 1; }
  int dense_k() const { return packed() ? 64 : 32 / element_bytes(); }
  int k() const { return sparse ? 2 * dense_k() : dense_k(); }
};

// --- numbers --------------------------------------------------------------------------------------------

struct FloatFormat {
  int exponent_bits, fraction_bits, bias;
};
inline FloatFormat format_of(const std::string& type) {
  if (type == "f16") return {5, 10, 15};
  if (type == "bf16") return {8, 7, 127};
  if (type == "tf32") return {8, 23, 127};
  if (type == "e4m3") return {4, 3, 7};
  if (type == "e5m2") return {5, 2, 15};
  if (type == "e2m3") return {2, 3, 1};
  if (type == "e3m2") return {3, 2, 3};
  return {2, 1, 1};  // e2m1
}
inline int bits_of(const std::string& type) {
  if (type == "s8" || type == "u8") return 8;
  const FloatFormat f = format_of(type);
  return 1 + f.exponent_bits + f.fraction_bits;
}
// A number that the type has, normal or zero.
inline uint32_t encode_number(const std::string& type, double value) {
  if (type == "s8" || type == "u8") return static_cast<uint32_t>(static_cast<int>(value)) & 0xFF;
  const FloatFormat f = format_of(type);
  const uint32_t sign = value < 0 ? 1U << (f.exponent_bits + f.fraction_bits) : 0;
  if (value == 0) return sign;
  int exponent = 0;
  const double significand = std::frexp(std::fabs(value), &exponent) * 2;
  return sign | static_cast<uint32_t>(exponent - 1 + f.bias) << f.fraction_bits |
         static_cast<uint32_t>((significand - 1) * std::ldexp(1.0, f.fraction_bits));
}
inline double number(Tcgen05Random& random, const std::string& type) {
  static constexpr double values[] = {0, 1, -1, 2, -2, 3, -3, 1.5};
  if (type == "s8") return random.below(256) - 128;
  if (type == "u8") return random.below(256);
  return values[random.below(8)];
}

// --- shared memory --------------------------------------------------------------------------------------

// A matrix of rows of M or N and elements of K in a CTA's image, from byte `start` on.
struct Placement {
  int start = 0, rows = 0, k = 0;
  int size = 2;   // bytes of an element
  int bits = 16;  // narrower than 8: 16 elements in 16 bytes; 4 when packed: two a byte
  bool packed = false, transpose = false;
  Mode mode = Mode::none;
  int k_bytes = 0;  // that the tile's line begins before the first element

  int width() const {
    return mode == Mode::none ? 16 : mode == Mode::b32 ? 32 : mode == Mode::b64 ? 64 : 128;
  }
  int k_line_bytes() const { return packed ? k / 2 : k * size; }
  int lbo() const {
    if (!transpose) return mode == Mode::none ? 128 : 0;
    if (mode == Mode::none) return 128 * (rows * size / 16);
    return mode == Mode::base32 ? 512 * ((k + 3) / 4) : 8 * width() * ((k + 7) / 8);
  }
  int sbo() const {
    if (!transpose) return mode == Mode::none ? 128 * (k_line_bytes() / 16) : 8 * width();
    if (mode == Mode::none) return 128;
    return mode == Mode::base32 ? 512 : 8 * width();
  }
  // Of the 16 bytes around an element, before the swizzle; `in`: bytes from there.
  int offset(int r, int i, int& in) const {
    const int along = packed ? i / 2 : i * size;  // bytes along K
    if (!transpose) {
      in = along % 16;
      const int chunk = along / 16;
      return mode == Mode::none ? r % 8 * 16 + r / 8 * sbo() + chunk * lbo()
                                : r % 8 * width() + r / 8 * sbo() + chunk * 16;
    }
    in = r * size % 16;
    const int per_line = width() / size, lines = mode == Mode::base32 ? 4 : 8;
    if (mode == Mode::none) return r * size / 16 * sbo() + i % 8 * 16 + i / 8 * lbo();
    return r % per_line * size / 16 * 16 + r / per_line * lbo() + i % lines * width() + i / lines * sbo();
  }
  int swizzled(int address) const {
    switch (mode) {
      case Mode::none:
        return address;
      case Mode::b32:
        return address ^ (address >> 7 & 1) << 4;
      case Mode::b64:
        return address ^ (address >> 7 & 3) << 4;
      case Mode::b128:
        return address ^ (address >> 7 & 7) << 4;
      case Mode::base32:
        return address ^ (address >> 7 & 3) << 5;
    }
    return address;
  }
  // K-major lines that begin at a later K.
  int address() const { return start + k_bytes; }
  uint64_t descriptor() const {
    static constexpr uint64_t modes[] = {0, 6, 4, 2, 1};
    return static_cast<uint64_t>(address() >> 4) | static_cast<uint64_t>(lbo() >> 4) << 16 |
           static_cast<uint64_t>(sbo() >> 4) << 32 | uint64_t{1} << 46 | modes[static_cast<int>(mode)] << 61;
  }
  void put(std::vector<uint8_t>& image, int r, int i, uint32_t element) const {
    int in = 0;
    const int chunk = swizzled(address() + offset(r, i, in));
    const bool narrow = bits < 8 && !packed;
    const int bit = narrow ? in * bits : 8 * in + (packed ? i % 2 * 4 : 0);
    for (int b = 0; b < (narrow ? bits : packed ? 4 : 8 * size); ++b)
      image.at(static_cast<size_t>(chunk) + static_cast<size_t>((bit + b) / 8)) |=
          static_cast<uint8_t>((element >> b & 1) << (bit + b) % 8);
  }
};

// --- tensor memory --------------------------------------------------------------------------------------

struct TensorCell {
  int cta, lane, column;
};
// Where D[m][n] is; the manual's layouts A to G.
inline TensorCell cell_of_d(const ProductCase& c, int m, int n) {
  const int r = m % c.rows(), cta = m / c.rows();
  if (c.rows() == 128) return {cta, r, n};  // A, D
  const int n2 = c.n / 2, n4 = c.n / 4;
  if (c.ws && c.m == 32) return {0, r + n / n4 * 32, n % n4};                     // G
  if (c.ws || (c.ctas == 2 && !c.sparse)) return {cta, r + n / n2 * 64, n % n2};  // B, E
  return {cta, r / 16 * 32 + r % 16 + c.lane, n};                                 // C, F
}

inline constexpr int d_column = 0, a_column = 272, scale_a_column = 300, scale_b_column = 320,
                     metadata_column = 340;

}  // namespace palladion::sim::testing
