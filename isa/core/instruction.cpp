#include "isa/core/instruction.h"

#include <algorithm>

#include "isa/core/diagnostic.h"
#include "isa/core/op.h"

namespace palladion::isa {

Operand Operand::reg(RegId id, bool negated) {
  Operand o;
  o.kind = Kind::reg;
  o.id = id;
  o.negated = negated;
  return o;
}

Operand Operand::imm(int64_t value) {
  Operand o;
  o.kind = Kind::imm;
  o.bits = static_cast<uint64_t>(value);
  return o;
}

Operand Operand::f32(uint32_t bits) {
  Operand o;
  o.kind = Kind::imm;
  o.imm_type = ImmType::f32;
  o.bits = bits;
  return o;
}

Operand Operand::f64(uint64_t bits) {
  Operand o;
  o.kind = Kind::imm;
  o.imm_type = ImmType::f64;
  o.bits = bits;
  return o;
}

Operand Operand::symbol(SymbolId id, int64_t offset) {
  Operand o;
  o.kind = Kind::symbol;
  o.id = id;
  o.offset = offset;
  return o;
}

Operand Operand::label(LabelId id) {
  Operand o;
  o.kind = Kind::label;
  o.id = id;
  return o;
}

Operand Operand::special_reg(Special s, int component) {
  Operand o;
  o.kind = Kind::special;
  o.special = s;
  o.component = static_cast<int8_t>(component);
  return o;
}

Operand Operand::address(Operand base, int64_t offset, std::vector<Operand> coordinates) {
  Operand o;
  o.kind = Kind::address;
  o.offset = offset;
  o.elements.push_back(std::move(base));
  for (auto& c : coordinates) o.elements.push_back(std::move(c));
  return o;
}

Operand Operand::vector(std::vector<Operand> elements) {
  Operand o;
  o.kind = Kind::vector;
  o.elements = std::move(elements);
  return o;
}

Operand Operand::sink() {
  Operand o;
  o.kind = Kind::sink;
  return o;
}

std::string_view Instruction::mod(std::string_view slot) const {
  const int i = form->slot(slot);
  if (i < 0) {
    PLD_CHECK(std::ranges::any_of(op->forms, [&](const Form& f) { return f.slot(slot) >= 0; }),
              std::string(slot) + " in " + std::string(form->text));
    return {};
  }
  if (mods[i] < 0) return {};
  return form->slots[i].words[mods[i]];
}

Type Instruction::type(std::string_view slot) const {
  const std::string_view word = mod(slot);
  if (word.empty()) return Type::none;
  return type_named(word).value_or(Type::none);
}

int Instruction::operand_index(std::string_view name) const {
  const int i = form->operand(name);
  if (i < 0) {
    PLD_CHECK(std::ranges::any_of(op->forms, [&](const Form& f) { return f.operand(name) >= 0; }),
              std::string(name) + " in " + std::string(form->text));
    return -1;
  }
  return i < static_cast<int>(operands.size()) && !operands[i].is(Operand::Kind::none) ? i : -1;
}

const Operand* Instruction::operand(std::string_view name) const {
  const int i = operand_index(name);
  return i < 0 ? nullptr : &operands[i];
}

}  // namespace palladion::isa
