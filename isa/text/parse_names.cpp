#include "isa/text/parse_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/core/op.h"

namespace palladion::isa::detail {

// --- scopes --------------------------------------------------------------------------------------

void NameTable::begin_function() {
  scopes_.assign(1, module_scope_);
  used_names_.clear();
  suffixes_.clear();
  element_names_.clear();
  label_alias_.clear();
}

void NameTable::open_body(Function& f) {
  function_ = &f;
  scopes_.emplace_back();
}

void NameTable::close_body() {
  while (in_block()) close_block();
  refuse_module_registers();
  refuse_open_labels();
  settle_labels();
  function_ = nullptr;
}

// Names that this block uses and does not define belong to the enclosing block.
void NameTable::close_block() {
  auto& outer = scopes_[scopes_.size() - 2].labels;
  for (const auto& [name, use] : scope().labels) {
    if (function_->labels[use.id].target != no_id) continue;
    const auto [it, is_new] = outer.emplace(name, use);
    if (!is_new) label_alias_[use.id] = it->second.id;
  }
  scopes_.pop_back();
}

void NameTable::begin_module_scope() {
  scopes_.clear();
  scopes_.push_back(std::move(module_scope_));
}

void NameTable::end_module_scope() {
  module_scope_ = std::move(scopes_.back());
  scopes_.clear();
}

// Between functions, registers of the module would carry values.
void NameTable::refuse_module_registers() {
  if (function_->entry) return;
  const Scope& header = scopes_.front();
  for (const auto& [name, id] : header.registers) {
    const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
    if (module_scope_.declared.contains(name) || module_scope_.ranges.contains(letters))
      return in_.error(in_.token(), ParseCode::not_modelled,
                       fmt::format("registers of the module in a function (`{}` in `{}`) are not modelled",
                                   name, function_->name));
  }
}

// --- symbols -------------------------------------------------------------------------------------

std::unordered_map<std::string_view, SymbolId>& NameTable::symbols_here() {
  return in_function() ? scope().variables : module_names_;
}

SymbolId NameTable::find_symbol(std::string_view name) const {
  const auto it = module_names_.find(name);
  return it == module_names_.end() ? no_id : it->second;
}

SymbolId NameTable::find_function(std::string_view name) const {
  const SymbolId id = find_symbol(name);
  return id != no_id && module_.symbols[id].kind == Symbol::Kind::function ? id : no_id;
}

SymbolId NameTable::find_variable(std::string_view name) const {
  for (size_t i = scopes_.size(); function_ != nullptr && i-- > 0;) {
    const auto it = scopes_[i].variables.find(name);
    if (it != scopes_[i].variables.end()) return it->second;
  }
  return find_symbol(name);
}

std::string NameTable::unique_name(std::string_view name) {
  std::string unique(name);
  const bool nested = in_block();
  const auto taken = [&](const std::string& s) {
    return used_names_.contains(s) || (nested && module_names_.contains(s));
  };
  if (taken(unique)) {
    uint32_t& suffix = suffixes_[unique];
    do {
      unique = fmt::format("{}_{}", name, ++suffix);
    } while (taken(unique));
  }
  used_names_.insert(unique);
  return unique;
}

std::string NameTable::nearest_name(std::string_view name) const {
  Nearest nearest(name);
  for (const Scope& s : scopes_) {
    for (const auto& [n, id] : s.registers) nearest.offer(n);
    for (const auto& [n, id] : s.declared) nearest.offer(n);
    for (const auto& [n, id] : s.variables) nearest.offer(n);
  }
  for (const auto& [n, id] : module_names_) nearest.offer(n);
  if (!nearest.found().empty()) return nearest.help();
  for (const Scope& s : scopes_) {
    for (const auto& [n, range] : s.ranges) {
      const bool beyond = name.starts_with(n) &&
                          name.substr(n.size()).find_first_not_of("0123456789") == std::string_view::npos;
      if (beyond) return fmt::format("`{}<{}>` declares {}0 to {}{}", n, range.count, n, n, range.count - 1);
    }
  }
  return {};
}

// --- registers -----------------------------------------------------------------------------------

RegId NameTable::new_register(Scope& s, std::string_view name, Type type) {
  const auto id = static_cast<RegId>(function_->registers.size());
  function_->registers.push_back({unique_name(name), type});
  s.registers.emplace(name, id);
  return id;
}

// A register is created when an instruction first names it: %r<2000> costs nothing.
RegId NameTable::find_register(std::string_view name) {
  const size_t digits = name.size() - 1 - std::min(name.find_last_not_of("0123456789"), name.size() - 1);
  for (size_t i = scopes_.size(); i-- > 0;) {
    Scope& s = scopes_[i];
    if (const auto it = s.registers.find(name); it != s.registers.end()) return it->second;
    if (const auto it = s.declared.find(name); it != s.declared.end())
      return new_register(s, name, it->second);
    if (digits != 0 && digits < 10 && !s.ranges.empty()) {
      const std::string_view number = name.substr(name.size() - digits);
      const auto it = s.ranges.find(name.substr(0, name.size() - digits));
      const bool canonical = digits == 1 || number[0] != '0';
      uint64_t n = 0;
      for (const char c : number) n = n * 10 + static_cast<uint64_t>(c - '0');
      if (it != s.ranges.end() && canonical && n < it->second.count)
        return new_register(s, name, it->second.type);
    }
    if (s.variables.contains(name)) return no_id;
  }
  return no_id;
}

uint32_t NameTable::vector_elements(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope& s = scopes_[i];
    if (const auto it = s.vectors.find(name); it != s.vectors.end()) return it->second;
    if (s.declared.contains(name) || s.registers.contains(name) || s.variables.contains(name)) return 0;
  }
  return 0;
}

