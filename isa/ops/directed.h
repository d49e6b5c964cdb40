#pragma once
// f32 add, sub, mul and fma on the host's own unit, eight lanes at a time, where isa/num's portable forms
// take several operations: directed roundings (expf of CUDA's library has an fma.rm in every call) and .ftz.
// The host flushes exactly as an H200 does: what is below 2^-126 after rounding with an unbounded exponent.
#include "isa/num/arith.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::directed {

using num::ArithMods;
using num::Rounding;

constexpr unsigned control_bits(ArithMods m) {
  const unsigned rounding = m.rounding == Rounding::rz   ? _MM_ROUND_TOWARD_ZERO
                            : m.rounding == Rounding::rm ? _MM_ROUND_DOWN
                            : m.rounding == Rounding::rp ? _MM_ROUND_UP
                                                         : _MM_ROUND_NEAREST;
  constexpr unsigned denormals_are_zero = 0x40;
  return rounding | (m.ftz ? _MM_FLUSH_ZERO_ON | denormals_are_zero : 0u) | _MM_MASK_MASK;
}

// The compiler does not know that arithmetic depends on the control word: what passes through here is
// computed neither before nor after its place among the other volatile operations.
inline void pin(__m256& v) { asm volatile("" : "+x"(v)); }

// Op::host is the bare operation on eight lanes. `count` elements that are contiguous: 64 of packed pairs.
template <class Op, ArithMods M, int sources, int count = lanes::warp_size>
void f32_lanes(const LaneArgs& a) {
  using Lane = std::conditional_t<count == lanes::warp_size, uint32_t, uint64_t>;
  alignas(32) uint32_t t[count];
  const unsigned before = _mm_getcsr();
  _mm_setcsr(control_bits(M));
  for (int i = 0; i < count; i += 8) {
    __m256 x = _mm256_loadu_ps(lanes::source<float>(a, 0) + i);
    __m256 y = _mm256_loadu_ps(lanes::source<float>(a, 1) + i);
    __m256 z = _mm256_loadu_ps(lanes::source<float>(a, sources - 1) + i);
    pin(x), pin(y), pin(z);
    __m256 r = Op::host(x, y, z);
    pin(r);
    _mm256_store_si256(reinterpret_cast<__m256i*>(t + i), _mm256_castps_si256(r));
  }
  _mm_setcsr(before);
  // Adding -0 changes no number: it makes NaN canonical and saturates.
  constexpr ArithMods finish{Rounding::rn, false, M.sat};
  for (int i = 0; i < count; ++i) t[i] = num::add<num::F32, finish>(t[i], num::F32::sign_mask);
  Lane whole[lanes::warp_size];
  static_assert(sizeof whole == sizeof t);
  std::memcpy(whole, t, sizeof t);
  lanes::commit(a.d[0], whole, a.mask);
}

}  // namespace palladion::isa::directed
