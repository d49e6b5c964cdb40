#include "sim/sass/register_uses.h"

namespace palladion::sim::sass {

RegisterUses::RegisterUses(const Program& program) : program_(program) {
  for (uint32_t pc = 0; pc < size(); ++pc) collect(pc);
}

isa::Operation RegisterUses::does(uint32_t pc) const {
  return at(pc).instruction == nullptr ? isa::Operation::other : isa::operation(*at(pc).instruction);
}

isa::Type RegisterUses::type(uint32_t pc) const {
  const isa::Instruction& i = *at(pc).instruction;
  return i.form->slot("type") < 0 ? isa::Type::none : i.type();
}

void RegisterUses::collect(uint32_t pc) {
  const MicroOp& op = at(pc);
  if (op.instruction == nullptr) return;
  if (op.guard >= 0) registers_[static_cast<uint32_t>(op.guard)].uses.push_back({pc});
  for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
    const isa::OperandDef& def = op.instruction->form->operands[k];
    collect(pc, op.operands[k], def.writes, def.reads || !def.writes);
  }
}

void RegisterUses::collect(uint32_t pc, const DecodedOperand& o, bool writes, bool reads) {
  using Kind = DecodedOperand::Kind;
  const bool address = o.kind == Kind::address;
  if ((o.kind == Kind::lanes || address) && !o.slot.constant) {
    Register& r = registers_[o.slot.offset];
    if (writes && !address) r.definitions.push_back(pc);
    if (reads || address) r.uses.push_back({pc, address});
    r.accumulates |= (reads || address) && is_wgmma({pc});
  }
  for (const DecodedOperand& e : o.elements) collect(pc, e, writes, reads);
}

const Register* RegisterUses::find(uint32_t slot) const {
  const auto found = registers_.find(slot);
  return found == registers_.end() ? nullptr : &found->second;
}

const Register* RegisterUses::result(uint32_t pc) const {
  const MicroOp& op = at(pc);
  if (op.guard >= 0 || op.instruction->operands.empty()) return nullptr;
  const DecodedOperand& d = op.operands[0];
  if (d.kind != DecodedOperand::Kind::lanes || d.slot.constant) return nullptr;
  const Register* const r = find(d.slot.offset);
  return r != nullptr && r->definitions.size() == 1 && !r->uses.empty() ? r : nullptr;
}

bool RegisterUses::once(uint32_t pc) const {
  const Register* r = result(pc);
  return r != nullptr && r->uses.size() == 1;
}

bool RegisterUses::constant(uint32_t pc, size_t operand) const {
  const DecodedOperand& o = at(pc).operands[operand];
  return o.kind == DecodedOperand::Kind::lanes && o.slot.constant;
}

uint32_t RegisterUses::definition(uint32_t pc, size_t operand) const {
  const DecodedOperand& o = at(pc).operands[operand];
  if (o.kind != DecodedOperand::Kind::lanes || o.slot.constant) return size();
  const Register* const r = find(o.slot.offset);
  return r == nullptr || r->definitions.size() != 1 ? size() : r->definitions[0];
}

uint32_t RegisterUses::target(uint32_t branch) const {
  const MicroOp& op = at(branch);
  for (size_t k = 0; op.instruction != nullptr && k < op.instruction->operands.size(); ++k)
    if (op.operands[k].kind == DecodedOperand::Kind::target) return op.operands[k].id;
  return size();
}

}  // namespace palladion::sim::sass
