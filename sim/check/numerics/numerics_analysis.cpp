#include "sim/check/numerics/numerics_analysis.h"

#include <algorithm>
#include <array>

namespace palladion::sim::check {
namespace {

using Value = NumericsAnalysis::Value;
using isa::Type;

// They move values, or change a sign.
bool is_harmless(isa::Operation operation) {
  using O = isa::Operation;
  constexpr std::array all = {O::move,     O::select,    O::select_by_sign, O::negate,
                              O::absolute, O::copy_sign, O::minimum,        O::maximum};
  return std::ranges::find(all, operation) != all.end();
}

bool judged(Type t) {
  constexpr std::array types = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2,
                                Type::f32, Type::f64,   Type::tf32};
  return std::ranges::find(types, t) != types.end();
}

// Fragments of mma: registers of 32 bits hold pairs of halves.
Type packed(Type t) { return t == Type::f16 ? Type::f16x2 : t == Type::bf16 ? Type::bf16x2 : t; }

void flatten(const DecodedOperand& o, Type type, std::vector<Value>& out) {
  if (o.kind == DecodedOperand::Kind::vector)
    for (const DecodedOperand& e : o.elements) flatten(e, type, out);
  else if (o.kind == DecodedOperand::Kind::lanes)
    out.push_back({o.slot, type, std::max<uint32_t>(o.width / 8U, 1)});
}

}  // namespace

NumericsAnalysis::NumericsAnalysis(const Program& program) : watched_of_(program.code.size()) {
  for (const MicroOp& op : program.code)
    if (op.effect != nullptr) add(op, program.footprint(op).values);
}

void NumericsAnalysis::add(const MicroOp& op, isa::Values values) {
  Watched w;
  const isa::Instruction& i = *op.instruction;
  if (const auto* mma = std::get_if<isa::Mma>(op.effect)) {
    if (!judged(mma->d) || mma->sparse) return;
    w.across_lanes = true;
    flatten(op.operands[mma->dst], packed(mma->d), w.destinations);
    flatten(op.operands[mma->ra], packed(mma->a), w.sources);
    flatten(op.operands[mma->rb], packed(mma->b), w.sources);
    flatten(op.operands[mma->rc], packed(mma->c), w.sources);
  } else {
    if (values != isa::Values::lane_wise || is_harmless(isa::operation(i))) return;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const isa::OperandDef& def = i.form->operands[k];
      if (def.kind != isa::OperandKind::value) continue;
      flatten(op.operands[k], isa::operand_type(*i.form, def, i.mods.data()),
              def.writes ? w.destinations : w.sources);
    }
  }
  if (w.destinations.empty() ||
      !std::ranges::all_of(w.destinations, [](const Value& v) { return judged(v.type); }))
    return;
  for (const Value& d : w.destinations)
    for (const Value& s : w.sources) w.overwrites |= !s.slot.constant && s.slot.offset == d.slot.offset;
  watched_.push_back(std::move(w));
  watched_of_[op.pc] = static_cast<uint32_t>(watched_.size());
}

}  // namespace palladion::sim::check
