#pragma once
// Which bits of an integer can differ from cluster to cluster, where it is made of a cluster's number. The
// number of a CTA is that of its cluster's first CTA and a rank: in clusters of two, bit 0 of %ctaid.x is the
// rank alone, and `%ctaid.x & 1` is the same in all clusters.
#include <cstdint>
#include <span>

#include "isa/core/instruction.h"

namespace palladion::sim::check {

// Of one operand, in one lane: the bits that vary, and what each bit may be.
struct Bits {
  uint64_t vary = 0, one = ~uint64_t{0}, zero = ~uint64_t{0};

  static constexpr Bits varying(uint64_t mask) { return {.vary = mask}; }
  static constexpr Bits constant(uint64_t value) { return {.vary = 0, .one = value, .zero = ~value}; }
  bool known() const { return one == ~zero; }
};

// Of a result; all of them where the instruction is none that keeps bits apart. `operands`: those of the
// instruction.
uint64_t varying_bits(const isa::Instruction& i, std::span<const Bits> operands);

}  // namespace palladion::sim::check
