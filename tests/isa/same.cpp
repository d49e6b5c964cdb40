#include "tests/isa/same.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/core/op.h"
#include "isa/text/print.h"

namespace palladion::isa {
namespace {

struct Side {
  const Module& module;
  const Function& function;
};

bool same_place(const Side& a, const Side& b, LabelId la, LabelId lb) {
  return a.function.labels[la].name == b.function.labels[lb].name &&
         a.function.labels[la].target == b.function.labels[lb].target;
}

bool same_label(const Side& a, const Side& b, const Operand& x, const Operand& y, OperandKind role,
                bool call) {
  if (role == OperandKind::label) return same_place(a, b, x.id, y.id);
  if (call) {
    const CallTargets &s = a.function.call_targets[x.id], &t = b.function.call_targets[y.id];
    return s.name == t.name && s.prototype == t.prototype && s.params.size() == t.params.size() &&
           s.functions.size() == t.functions.size();
  }
  const BranchTargets &s = a.function.branch_targets[x.id], &t = b.function.branch_targets[y.id];
  return s.name == t.name && std::ranges::equal(s.labels, t.labels, [&](LabelId la, LabelId lb) {
           return same_place(a, b, la, lb);
         });
}

bool same_operand(const Side& a, const Side& b, const Operand& x, const Operand& y, OperandKind role,
                  bool call) {
  if (x.kind != y.kind || x.negated != y.negated || x.elements.size() != y.elements.size() ||
      x.offset != y.offset)
    return false;
  using Kind = Operand::Kind;
  if (x.is(Kind::reg)) {
    const Register &r = a.function.registers[x.id], &s = b.function.registers[y.id];
    if (r.name != s.name || r.type != s.type) return false;
  } else if (x.is(Kind::symbol)) {
    if (a.module.symbols[x.id].name != b.module.symbols[y.id].name) return false;
  } else if (x.is(Kind::label)) {
    if (!same_label(a, b, x, y, role, call)) return false;
  } else if (x.imm_type != y.imm_type || x.bits != y.bits || x.special != y.special ||
             x.component != y.component) {
    return false;
  }
  for (size_t i = 0; i < x.elements.size(); ++i)
    if (!same_operand(a, b, x.elements[i], y.elements[i], role, call)) return false;
  return true;
}

bool same_guard(const Side& a, const Side& b, const Guard& g, const Guard& h) {
  if (g.reg == no_id || h.reg == no_id) return g.reg == h.reg;
  return g.negated == h.negated && a.function.registers[g.reg].name == b.function.registers[h.reg].name;
}

bool same_source(const Side& a, const Side& b, const Instruction& i, const Instruction& j) {
  const auto same_place = [](const SourceLoc& s, const SourceLoc& t) {
    return s.file == t.file && s.line == t.line && s.column == t.column;
  };
  const auto same_frame = [&](const Frame& s, const Frame& t) {
    return s.function == t.function && same_place(s.at, t.at);
  };
  if (!std::ranges::equal(a.module.frames_of(i), b.module.frames_of(j), same_frame)) return false;
  const SourceLoc *s = a.module.source(i), *t = b.module.source(j);
  return s == nullptr || t == nullptr ? s == t : same_place(*s, *t);
}

bool same_instruction(const Side& a, const Side& b, const Instruction& i, const Instruction& j) {
  if (i.form != j.form || i.operands.size() != j.operands.size() || !same_guard(a, b, i.guard, j.guard))
    return false;
  if (!std::equal(i.mods.begin(), i.mods.begin() + static_cast<long>(i.form->slots.size()), j.mods.begin()))
    return false;
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (!same_operand(a, b, i.operands[k], j.operands[k], i.form->operands[k].kind, i.op->name == "call"))
      return false;
  return same_source(a, b, i, j);
}

bool same_variable(const Module& a, const Module& b, const Variable& v, const Variable& w) {
  const auto same_address = [&](const Relocation& r, const Relocation& s) {
    return r.at == s.at && r.size == s.size && r.addend == s.addend && r.generic == s.generic &&
           a.symbols[r.symbol].name == b.symbols[s.symbol].name;
  };
  return v.space == w.space && v.type == w.type && v.align == w.align && v.vector == w.vector &&
         v.dims == w.dims && v.init == w.init && v.pointer == w.pointer && v.pointee == w.pointee &&
         v.pointee_align == w.pointee_align && v.managed == w.managed &&
         std::ranges::equal(v.relocations, w.relocations, same_address);
}

std::string list_difference(const Module& a, const Module& b, const std::vector<SymbolId>& x,
                            const std::vector<SymbolId>& y) {
  if (x.size() != y.size()) return fmt::format("{} and {} variables", x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const Symbol &s = a.symbols[x[i]], &t = b.symbols[y[i]];
    if (s.name != t.name || !same_variable(a, b, s.variable, t.variable))
      return fmt::format("variable {} and {}", s.name, t.name);
  }
  return {};
}

std::string function_difference(const Side& a, const Side& b) {
  const Function &f = a.function, &g = b.function;
  if (f.entry != g.entry || f.defined != g.defined || f.noreturn != g.noreturn) return "kind";
  if (f.maxntid != g.maxntid || f.reqntid != g.reqntid || f.reqnctapercluster != g.reqnctapercluster ||
      f.minnctapersm != g.minnctapersm || f.maxnctapersm != g.maxnctapersm || f.maxnreg != g.maxnreg ||
      f.maxclusterrank != g.maxclusterrank || f.explicitcluster != g.explicitcluster ||
      f.pragmas != g.pragmas || f.other_directives != g.other_directives) {
    return "directives";
  }
  for (const auto list : {&Function::params, &Function::returns, &Function::locals}) {
    const std::string d = list_difference(a.module, b.module, f.*list, g.*list);
    if (!d.empty()) return d;
  }
  const auto same_pragma = [](const Pragma& p, const Pragma& q) {
    return p.text == q.text && p.before == q.before;
  };
  if (!std::ranges::equal(f.body_pragmas, g.body_pragmas, same_pragma)) return "pragmas";
  if (f.body.size() != g.body.size())
    return fmt::format("{} and {} instructions", f.body.size(), g.body.size());
  for (size_t i = 0; i < f.body.size(); ++i) {
    if (same_instruction(a, b, f.body[i], g.body[i])) continue;
    return fmt::format("instruction {}: {} and {}", i, print(a.module, f, f.body[i]),
                       print(b.module, g, g.body[i]));
  }
  return {};
}

std::map<std::string, const Symbol*> globals(const Module& m) {
  std::map<std::string, const Symbol*> all;
  for (const Symbol& s : m.symbols)
    if (s.scope == no_id) all.emplace(s.name, &s);
  return all;
}

}  // namespace

std::string difference(const Module& a, const Module& b) {
  if (a.version_major != b.version_major || a.version_minor != b.version_minor || a.target != b.target ||
      a.target_options != b.target_options || a.address_size != b.address_size) {
    return "header";
  }
  if (a.files != b.files || a.debug_sections != b.debug_sections || a.pragmas != b.pragmas)
    return "files, sections or pragmas";
  const auto ga = globals(a), gb = globals(b);
  if (ga.size() != gb.size()) return fmt::format("{} and {} symbols", ga.size(), gb.size());
  for (const auto& [name, s] : ga) {
    const auto it = gb.find(name);
    if (it == gb.end()) return fmt::format("{} is missing", name);
    const Symbol& t = *it->second;
    if (s->kind != t.kind || s->linkage != t.linkage || !same_variable(a, b, s->variable, t.variable))
      return fmt::format("symbol {}", name);
  }
  for (const Function& f : a.functions) {
    const Function* g = b.find_function(f.name);
    if (g == nullptr) return fmt::format("function {} is missing", f.name);
    const std::string d = function_difference({a, f}, {b, *g});
    if (!d.empty()) return fmt::format("{}: {}", f.name, d);
  }
  return {};
}

}  // namespace palladion::isa
