#include "sim/program/compile/decoder.h"

#include <algorithm>
#include <bit>

#include "sim/program/approx.h"

namespace palladion::sim {
namespace {

using isa::Operand;

bool reads_clock(const Operand& o) {
  if (o.is(Operand::Kind::special)) return is_clock(o.special);
  return std::ranges::any_of(o.elements, reads_clock);
}

int any_width(const isa::Instruction& i) { return i.form->slot("type") >= 0 ? isa::bits(i.type()) : 32; }

int operand_width(const isa::Instruction& i, size_t index) {
  const isa::OperandDef& def = i.form->operands[index];
  switch (def.kind) {
    case isa::OperandKind::predicate:
      return 1;
    case isa::OperandKind::value: {
      const isa::Type t = def.type_slot.empty() ? def.literal : i.type(def.type_slot);
      return std::max(8, isa::bits(t) * def.width_factor);
    }
    case isa::OperandKind::immediate:
      return 32;
    default:
      return any_width(i);
  }
}

// A float as the operand's width has it.
uint64_t immediate(const Operand& o, int width) {
  if (o.imm_type == Operand::ImmType::f64 && width == 32)
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
  if (o.imm_type == Operand::ImmType::f32 && width == 64)
    return std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits))));
  return o.bits;
}

DecodedOperand lanes(Slot slot, int width) {
  DecodedOperand d;
  d.kind = DecodedOperand::Kind::lanes;
  d.width = static_cast<uint8_t>(width);
  d.slot = slot;
  return d;
}

void flatten(const DecodedOperand& o, Slot* slots, uint8_t& count, uint8_t* negated) {
  if (o.kind == DecodedOperand::Kind::vector) {
    for (const DecodedOperand& e : o.elements) flatten(e, slots, count, negated);
    return;
  }
  PLD_CHECK(count < 8);
  if (negated != nullptr && o.negated) *negated |= static_cast<uint8_t>(1U << count);
  slots[count++] = o.slot;
}

}  // namespace

uint32_t Decoder::register_offset(isa::RegId id) const {
  return p_.register_offsets[p_.register_offsets_base[function_] + id];
}

uint32_t Decoder::target(isa::LabelId label) const {
  return function().labels[label].target + p_.function_start[function_];
}

DecodedOperand Decoder::decode_symbol(const Operand& o, int width) {
  const isa::Symbol& s = p_.module->symbols[o.id];
  if (s.kind == isa::Symbol::Kind::function) {
    DecodedOperand d;
    d.kind = DecodedOperand::Kind::function;
    d.id = s.function;
    d.slot = layout_.constant(function_addresses + s.function, width);
    return d;
  }
  const uint64_t value = p_.symbol_address[o.id] + static_cast<uint64_t>(o.offset);
  DecodedOperand d = lanes(layout_.address(s, value, width), width);
  d.offset = static_cast<int64_t>(value);
  return d;
}

DecodedOperand Decoder::decode_address(const isa::Instruction& i, const Operand& o) {
  const Operand& base = o.elements.front();
  const bool is_reg = base.is(Operand::Kind::reg);
  DecodedOperand d = decode_operand(i, base, is_reg ? isa::bits(function().registers[base.id].type) : 64);
  d.kind = DecodedOperand::Kind::address;
  d.offset = o.offset;
  // A named variable of shared memory needs the CTA's rank: it is an initial value of 64 bits; other
  // bases are plain lanes. Constants (parameters, globals) are lanes too.
  for (const Operand& c : o.coordinates()) d.elements.push_back(decode_operand(i, c, 32));
  if (o.sampled) d.elements.push_back(decode_operand(i, o.elements.back(), 64));
  return d;
}

DecodedOperand Decoder::decode_label(const isa::Instruction& i, const Operand& o) const {
  DecodedOperand d;
  d.kind = DecodedOperand::Kind::list;  // of targets, or the prototype of an indirect call
  if (isa::operation(i) != isa::Operation::branch) return d;
  d.kind = DecodedOperand::Kind::target;
  d.id = target(o.id);
  return d;
}

