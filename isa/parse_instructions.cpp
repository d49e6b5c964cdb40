// Instructions: words to a form, operands to the form's roles.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/parse_internal.h"

namespace palladion::isa::detail {
namespace {

// PTX that ptxas knows and this table of ops does not state.
constexpr std::string_view other_ptx[] = {
    "alloca",  "istypep",  "multimem", "pmevent", "stackrestore", "stacksave", "suld",  "suq",   "sured",   "sust",
    "tex",     "tld4",     "txq",      "vabsdiff", "vabsdiff2",   "vabsdiff4", "vadd",  "vadd2", "vadd4",   "vavrg2",
    "vavrg4",  "vmad",     "vmax",     "vmax2",   "vmax4",        "vmin",      "vmin2", "vmin4", "vset",    "vset2",
    "vset4",   "vshl",     "vshr",     "vsub",    "vsub2",        "vsub4",     "wmma",  "tcgen05", "clusterlaunchcontrol"};

std::vector<std::string_view> words_of(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t end = mnemonic.find('.');
    words.push_back(mnemonic.substr(0, end));
    if (end == std::string_view::npos) return words;
    mnemonic.remove_prefix(end + 1);
  }
}

// ptxas reads most modifiers in any order (`red.add.global.relaxed.gpu`, `cvt.sat.rn.f32.f64`); the manual's
// order, in which we print, is tried before this one.
bool match_in_any_order(const Form& form, const std::vector<std::string_view>& words, int8_t* slots) {
  if (words.size() > form.slots.size()) return false;
  std::fill_n(slots, form.slots.size(), int8_t{-1});
  for (const std::string_view w : words) {
    size_t s = 0;
    int found = -1;
    for (; s < form.slots.size(); ++s)
      if (slots[s] < 0 && (found = form.slots[s].find(w)) >= 0) break;
    if (found < 0) return false;
    slots[s] = static_cast<int8_t>(found);
  }
  for (size_t s = 0; s < form.slots.size(); ++s)
    if (slots[s] < 0 && !form.slots[s].optional) return false;
  return true;
}

std::string form_usage(std::string_view mnemonic, const Form& form) {
  std::string s(mnemonic);
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const OperandDef& d = form.operands[i];
    const std::string separator = i == 0 ? " " : d.joined ? "|" : ", ";
    const std::string text = d.kind == OperandKind::address  ? fmt::format("[{}]", d.name)
                             : d.kind == OperandKind::tensor ? fmt::format("[{}, {{coordinates}}]", d.name)
                                                             : std::string(d.name);
    s += d.optional ? fmt::format("{{{}{}}}", separator, text) : separator + text;
  }
  return s;
}

// The words that a form takes after those that fit it.
struct Progress {
  size_t taken = 0;
  std::vector<std::string_view> expected;
  std::vector<std::string_view> missing;  // words of the slot that the next word would fit behind
};

Progress progress(const Form& form, const std::vector<std::string_view>& words) {
  Progress p;
  for (const SlotDef& slot : form.slots) {
    const int found = p.taken < words.size() ? slot.find(words[p.taken]) : -1;
    if (found >= 0) {
      ++p.taken;
      p.expected.clear();
      continue;
    }
    p.expected.insert(p.expected.end(), slot.words.begin(), slot.words.end());
    if (slot.optional) continue;
    const auto fits_later = [&](const SlotDef& later) { return p.taken < words.size() && later.find(words[p.taken]) >= 0; };
    if (std::any_of(&slot, form.slots.data() + form.slots.size(), fits_later)) p.missing = slot.words;
    break;
  }
  return p;
}

std::string list_of(std::vector<std::string_view> words) {
  std::string s;
  std::vector<std::string_view> seen;
  for (const auto w : words) {
    if (std::ranges::find(seen, w) != seen.end()) continue;
    if (seen.size() == 24) return s + ", ...";
    seen.push_back(w);
    s += fmt::format("{}`.{}`", s.empty() ? "" : ", ", w);
  }
  return s;
}

