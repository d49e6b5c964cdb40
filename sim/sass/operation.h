#pragma once
// What arithmetic does to its operands, as far as the lowering has to know.
#include <cstdint>

#include "sim/program/program.h"

namespace palladion::sim::sass {

enum class Operation : uint8_t {
  other,
  move,
  add,
  subtract,
  multiply,
  multiply_add,
  fused_multiply_add,
  divide,
  remainder,
  absolute,
  negate,
  minimum,
  maximum,
  compare,  // to predicates
  convert,
  convert_address,
  and_,
  or_,
  xor_,
  not_,
  logic3,
  shift_left,
  shift_right,
};

Operation operation(const isa::Instruction& instruction);
inline Operation operation(const MicroOp& op) { return operation(*op.instruction); }

}  // namespace palladion::sim::sass
