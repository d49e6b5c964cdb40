// Variables of opaque type and the instructions that name them (PTX, "Texture Sampler and Surface Types",
// "Texturing Modes").
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/verify/verify_internal.h"

namespace palladion::isa::detail {
namespace {

using K = Operand::Kind;

// What the address of an instruction names; Type::none: memory.
Type object_of(const Instruction& i, bool independent) {
  const std::string_view op = i.form->op;
  if (op == "suld" || op == "sust" || op == "sured" || op == "suq") return Type::surfref;
  if (op == "tex" || op == "tld4") return Type::texref;
  if (op != "txq") return Type::none;
  const std::string_view query = i.mod("query");
  if (query == "force_unnormalized_coords") return Type::samplerref;
  const bool of_sampler = query == "filter_mode" || query.starts_with("addr_mode_");
  return of_sampler && independent ? Type::samplerref : Type::texref;
}

// The coordinates of a geometry with the layer or sample, and those that offsets and gradients have.
struct Coordinates {
  std::string_view geometry;
  size_t texel, planar;
};
constexpr Coordinates coordinates_of[] = {{"1d", 1, 1},    {"2d", 2, 2},   {"3d", 3, 3},
                                          {"a1d", 2, 1},   {"a2d", 3, 2},  {"cube", 3, 3},
                                          {"acube", 4, 3}, {"2dms", 3, 2}, {"a2dms", 4, 2}};

// Vectors have 1, 2 or 4 elements; what is above the coordinates is ignored.
bool is_vector_of(size_t elements, size_t coordinates) {
  return elements >= coordinates && (elements == 1 || elements == 2 || elements == 4);
}

bool is_independent(const Module& m) {
  return std::ranges::find(m.target_options, "texmode_independent") != m.target_options.end();
}

}  // namespace

const Symbol* Verifier::opaque_symbol(const Operand& o) const {
  if (!o.is(K::symbol)) return nullptr;
  const Symbol& s = module_.symbols[o.id];
  return s.kind == Symbol::Kind::variable && is_opaque(s.variable.type) ? &s : nullptr;
}

void Verifier::opaque_variable(SymbolId id) {
  const Symbol& s = module_.symbols[id];
  const Variable& v = s.variable;
  const Function* owner = s.scope == no_id ? nullptr : &module_.functions[module_.symbols[s.scope].function];
  const bool of_kernel =
      owner != nullptr && owner->entry && std::ranges::find(owner->params, id) != owner->params.end();
  if (!of_kernel && (v.space != Space::global || owner != nullptr))
    say(VerifyCode::space,
        fmt::format(
            "`{}` is a `.{}`: it stands in .global memory of the module, or is a parameter of a kernel",
            s.name, name(v.type)));
  if (s.linkage == Linkage::common)
    say(VerifyCode::space, fmt::format("`{}` is a `.{}` and cannot be .common", s.name, name(v.type)));
  if (v.type == Type::samplerref && !is_independent(module_))
    say(VerifyCode::target, fmt::format("the sampler `{}` needs the independent texturing mode", s.name),
        fmt::format("write `.target {}, texmode_independent`", module_.target));
  if (!v.dims.empty() || v.vector != 1)
    say(VerifyCode::memory, fmt::format("arrays of `.{}` (`{}`) are not modelled", name(v.type), s.name));
}

void Verifier::indirect() {
  if (module_.version_major > 3 || (module_.version_major == 3 && module_.version_minor >= 1)) return;
  say(VerifyCode::version,
      fmt::format(
          "`{}` with the address of a texture, sampler or surface needs PTX 3.1, the module has {}.{}",
          instruction_->form->op, module_.version_major, module_.version_minor),
      "raise `.version` to 3.1");
}

void Verifier::object(const Operand& o, Type wanted) {
  if (o.is(K::reg) && bits(function_->registers[o.id].type) == 64) return indirect();
  const Symbol* s = opaque_symbol(o);
  if (s == nullptr || s->variable.type != wanted || o.offset != 0)
    say(VerifyCode::operand_kind, fmt::format("`{}` takes a `.{}` or a register of 64 bits there",
                                              instruction_->form->op, name(wanted)));
}

void Verifier::sampler(const Operand& address) {
  const std::string_view op = instruction_->form->op;
  if (op != "tex" && op != "tld4") {
    if (address.sampled) say(VerifyCode::operand_kind, fmt::format("`{}` takes no sampler", op));
  } else if (address.sampled && is_independent(module_)) {
    object(address.elements.back(), Type::samplerref);
  } else if (address.sampled) {
    // ptxas takes anything there, and its code reads it as an offset.
    say(VerifyCode::operand_kind, fmt::format("`{}` with a sampler needs the independent texturing mode", op),
        fmt::format("write `.target {}, texmode_independent`", module_.target));
  } else if (is_independent(module_)) {
    say(VerifyCode::operand_kind, fmt::format("`{}` needs a sampler in the independent texturing mode", op),
        "write [texture, sampler, {coordinates}]");
  }
}

void Verifier::texel_coordinates(const Instruction& i, const Operand& address) {
  const auto* c = std::ranges::find(coordinates_of, i.mod("geom"), &Coordinates::geometry);
  if (c == std::end(coordinates_of)) return;
  const auto count = [&](std::string_view what, size_t elements, size_t coordinates) {
    if (!is_vector_of(elements, coordinates))
      say(VerifyCode::vector, fmt::format("`{}.{}` takes a vector of {} for {}, not of {}", i.form->op,
                                          c->geometry, std::bit_ceil(coordinates), what, elements));
  };
  count("its coordinates", address.coordinates().size(), c->texel);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const std::string_view name = i.form->operands[k].name;
    if (i.operands[k].is(K::none) || (name != "offset" && name != "ddx" && name != "ddy")) continue;
    count(fmt::format("operand `{}`", name), std::max<size_t>(i.operands[k].elements.size(), 1), c->planar);
  }
}

void Verifier::textures(const Instruction& i) {
  const Type wanted = object_of(i, is_independent(module_));
  if (wanted == Type::none) return opaque_names(i);
  const auto at = std::ranges::find(i.operands, K::address, &Operand::kind);
  if (at == i.operands.end() || at->elements.empty()) return;
  if (at->offset != 0)
    return say(VerifyCode::operand_kind, fmt::format("`{}` takes an object without an offset", i.form->op));
  object(at->elements[0], wanted);
  if (at->elements.size() == 1) return;  // a query
  sampler(*at);
  texel_coordinates(i, *at);
}

// Elsewhere only `mov.u64` names an object.
void Verifier::opaque_names(const Instruction& i) {
  const bool moves = operation(i) == Operation::move && i.type() == Type::u64;
  for (const Operand& o : i.operands) {
    const Symbol* s = opaque_symbol(o);
    for (const Operand& e : o.elements)
      if (s == nullptr) s = opaque_symbol(e);
    if (s == nullptr) continue;
    if (moves) return indirect();
    return say(
        VerifyCode::operand_kind,
        fmt::format("`{}` is a `.{}`: `{}` does not take it", s->name, name(s->variable.type), i.form->op),
        "texture and surface instructions name it, and `mov.u64` takes its address");
  }
}

}  // namespace palladion::isa::detail
