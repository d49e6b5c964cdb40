// Instructions: words to a form, operands to the form's roles.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {
namespace {

// ptxas reads most modifiers in any order (`red.add.global.relaxed.gpu`, `cvt.sat.rn.f32.f64`); the manual's
// order, in which we print, is tried before this one.
bool match_in_any_order(const Form& form, const std::vector<std::string_view>& words, int8_t* slots) {
  if (words.size() > form.slots.size()) return false;
  std::fill_n(slots, form.slots.size(), int8_t{-1});
  for (const std::string_view w : words) {
    size_t s = 0;
    int found = -1;
    for (; s < form.slots.size() && found < 0; ++s) {
      if (slots[s] < 0) found = form.slots[s].find(w);
    }
    if (found < 0) return false;
    slots[s - 1] = static_cast<int8_t>(found);
  }
  for (size_t s = 0; s < form.slots.size(); ++s)
    if (slots[s] < 0 && !form.slots[s].optional) return false;
  return true;
}

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

// --- words ---------------------------------------------------------------------------------------

const Candidates& Parser::candidates(std::string_view mnemonic) {
  const auto [it, is_new] = candidates_.try_emplace(mnemonic);
  Candidates& c = it->second;
  if (!is_new) return c;
  std::vector<std::string_view> words = split_words(mnemonic);
  c.op = find_op(words.front());
  if (c.op == nullptr) return c;
  const std::string_view op = words.front();
  words.erase(words.begin());
  write_out_old_words(op, words);
  const auto try_all = [&](const auto& matches) {
    for (const Form& form : c.op->forms) {
      Candidates::One one{&form, {}};
      if (!matches(form, words, one.mods.data())) continue;
      write_out_flush(one);
      c.forms.push_back(one);
    }
  };
  try_all(match_modifiers);
  if (c.forms.empty()) try_all(match_in_any_order);
  c.of_texels = !c.forms.empty() && c.forms.front().form->slot("geom") >= 0;
  return c;
}

// --- roles ---------------------------------------------------------------------------------------

namespace {

// `ld.global.b16 {%rs1}, [%rd1]`, `mov.b32 {%r1}, %r2`, `sust.b.2d.b32.trap [...], {%r1}`: ptxas takes braces
// around one register where a vector may stand.
bool is_scalar_in_braces(const OperandDef& def, int count, const Operand& o) {
  if (!o.is(Operand::Kind::vector) || o.elements.size() != 1) return false;
  return def.kind == OperandKind::pack || (count == 1 && (def.count_slot == "vec" || def.widens));
}

}  // namespace

bool Parser::fits_value(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  const int count = operand_count(*c.form, def, c.mods.data());
  if (is_scalar_in_braces(def, count, o)) return fits_value(def, c, o.elements.front());
  if (o.is(K::vector)) return count == 0 || (count > 1 && o.elements.size() == static_cast<size_t>(count));
  if (count > 1) return false;
  if (o.is(K::reg)) {
    const Type type = operand_type(*c.form, def, c.mods.data());
    const bool is_predicate = function_->registers[o.id].type == Type::pred;
    return is_predicate == (type == Type::pred) || (is_predicate && def.or_predicate);
  }
  if (o.is(K::sink)) return def.writes;
  return (o.is(K::imm) || o.is(K::special) || o.is(K::symbol)) && def.reads;
}

bool Parser::fits(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  if (def.joined != o.joined) return false;
  switch (def.kind) {
    case OperandKind::value:
      return fits_value(def, c, o);
    case OperandKind::predicate:
      if (o.is(K::reg)) return function_->registers[o.id].type == Type::pred;
      return o.is(K::sink) ? def.writes : !def.writes && (o.is(K::imm) || o.is(K::special));
    case OperandKind::immediate:
      return o.is(K::imm);
    case OperandKind::address:
      return o.is(K::address) && o.elements.size() == 1;
    case OperandKind::tensor:
      return o.is(K::address) && o.elements.size() > 1;
    case OperandKind::label:
      return o.is(K::symbol) && o.offset == 0;
    case OperandKind::function:
      return o.is(K::symbol) || o.is(K::reg);
    case OperandKind::list:
      return o.is(K::vector) || o.is(K::symbol);
    case OperandKind::pack:
    case OperandKind::any:
      return true;
  }
  return false;
}

bool Parser::align(const Candidates::One& c, const std::vector<Operand>& written, size_t w, size_t d,
                   std::array<int8_t, 32>& where) const {
  const auto& defs = c.form->operands;
  if (d == defs.size()) return w == written.size();
  if (w < written.size() && fits(defs[d], c, written[w])) {
    where[d] = static_cast<int8_t>(w);
    if (align(c, written, w + 1, d + 1, where)) return true;
  }
  if (!defs[d].optional) return false;
  where[d] = -1;
  return align(c, written, w, d + 1, where);
}

bool Parser::select_form(Instruction& i, const Token& mnemonic, const Candidates& c,
                         std::vector<Operand>& written) {
  std::array<int8_t, 32> where;
  for (const Candidates::One& one : c.forms) {
    const size_t n = one.form->operands.size();
    if (written.size() > n || n > where.size() || !align(one, written, 0, 0, where)) continue;
    i.form = one.form;
    i.mods = one.mods;
    if (written.size() == n) {
      i.operands = std::move(written);
      return true;
    }
    size_t used = n;
    while (used > 0 && where[used - 1] < 0) --used;
    i.operands.resize(used);
    for (size_t d = 0; d < used; ++d)
      if (where[d] >= 0) i.operands[d] = std::move(written[static_cast<size_t>(where[d])]);
    return true;
  }
  no_fit(mnemonic, c, written);
  return false;
}

// --- names to symbols ----------------------------------------------------------------------------

bool Parser::resolve_name(Operand& o, OperandKind role) {
  const Token& t = name_of(o);
  const bool joined = o.joined;
  if (role == OperandKind::label) {
    o = Operand::label(reference_label(t));
    o.joined = joined;
    return true;
  }
  const bool may_be_list = role == OperandKind::list || role == OperandKind::any || role == OperandKind::pack;
  for (size_t s = scopes_.size(); may_be_list && s-- > 0;) {
    for (const auto* lists : {&scopes_[s].branch_targets, &scopes_[s].call_targets}) {
      const auto it = lists->find(t.text);
      if (it == lists->end()) continue;
      o = Operand::label(it->second);
      return true;
    }
  }
  const SymbolId id = find_variable(t.text);
  const bool is_function = id != no_id && module.symbols[id].kind == Symbol::Kind::function;
  if (id == no_id || (role == OperandKind::function && !is_function)) {
    const std::string_view what = role == OperandKind::function ? "a declared function" : "declared";
    error(t, code::undeclared, fmt::format("`{}` is not {}", t.text.substr(0, 60), what),
          nearest_name(t.text));
    return false;
  }
  o.id = id;
  o.bits = 0;
  return true;
}

bool Parser::resolve_elements(Operand& o) {
  for (Operand& e : o.elements)
    if (is_name(e) && !resolve_name(e, OperandKind::value)) return false;
  return true;
}

bool Parser::resolve(Instruction& i) {
  for (size_t d = 0; d < i.operands.size(); ++d) {
    Operand& o = i.operands[d];
    const OperandDef& def = i.form->operands[d];
    if (is_scalar_in_braces(def, operand_count(*i.form, def, i.mods.data()), o))
      o = Operand(std::move(o.elements.front()));
    if (o.is(Operand::Kind::reg)) continue;
    if (o.is(Operand::Kind::imm) && o.imm_type != Operand::ImmType::integer) {
      settle_float(o, operand_type(*i.form, def, i.mods.data()));
    } else if (is_name(o)) {
      if (!resolve_name(o, def.kind)) return false;
    } else if (!o.elements.empty() && !resolve_elements(o)) {
      return false;
    }
  }
  return true;
}

// --- the instruction -----------------------------------------------------------------------------

bool Parser::guard(Guard& g) {
  if (!accept('@')) return true;
  g.negated = accept('!');
  const auto word = expect_word("a predicate register");
  if (!word) return false;
  g.reg = find_register(word->text);
  if (g.reg == no_id) {
    error(*word, code::undeclared, fmt::format("register `{}` is not declared", word->text),
          nearest_name(word->text));
    return false;
  }
  if (function_->registers[g.reg].type != Type::pred) {
    error(*word, code::operands, fmt::format("`{}` is no predicate", word->text),
          "a guard is a register declared with `.reg .pred`");
    return false;
  }
  return true;
}

void Parser::instruction() {
  Instruction i;
  names_.clear();
  if (!guard(i.guard)) return skip_statement();
  if (!token_.is(Token::Kind::word)) {
    error_expected("an instruction");
    return skip_statement();
  }
  if (i.guard.reg != no_id) lexer_.extend_mnemonic(token_);
  const Token mnemonic = token_;
  next();
  const Candidates& c = candidates(mnemonic.text);
  if (c.forms.empty()) {
    no_candidate(mnemonic, c);
    return skip_statement();
  }
  i.op = c.op;
  i.origin = {mnemonic.line, source_};
  bool fits_form = false;
  if (c.forms.front().form->def->operation == Operation::call) {
    CallText call;
    if (!call_operands(call)) return skip_statement();
    fits_form = fill_call(i, c, call);
  } else {
    std::vector<Operand> written;
    const bool takes_operands =
        std::ranges::any_of(c.forms, [](const Candidates::One& one) { return !one.form->operands.empty(); });
    if (takes_operands && !operands(written, c.of_texels)) return skip_statement();
    if (!token_.is(';') && token_.line == mnemonic.line) {
      error_expected("`,` or `;`");
      return skip_statement();
    }
    fits_form = select_form(i, mnemonic, c, written) && resolve(i);
  }
  if (!expect(';') && token_.line == mnemonic.line) skip_statement();
  if (fits_form) function_->body.push_back(std::move(i));
}

}  // namespace palladion::isa::detail
