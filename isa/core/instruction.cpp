#include "isa/core/instruction.h"

#include <algorithm>

#include "isa/core/diagnostic.h"
#include "isa/core/op.h"

namespace palladion::isa {

Operand Operand::reg(RegId id, bool negated) { return {.kind = Kind::reg, .negated = negated, .id = id}; }
Operand Operand::imm(int64_t value) { return {.kind = Kind::imm, .bits = static_cast<uint64_t>(value)}; }
Operand Operand::f32(uint32_t bits) { return {.kind = Kind::imm, .imm_type = ImmType::f32, .bits = bits}; }
Operand Operand::f64(uint64_t bits) { return {.kind = Kind::imm, .imm_type = ImmType::f64, .bits = bits}; }
Operand Operand::symbol(SymbolId id, int64_t offset) {
  return {.kind = Kind::symbol, .id = id, .offset = offset};
}
Operand Operand::label(LabelId id) { return {.kind = Kind::label, .id = id}; }
Operand Operand::special_reg(Special s, int component) {
  return {.kind = Kind::special, .special = s, .component = static_cast<int8_t>(component)};
}
Operand Operand::address(Operand base, int64_t offset, std::vector<Operand> coordinates) {
  coordinates.insert(coordinates.begin(), std::move(base));
  return {.kind = Kind::address, .offset = offset, .elements = std::move(coordinates)};
}
Operand Operand::vector(std::vector<Operand> elements) {
  return {.kind = Kind::vector, .elements = std::move(elements)};
}
Operand Operand::sink() { return {.kind = Kind::sink}; }

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
