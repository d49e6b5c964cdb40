#include "isa/core/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "isa/core/parse_codes.h"

namespace palladion::isa {
namespace {

struct Place {
  size_t part = 0;
  SymbolId id = no_id;
};

bool is_global_name(const Symbol& s) { return s.scope == no_id && s.linkage != Linkage::none; }

bool defines(const Module& m, const Symbol& s) {
  if (s.linkage == Linkage::extern_) return false;
  return s.kind == Symbol::Kind::variable || m.functions[s.function].defined;
}

// How strongly a symbol claims its name.
int strength(const Module& m, const Symbol& s) {
  if (!defines(m, s)) return 0;
  return s.linkage == Linkage::visible ? 2 : 1;
}

int target_number(std::string_view target) {
  const size_t digits = target.find_first_of("0123456789");
  int number = 0;
  if (digits != std::string_view::npos)
    std::from_chars(target.data() + digits, target.data() + target.size(), number);
  return number;
}

class Linker {
 public:
  explicit Linker(std::span<const Module* const> parts) : parts_(parts) {}

  tl::expected<Module, Diagnostics> run() {
    choose();
    check();
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    for (size_t p = 0; p < parts_.size(); ++p) place(p);
    for (size_t p = 0; p < parts_.size(); ++p) resolve(p);
    for (size_t p = 0; p < parts_.size(); ++p) append(p);
    return std::move(out_);
  }

 private:
  const Symbol& symbol(const Place& at) const { return parts_[at.part]->symbols[at.id]; }

  // Which of the symbols of one name stands for all.
  void choose() {
    for (size_t p = 0; p < parts_.size(); ++p)
      for (SymbolId id = 0; id < parts_[p]->symbols.size(); ++id) {
        const Symbol& s = parts_[p]->symbols[id];
        if (!is_global_name(s)) continue;
        const auto [at, first] = chosen_.try_emplace(s.name, Place{p, id});
        if (first) continue;
        const int now = strength(*parts_[at->second.part], symbol(at->second)),
                  here = strength(*parts_[p], s);
        if (now == 2 && here == 2) error(fmt::format("`{}` is defined in two of the linked modules", s.name));
        if (here > now) at->second = {p, id};
      }
  }

  void check() {
    for (size_t p = 0; p < parts_.size(); ++p)
      for (const Symbol& s : parts_[p]->symbols)
        if (is_global_name(s)) check(*parts_[p], s);
  }

  void check(const Module& m, const Symbol& s) {
    const Place& at = chosen_.at(s.name);
    const Symbol& d = symbol(at);
    if (d.kind != s.kind)
      return error(fmt::format("`{}` is a function in one linked module and a variable in another", s.name));
    if (s.kind == Symbol::Kind::variable) {
      const uint64_t size = s.variable.size(), defined = d.variable.size();
      if (s.variable.space != d.variable.space || (size != 0 && defined != 0 && size != defined))
        error(fmt::format("`{}` has another size or space in one linked module than in another", s.name));
      return;
    }
    const Module& other = *parts_[at.part];
    if (!same(m, m.functions[s.function], other, other.functions[d.function]))
      error(fmt::format("`{}` has other parameters in one linked module than in another", s.name));
  }

  static bool same(const Module& a, const Function& f, const Module& b, const Function& g) {
    const auto equal = [&](const std::vector<SymbolId>& x, const std::vector<SymbolId>& y) {
      return std::ranges::equal(x, y, [&](SymbolId i, SymbolId j) {
        return a.symbols[i].variable.size() == b.symbols[j].variable.size();
      });
    };
    return equal(f.params, g.params) && equal(f.returns, g.returns);
  }

  bool kept(size_t part, SymbolId id) const {
    const Symbol& s = parts_[part]->symbols[id];
    const Symbol& owner = s.scope == no_id ? s : parts_[part]->symbols[s.scope];
    if (!is_global_name(owner)) return true;
    const Place& at = chosen_.at(owner.name);
    return at.part == part && at.id == (s.scope == no_id ? id : s.scope);
  }

  // The symbols and functions of a part that stay get their numbers.
  void place(size_t p) {
    const Module& m = *parts_[p];
    auto& ids = ids_.emplace_back(m.symbols.size(), no_id);
    auto& functions = functions_.emplace_back(m.functions.size(), no_id);
    for (SymbolId id = 0; id < m.symbols.size(); ++id) {
      if (!kept(p, id)) continue;
      ids[id] = static_cast<SymbolId>(out_.symbols.size());
      Symbol s = m.symbols[id];
      if (s.scope == no_id) s.name = name_of(p, s);
      if (s.kind == Symbol::Kind::function) {
        functions[s.function] = static_cast<uint32_t>(out_.functions.size());
        Function& f = out_.functions.emplace_back(m.functions[s.function]);
        f.name = s.name;
        s.function = functions[s.function];
      }
      out_.symbols.push_back(std::move(s));
    }
  }

