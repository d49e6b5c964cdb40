#include "isa/core/module.h"

#include <algorithm>
#include <numeric>

#include "isa/core/author.h"

namespace palladion::isa {

uint64_t Variable::size() const {
  const uint64_t element = static_cast<uint64_t>(bytes(type)) * vector;
  return std::accumulate(dims.begin(), dims.end(), element, std::multiplies<>());
}

uint64_t Variable::alignment() const {
  return align != 0 ? align : std::max<uint64_t>(1, static_cast<uint64_t>(bytes(type)) * vector);
}

const Function* Module::find_function(std::string_view name) const {
  const auto it = std::ranges::find(functions, name, &Function::name);
  return it == functions.end() ? nullptr : &*it;
}

const Function* Module::find_entry(std::string_view name) const {
  const Function* found = nullptr;
  for (const Function& f : functions) {
    if (!f.entry || !f.defined) continue;
    if (f.name == name) return &f;
    if (name.empty()) {
      if (found != nullptr) return nullptr;
      found = &f;
    }
  }
  return found;
}

SymbolId Module::find_symbol(std::string_view name, uint32_t scope) const {
  for (SymbolId i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == name && symbols[i].scope == scope) return i;
  return no_id;
}

const SourceLoc* Module::source(uint32_t frame) const {
  const SourceLoc* found = nullptr;
  Owner owner = Owner::author;
  for (; frame != no_id; frame = frames[frame].caller) {
    const SourceLoc& at = frames[frame].at;
    if (!at.known()) continue;
    const Owner of = owner_of(at.file);
    if (found != nullptr && of >= owner) continue;
    found = &at;
    owner = of;
    if (owner == Owner::author) break;
  }
  return found;
}

Frames Module::frames_of(const Instruction& i) const {
  Frames out;
  uint32_t frame = i.origin.source;
  if (frame == no_id || frames[frame].caller == no_id) return out;
  for (; frame != no_id; frame = frames[frame].caller)
    out.push_back({frames[frame].at, frames[frame].function});
  return out;
}

ParamLayout param_layout(const Module& module, const Function& function, uint32_t base) {
  ParamLayout layout;
  uint64_t at = base;
  for (const SymbolId id : function.params) {
    const Variable& v = module.symbols[id].variable;
    const uint64_t align = v.alignment();
    at = (at + align - 1) / align * align;
    layout.offsets.push_back(static_cast<uint32_t>(at - base));
    at += v.size();
  }
  layout.size = static_cast<uint32_t>(at - base);
  return layout;
}

}  // namespace palladion::isa