DecodedOperand Decoder::decode_operand(const isa::Instruction& i, const Operand& o, int width) {
  DecodedOperand d;
  switch (o.kind) {
    case Operand::Kind::none:
      break;
    case Operand::Kind::reg:
      d = lanes({register_offset(o.id), false}, isa::bits(function().registers[o.id].type));
      break;
    case Operand::Kind::imm: {
      const uint64_t bits = immediate(o, width);
      d = lanes(layout_.constant(bits, width), width);
      d.offset = static_cast<int64_t>(bits);
      break;
    }
    case Operand::Kind::special:
      d = lanes(layout_.initial(
                    {.special = o.special, .component = o.component, .width = static_cast<uint8_t>(width)}),
                width);
      break;
    case Operand::Kind::symbol:
      return decode_symbol(o, width);
    case Operand::Kind::label:
      d = decode_label(i, o);
      break;
    case Operand::Kind::address:
      return decode_address(i, o);
    case Operand::Kind::vector:
      d.kind = DecodedOperand::Kind::vector;
      for (const Operand& e : o.elements) d.elements.push_back(decode_operand(i, e, width));
      break;
    case Operand::Kind::sink:
      d = lanes({p_.sink_offset, false}, width);
      break;
  }
  d.negated = o.negated;
  return d;
}

void Decoder::decode_pure(MicroOp& op, const isa::Pure& pure, const isa::Instruction& i) {
  op.fn = pure.fn;
  if (pure.constant) op.s[op.sources++] = layout_.constant(*pure.constant, 64);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const isa::OperandDef& def = i.form->operands[k];
    if (op.operands[k].kind == DecodedOperand::Kind::none) continue;
    if (def.writes)
      flatten(op.operands[k], op.d, op.destinations, nullptr);
    else
      flatten(op.operands[k], op.s, op.sources, &op.negated_sources);
  }
  if (pure.writes_carry) op.d[op.destinations++] = {p_.carry_offset, false};
  if (pure.reads_carry) op.s[op.sources++] = {p_.carry_offset, false};
}

void Decoder::decode_targets(std::vector<DecodedOperand>& operands, const isa::BranchIndexed& e,
                             const isa::Instruction& i) {
  auto& targets = p_.branch_lists.emplace_back();
  for (const isa::LabelId l : function().branch_targets[i.operands[e.targets].id].labels)
    targets.push_back(Pc(target(l)));
  operands[e.targets].kind = DecodedOperand::Kind::list;
  operands[e.targets].id = static_cast<uint32_t>(p_.branch_lists.size() - 1);
}

MicroOp Decoder::decode_instruction(const isa::Instruction& i) {
  MicroOp op;
  op.instruction = &i;
  op.function = function_;
  op.pc = Pc(p_.code.size());
  if (i.guard.reg != isa::no_id) {
    op.guard = static_cast<int32_t>(register_offset(i.guard.reg));
    op.guard_negated = i.guard.negated;
  }
  auto& operands = p_.operands.emplace_back();
  for (size_t k = 0; k < i.operands.size(); ++k)
    operands.push_back(decode_operand(i, i.operands[k], operand_width(i, k)));
  op.operands = operands.data();
  op.dynamic_special = std::ranges::any_of(i.operands, reads_clock);
  const isa::Effect& effect = p_.effects.emplace_back(isa::effect(i, {*p_.module, function(), *p_.arch}));
  op.effect = &effect;
  if (const auto* pure = std::get_if<isa::Pure>(&effect)) decode_pure(op, *pure, i);
  if (const auto* approx = std::get_if<isa::Approx>(&effect))
    decode_pure(op, {.fn = approx_lanes(*approx)}, i);
  if (const auto* indexed = std::get_if<isa::BranchIndexed>(&effect)) decode_targets(operands, *indexed, i);
  return op;
}

void Decoder::decode(uint32_t index) {
  function_ = index;
  for (const isa::Instruction& i : function().body) {
    p_.code.push_back(decode_instruction(i));
    p_.footprints.push_back(isa::footprint(*p_.code.back().effect));
  }
  MicroOp end;
  end.function = index;
  end.pc = Pc(p_.code.size());
  p_.code.push_back(end);
  p_.footprints.push_back({.next = isa::Control::returns});
}

}  // namespace palladion::sim