RegId NameTable::vector_element(std::string_view name, size_t k) {
  return find_register(element_names_.at(std::string(name))[k]);
}

void NameTable::declare_vector(const Token& at, const std::string& name, Type type, uint32_t elements) {
  auto& names = element_names_[name];
  names.clear();
  for (uint32_t k = 0; k < elements; ++k) names.push_back(fmt::format("{}_{}", name, "xyzwabcd"[k & 7]));
  const auto kept = element_names_.find(name);
  if (!scope().vectors.emplace(kept->first, elements).second || scope().declared.contains(kept->first))
    in_.error(at, ParseCode::redefined, fmt::format("`{}` is declared twice", name));
  for (const std::string& element : kept->second) scope().declared.emplace(element, type);
}

// --- labels and lists ----------------------------------------------------------------------------

LabelId NameTable::reference_label(const Token& t) {
  const auto it = scope().labels.find(t.text);
  if (it != scope().labels.end()) return it->second.id;
  const auto id = static_cast<LabelId>(function_->labels.size());
  function_->labels.push_back({std::string(t.text), no_id});
  label_alias_.push_back(id);
  scope().labels.emplace(t.text, Scope::LabelUse{id, t});
  return id;
}

std::optional<uint32_t> NameTable::find_list(std::string_view name) const {
  for (size_t s = scopes_.size(); s-- > 0;)
    for (const auto* lists : {&scopes_[s].branch_targets, &scopes_[s].call_targets})
      if (const auto it = lists->find(name); it != lists->end()) return it->second;
  return std::nullopt;
}

void NameTable::refuse_open_labels() {
  for (const auto& [name, use] : scope().labels) {
    if (function_->labels[use.id].target != no_id) continue;
    Nearest nearest(name);
    for (const Label& l : function_->labels)
      if (l.target != no_id) nearest.offer(l.name);
    in_.error(use.first, ParseCode::undeclared,
              fmt::format("label `{}` stands nowhere in `{}`", name, function_->name), nearest.help());
  }
}

// Labels get their final numbers and names that are unique in the function.
void NameTable::settle_labels() {
  Function& f = *function_;
  std::vector<LabelId> final_id(f.labels.size(), no_id);
  std::vector<Label> kept;
  for (LabelId i = 0; i < f.labels.size(); ++i) {
    if (label_alias_[i] != i) continue;
    final_id[i] = static_cast<LabelId>(kept.size());
    kept.push_back({unique_name(f.labels[i].name), f.labels[i].target});
  }
  const auto settle = [&](LabelId id) {
    for (int hops = 0; label_alias_[id] != id && hops < 1000; ++hops) id = label_alias_[id];
    return final_id[id];
  };
  for (Instruction& i : f.body) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k].is(Operand::Kind::label) && i.form->operands[k].kind == OperandKind::label) {
        i.operands[k].id = settle(i.operands[k].id);
      }
    }
  }
  for (BranchTargets& t : f.branch_targets)
    for (LabelId& id : t.labels) id = settle(id);
  f.labels = std::move(kept);
}
}  // namespace palladion::isa::detail
