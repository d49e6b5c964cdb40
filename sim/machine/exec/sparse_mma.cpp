#include "sim/machine/exec/sparse_mma.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "sim/numerics/tensor_core_reference.h"

namespace palladion::sim {
namespace {

namespace tc = numerics::tc;

constexpr int mma_rows = 16, mma_columns = 8;  // of every mma.sp

bool is_nibble(tc::Element e) { return e == tc::Element::s4 || e == tc::Element::u4; }

int nibble_at(const uint8_t* row, int k, tc::Element type) {
  return tc::integer_value(type, static_cast<uint32_t>(row[k / 2] >> (k % 2 * 4)) & 15);
}

// No instruction of sm_90: ptxas 13.0 unpacks to bytes, runs two IMMA.SP without C and adds both and C, with
// .satfinite each sum clamped. The first cannot overflow, so that the exact sum is clamped once.
void nibbles(const tc::MmaSync& op, const uint8_t* a, const uint8_t* b, const int32_t* c, int32_t* d) {
  const int row_bytes = op.k / 2;
  for (int r = 0; r < mma_rows; ++r) {
    for (int column = 0; column < mma_columns; ++column) {
      int64_t sum = 0;
      for (int k = 0; k < op.k; ++k)
        sum += nibble_at(a + r * row_bytes, k, op.a) * nibble_at(b + column * row_bytes, k, op.b);
      d[r * mma_columns + column] = tc::add_integer_sum(sum, c[r * mma_columns + column], op.saturate);
    }
  }
}

// Exact. The only NaN of e4m3 has all bits of its magnitude set.
uint16_t as_half(tc::Element type, uint8_t x) {
  if (type == tc::Element::e5m2) return static_cast<uint16_t>(x << 8);
  const int sign = (x & 0x80) << 8;
  const uint32_t magnitude = x & 0x7FU;
  if (magnitude == 0x7F) return 0x7FFF;
  if (magnitude == 0) return static_cast<uint16_t>(sign);
  if (magnitude >= 8) return static_cast<uint16_t>(sign | static_cast<int>((magnitude << 7) + (8 << 10)));
  const int top = std::bit_width(magnitude) - 1;  // the value is magnitude * 2^-9
  return static_cast<uint16_t>(sign | (top + 6) << 10 | (static_cast<int>(magnitude << (10 - top)) & 0x3FF));
}

constexpr int half_k = 32;  // of one HMMA.SP of f16

// Every other four of k, as f16.
void take_fours(tc::Element type, const uint8_t* row, int first, uint16_t* to) {
  for (int i = 0; i < half_k; ++i) to[i] = as_half(type, row[(2 * (i / 4) + first) * 4 + i % 4]);
}

uint64_t take_fours(uint64_t selected, int first) {
  uint64_t taken = 0;
  for (int four = 0; four < half_k / 4; ++four)
    taken |= (selected >> (4 * (2 * four + first)) & 15) << (4 * four);
  return taken;
}

float add(float x, float y) {  // FADD.RN: NaNs are canonical
  const float sum = x + y;
  return std::isnan(sum) ? std::bit_cast<float>(0x7FFFFFFFU) : sum;
}

// No instruction of sm_90: ptxas 13.0 unpacks to f16 and runs two HMMA.SP, over the even fours of k and then
// over the odd ones, and adds C last with FADD (read from its code; the bits are those of an H200).
void fp8_by_halves(const tc::MmaSync& op, const uint8_t* a, const uint8_t* b, const float* c, float* d,
                   const uint64_t* selected) {
  const tc::MmaSync step{.a = tc::Element::f16,
                         .b = tc::Element::f16,
                         .d = tc::Result::f32,
                         .m = mma_rows,
                         .n = mma_columns,
                         .k = half_k,
                         .sparse = true};
  alignas(64) uint16_t ha[mma_rows * half_k], hb[mma_columns * half_k];
  alignas(64) float product[mma_rows * mma_columns] = {};
  for (const int first : {0, 1}) {
    uint64_t taken[mma_rows];
    for (int r = 0; r < mma_rows; ++r) {
      take_fours(op.a, a + r * op.k, first, ha + r * half_k);
      taken[r] = take_fours(selected[r], first);
    }
    for (int column = 0; column < mma_columns; ++column)
      take_fours(op.b, b + column * op.k, first, hb + column * half_k);
    tc::mma_sync(step, ha, hb, product, product, taken);
  }
  for (int i = 0; i < mma_rows * mma_columns; ++i) d[i] = add(product[i], c[i]);
}

}  // namespace

bool sparse_mma_is_modelled(const tc::MmaSync& op) {
  if (op.m != mma_rows || op.n != mma_columns) return false;
  if (is_nibble(op.a)) return is_nibble(op.b) && op.d == tc::Result::s32 && (op.k == 64 || op.k == 128);
  if (tc::is_fp8(op.a)) return tc::is_fp8(op.b) && op.d == tc::Result::f32 && op.k == 64;
  return tc::is_modelled(op);
}

void sparse_mma(const tc::MmaSync& op, const uint8_t* a, const uint8_t* b, const void* c, void* d,
                const uint64_t* selected) {
  if (is_nibble(op.a)) return nibbles(op, a, b, static_cast<const int32_t*>(c), static_cast<int32_t*>(d));
  if (tc::is_fp8(op.a))
    return fp8_by_halves(op, a, b, static_cast<const float*>(c), static_cast<float*>(d), selected);
  tc::mma_sync(op, a, b, c, d, selected);
}

}  // namespace palladion::sim