std::string describe(const Operand& o, const Function& f) {
  using K = Operand::Kind;
  switch (o.kind) {
    case K::none: return "nothing";
    case K::reg: return fmt::format("`{}{}` (`.{}`)", o.negated ? "!" : "", f.registers[o.id].name, name(f.registers[o.id].type));
    case K::imm: return o.imm_type == Operand::ImmType::integer ? "an integer" : "a floating-point constant";
    case K::special: return "a special register";
    case K::symbol: return "a name";
    case K::label: return "a label";
    case K::address: return o.elements.size() > 1 ? "a tensor with coordinates" : "an address";
    case K::vector: return fmt::format("a vector of {}", o.elements.size());
    case K::sink: return "`_`";
  }
  return "?";
}

Type type_of(const OperandDef& def, const Form& form, const std::array<int8_t, max_modifiers>& mods) {
  if (def.type_slot.empty()) return def.literal;
  const int slot = form.slot(def.type_slot);
  if (slot < 0 || mods[slot] < 0) return Type::none;
  return type_named(form.slots[slot].words[mods[slot]]).value_or(Type::none);
}

// Elements that the operand has: 1 = scalar, 0 = any number.
int count_of(const OperandDef& def, const Form& form, const std::array<int8_t, max_modifiers>& mods) {
  if (def.count_slot.empty()) return def.count;
  const int slot = form.slot(def.count_slot);
  if (slot < 0 || mods[slot] < 0) return 1;
  const std::string_view word = form.slots[slot].words[mods[slot]];
  const char last = word.back();
  return last >= '1' && last <= '9' ? last - '0' : 0;
}

std::string expectation(const OperandDef& def, const Candidates::One& c) {
  switch (def.kind) {
    case OperandKind::predicate: return "a predicate register";
    case OperandKind::immediate: return "an integer constant";
    case OperandKind::address: return "an address such as `[%rd1+16]`";
    case OperandKind::tensor: return "a tensor such as `[map, {c0, c1}]`";
    case OperandKind::label: return "a label";
    case OperandKind::function: return "a function";
    case OperandKind::list: return "a list";
    case OperandKind::any: return "an operand";
    case OperandKind::value: break;
  }
  const int count = count_of(def, *c.form, c.mods);
  const std::string_view type = name(type_of(def, *c.form, c.mods));
  if (count > 1) return fmt::format("a vector of {} `.{}` elements", count, type);
  if (count == 0) return fmt::format("`.{}` registers", type);
  return def.writes ? fmt::format("a register for `.{}`", type) : fmt::format("a `.{}` register or constant", type);
}

// A constant of the other width is that number in the operand's width.
void settle_float(Operand& o, Type type) {
  using I = Operand::ImmType;
  if (type == Type::f32 && o.imm_type == I::f64) {
    o = Operand::f32(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
  } else if (type == Type::f64 && o.imm_type == I::f32) {
    o = Operand::f64(std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits)))));
  }
}

}  // namespace

// --- words ---------------------------------------------------------------------------------------

const Candidates& Parser::candidates(std::string_view mnemonic) {
  const auto [it, is_new] = candidates_.try_emplace(mnemonic);
  Candidates& c = it->second;
  if (!is_new) return c;
  std::vector<std::string_view> words = words_of(mnemonic);
  c.op = find_op(words.front());
  if (c.op == nullptr) return c;
  words.erase(words.begin());
  for (const Form& form : c.op->forms) {
    Candidates::One one{&form, {}};
    if (match_modifiers(form, words, one.mods.data())) c.forms.push_back(one);
  }
  if (!c.forms.empty()) return c;
  for (const Form& form : c.op->forms) {
    Candidates::One one{&form, {}};
    if (match_in_any_order(form, words, one.mods.data())) c.forms.push_back(one);
  }
  return c;
}

