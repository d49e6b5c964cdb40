#include "sim/numerics/tensor_core_mma_sync.h"

#include <immintrin.h>
#include <cfenv>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "sim/numerics/tensor_core_reference.h"
#include "sim/numerics/tensor_core_transpose.h"

namespace palladion::sim::numerics::tc {
namespace {

constexpr int max_rows = 32;     // of A
constexpr int max_columns = 16;  // of B
constexpr int columns_of_f64 = 8;
constexpr int row_bytes = 128;  // room for one row of k

// Room for the rows of one operand in the form that decode_a and decode_b want.
struct Buffer {
  alignas(32) std::uint8_t row[max_rows][row_bytes];

  void clear(int rows) { std::memset(row, 0, static_cast<std::size_t>(rows) * row_bytes); }
  Rows rows() const { return {row, row_bytes}; }
};

int padded_k(Element type, int k) {
  const int whole = 256 / element_bits(type);
  return (k + whole - 1) / whole * whole;
}

// 4-bit rows become bytes.
void unpack_nibbles(Buffer& to, const void* from, int rows, int k, Element type) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < k; ++i) {
      const int nibble = bytes[(r * k + i) / 2] >> (i % 2 * 4);
      to.row[r][i] = static_cast<std::uint8_t>(integer_value(type, static_cast<std::uint32_t>(nibble)));
    }
  }
}

Element as_byte_type(Element type) {
  return type == Element::s4 ? Element::s8 : type == Element::u4 ? Element::u8 : type;
}

struct Operands {
  AOperand a;
  BOperand b;
};

// Rows of k elements, `stride` bytes apart, as they are, or copied and padded with zeros, which change no sum
// and no e_max.
Rows staged(Buffer& buffer, Element type, const std::uint8_t* from, int rows, int k, int stride) {
  const int bytes = k * element_bits(type) / 8;
  if (element_bits(type) != 4 && bytes % 32 == 0) return {from, stride};
  buffer.clear(rows);
  if (element_bits(type) == 4) {
    unpack_nibbles(buffer, from, rows, k, type);
  } else {
    for (int r = 0; r < rows; ++r)
      std::memcpy(buffer.row[r], from + r * stride, static_cast<std::size_t>(bytes));
  }
  return buffer.rows();
}

// For the transposed product: B by rows, A as columns.
void decode_turned(Operands& out, Element a_type, const Rows& a, Element b_type, const Rows& b,
                   const MmaSync& op, int k) {
  decode_a(out.a, b_type, op.n, padded_k(b_type, k), b);
  decode_b(out.b, a_type, op.m, padded_k(a_type, k), a);
}

template <class T>
void transpose_result(const T* from, int rows, int columns, T* to) {
  if (sizeof(T) == 4 && rows % 8 == 0 && columns % 8 == 0) {
    transpose<4>({from, columns * 4}, rows, columns * 4, reinterpret_cast<std::uint8_t*>(to), rows * 4);
    return;
  }
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) to[c * rows + r] = from[r * columns + c];
  }
}

// The transposed product: the 16 rows of A fill a vector better than the 8 columns of B.
template <class T>
void run_transposed(const MmaSync& op, const Operands& operands, void* d, SimdLevel level, bool zero_c) {
  alignas(64) T turned[max_rows * max_columns];
  if (!zero_c) transpose_result(static_cast<const T*>(d), op.m, op.n, turned);
  multiply(operands.a, operands.b, turned, op.m, {.zero_c = zero_c, .saturate = op.saturate, .level = level});
  transpose_result(turned, op.n, op.m, static_cast<T*>(d));
}

void run_turned(const MmaSync& op, const Operands& operands, void* d, SimdLevel level, bool zero_c) {
  switch (op.d) {
    case Result::f32:
      return run_transposed<float>(op, operands, d, level, zero_c);
    case Result::f16:
      return run_transposed<std::uint16_t>(op, operands, d, level, zero_c);
    default:
      return run_transposed<std::int32_t>(op, operands, d, level, zero_c);
  }
}

void run_straight(const MmaSync& op, const Operands& operands, void* d, SimdLevel level) {
  const MultiplyOptions options{.saturate = op.saturate, .level = level};
  switch (op.d) {
    case Result::f32:
      return multiply(operands.a, operands.b, static_cast<float*>(d), op.n, options);
    case Result::f16:
      return multiply(operands.a, operands.b, static_cast<std::uint16_t*>(d), op.n, options);
    default:
      return multiply(operands.a, operands.b, static_cast<std::int32_t*>(d), op.n, options);
  }
}

