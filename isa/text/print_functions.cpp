#include <algorithm>
#include <array>
#include <map>

#include "isa/text/print_internal.h"

namespace palladion::isa::detail {
namespace {

struct Numbered {
  std::string_view prefix;
  uint32_t number = 0;
};

// "%r12" -> "%r", 12; an empty prefix when the name has no such end.
Numbered split_number(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size() || name.size() - last > 7) return {};
  const std::string_view digits = name.substr(last + 1);
  if (digits.size() > 1 && digits[0] == '0') return {};
  Numbered n{name.substr(0, last + 1)};
  for (const char c : digits) n.number = n.number * 10 + static_cast<uint32_t>(c - '0');
  return n;
}

// Registers that share a prefix; one range declares them when all have one type.
struct Family {
  Type type = Type::none;
  bool one_type = true;
  uint32_t highest = 0;
  uint32_t count = 0;
};

}  // namespace

// --- headers -------------------------------------------------------------------------------------

void Printer::parameter(const Variable& v, std::string_view printed_name) {
  out_ += v.space == Space::reg ? ".reg " : ".param ";
  type_and_align(v);
  if (v.pointer) {
    out_ += ".ptr ";
    if (v.pointee != Space::generic) {
      out_ += '.';
      out_ += name(v.pointee);
      out_ += ' ';
    }
    if (v.pointee_align != 0) {
      out_ += ".align ";
      append_number(out_, v.pointee_align);
      out_ += ' ';
    }
  }
  out_ += printed_name;
  dimensions(v);
}

void Printer::parameters(const std::vector<SymbolId>& list, bool lines) {
  out_ += '(';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out_ += lines ? "," : ", ";
    if (lines) out_ += "\n\t";
    parameter(module_.symbols[list[i]].variable, symbols_[list[i]]);
  }
  out_ += lines && !list.empty() ? "\n)" : ")";
}

void Printer::directives(const Function& f) {
  const auto dims = [&](std::string_view word, const std::optional<Dim3>& d) {
    if (!d) return;
    out_ += word;
    append_number(out_, d->x);
    out_ += ", ";
    append_number(out_, d->y);
    out_ += ", ";
    append_number(out_, d->z);
    out_ += '\n';
  };
  const auto number = [&](std::string_view word, const std::optional<uint32_t>& n) {
    if (!n) return;
    out_ += word;
    append_number(out_, *n);
    out_ += '\n';
  };
  dims(".maxntid ", f.maxntid);
  dims(".reqntid ", f.reqntid);
  number(".minnctapersm ", f.minnctapersm);
  number(".maxnctapersm ", f.maxnctapersm);
  number(".maxnreg ", f.maxnreg);
  if (f.explicitcluster) out_ += ".explicitcluster\n";
  dims(".reqnctapercluster ", f.reqnctapercluster);
  number(".maxclusterrank ", f.maxclusterrank);
  for (const std::string& d : f.other_directives) out_ += d + "\n";
  for (const std::string& p : f.pragmas) out_ += ".pragma \"" + p + "\";\n";
}

void Printer::function_names(const Function& f) {
  // A local name must not hide a module-level one that the body uses.
  names_ = Names(&module_names_);
  std::map<std::string_view, std::string_view> register_parameters;
  for (const auto* list : {&f.returns, &f.params, &f.locals}) {
    for (const SymbolId id : *list) {
      symbols_[id] = names_.add(module_.symbols[id].name);
      if (module_.symbols[id].variable.space == Space::reg)
        register_parameters.emplace(module_.symbols[id].name, symbols_[id]);
    }
  }
  registers_.clear();
  for (const Register& r : f.registers) {
    const auto parameter_name = register_parameters.find(r.name);
    registers_.push_back(parameter_name == register_parameters.end() ? names_.add(r.name)
                                                                     : parameter_name->second);
  }
  labels_.clear();
  for (const Label& l : f.labels) labels_.push_back(names_.add(l.name));
}

void Printer::function(const Function& f, bool declaration) {
  function_ = &f;
  source_ = no_id;
  function_names(f);
  linkage(module_.symbols[f.symbol].linkage);
  out_ += f.entry ? ".entry " : ".func ";
  if (!f.returns.empty()) {
    parameters(f.returns, false);
    out_ += ' ';
  }
  out_ += symbols_[f.symbol];
  parameters(f.params, true);
  out_ += '\n';
  if (f.noreturn) out_ += ".noreturn\n";
  if (declaration) {
    out_ += ";\n\n";
    return;
  }
  directives(f);
  body(f);
}

// --- bodies --------------------------------------------------------------------------------------

void Printer::register_group(Type type, const std::vector<RegId>& ids) {
  if (ids.empty()) return;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i % 12 == 0) {
      out_ += "\t.reg .";
      out_ += name(type);
      out_ += ' ';
    } else {
      out_ += ", ";
    }
    out_ += registers_[ids[i]];
    if (i % 12 == 11 || i + 1 == ids.size()) out_ += ";\n";
  }
}