void Parser::no_candidate(const Token& mnemonic, const Candidates& c) {
  std::vector<std::string_view> words = words_of(mnemonic.text);
  if (c.op == nullptr) {
    if (std::ranges::find(other_ptx, words[0]) != std::end(other_ptx)) {
      error(mnemonic, code::not_modelled, fmt::format("`{}` is PTX, but not modelled", words[0]));
      diagnostics.back().severity = Severity::unsupported;
      return;
    }
    Nearest nearest(words[0]);
    for (const Op& op : all_ops()) nearest.offer(op.name);
    return error(mnemonic, code::unknown_instruction, fmt::format("unknown instruction `{}`", words[0].substr(0, 60)), nearest.help());
  }
  const std::string_view op = words[0];
  words.erase(words.begin());
  Progress best;
  for (const Form& form : c.op->forms) {
    Progress p = progress(form, words);
    if (p.taken < best.taken) continue;
    if (p.taken == best.taken) {
      p.expected.insert(p.expected.begin(), best.expected.begin(), best.expected.end());
      p.missing.insert(p.missing.begin(), best.missing.begin(), best.missing.end());
    }
    best = std::move(p);
  }
  Token at = mnemonic;
  std::string fitting(op);
  for (size_t i = 0; i < best.taken; ++i) fitting += fmt::format(".{}", words[i]);
  at.column += static_cast<uint32_t>(best.taken < words.size() ? fitting.size() : 0);
  std::string message = best.taken < words.size() ? fmt::format("`{}` does not take `.{}` here", fitting, words[best.taken].substr(0, 60))
                                                  : fmt::format("`{}` lacks a modifier", fitting);
  std::string help;
  if (!best.missing.empty()) {
    message = fmt::format("`{}` needs a modifier before `.{}`", fitting, words[best.taken]);
    best.expected = best.missing;
  } else if (best.taken < words.size()) {
    Nearest nearest(words[best.taken]);
    for (const auto w : best.expected) nearest.offer(w);
    if (!nearest.found().empty()) help = fmt::format("did you mean `.{}`? ", nearest.found());
  }
  help += best.expected.empty() ? fmt::format("no modifier follows `{}`", fitting)
                                : fmt::format("`{}` goes on with {}", fitting, list_of(best.expected));
  error(at, code::modifiers, std::move(message), std::move(help));
}

// --- roles ---------------------------------------------------------------------------------------

bool Parser::fits_value(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  const int count = count_of(def, *c.form, c.mods);
  if (o.is(K::vector)) return count == 0 || (count > 1 && o.elements.size() == static_cast<size_t>(count));
  if (count > 1) return false;
  if (o.is(K::reg)) {
    const Type type = type_of(def, *c.form, c.mods);
    return (function_->registers[o.id].type == Type::pred) == (type == Type::pred);
  }
  if (o.is(K::sink)) return def.writes;
  return (o.is(K::imm) || o.is(K::special) || o.is(K::symbol)) && def.reads;
}

