#pragma once
// Which instructions ptxas may contract, by their words.
#include <variant>

#include "isa/ops/contracted.h"
#include "isa/ops/floats.h"
#include "sim/program/approx.h"
#include "sim/program/program.h"

namespace palladion::sim::contraction {

using isa::Instruction;
using isa::Operand;
using isa::Operation;
using isa::Type;

inline bool has(const Instruction& i, std::string_view slot) {
  return i.form->slot(slot) >= 0 && i.has(slot);
}
// Types whose products ptxas contracts.
inline bool has_fma(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::f16x2 || t == Type::bf16 ||
         t == Type::bf16x2 || t == Type::f32x2;
}
inline Type type_of(const Instruction& i) { return i.form->slot("type") >= 0 ? i.type() : Type::none; }

// ptxas contracts f32x2 whatever --fmad says, and where both name one rounding.
inline bool is_always_contracted(Type t) { return t == Type::f32x2; }
// mixed precision names a second type: its product is not one of ours
inline bool is_plain(const Instruction& i) {
  const Type t = type_of(i);
  return has_fma(t) && i.form->slot("atype") < 0 && (is_always_contracted(t) || !has(i, "rnd"));
}
inline isa::num::Rounding rounding_of(const Instruction& i) {
  return isa::floats::rounding_named(has(i, "rnd") ? i.mod("rnd") : "");
}
inline bool is_sum(const Instruction& i) {
  const Operation o = isa::operation(i);
  return (o == Operation::add || o == Operation::subtract) && is_plain(i);
}
inline bool is_multiplication(const Instruction& i) {
  return isa::operation(i) == Operation::multiply && is_plain(i) && !has(i, "sat");
}
// Approximate functions that end with a multiplication of f32.
inline bool ends_with_product(const isa::Effect& e) {
  const auto* approx = std::get_if<isa::Approx>(&e);
  return approx != nullptr && approx_contracted(*approx, {.ftz = approx->ftz}) != nullptr;
}
inline bool is_product(const Instruction& i, const isa::Effect& e) {
  return i.guard.reg == isa::no_id && (is_multiplication(i) || ends_with_product(e));
}
// Its result is its operand: ptxas looks through it.
inline bool is_copy(const Instruction& i) {
  return isa::operation(i) == Operation::move && i.guard.reg == isa::no_id && i.operands.size() == 2 &&
         i.operands[0].is(Operand::Kind::reg) && i.operands[1].is(Operand::Kind::reg);
}
// bf16x2 is negated by an fma of its own.
inline bool is_negation(const Instruction& i) {
  return isa::operation(i) == Operation::negate && i.guard.reg == isa::no_id && has_fma(type_of(i)) &&
         type_of(i) != Type::bf16x2 && i.operands[1].is(Operand::Kind::reg);
}

}  // namespace palladion::sim::contraction
