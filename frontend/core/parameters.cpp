#include "frontend/core/parameters.h"

#include <fmt/format.h>

#include "frontend/core/elementwise.h"

namespace palladion::frontend {

isa::SymbolId Parameters::add(isa::Variable variable) {
  return emitter_.builder().add_param(fmt::format("{}_param_{}", emitter_.function().name, params_.size()),
                                      std::move(variable));
}

Operand Parameters::keep(plgpu::Param param, Operand value) {
  params_.push_back(std::move(param));
  values_.push_back(std::move(value));
  return values_.back();
}

Operand Parameters::array_pointer(int array) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const auto* p = std::get_if<plgpu::PointerParam>(&params_[i]);
    if (p != nullptr && p->array == array) return values_[i];
  }
  return pointer(plgpu::PointerParam{array});
}

Operand Parameters::tensor_map(int array, const isa::TensorMap& map) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const auto* p = std::get_if<plgpu::TensorMapParam>(&params_[i]);
    if (p != nullptr && p->array == array && p->map == map) return values_[i];
  }
  isa::Variable v;
  v.type = Type::b8;
  v.align = isa::tensor_map_alignment;
  v.dims = {isa::tensor_map_bytes};
  const Operand address = emitter_.at_entry("mov.b64", {Operand::symbol(add(std::move(v)))}, Type::b64);
  return keep(plgpu::TensorMapParam{array, map}, emitter_.at_entry("cvta.param.u64", {address}, Type::b64));
}

Operand Parameters::pointer(plgpu::Param param) {
  isa::Variable v;
  v.type = Type::u64;
  v.pointer = true;
  v.pointee = isa::Space::global;
  v.pointee_align = 16;
  const Operand symbol = Operand::symbol(add(std::move(v)));
  const Operand generic = emitter_.at_entry("ld.param.u64", {Operand::address(symbol)}, Type::b64);
  return keep(std::move(param), emitter_.at_entry("cvta.to.global.u64", {generic}, Type::b64));
}

Operand Parameters::scratch_array(int64_t bytes, std::string name) {
  return pointer(plgpu::ScratchParam{bytes, std::move(name)});
}

void Parameters::declare(plgpu::ScalarParam scalar) {
  isa::Variable v;
  v.type = pl::bits(scalar.dtype) == 16 ? Type::b16 : pl::isa_type(scalar.dtype);
  const Operand symbol = Operand::symbol(add(std::move(v)));
  keep(std::move(scalar), symbol);
}

std::optional<Operand> Parameters::scalar(std::string_view name) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const auto* s = std::get_if<plgpu::ScalarParam>(&params_[i]);
    if (s == nullptr || s->name != name) continue;
    const std::string type = pl::bits(s->dtype) == 16 ? "b16" : std::string(pl::name(s->dtype));
    return emitter_.at_entry("ld.param." + type, {Operand::address(values_[i])}, register_type(s->dtype));
  }
  return std::nullopt;
}

Operand Parameters::profile_pointer() { return pointer(plgpu::ProfileParam{}); }

}  // namespace palladion::frontend