void Printer::registers(const Function& f) {
  std::map<std::string_view, Family> families;
  std::vector<bool> is_parameter(f.registers.size());
  for (const auto* list : {&f.params, &f.returns})
    for (const SymbolId id : *list)
      for (RegId r = 0; r < f.registers.size() && module_.symbols[id].variable.space == Space::reg; ++r)
        if (registers_[r] == symbols_[id]) is_parameter[r] = true;
  for (RegId r = 0; r < f.registers.size(); ++r) {
    const Numbered n = split_number(registers_[r]);
    if (n.prefix.empty()) continue;
    Family& family = families[n.prefix];
    if (family.count++ == 0) family.type = f.registers[r].type;
    family.one_type &= family.type == f.registers[r].type && !is_parameter[r];
    family.highest = std::max(family.highest, n.number);
  }
  std::map<Type, std::vector<RegId>> single;
  for (RegId r = 0; r < f.registers.size(); ++r) {
    const Numbered n = split_number(registers_[r]);
    const bool in_range = !n.prefix.empty() && families[n.prefix].one_type;
    if (!in_range && !is_parameter[r]) single[f.registers[r].type].push_back(r);
  }
  for (const auto& [prefix, family] : families) {
    if (!family.one_type) continue;
    out_ += "\t.reg .";
    out_ += name(family.type);
    out_ += ' ';
    out_ += prefix;
    out_ += '<';
    append_number(out_, uint64_t{family.highest} + 1);
    out_ += ">;\n";
  }
  // By name: the order of their first use is not part of a program.
  for (auto& [type, ids] : single) {
    std::ranges::sort(ids, {}, [&](RegId r) { return registers_[r]; });
    register_group(type, ids);
  }
}

void Printer::target_lists(const Function& f) {
  for (const BranchTargets& t : f.branch_targets) {
    out_ += t.name + ": .branchtargets ";
    for (size_t i = 0; i < t.labels.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += labels_[t.labels[i]];
    }
    out_ += ";\n";
  }
  for (const CallTargets& t : f.call_targets) {
    out_ += t.name + (t.prototype ? ": .callprototype " : ": .calltargets ");
    for (size_t i = 0; i < t.functions.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += symbol_name(t.functions[i]);
    }
    const auto list = [&](const std::vector<Variable>& variables) {
      out_ += '(';
      for (size_t i = 0; i < variables.size(); ++i) {
        if (i != 0) out_ += ", ";
        parameter(variables[i], "_");
      }
      out_ += ')';
    };
    if (t.prototype) {
      if (!t.returns.empty()) list(t.returns);
      out_ += " _ ";
      list(t.params);
    }
    if (t.noreturn) out_ += " .noreturn";
    out_ += ";\n";
  }
}

void Printer::location(const Instruction& i) {
  if (i.origin.source == source_ || file_index_.empty()) return;
  if (i.origin.source >= module_.frames.size()) {
    // Line 0: from here on the place is unknown, as compilers write it.
    source_ = no_id;
    out_ += "\t.loc ";
    append_number(out_, file_index_.begin()->second);
    out_ += " 0 0\n";
    return;
  }
  source_ = i.origin.source;
  frame(source_);
}

void Printer::place(const SourceLoc& loc) {
  append_number(out_, file_index_.find(loc.file)->second);
  out_ += ' ';
  append_number(out_, loc.line);
  out_ += ' ';
  append_number(out_, loc.column);
}

// Behind the frames of its callers, to which inlined_at refers.
void Printer::frame(uint32_t index) {
  const SourceFrame& f = module_.frames[index];
  if (!f.at.known() || !file_index_.contains(f.at.file)) return;
  const SourceFrame* caller = f.caller == no_id || f.label.empty() ? nullptr : &module_.frames[f.caller];
  if (caller != nullptr && (!caller->at.known() || !file_index_.contains(caller->at.file))) caller = nullptr;
  if (caller != nullptr) frame(f.caller);
  out_ += "\t.loc ";
  place(f.at);
  if (caller != nullptr) {
    out_ += ", function_name " + f.label + ", inlined_at ";
    place(caller->at);
  }
  out_ += '\n';
}

void Printer::body(const Function& f) {
  out_ += "{\n";
  registers(f);
  for (const SymbolId id : f.locals) {
    out_ += '\t';
    variable(module_.symbols[id], symbols_[id]);
  }
  out_ += '\n';
  target_lists(f);
  std::vector<std::pair<uint32_t, std::string_view>> places;
  for (LabelId l = 0; l < f.labels.size(); ++l)
    if (f.labels[l].target != no_id) places.emplace_back(f.labels[l].target, labels_[l]);
  std::ranges::sort(places);
  size_t next_label = 0, next_pragma = 0;
  for (uint32_t at = 0; at <= f.body.size(); ++at) {
    for (; next_label < places.size() && places[next_label].first <= at; ++next_label) {
      out_ += places[next_label].second;
      out_ += ":\n";
    }
    for (; next_pragma < f.body_pragmas.size() && f.body_pragmas[next_pragma].before <= at; ++next_pragma) {
      out_ += "\t.pragma \"" + f.body_pragmas[next_pragma].text + "\";\n";
    }
    if (at == f.body.size()) break;
    location(f.body[at]);
    out_ += '\t';
    instruction(f.body[at]);
    out_ += '\n';
  }
  out_ += "}\n\n";
}

}  // namespace palladion::isa::detail