// Step `step` of K: a, b and d are those of the whole product.
void one_step(const MmaSync& op, int step, const void* a, const void* b, void* d,
              const std::uint64_t* selected, SimdLevel level) {
  Operands operands;
  Buffer a_buffer, b_buffer;
  const auto rows_of = [&](Buffer& buffer, Element type, const void* from, int rows) {
    const int bytes = op.k * element_bits(type) / 8;
    return staged(buffer, type, static_cast<const std::uint8_t*>(from) + step * bytes, rows, op.k,
                  bytes * op.steps);
  };
  const Rows a_rows = rows_of(a_buffer, op.a, a, op.m);
  const Rows b_rows = rows_of(b_buffer, op.b, b, op.n);
  const Element a_type = as_byte_type(op.a), b_type = as_byte_type(op.b);
  if (!op.sparse && op.n < op.m) {
    decode_turned(operands, a_type, a_rows, b_type, b_rows, op, op.k);
    return run_turned(op, operands, d, level, false);
  }
  decode_a(operands.a, a_type, op.m, padded_k(a_type, op.k), a_rows);
  decode_b(operands.b, b_type, op.n, padded_k(b_type, op.k), b_rows);
  if (op.sparse) select_sparse(operands.a, selected);
  run_straight(op, operands, d, level);
}

// F2FP.F16.E4M3/E5M2.UNPACK_B: exact.
std::uint16_t fp8_as_f16(Element type, std::uint8_t x) {
  if (type == Element::e5m2) return static_cast<std::uint16_t>(x << 8);
  const auto sign = static_cast<std::uint16_t>((x & 0x80) << 8);
  const int magnitude = x & 0x7F;
  if (magnitude == 0x7F) return 0x7FFF;
  const float value = magnitude < 8
                          ? std::ldexp(static_cast<float>(magnitude), -9)
                          : std::ldexp(static_cast<float>(8 | (magnitude & 7)), (magnitude >> 3) - 10);
  return static_cast<std::uint16_t>(sign | _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}

using Fp8Table = std::array<std::uint16_t, 256>;

const Fp8Table& fp8_table(Element type) {
  const auto make = [](Element t) {
    Fp8Table table;
    for (int i = 0; i < 256; ++i)
      table[static_cast<std::size_t>(i)] = fp8_as_f16(t, static_cast<std::uint8_t>(i));
    return table;
  };
  static const Fp8Table e4m3 = make(Element::e4m3);
  static const Fp8Table e5m2 = make(Element::e5m2);
  return type == Element::e4m3 ? e4m3 : e5m2;
}

// The elements with k % 4 in {first, first + 1}, as f16.
Rows half_of_fp8(Buffer& buffer, Element type, const void* from, int rows, int k, int first) {
  if (k % 32) buffer.clear(rows);
  const Fp8Table& table = fp8_table(type);
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < k / 2; ++i) {
      const std::uint16_t half = table[bytes[r * k + i / 2 * 4 + first + i % 2]];
      std::memcpy(buffer.row[r] + i * 2, &half, 2);
    }
  }
  return buffer.rows();
}

// FADD.RN: NaNs are canonical.
std::uint32_t add_f32(std::uint32_t x, std::uint32_t y) {
  const float sum = std::bit_cast<float>(x) + std::bit_cast<float>(y);
  return std::isnan(sum) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(sum);
}

// HADD2.RN, one half. f32 has more than twice the bits of f16 and two: rounding twice is rounding once.
std::uint16_t add_f16(std::uint16_t x, std::uint16_t y) {
  const float sum = _cvtsh_ss(x) + _cvtsh_ss(y);
  return std::isnan(sum) ? 0x7FFF : static_cast<std::uint16_t>(_cvtss_sh(sum, _MM_FROUND_TO_NEAREST_INT));
}

void fp8_by_halves(const MmaSync& op, const void* a, const void* b, void* d, SimdLevel level) {
  Operands operands;
  Buffer a_buffer, b_buffer;
  alignas(64) std::uint32_t product[max_rows * max_columns];
  for (const int first : {0, 2}) {
    decode_turned(operands, Element::f16, half_of_fp8(a_buffer, op.a, a, op.m, op.k, first), Element::f16,
                  half_of_fp8(b_buffer, op.b, b, op.n, op.k, first), op, op.k / 2);
    run_turned(op, operands, product, level, first == 0);
  }
  for (int i = 0; i < op.m * op.n; ++i) {
    if (op.d == Result::f16) {
      auto* out = static_cast<std::uint16_t*>(d);
      std::uint16_t p;
      std::memcpy(&p, reinterpret_cast<const std::uint8_t*>(product) + i * 2, 2);
      out[i] = add_f16(p, out[i]);
    } else {
      auto* out = static_cast<std::uint32_t*>(d);
      out[i] = add_f32(product[i], out[i]);
    }
  }
}

void bits(const MmaSync& op, const void* a, const void* b, std::int32_t* d) {
  const int words = op.k / 64;
  const auto word = [&](const void* p, int row, int w) {
    std::uint64_t x;
    std::memcpy(&x, static_cast<const std::uint8_t*>(p) + (row * words + w) * 8, 8);
    return x;
  };
  for (int m = 0; m < op.m; ++m) {
    for (int n = 0; n < op.n; ++n) {
      int count = 0;
      for (int w = 0; w < words; ++w) {
        const std::uint64_t x = word(a, m, w);
        const std::uint64_t y = word(b, n, w);
        count += std::popcount(op.bit_op == MmaSync::BitOp::and_popc ? x & y : x ^ y);
      }
      d[m * op.n + n] = add_integer_sum(count, d[m * op.n + n], false);
    }
  }
}

