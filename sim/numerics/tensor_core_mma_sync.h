// mma.sync of sm_90 on whole logical matrices; register fragments are the caller's business.
#pragma once

#include <cstdint>

#include "sim/numerics/tensor_core.h"

namespace palladion::sim::numerics::tc {

struct MmaSync {
  enum class BitOp : std::uint8_t { and_popc, xor_popc };
  enum class Rounding : std::uint8_t { nearest, zero, down, up };

  Element a = Element::f16;
  Element b = Element::f16;
  Result d = Result::f32;  // C has the same type
  int m = 16;
  int n = 8;
  int k = 16;     // mma.sp: the dense k
  int steps = 1;  // of wmma: products of k each, one after the other
  bool saturate = false;
  BitOp bit_op = BitOp::and_popc;
  Rounding rounding = Rounding::nearest;  // of each fma of f64
  bool sparse = false;
};

// Whether the arithmetic of this shape of mma.sync and these types on sm_90 is known and modelled. Not: f16
// m8n8k4 (Volta's), sparse fp8 and sparse 4-bit.
bool is_modelled(const MmaSync& op);

// D = A * B + C. a: m rows of k * steps packed elements; b: n rows (columns of B) of as many; c, d: [m][n]
// row-major, may be the same. Of floats and integers, m and n may also be those of wmma, up to 32 and 16:
// each tile of 16 (or 8) rows and 8 columns is modelled. For mma.sp, a is in dense form and selected[m] has
// bit k set where the metadata chose an element.
//
// On sm_90: f16, bf16 and tf32 are one fused step, as in wgmma. fp8 is not an instruction: ptxas 13.0 unpacks
// to f16, runs two HMMA, over the k with k % 4 in {0, 1} and then {2, 3}, and adds C last, with FADD or HADD2
// (same bits as captures from H100 and H200). Integers wrap, or clamp the exact sum once. f64 is a chain of
// fma, k ascending; the payload of its NaNs is not known to be the chip's. For f16 results, zeros count as
// 2^-21 as in wgmma; one source has 2^-22 here.
void mma_sync(const MmaSync& op, const void* a, const void* b, const void* c, void* d,
              const std::uint64_t* selected = nullptr, SimdLevel level = best_simd_level());

}  // namespace palladion::sim::numerics::tc
