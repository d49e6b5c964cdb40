#include "isa/text/parse_forms.h"

#include <algorithm>

#include "isa/text/parse_old.h"

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

}  // namespace

// --- words ---------------------------------------------------------------------------------------

const Candidates& Forms::candidates(std::string_view mnemonic) {
  const auto [it, is_new] = candidates_.try_emplace(mnemonic);
  Candidates& c = it->second;
  if (!is_new) return c;
  std::vector<std::string_view> words = split_words(mnemonic);
  c.op = find_op(words.front());
  if (c.op == nullptr) return c;
  const std::string_view op = words.front();
  words.erase(words.begin());
  dialect_.write_out_words(op, words);
  const auto try_all = [&](const auto& matches) {
    for (const Form& form : c.op->forms) {
      Candidates::One one{&form, {}};
      if (!matches(form, words, one.mods.data())) continue;
      dialect_.write_out_flush(one);
      c.forms.push_back(one);
    }
  };
  try_all(match_modifiers);
  if (c.forms.empty()) try_all(match_in_any_order);
  c.of_texels = !c.forms.empty() && c.forms.front().form->slot("geom") >= 0;
  return c;
}

// --- operands ------------------------------------------------------------------------------------

bool is_scalar_in_braces(const OperandDef& def, int count, const Operand& o) {
  if (!o.is(Operand::Kind::vector) || o.elements.size() != 1) return false;
  return def.kind == OperandKind::pack || (count == 1 && (def.count_slot == "vec" || def.widens));
}

bool Forms::fits_value(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  const int count = operand_count(*c.form, def, c.mods.data());
  if (is_scalar_in_braces(def, count, o)) return fits_value(def, c, o.elements.front());
  if (o.is(K::vector)) return count == 0 || (count > 1 && o.elements.size() == static_cast<size_t>(count));
  if (count > 1) return false;
  if (o.is(K::reg)) {
    const Type type = operand_type(*c.form, def, c.mods.data());
    const bool is_predicate = names_.function().registers[o.id].type == Type::pred;
    return is_predicate == (type == Type::pred) || (is_predicate && def.or_predicate);
  }
  if (o.is(K::sink)) return def.writes;
  return (o.is(K::imm) || o.is(K::special) || o.is(K::symbol)) && def.reads;
}

bool Forms::fits(const OperandDef& def, const Candidates::One& c, const Operand& o) const {
  using K = Operand::Kind;
  if (def.joined != o.joined) return false;
  switch (def.kind) {
    case OperandKind::value:
      return fits_value(def, c, o);
    case OperandKind::predicate:
      if (o.is(K::reg)) return names_.function().registers[o.id].type == Type::pred;
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

bool Forms::align(const Candidates::One& c, const std::vector<Operand>& written, size_t w, size_t d,
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

bool Forms::select(Instruction& i, const Token& mnemonic, const Candidates& c,
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

}  // namespace palladion::isa::detail
