#include "isa/core/builder.h"

#include <fmt/format.h>

#include <mutex>
#include <unordered_map>

#include "isa/core/op.h"

namespace palladion::isa {
namespace {

std::vector<std::string_view> words_of(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  while (!mnemonic.empty()) {
    const size_t end = mnemonic.find('.');
    words.push_back(mnemonic.substr(0, end));
    if (end == std::string_view::npos) break;
    mnemonic.remove_prefix(end + 1);
  }
  return words;
}

// Bit i: operand i is an address.
using Addresses = uint32_t;

Addresses addresses_of(std::span<const Operand> operands) {
  Addresses found = 0;
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].is(Operand::Kind::address)) found |= Addresses{1} << i;
  return found;
}

bool takes(const Form& form, Addresses addresses) {
  for (size_t i = 0; i < form.operands.size(); ++i)
    if ((addresses >> i & 1) != 0 && form.operands[i].kind == OperandKind::value) return false;
  return true;
}

Matched match_uncached(std::string_view mnemonic, size_t operand_count, Addresses addresses) {
  Matched m;
  std::vector<std::string_view> words = words_of(mnemonic);
  if (words.empty()) {
    m.reason = "empty mnemonic";
    return m;
  }
  m.op = find_op(words.front());
  if (m.op == nullptr) {
    m.reason = fmt::format("unknown instruction `{}`", words.front());
    return m;
  }
  words.erase(words.begin());
  bool modifiers_fit = false;
  for (const Form& form : m.op->forms) {
    std::array<int8_t, max_modifiers> mods{};
    if (!match_modifiers(form, words, mods.data())) continue;
    modifiers_fit = true;
    if (operand_count < form.required_operands() || operand_count > form.operands.size()) continue;
    const bool fits = takes(form, addresses);
    if (m.form != nullptr && !fits) continue;
    m.form = &form;
    m.mods = mods;
    if (fits) break;
  }
  if (m.form != nullptr) return m;
  m.reason = modifiers_fit ? fmt::format("`{}` does not take {} operands", mnemonic, operand_count)
                           : fmt::format("`{}` has no form with these modifiers", mnemonic);
  return m;
}

std::string_view register_prefix(Type type) {
  switch (bits(type)) {
    case 1:
      return "%p";
    case 8:
      return "%rc";
    case 16:
      return "%rs";
    case 64:
      return type == Type::f64 ? "%fd" : "%rd";
    case 128:
      return "%rq";
    default:
      return type == Type::f32 ? "%f" : "%r";
  }
}

}  // namespace

Matched match(std::string_view mnemonic, std::span<const Operand> operands) {
  thread_local std::unordered_map<std::string, Matched> cache;
  const Addresses addresses = addresses_of(operands);
  std::string key(mnemonic);
  key += '#';
  key += static_cast<char>('0' + operands.size());
  key.append(reinterpret_cast<const char*>(&addresses), sizeof addresses);
  const auto it = cache.find(key);
  if (it != cache.end()) return it->second;
  return cache.emplace(std::move(key), match_uncached(mnemonic, operands.size(), addresses)).first->second;
}

Operand Builder::reg(Type type) {
  const auto id = static_cast<RegId>(function_.registers.size());
  function_.registers.push_back({fmt::format("{}{}", register_prefix(type), id), type});
  return Operand::reg(id);
}

Operand Builder::label(std::string_view hint) {
  const auto id = static_cast<LabelId>(function_.labels.size());
  function_.labels.push_back({fmt::format("$L_{}_{}", hint, id), no_id});
  return Operand::label(id);
}

void Builder::place(const Operand& label) {
  function_.labels[label.id].target = static_cast<uint32_t>(function_.body.size());
}

SymbolId Builder::add_variable(std::string_view name, Variable variable, bool module_scope) {
  const auto id = static_cast<SymbolId>(module_.symbols.size());
  Symbol s;
  s.name = name;
  s.variable = std::move(variable);
  if (!module_scope) {
    s.scope = static_cast<uint32_t>(function_.symbol);
    function_.locals.push_back(id);
  }
  module_.symbols.push_back(std::move(s));
  return id;
}

SymbolId Builder::add_param(std::string_view name, Variable variable) {
  const auto id = static_cast<SymbolId>(module_.symbols.size());
  Symbol s;
  s.name = name;
  s.scope = function_.symbol;
  s.variable = std::move(variable);
  s.variable.space = Space::param;
  module_.symbols.push_back(std::move(s));
  function_.params.push_back(id);
  return id;
}

namespace {
// An optional second destination (d|p) that is not there leaves its place empty.
void leave_out_absent_pairs(const Form& form, std::vector<Operand>& operands) {
  for (size_t i = 0; i < form.operands.size() && i < operands.size(); ++i) {
    const OperandDef& def = form.operands[i];
    if (def.joined && def.optional && !operands[i].joined && operands.size() < form.operands.size())
      operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(i), Operand{});
  }
}
}  // namespace

Instruction& Builder::emit(std::string_view mnemonic, std::vector<Operand> operands, const Operand& guard) {
  const Matched m = match(mnemonic, operands);
  PLD_CHECK(m.form != nullptr, m.reason);
  Instruction i;
  i.op = m.op;
  i.form = m.form;
  i.mods = m.mods;
  leave_out_absent_pairs(*m.form, operands);
  i.operands = std::move(operands);
  if (guard.is(Operand::Kind::reg)) i.guard = {guard.id, guard.negated};
  i.origin.source = source_;
  function_.body.push_back(std::move(i));
  return function_.body.back();
}

void Builder::append(Instruction instruction) {
  instruction.origin = {0, source_};
  function_.body.push_back(std::move(instruction));
}

void Builder::set_source(const SourceLoc& loc) {
  auto& frames = module_.frames;
  if (source_ != no_id && frames[source_].at.line == loc.line && frames[source_].at.file == loc.file) return;
  for (uint32_t i = static_cast<uint32_t>(frames.size()); i-- > 0 && frames.size() - i < 64;) {
    const SourceLoc& at = frames[i].at;
    if (at.line == loc.line && at.column == loc.column && at.file == loc.file) {
      source_ = i;
      return;
    }
  }
  source_ = static_cast<uint32_t>(frames.size());
  frames.push_back({loc, {}, {}, no_id});
}

}  // namespace palladion::isa
