#include "sim/sass/uniform.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace palladion::sim::sass {
namespace {

using Kind = DecodedOperand::Kind;

bool differs(isa::Special s) {
  using S = isa::Special;
  return s == S::tid || s == S::laneid || (s >= S::lanemask_eq && s <= S::lanemask_gt);
}

// Results that are the same in all lanes when the operands are.
bool keeps(const isa::Effect& e) {
  const auto* load = std::get_if<isa::Load>(&e);
  return std::holds_alternative<isa::Pure>(e) || std::holds_alternative<isa::Approx>(e) ||
         std::holds_alternative<isa::ConvertAddress>(e) || std::holds_alternative<isa::MapShared>(e) ||
         std::holds_alternative<isa::GetCtaRank>(e) || std::holds_alternative<isa::IsSpace>(e) ||
         (load != nullptr && load->space != isa::Space::local);
}

// Results that are always the same in all lanes.
bool gathers(const isa::Effect& e) {
  return std::holds_alternative<isa::Vote>(e) || std::holds_alternative<isa::Redux>(e) ||
         std::holds_alternative<isa::ActiveMask>(e);
}

// A product with zero.
bool is_nothing(const MicroOp& op) {
  const auto zero = [](const DecodedOperand& o) {
    return o.kind == Kind::lanes && o.slot.constant && o.offset == 0;
  };
  return isa::operation(*op.instruction) == isa::Operation::multiply &&
         (zero(op.operands[1]) || zero(op.operands[2]));
}

template <class F>
void for_targets(const MicroOp& op, const F& f) {
  for (size_t k = 0; op.instruction != nullptr && k < op.instruction->operands.size(); ++k)
    if (op.operands[k].kind == Kind::target) f(op.operands[k].id);
}

bool branches(const MicroOp& op) { return std::holds_alternative<isa::Branch>(*op.effect); }

}  // namespace

std::vector<bool> branch_targets(const Program& program) {
  std::vector<bool> targets(program.code.size() + 1);
  for (const MicroOp& op : program.code)
    for_targets(op, [&](uint32_t t) { targets[std::min<size_t>(t, program.code.size())] = true; });
  return targets;
}

std::vector<bool> forward_targets(const Program& program) {
  std::vector<bool> targets(program.code.size() + 1);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc)
    for_targets(program.code[pc], [&](uint32_t t) {
      if (t > pc) targets[std::min<size_t>(t, program.code.size())] = true;
    });
  return targets;
}

bool Uniformity::varies(uint32_t reg) const {
  const auto last = here_.find(reg);
  return last != here_.end() ? last->second : varying_.contains(reg);
}

bool Uniformity::varies(const DecodedOperand& o) const {
  const bool is_register = (o.kind == Kind::lanes || o.kind == Kind::address) && !o.slot.constant;
  return (is_register && varies(o.slot.offset)) ||
         std::ranges::any_of(o.elements, [&](const DecodedOperand& e) { return varies(e); });
}

bool Uniformity::result_varies(uint32_t pc) const {
  const MicroOp& op = program_.code[pc];
  if (op.guard >= 0 && varies(static_cast<uint32_t>(op.guard))) return true;
  if (gathers(*op.effect)) return false;
  if (const auto* s = std::get_if<isa::Shuffle>(op.effect))
    return s->mode != isa::ShuffleMode::idx || !holds(pc, s->lane);
  if (!keeps(*op.effect)) return true;
  if (is_nothing(op)) return false;
  for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
    const isa::OperandDef& def = op.instruction->form->operands[k];
    const bool reads = def.reads || !def.writes || op.operands[k].kind == Kind::address;
    if (reads && !holds(pc, static_cast<int>(k))) return true;
  }
  return false;
}

// Under a predicate the value of before may stay.
void Uniformity::define(const MicroOp& op, bool varying) {
  for_results(op, [&](uint32_t r) {
    const bool now = varying || (op.guard >= 0 && varies(r));
    here_[r] = now;
    if (now) more_ |= varying_.insert(r).second;
  });
}

// Lanes that part at a branch come together with values of different definitions.
void Uniformity::part(uint32_t branch) {
  const MicroOp& op = program_.code[branch];
  if (op.guard < 0 || !varies(static_cast<uint32_t>(op.guard))) return;
  for_targets(op, [&](uint32_t target) {
    for (uint32_t pc = first_unmet(std::min(branch, target)); pc < std::max(branch, target);
         pc = first_unmet(pc)) {
      for_results(program_.code[pc], [&](uint32_t r) {
        if (definitions_[r] > 1) more_ |= varying_.insert(r).second;
      });
      unmet_[pc] = pc + 1;
    }
  });
}

// The first instruction from `pc` whose results do not vary yet because lanes part; skips shorten as they are
// used.
uint32_t Uniformity::first_unmet(uint32_t pc) {
  uint32_t found = pc;
  while (unmet_[found] != found) found = unmet_[found];
  while (unmet_[pc] != found) pc = std::exchange(unmet_[pc], found);
  return found;
}

void Uniformity::look_at(uint32_t pc) {
  const MicroOp& op = program_.code[pc];
  if (targets_[pc]) here_ = Known();
  if (op.instruction == nullptr) return;
  uniform_[pc] = 0;
  for (size_t k = 0; k < std::min<size_t>(32, op.instruction->operands.size()); ++k)
    uniform_[pc] |= static_cast<uint32_t>(!varies(op.operands[k])) << k;
  if (!branches(op)) return define(op, result_varies(pc));
  part(pc);
  here_ = Known();
}

Uniformity::Uniformity(const Program& program)
    : program_(program),
      uniform_(program.code.size()),
      targets_(branch_targets(program)),
      unmet_(program.code.size() + 1) {
  std::iota(unmet_.begin(), unmet_.end(), 0U);
  for (const auto* values : {&program.initial_values, &program.dynamic_values})
    for (const InitialValue& v : *values)
      if (v.kind == InitialValue::Kind::special && differs(v.special)) varying_.insert(v.offset);
  for (const MicroOp& op : program.code) for_results(op, [&](uint32_t r) { ++definitions_[r]; });
  do {
    more_ = false;
    here_ = Known();
    for (uint32_t pc = 0; pc < program.code.size(); ++pc) look_at(pc);
  } while (more_);
}

}  // namespace palladion::sim::sass
