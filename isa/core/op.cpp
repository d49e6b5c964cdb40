#include "isa/core/op.h"

#include <string>
#include <unordered_map>

namespace palladion::isa {
namespace {

std::vector<Op> compile_all() {
  const OpList families[] = {ops::moves(),       ops::integer(),      ops::extended_precision(),
                             ops::floating(),    ops::half(),         ops::conversions(),
                             ops::comparisons(), ops::logic(),        ops::control(),
                             ops::memory(),      ops::atomics(),      ops::warp(),
                             ops::barriers(),    ops::async_copies(), ops::tensor_copies(),
                             ops::matrix(),      ops::system()};
  std::vector<Op> all;
  std::unordered_map<std::string_view, size_t> index;
  for (const OpList family : families) {
    for (const OpDef& def : family) {
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
  static const std::vector<Op> all = compile_all();
  return all;
}

}  // namespace

std::span<const Op> all_ops() { return table(); }

const Op* find_op(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Op*> map;
    for (const Op& op : table()) map.emplace(op.name, &op);
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