[[gnu::noinline]] void doubles(const MmaSync& op, const double* a, const double* b, double* d) {
  double by_k[16][columns_of_f64];
  for (int k = 0; k < op.k; ++k) {
    for (int n = 0; n < columns_of_f64; ++n) by_k[k][n] = b[n * op.k + k];
  }
  for (int m = 0; m < op.m; ++m) {
    double sum[columns_of_f64];
    std::memcpy(sum, d + m * columns_of_f64, sizeof sum);
    for (int k = 0; k < op.k; ++k) {
      for (int n = 0; n < columns_of_f64; ++n) sum[n] = std::fma(a[m * op.k + k], by_k[k][n], sum[n]);
    }
    std::memcpy(d + m * columns_of_f64, sum, sizeof sum);
  }
}

// a, b and d are the caller's memory, so the compiler keeps their loads and stores between the two calls.
void rounded_doubles(const MmaSync& op, const double* a, const double* b, double* d) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if (op.rounding == MmaSync::Rounding::nearest) return doubles(op, a, b, d);
  const int before = std::fegetround();
  std::fesetround(modes[static_cast<int>(op.rounding)]);
  doubles(op, a, b, d);
  std::fesetround(before);
}

bool one_of(int x, std::initializer_list<int> list) {
  for (const int y : list) {
    if (x == y) return true;
  }
  return false;
}

bool float_shape(const MmaSync& op) {
  if (op.m != 16 || op.n != 8) return false;
  const int dense = op.sparse ? op.k / 2 : op.k;
  switch (op.a) {
    case Element::f16:
      return op.b == op.a && one_of(dense, {8, 16}) && (op.d == Result::f16 || op.d == Result::f32);
    case Element::bf16:
      return op.b == op.a && one_of(dense, {8, 16}) && op.d == Result::f32;
    case Element::tf32:
      return op.b == op.a && one_of(dense, {4, 8}) && op.d == Result::f32;
    default:
      return is_fp8(op.a) && is_fp8(op.b) && !op.sparse && one_of(op.k, {16, 32}) &&
             (op.d == Result::f16 || op.d == Result::f32);
  }
}

bool integer_shape(const MmaSync& op) {
  if (op.d != Result::s32 || op.n != 8 || element_bits(op.a) != element_bits(op.b) || !is_integer(op.b))
    return false;
  const int bits_of_k = op.k * element_bits(op.a);  // 128 or 256; twice that in dense form of mma.sp
  if (op.sparse) return element_bits(op.a) == 8 && op.m == 16 && one_of(bits_of_k, {256, 512});
  if (op.a == Element::b1 && op.saturate) return false;
  return (op.m == 8 && bits_of_k == 128) || (op.m == 16 && one_of(bits_of_k, {128, 256}));
}

bool double_shape(const MmaSync& op) {
  if (op.b != Element::f64 || op.d != Result::f64 || op.sparse || op.n != 8) return false;
  return (op.m == 8 && op.k == 4) || (op.m == 16 && one_of(op.k, {4, 8, 16}));
}

// The mma.sync that a product of wmma is made of.
[[maybe_unused]] MmaSync tile_of(MmaSync op) {
  if (is_integer(op.a) || op.d != Result::f64) {
    op.m = std::min(op.m, 16);
    op.n = 8;
  }
  return op;
}

std::size_t result_bytes(Result d) { return d == Result::f16 ? 2 : d == Result::f64 ? 8 : 4; }

}  // namespace

bool is_modelled(const MmaSync& op) {
  if (op.a == Element::f64) return double_shape(op);
  return is_integer(op.a) ? integer_shape(op) : float_shape(op);
}

void mma_sync(const MmaSync& op, const void* a, const void* b, const void* c, void* d,
              const std::uint64_t* selected, SimdLevel level) {
  assert(is_modelled(tile_of(op)) && (selected != nullptr) == op.sparse);
  if (d != c) std::memmove(d, c, static_cast<std::size_t>(op.m * op.n) * result_bytes(op.d));
  if (op.a == Element::f64) {
    rounded_doubles(op, static_cast<const double*>(a), static_cast<const double*>(b),
                    static_cast<double*>(d));
  } else if (op.a == Element::b1) {
    bits(op, a, b, static_cast<std::int32_t*>(d));
  } else if (is_fp8(op.a)) {
    fp8_by_halves(op, a, b, d, level);
  } else {
    for (int step = 0; step < op.steps; ++step) one_step(op, step, a, b, d, selected, level);
  }
}

}  // namespace palladion::sim::numerics::tc