bool Parser::fits(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  if (def.joined != o.joined) return false;
  switch (def.kind) {
    case OperandKind::value: return fits_value(def, c, o);
    case OperandKind::predicate:
      if (o.is(K::reg)) return function_->registers[o.id].type == Type::pred;
      return o.is(K::sink) ? def.writes : !def.writes && (o.is(K::imm) || o.is(K::special));
    case OperandKind::immediate: return o.is(K::imm);
    case OperandKind::address: return o.is(K::address) && o.elements.size() == 1;
    case OperandKind::tensor: return o.is(K::address) && o.elements.size() > 1;
    case OperandKind::label: return o.is(K::symbol) && o.offset == 0;
    case OperandKind::function: return o.is(K::symbol) || o.is(K::reg);
    case OperandKind::list: return o.is(K::vector) || o.is(K::symbol);
    case OperandKind::any: return true;
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

bool Parser::select_form(Instruction& i, const Token& mnemonic, const Candidates& c, std::vector<Operand>& written) {
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

void Parser::no_fit(const Token& mnemonic, const Candidates& c, const std::vector<Operand>& written) {
  std::string help;
  for (const Candidates::One& one : c.forms) {
    const std::string usage = fmt::format("`{}`", form_usage(mnemonic.text, *one.form));
    if (help.size() < 400 && help.find(usage) == std::string::npos) help += (help.empty() ? "it is written " : " or ") + usage;
  }
  const auto takes = [&](const Candidates::One& one) {
    return written.size() >= one.form->required_operands() && written.size() <= one.form->operands.size();
  };
  const auto one = std::ranges::find_if(c.forms, takes);
  if (one == c.forms.end()) {
    return error(mnemonic, code::operands, fmt::format("`{}` does not take {} operands", mnemonic.text, written.size()), help);
  }
  size_t w = 0;
  for (const OperandDef& def : one->form->operands) {
    if (w < written.size() && fits(def, *one, written[w])) {
      ++w;
    } else if (!def.optional) {
      const std::string found = w < written.size() ? describe(written[w], *function_) : "nothing";
      return error(mnemonic, code::operands,
                   fmt::format("operand {} of `{}` must be {}, found {}", w + 1, mnemonic.text, expectation(def, *one), found), help);
    }
  }
  error(mnemonic, code::operands, fmt::format("these operands do not fit `{}`", mnemonic.text), help);
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
  const bool may_be_list = role == OperandKind::list || role == OperandKind::any;
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
    error(t, code::undeclared, fmt::format("`{}` is not {}", t.text.substr(0, 60), what), nearest_name(t.text));
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
    if (o.is(Operand::Kind::reg)) continue;
    if (o.is(Operand::Kind::imm) && o.imm_type != Operand::ImmType::integer) {
      settle_float(o, type_of(def, *i.form, i.mods));
    } else if (is_name(o)) {
      if (!resolve_name(o, def.kind)) return false;
    } else if (!o.elements.empty() && !resolve_elements(o)) {
      return false;
    }
  }
  return true;
}

// --- calls ---------------------------------------------------------------------------------------

bool Parser::call_list(Operand& list) {
  next();
  list = Operand::vector({});
  if (accept(')')) return true;
  do {
    auto o = operand();
    if (!o) return false;
    list.elements.push_back(std::move(*o));
  } while (accept(','));
  return expect(')');
}

// call (ret), function, (arguments), targets; all but the function may be left out.
bool Parser::call_operands(CallText& call) {
  if (token_.is('(') && (!call_list(call.returns) || !expect(','))) return false;
  if (!token_.is(Token::Kind::word)) {
    error_expected("a function");
    return false;
  }
  auto function_name = name_operand();
  if (!function_name) return false;
  call.function = std::move(*function_name);
  if (accept(',')) {
    if (token_.is('(')) {
      if (!call_list(call.arguments)) return false;
      if (!accept(',')) return true;
    }
    if (!token_.is(Token::Kind::word)) {
      error_expected("a prototype or a list of targets");
      return false;
    }
    auto targets = name_operand();
    if (!targets) return false;
    call.targets = std::move(*targets);
  }
  return true;
}

bool Parser::select_call(Instruction& i, const Token& mnemonic, const Candidates& c, CallText& call) {
  const auto has_targets = [](const OperandDef& d) { return d.name.starts_with("proto") || d.name.starts_with("target"); };
  for (const Candidates::One& one : c.forms) {
    const auto& defs = one.form->operands;
    if (!call.targets.is(Operand::Kind::none) && std::ranges::none_of(defs, has_targets)) continue;
    i.form = one.form;
    i.mods = one.mods;
    for (const OperandDef& d : defs) {
      Operand& from = d.kind == OperandKind::function ? call.function
                      : has_targets(d)                ? call.targets
                      : d.name.starts_with("ret")     ? call.returns
                                                      : call.arguments;
      if (d.kind != OperandKind::function && !has_targets(d) && from.is(Operand::Kind::none) && !d.optional) from = Operand::vector({});
      i.operands.push_back(std::move(from));
    }
    while (!i.operands.empty() && i.operands.back().is(Operand::Kind::none)) i.operands.pop_back();
    for (size_t k = 0; k < i.operands.size(); ++k) {
      Operand& o = i.operands[k];
      const OperandKind role = defs[k].kind == OperandKind::function ? OperandKind::function : OperandKind::list;
      if (is_name(o) ? !resolve_name(o, role) : !resolve_elements(o)) return false;
    }
    return true;
  }
  no_fit(mnemonic, c, {});
  return false;
}

// --- the instruction -----------------------------------------------------------------------------

bool Parser::guard(Guard& g) {
  if (!accept('@')) return true;
  g.negated = accept('!');
  const auto word = expect_word("a predicate register");
  if (!word) return false;
  g.reg = find_register(word->text);
  if (g.reg == no_id) {
    error(*word, code::undeclared, fmt::format("register `{}` is not declared", word->text), nearest_name(word->text));
    return false;
  }
  if (function_->registers[g.reg].type != Type::pred) {
    error(*word, code::operands, fmt::format("`{}` is no predicate", word->text), "a guard is a register declared with `.reg .pred`");
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
  if (c.op->name == "call") {
    CallText call;
    if (!call_operands(call)) return skip_statement();
    fits_form = select_call(i, mnemonic, c, call);
  } else {
    std::vector<Operand> written;
    const bool takes_operands = std::ranges::any_of(c.forms, [](const Candidates::One& one) { return !one.form->operands.empty(); });
    if (takes_operands && !operands(written)) return skip_statement();
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
