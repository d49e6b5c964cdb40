// Operands against the form (PTX, "Operand Type Checking").
#include <fmt/format.h>

#include <algorithm>

#include "isa/core/special.h"
#include "isa/text/print.h"
#include "isa/verify/verify_internal.h"

namespace palladion::isa::detail {
namespace {

using K = Operand::Kind;

// Untyped registers and instructions match any type; integers match integers of either sign; a floating type
// matches only itself. These are ptxas' rules.
bool classes_agree(Type instruction, Type reg) {
  if (kind(instruction) == TypeKind::untyped || kind(reg) == TypeKind::untyped) return true;
  return is_float(instruction) || is_float(reg) ? instruction == reg : true;
}

bool takes_function(const Form& form) {
  return std::ranges::find(form.operands, OperandKind::function, &OperandDef::kind) != form.operands.end();
}

// Memory where an address has 64 bits.
bool is_global_or_generic(const Instruction& i) {
  if (i.form->slot("space") >= 0 && !i.mod("space").empty()) return i.mod("space") == "global";
  constexpr std::string_view generic[] = {"ld", "st", "atom", "red"};
  return std::ranges::find(generic, i.form->op) != std::end(generic);
}

// Video instructions alone.
bool takes_selectors(const Form& form) {
  const auto video = family("video");
  return std::ranges::any_of(video, [&](const OpDef& d) { return &d == form.def; });
}

}  // namespace

Type Verifier::type_of(const OperandDef& def) const {
  return operand_type(*instruction_->form, def, instruction_->mods.data());
}

int Verifier::count_of(const OperandDef& def) const {
  return operand_count(*instruction_->form, def, instruction_->mods.data());
}

bool Verifier::ids_exist(const Operand& o, const OperandDef& def) {
  switch (o.kind) {
    case K::reg:
      if (o.id >= function_->registers.size()) return false;
      break;
    case K::symbol:
      if (o.id >= module_.symbols.size()) return false;
      break;
    case K::label: {
      const bool in_list = def.kind == OperandKind::list || def.kind == OperandKind::any;
      const bool call = takes_function(*instruction_->form);
      const size_t count = !in_list ? function_->labels.size()
                           : call   ? function_->call_targets.size()
                                    : function_->branch_targets.size();
      if (o.id >= count) return false;
      break;
    }
    default:
      break;
  }
  return std::ranges::all_of(o.elements, [&](const Operand& e) { return ids_exist(e, def); });
}

void Verifier::operand(const Operand& o, const OperandDef& def) {
  const auto wrong = [&](std::string_view must) {
    say(VerifyCode::operand_kind,
        fmt::format("operand `{}` of `{}` must be {}", def.name, instruction_->form->op, must));
  };
  switch (def.kind) {
    case OperandKind::value:
      return value(o, def);
    case OperandKind::predicate:
      return predicate(o, def);
    case OperandKind::immediate:
      if (!o.is(K::imm) || o.imm_type != Operand::ImmType::integer) wrong("an integer constant");
      return;
    case OperandKind::address:
      if (!o.is(K::address) || o.elements.size() != 1) return wrong("an address");
      return address(o, def);
    case OperandKind::tensor:
      if (!o.is(K::address) || o.coordinates().empty() || o.coordinates().size() > 5)
        return wrong("a tensor with 1 to 5 coordinates");
      return address(o, def);
    case OperandKind::label:
      if (!o.is(K::label)) return wrong("a label");
      if (function_->labels[o.id].target == no_id) {
        say(VerifyCode::label,
            fmt::format("label `{}` stands nowhere in `{}`", function_->labels[o.id].name, function_->name));
      }
      return;
    case OperandKind::function:
      if (!o.is(K::symbol) && !o.is(K::reg)) wrong("a function or a register with its address");
      return;
    case OperandKind::list:
      if (!o.is(K::vector) && !o.is(K::label)) wrong("a list");
      return;
    case OperandKind::pack:
      return packed(o, def);
    case OperandKind::any:
      return;
  }
}

void Verifier::packed(const Operand& o, const OperandDef& def) {
  const Type type = instruction_->type();
  if (o.is(K::vector)) return vector_size(o, type);
  if (type == Type::pred) return predicate(o, def);
  if (o.is(K::symbol) || o.is(K::reg) || o.is(K::imm) || o.is(K::special) || o.is(K::sink))
    return scalar(o, def, type);
  say(VerifyCode::operand_kind,
      fmt::format("operand `{}` of `{}` is no value", def.name, instruction_->form->op));
}

void Verifier::value(const Operand& o, const OperandDef& def) {
  const Type type = type_of(def);
  const int count = count_of(def);
  if (o.is(K::vector)) {
    if (count == 1)
      return say(VerifyCode::vector,
                 fmt::format("operand `{}` of `{}` is no vector", def.name, instruction_->form->op));
    if (count > 1 && o.elements.size() != static_cast<size_t>(count)) {
      return say(VerifyCode::vector, fmt::format("operand `{}` of `{}` has {} elements and needs {}",
                                                 def.name, instruction_->form->op, o.elements.size(), count));
    }
    for (const Operand& e : o.elements) scalar(e, def, type);
    return;
  }
  if (count > 1) {
    return say(VerifyCode::vector, fmt::format("operand `{}` of `{}` is a vector of {} elements", def.name,
                                               instruction_->form->op, count));
  }
  scalar(o, def, type);
}

void Verifier::vector_size(const Operand& o, Type type) {
  int total = 0;
  for (const Operand& e : o.elements) {
    if (!e.is(K::reg)) return;
    total += bits(function_->registers[e.id].type);
  }
  if (total != bits(type))
    say(VerifyCode::width,
        fmt::format("the elements have {} bits together, `.{}` has {}", total, name(type), bits(type)));
}

void Verifier::scalar(const Operand& o, const OperandDef& def, Type type) {
  if (def.writes && !o.is(K::reg) && !o.is(K::sink)) {
    return say(VerifyCode::operand_kind, fmt::format("operand `{}` of `{}` is written and must be a register",
                                                     def.name, instruction_->form->op));
  }
  switch (o.kind) {
    case K::reg:
      if (o.offset != 0 && !takes_selectors(*instruction_->form))
        return say(VerifyCode::operand_kind, fmt::format("operand `{}` of `{}` takes no part of a register",
                                                         def.name, instruction_->form->op));
      return register_type(o, def, type);
    case K::imm:
      return constant(o, def, type);
    case K::special:
      return special(o, def, type);
    case K::symbol:
      return symbol_value(o, def, type);
    case K::sink: {
      const auto& defs = instruction_->form->operands;
      const bool paired = std::ranges::any_of(defs, &OperandDef::joined);
      const bool may_drop = paired || def.count != 1 || !def.count_slot.empty() || def.droppable;
      if (!def.writes || !may_drop)
        say(VerifyCode::operand_kind, fmt::format("`{}` does not take `_` here", instruction_->form->op));
      return;
    }
    default:
      say(VerifyCode::operand_kind,
          fmt::format("operand `{}` of `{}` is no value", def.name, instruction_->form->op));
  }
}

void Verifier::register_type(const Operand& o, const OperandDef& def, Type type) {
  const Register& r = function_->registers[o.id];
  if (type == Type::none || (def.or_predicate && r.type == Type::pred)) return;
  const int want = bits(type) * def.width_factor, have = bits(r.type);
  if ((r.type == Type::pred) != (type == Type::pred)) {
    return say(VerifyCode::width, fmt::format("`{}` is declared `.{}`, operand `{}` is `.{}`", r.name,
                                              name(r.type), def.name, name(type)));
  }
  if (o.negated && type != Type::pred)
    return say(VerifyCode::operand_kind, fmt::format("`{}` is no predicate to negate", r.name));
  // Packed narrow types live in the next larger register.
  const bool fits = have == want || (have > want && def.widens) || (want < 8 && have >= 8);
  if (!fits) {
    say(VerifyCode::width, fmt::format("`{}` has {} bits (`.{}`), operand `{}` of `{}` has {}", r.name, have,
                                       name(r.type), def.name, instruction_->form->op, want));
  } else if (!classes_agree(type, r.type)) {
    say(VerifyCode::type_class,
        fmt::format("`{}` is declared `.{}`, operand `{}` of `{}` is `.{}`", r.name, name(r.type), def.name,
                    instruction_->form->op, name(type)),
        "declare the register with the instruction's type, or as .b32 or .b64");
  }
}

void Verifier::constant(const Operand& o, const OperandDef& def, Type type) {
  using I = Operand::ImmType;
  const bool is_integer = o.imm_type == I::integer;
  const bool floating_type = type == Type::f32 || type == Type::f64;
  const bool integer_type = kind(type) == TypeKind::unsigned_int || kind(type) == TypeKind::signed_int;
  if (is_integer && floating_type) {
    say(VerifyCode::immediate,
        fmt::format("operand `{}` of `{}` is `.{}` and takes a floating-point constant", def.name,
                    instruction_->form->op, name(type)),
        "write 1.0 for 1");
  } else if (!is_integer && integer_type) {
    say(VerifyCode::immediate, fmt::format("operand `{}` of `{}` is `.{}` and takes an integer", def.name,
                                           instruction_->form->op, name(type)));
  } else if (!is_integer && kind(type) == TypeKind::untyped &&
             bits(type) != (o.imm_type == I::f32 ? 32 : 64)) {
    say(VerifyCode::immediate,
        fmt::format("a constant of {} bits is no `.{}`", o.imm_type == I::f32 ? 32 : 64, name(type)));
  }
}

void Verifier::special(const Operand& o, const OperandDef& def, Type type) {
  const int want = bits(type) * def.width_factor, have = bits(isa::type_of(o.special));
  if (is_vector(o.special) && o.component < 0) {
    say(VerifyCode::operand_kind, fmt::format("`%{}` is a vector: name a component", name(o.special)),
        "write .x, .y or .z");
  } else if (type != Type::none && (have == 64) != (want == 64) && o.special != Special::gridid) {
    // %gridid had 16 and 32 bits once, and is still read so.
    say(VerifyCode::width,
        fmt::format("`%{}` has {} bits, operand `{}` has {}", name(o.special), have, def.name, want));
  }
}

void Verifier::symbol_value(const Operand& o, const OperandDef& def, Type type) {
  const Symbol& s = module_.symbols[o.id];
  const int want = bits(type) * def.width_factor;
  const bool narrow = s.kind == Symbol::Kind::variable && s.variable.space != Space::global &&
                      s.variable.space != Space::generic;
  if (want == 64 || (want == 32 && narrow)) return;
  say(VerifyCode::width,
      fmt::format("the address of `{}` does not fit operand `{}` of {} bits", s.name, def.name, want),
      "use a 64-bit type");
}

void Verifier::predicate(const Operand& o, const OperandDef& def) {
  const bool is_register = o.is(K::reg) && function_->registers[o.id].type == Type::pred;
  const bool other = def.writes ? o.is(K::sink) : o.is(K::imm) || o.is(K::special);
  if (!is_register && !other) {
    say(VerifyCode::operand_kind,
        fmt::format("operand `{}` of `{}` must be a predicate register", def.name, instruction_->form->op));
  }
}

Space Verifier::space_of(const OperandDef& def) const {
  const Form& form = *instruction_->form;
  const std::string_view slot = form.slot(def.name) >= 0 ? def.name : "space";
  return form.slot(slot) < 0 ? Space::generic : space_named(instruction_->mod(slot)).value_or(Space::generic);
}

void Verifier::address(const Operand& o, const OperandDef& def) {
  const Operand& base = o.elements[0];
  if (base.is(K::reg)) {
    const int have = bits(function_->registers[base.id].type);
    if (def.tensor_memory && have != 32) {
      say(VerifyCode::width,
          fmt::format("address `{}` of tensor memory has {} bits and needs 32",
                      function_->registers[base.id].name, have),
          "tcgen05.alloc stores the address to shared memory: load it with ld.shared.b32");
    } else if (have != 64 && have != 32) {
      say(VerifyCode::width,
          fmt::format("address `{}` has {} bits", function_->registers[base.id].name, have),
          "addresses have 64 bits, or 32 in shared memory");
    } else if (have == 32 && is_global_or_generic(*instruction_)) {
      say(VerifyCode::width,
          fmt::format("address `{}` has 32 bits: 32-bit addresses of global memory are not modelled",
                      function_->registers[base.id].name),
          "chips since sm_90 do not have them either: compile with -m64");
    }
  } else if (base.is(K::symbol)) {
    const Symbol& s = module_.symbols[base.id];
    const Space want = space_of(def);
    const bool shared = want == Space::shared_cluster && s.variable.space == Space::shared_cta;
    const bool differs =
        s.kind == Symbol::Kind::variable && want != Space::generic && want != s.variable.space && !shared;
    if (differs) {
      say(VerifyCode::space, fmt::format("`{}` is a `.{}` variable, `{}` goes to `.{}`", s.name,
                                         name(s.variable.space), instruction_->form->op, name(want)));
    }
  } else if (!base.is(K::imm)) {
    say(VerifyCode::operand_kind,
        fmt::format("operand `{}` of `{}` is no address", def.name, instruction_->form->op));
  }
  for (const Operand& e : o.coordinates()) {
    if (!e.is(K::reg) && !e.is(K::imm) && !e.is(K::special))
      say(VerifyCode::operand_kind, fmt::format("a coordinate of `{}` is no value", instruction_->form->op));
    if (e.is(K::reg) && bits(function_->registers[e.id].type) != 32) {
      say(VerifyCode::width,
          fmt::format("coordinate `{}` has {} bits and needs 32", function_->registers[e.id].name,
                      bits(function_->registers[e.id].type)));
    }
  }
}

// Constants against the ranges that the form states.
void Verifier::constants(const Instruction& i) {
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const OperandDef& def = i.form->operands[k];
    if (!def.constants || !i.operands[k].is(K::imm)) continue;
    ConstantRange range = *def.constants;
    const Operand* most = range.most_operand.empty() ? nullptr : i.operand(range.most_operand);
    if (most != nullptr) range.most = static_cast<int64_t>(most->bits);
    const auto value = static_cast<int64_t>(i.operands[k].bits);
    if (range.has(value)) continue;
    say(VerifyCode::immediate,
        fmt::format("operand `{}` of `{}` is {} and must be {}", def.name, i.form->op, value, range.words()),
        std::string(range.why));
  }
}

}  // namespace palladion::isa::detail