  std::string name_of(size_t p, const Symbol& s) {
    if (s.linkage != Linkage::none) return s.name;
    std::string name = s.name;
    while (chosen_.contains(name) || !own_names_.insert(name).second) name += fmt::format("$linked{}", p);
    return name;
  }

  // What is not kept is another part's.
  void resolve(size_t p) {
    for (SymbolId id = 0; id < ids_[p].size(); ++id) {
      const Symbol& s = parts_[p]->symbols[id];
      if (ids_[p][id] != no_id || s.scope != no_id) continue;
      const Place& at = chosen_.at(s.name);
      ids_[p][id] = ids_[at.part][at.id];
    }
  }

  void append(size_t p) {
    const Module& m = *parts_[p];
    const auto sources = static_cast<uint32_t>(out_.frames.size());
    if (p == 0 || target_number(m.target) > target_number(out_.target)) out_.target = m.target;
    if (std::pair(m.version_major, m.version_minor) > std::pair(out_.version_major, out_.version_minor)) {
      out_.version_major = m.version_major;
      out_.version_minor = m.version_minor;
    }
    for (SymbolId id = 0; id < m.symbols.size(); ++id)
      if (kept(p, id)) renumber(p, out_.symbols[ids_[p][id]]);
    for (size_t f = 0; f < m.functions.size(); ++f)
      if (functions_[p][f] != no_id) renumber(p, out_.functions[functions_[p][f]], sources);
    for (const Alias& a : m.aliases) out_.aliases.push_back({ids_[p][a.name], ids_[p][a.target]});
    for (BufferName b : m.buffers) {
      b.symbol = ids_[p][b.symbol];
      if (b.symbol != no_id) out_.buffers.push_back(std::move(b));
    }
    out_.files.insert(out_.files.end(), m.files.begin(), m.files.end());
    for (SourceFrame frame : m.frames) {
      frame.label.clear();  // the debug sections of the parts do not fit together
      if (frame.caller != no_id) frame.caller += sources;
      out_.frames.push_back(std::move(frame));
    }
    for (const std::string& option : m.target_options)
      if (std::ranges::find(out_.target_options, option) == out_.target_options.end())
        out_.target_options.push_back(option);
    out_.pragmas.insert(out_.pragmas.end(), m.pragmas.begin(), m.pragmas.end());
  }

  void renumber(size_t p, SymbolId& id) const {
    if (id != no_id) id = ids_[p][id];
  }
  void renumber(size_t p, std::vector<SymbolId>& all) const {
    for (SymbolId& id : all) renumber(p, id);
  }
  void renumber(size_t p, Symbol& s) const {
    renumber(p, s.scope);
    for (Relocation& r : s.variable.relocations) renumber(p, r.symbol);
  }
  void renumber(size_t p, Operand& o) const {
    if (o.is(Operand::Kind::symbol)) renumber(p, o.id);
    for (Operand& e : o.elements) renumber(p, e);
  }
  void renumber(size_t p, Function& f, uint32_t sources) const {
    renumber(p, f.symbol);
    renumber(p, f.params);
    renumber(p, f.returns);
    renumber(p, f.locals);
    for (CallTargets& t : f.call_targets) renumber(p, t.functions);
    for (Instruction& i : f.body) {
      for (Operand& o : i.operands) renumber(p, o);
      if (i.origin.source != no_id) i.origin.source += sources;
    }
  }

  void error(std::string message) {
    errors_.push_back({.code = ParseCode::redefined, .message = std::move(message)});
  }

  std::span<const Module* const> parts_;
  std::map<std::string, Place, std::less<>> chosen_;
  std::set<std::string> own_names_;
  std::vector<std::vector<SymbolId>> ids_;        // by part and symbol: in the result
  std::vector<std::vector<uint32_t>> functions_;  // by part and function: in the result
  Module out_;
  Diagnostics errors_;
};

}  // namespace

tl::expected<Module, Diagnostics> link(std::span<const Module* const> parts) {
  if (parts.size() == 1) return *parts.front();
  return Linker(parts).run();
}

}  // namespace palladion::isa
