#pragma once
// The 32-bit instruction descriptor of tcgen05.mma (PTX, "tcgen05 Instruction Descriptor").
#include <cstdint>
#include <string>
#include <vector>

#include "isa/core/effects.h"
#include "isa/core/types.h"

namespace palladion::isa {

struct Tcgen05Descriptor {
  int m = 128, n = 64;
  Type d = Type::f32, a = Type::f16, b = Type::f16;
  bool negate_a = false, negate_b = false;
  bool transpose_a = false, transpose_b = false;  // M or N runs along the rows of shared memory
  bool sparse = false, saturate = false;
  int sparsity_selector = 0;
  // Block-scaled kinds: the type of the scales, and which byte of a column holds the first one.
  bool scale_ue4m3 = false;  // else UE8M0
  int scale_a_id = 0, scale_b_id = 0;
  bool k96 = false;   // mxf4, mxf4nvf4 on sm_103a: K = 96
  int max_shift = 0;  // .ws: 0, 8, 16 or 32 columns of B
  friend bool operator==(const Tcgen05Descriptor&, const Tcgen05Descriptor&) = default;
};

uint32_t encode(const Tcgen05Descriptor& d, Tcgen05Kind kind);
// Fields that have no meaning for the kind become Type::none or 0: tcgen05_problems names them.
Tcgen05Descriptor decode_tcgen05_descriptor(uint32_t bits, Tcgen05Kind kind);

constexpr bool is_block_scaled(Tcgen05Kind kind) { return kind >= Tcgen05Kind::mxf8f6f4; }
constexpr bool is_mxf4(Tcgen05Kind kind) { return kind >= Tcgen05Kind::mxf4; }

// Elements of K of one instruction.
int tcgen05_k(Tcgen05Kind kind, bool sparse, bool k96 = false);
// Bits of an element of A or B in shared memory: f8f6f4 and mxf8f6f4 keep those of 6 and 4 bits in boxes of a
// byte each (16 elements in 16 bytes).
int tcgen05_element_bits(Tcgen05Kind kind);

// What the instruction does not permit, a sentence each; empty when it is right (PTX, tables of supported
// types and shapes of tcgen05.mma).
std::vector<std::string> tcgen05_problems(const Tcgen05Descriptor& d, const Tcgen05Mma& instruction);

std::string_view name(Tcgen05Kind kind);  // "f16"

}  // namespace palladion::isa
