#include <algorithm>

#include "isa/core/selector.h"
#include "isa/core/special.h"
#include "isa/text/print_internal.h"

namespace palladion::isa::detail {

std::string_view Printer::symbol_name(SymbolId id) const {
  if (id < symbols_.size() && !symbols_[id].empty()) return symbols_[id];
  return id < module_.symbols.size() ? std::string_view(module_.symbols[id].name) : "?";
}

std::string_view Printer::register_name(RegId id) const {
  if (id < registers_.size()) return registers_[id];
  return id < function_->registers.size() ? std::string_view(function_->registers[id].name) : "?";
}

std::string_view Printer::label_name(LabelId id) const {
  if (id < labels_.size()) return labels_[id];
  return id < function_->labels.size() ? std::string_view(function_->labels[id].name) : "?";
}

void Printer::offset(int64_t bytes) {
  if (bytes == 0) return;
  out_ += '+';  // also before a minus: ptxas reads [a+-4], not [a-4]
  append_signed(out_, bytes);
}

void Printer::immediate(const Operand& o) {
  switch (o.imm_type) {
    case Operand::ImmType::integer:
      return append_signed(out_, static_cast<int64_t>(o.bits));
    case Operand::ImmType::f32:
      out_ += "0f";
      return append_hex(out_, o.bits, 8);
    case Operand::ImmType::f64:
      out_ += "0d";
      return append_hex(out_, o.bits, 16);
  }
}

void Printer::list_name(const Operand& o, bool of_call) {
  if (of_call) {
    out_ +=
        o.id < function_->call_targets.size() ? std::string_view(function_->call_targets[o.id].name) : "?";
  } else {
    out_ += o.id < function_->branch_targets.size() ? std::string_view(function_->branch_targets[o.id].name)
                                                    : "?";
  }
}

void Printer::operand(const Operand& o, OperandKind role) {
  using K = Operand::Kind;
  if (o.negated) out_ += '!';
  switch (o.kind) {
    case K::none:
      return;
    case K::reg:
      out_ += register_name(o.id);
      if (const auto s = selector::read(o)) out_ += '.' + selector::text(*s);
      return;
    case K::imm:
      return immediate(o);
    case K::special:
      out_ += '%';
      if (o.special == Special::pm_64) {
        out_ += "pm";
        append_number(out_, static_cast<uint64_t>(std::max<int>(o.component, 0)));
        out_ += "_64";
        return;
      }
      out_ += name(o.special);
      if (!is_vector(o.special)) {
        if (o.component >= 0) append_number(out_, static_cast<uint64_t>(o.component));
      } else if (o.component >= 0) {
        out_ += '.';
        out_ += "xyzw"[o.component & 3];
      }
      return;
    case K::symbol:
      out_ += symbol_name(o.id);
      return offset(o.offset);
    case K::label:
      return role == OperandKind::label ? void(out_ += label_name(o.id)) : list_name(o, false);
    case K::sink:
      return void(out_ += '_');
    case K::address:
      out_ += '[';
      if (!o.elements.empty()) operand(o.elements[0], OperandKind::value);
      offset(o.offset);
      if (o.sampled) {
        out_ += ", ";
        operand(o.elements.back(), OperandKind::value);
      }
      if (o.elements.size() > 1) out_ += ", {";
      break;
    case K::vector:
      out_ += '{';
      break;
  }
  bool is_first = true;
  for (const Operand& e : o.is(K::address) ? o.coordinates() : std::span(o.elements)) {
    if (!is_first) out_ += ", ";
    operand(e, OperandKind::value);
    is_first = false;
  }
  if (o.is(K::vector) || o.elements.size() > 1) out_ += '}';
  if (o.is(K::address)) out_ += ']';
}

void Printer::mnemonic(const Instruction& i) {
  out_ += i.form->op;
  for (size_t s = 0; s < i.form->slots.size(); ++s) {
    if (i.mods[s] < 0) continue;
    out_ += '.';
    out_ += i.form->slots[s].words[static_cast<size_t>(i.mods[s])];
  }
}

void Printer::call_list(const Operand& list) {
  out_ += '(';
  for (size_t i = 0; i < list.elements.size(); ++i) {
    if (i != 0) out_ += ", ";
    operand(list.elements[i], OperandKind::value);
  }
  out_ += ')';
}

// call (returns), function, (arguments), targets
void Printer::call(const Instruction& i) {
  const Operand none;
  const auto part = [&](std::string_view name) -> const Operand& {
    const Operand* o = i.operand(name);
    return o == nullptr ? none : *o;
  };
  const Operand &returns = part("returns"), &arguments = part("arguments"), &targets = part("prototype");
  out_ += ' ';
  if (!returns.elements.empty()) {
    call_list(returns);
    out_ += ", ";
  }
  operand(part("function"), OperandKind::function);
  if (!arguments.elements.empty() || !targets.is(Operand::Kind::none)) {
    out_ += ", ";
    call_list(arguments);
  }
  if (!targets.is(Operand::Kind::none)) {
    out_ += ", ";
    list_name(targets, true);
  }
}

void Printer::instruction(const Instruction& i) {
  if (i.guard.reg != no_id) {
    out_ += i.guard.negated ? "@!" : "@";
    out_ += register_name(i.guard.reg);
    out_ += ' ';
  }
  mnemonic(i);
  if (operation(i) == Operation::call) {
    call(i);
  } else {
    bool first = true;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const Operand& o = i.operands[k];
      if (o.is(Operand::Kind::none)) continue;
      const OperandDef& d = i.form->operands[k];
      out_ += first ? " " : d.joined ? "|" : ", ";
      first = false;
      operand(o, d.kind);
    }
  }
  out_ += ';';
}

std::string Printer::instruction_alone(const Function& f, const Instruction& i) {
  function_ = &f;
  instruction(i);
  return std::move(out_);
}

}  // namespace palladion::isa::detail
