#include "isa/text/parse_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace palladion::isa::detail {
namespace {

// A constant of the other width is that number in the operand's width.
void settle_float(Operand& o, Type type) {
  using I = Operand::ImmType;
  if (type == Type::f32 && o.imm_type == I::f64) {
    o = Operand::f32(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
  } else if (type == Type::f64 && o.imm_type == I::f32) {
    o = Operand::f64(
        std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits)))));
  }
}

}  // namespace

// --- names to symbols ----------------------------------------------------------------------------

bool Instructions::resolve_name(Operand& o, OperandKind role) {
  const Token& t = operands_.name_of(o);
  const bool joined = o.joined;
  if (role == OperandKind::label) {
    o = Operand::label(names_.reference_label(t));
    o.joined = joined;
    return true;
  }
  const bool may_be_list = role == OperandKind::list || role == OperandKind::any || role == OperandKind::pack;
  if (const auto list = may_be_list ? names_.find_list(t.text) : std::nullopt) {
    o = Operand::label(*list);
    return true;
  }
  const SymbolId id = names_.find_variable(t.text);
  const bool is_function = id != no_id && module_.symbols[id].kind == Symbol::Kind::function;
  if (id == no_id || (role == OperandKind::function && !is_function)) {
    const std::string_view what = role == OperandKind::function ? "a declared function" : "declared";
    in_.error(t, ParseCode::undeclared, fmt::format("`{}` is not {}", t.text.substr(0, 60), what),
              names_.nearest_name(t.text));
    return false;
  }
  o.id = id;
  o.bits = 0;
  return true;
}

bool Instructions::resolve_elements(Operand& o) {
  for (Operand& e : o.elements)
    if (operands_.is_name(e) && !resolve_name(e, OperandKind::value)) return false;
  return true;
}

bool Instructions::resolve(Instruction& i) {
  for (size_t d = 0; d < i.operands.size(); ++d) {
    Operand& o = i.operands[d];
    const OperandDef& def = i.form->operands[d];
    if (is_scalar_in_braces(def, operand_count(*i.form, def, i.mods.data()), o))
      o = Operand(std::move(o.elements.front()));
    if (o.is(Operand::Kind::reg)) continue;
    if (o.is(Operand::Kind::imm) && o.imm_type != Operand::ImmType::integer) {
      settle_float(o, operand_type(*i.form, def, i.mods.data()));
    } else if (operands_.is_name(o)) {
      if (!resolve_name(o, def.kind)) return false;
    } else if (!o.elements.empty() && !resolve_elements(o)) {
      return false;
    }
  }
  return true;
}

// --- the instruction -----------------------------------------------------------------------------

bool Instructions::guard(Guard& g) {
  if (!in_.accept('@')) return true;
  g.negated = in_.accept('!');
  const auto word = in_.expect_word("a predicate register");
  if (!word) return false;
  g.reg = names_.find_register(word->text);
  if (g.reg == no_id) {
    in_.error(*word, ParseCode::undeclared, fmt::format("register `{}` is not declared", word->text),
              names_.nearest_name(word->text));
    return false;
  }
  if (names_.function().registers[g.reg].type != Type::pred) {
    in_.error(*word, ParseCode::operands, fmt::format("`{}` is no predicate", word->text),
              "a guard is a register declared with `.reg .pred`");
    return false;
  }
  return true;
}

// The form's operands: returns, function, arguments, and targets if written.
bool Instructions::fill_call(Instruction& i, const Candidates& c, Operands::CallText& call) {
  i.form = c.forms.front().form;
  i.mods = c.forms.front().mods;
  for (Operand* list : {&call.returns, &call.arguments})
    if (list->is(Operand::Kind::none)) *list = Operand::vector({});
  i.operands = {std::move(call.returns), std::move(call.function), std::move(call.arguments)};
  if (!call.targets.is(Operand::Kind::none)) i.operands.push_back(std::move(call.targets));
  for (size_t k = 0; k < i.operands.size(); ++k) {
    Operand& o = i.operands[k];
    if (operands_.is_name(o) ? !resolve_name(o, i.form->operands[k].kind) : !resolve_elements(o))
      return false;
  }
  return true;
}

// Modifiers may be written apart from the word before them: `cp.async.bulk .L2::cache_hint`.
void Instructions::join_modifiers(Token& mnemonic) {
  const auto goes_on = [&] {
    return in_.token().is(Token::Kind::directive) && in_.token().line == mnemonic.line;
  };
  if (!goes_on()) return;
  std::string& text = joined_.emplace_back(mnemonic.text);
  for (; goes_on(); in_.next()) text += in_.token().text;
  mnemonic.text = text;
}

void Instructions::instruction() {
  Instruction i;
  operands_.begin_instruction();
  if (!guard(i.guard)) return in_.skip_statement();
  if (!in_.token().is(Token::Kind::word)) {
    in_.error_expected("an instruction");
    return in_.skip_statement();
  }
  if (i.guard.reg != no_id) in_.extend_mnemonic();
  Token mnemonic = in_.token();
  in_.next();
  join_modifiers(mnemonic);
  const Candidates& c = forms_.candidates(mnemonic.text);
  if (c.forms.empty()) {
    forms_.no_candidate(mnemonic, c);
    return in_.skip_statement();
  }
  i.op = c.op;
  i.origin = {mnemonic.line, lines_.place_of(mnemonic)};
  const bool is_call = c.forms.front().form->def->operation == Operation::call;
  const auto fits_form = is_call ? call(i, c) : others(i, mnemonic, c);
  if (!fits_form) return in_.skip_statement();
  if (!in_.expect(';') && in_.token().line == mnemonic.line) in_.skip_statement();
  if (*fits_form) names_.function().body.push_back(std::move(i));
}

// The operands of a call; nothing when they cannot be read.
std::optional<bool> Instructions::call(Instruction& i, const Candidates& c) {
  Operands::CallText text;
  if (!operands_.call(text)) return std::nullopt;
  return fill_call(i, c, text);
}

// Those of any other instruction.
std::optional<bool> Instructions::others(Instruction& i, const Token& mnemonic, const Candidates& c) {
  std::vector<Operand> written;
  const bool takes_operands =
      std::ranges::any_of(c.forms, [](const Candidates::One& one) { return !one.form->operands.empty(); });
  if (takes_operands && !operands_.list(written, c.of_texels)) return std::nullopt;
  if (!in_.token().is(';') && in_.token().line == mnemonic.line) {
    in_.error_expected("`,` or `;`");
    return std::nullopt;
  }
  return forms_.select(i, mnemonic, c, written) && resolve(i);
}

}  // namespace palladion::isa::detail
