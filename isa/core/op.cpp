#include "isa/core/op.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "isa/core/diagnostic.h"

namespace palladion::isa {
namespace {

struct Family {
  std::string_view name;
  std::vector<OpDef> defs;
};

// The tables below are never destroyed: a program may launch kernels while it ends.
const std::vector<Family>& families() {
  static const auto& all = *new const std::vector<Family>{{"moves", ops::moves()},
                                                          {"integer", ops::integer()},
                                                          {"extended_precision", ops::extended_precision()},
                                                          {"floating", ops::floating()},
                                                          {"half", ops::half()},
                                                          {"conversions", ops::conversions()},
                                                          {"comparisons", ops::comparisons()},
                                                          {"logic", ops::logic()},
                                                          {"control", ops::control()},
                                                          {"memory", ops::memory()},
                                                          {"atomics", ops::atomics()},
                                                          {"warp", ops::warp()},
                                                          {"barriers", ops::barriers()},
                                                          {"async_copies", ops::async_copies()},
                                                          {"tensor_copies", ops::tensor_copies()},
                                                          {"matrix", ops::matrix()},
                                                          {"wmma", ops::wmma()},
                                                          {"video", ops::video()},
                                                          {"tcgen05", ops::tcgen05()},
                                                          {"textures", ops::textures()},
                                                          {"system", ops::system()}};
  return all;
}

std::vector<Op> compile_all() {
  std::vector<Op> all;
  std::unordered_map<std::string_view, size_t> index;
  for (const Family& f : families()) {
    for (const OpDef& def : f.defs) {
      const auto [it, is_new] = index.emplace(def.name.value, all.size());
      if (is_new)
        all.push_back({.name = def.name.value, .id = static_cast<uint16_t>(all.size()), .forms = {}});
      for (const std::string_view text : def.syntax.value) {
        Form form = compile_form(text);
        form.def = &def;
        all[it->second].forms.push_back(std::move(form));
      }
    }
  }
  return all;
}

const std::vector<Op>& table() {
  static const auto& all = *new const std::vector<Op>(compile_all());
  return all;
}

}  // namespace

std::span<const Op> all_ops() { return table(); }

std::span<const OpDef> family(std::string_view name) {
  const auto f = std::ranges::find(families(), name, &Family::name);
  PLD_CHECK(f != families().end(), std::string(name));
  return f->defs;
}

const Op* find_op(std::string_view name) {
  static const auto& index = *[] {
    auto* const map = new std::unordered_map<std::string_view, const Op*>;
    for (const Op& op : table()) map->emplace(op.name, &op);
    return map;
  }();
  const auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

int DecodeContext::width(const Operand& operand) const {
  if (!operand.is(Operand::Kind::reg)) return 0;
  return bits(function.registers[operand.id].type);
}

}  // namespace palladion::isa
