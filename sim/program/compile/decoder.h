#pragma once
// From an isa::Instruction to a MicroOp: operands become slots, the effect is looked up once.
#include "sim/program/compile/layout.h"
#include "sim/program/program.h"

namespace palladion::sim {

class Decoder {
 public:
  Decoder(Program& program, Layout& layout) : p_(program), layout_(layout) {}

  // Appends the code of a function, and an implicit return, so that running off the end is defined.
  void decode(uint32_t function);

 private:
  MicroOp decode_instruction(const isa::Instruction& i);
  void decode_targets(std::vector<DecodedOperand>& operands, const isa::BranchIndexed& e,
                      const isa::Instruction& i);
  DecodedOperand decode_operand(const isa::Instruction& i, const isa::Operand& o, int width);
  DecodedOperand decode_address(const isa::Instruction& i, const isa::Operand& o);
  DecodedOperand decode_symbol(const isa::Operand& o, int width);
  DecodedOperand decode_label(const isa::Instruction& i, const isa::Operand& o) const;
  void decode_pure(MicroOp& op, const isa::Pure& pure, const isa::Instruction& i);
  uint32_t register_offset(isa::RegId id) const;
  uint32_t target(isa::LabelId label) const;
  const isa::Function& function() const { return p_.module->functions[function_]; }

  Program& p_;
  Layout& layout_;
  uint32_t function_ = 0;  // that is decoded
};

}  // namespace palladion::sim
