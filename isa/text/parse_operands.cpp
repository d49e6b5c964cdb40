#include "isa/text/parse_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/core/selector.h"
#include "isa/core/special.h"

namespace palladion::isa::detail {

std::optional<Operand> Operands::special_register(const Token& t) {
  const auto s = special_named(t.text.substr(1));
  if (!s) {
    in_.error(t, ParseCode::undeclared, fmt::format("register `{}` is not declared", t.text.substr(0, 60)),
              names_.nearest_name(t.text));
    return std::nullopt;
  }
  Operand o = Operand::special_reg(s->special, s->index);
  if (!in_.token().is(Token::Kind::directive)) return o;
  static constexpr std::string_view components = "xyzw";
  const std::string_view word = in_.token().text.substr(1);
  const size_t component = word.size() == 1 ? components.find(word[0]) : std::string_view::npos;
  if (component == std::string_view::npos || !is_vector(s->special)) {
    in_.error(in_.token(), ParseCode::syntax,
              fmt::format("`{}` has no component `{}`", t.text, in_.token().text.substr(0, 60)));
    return std::nullopt;
  }
  in_.next();
  o.component = static_cast<int8_t>(component);
  return o;
}

// `q.y` is one register, `q` all of them: a vector is as many registers, q_x, q_y, ...
std::optional<Operand> Operands::vector_register(std::string_view name, uint32_t elements) {
  static constexpr std::string_view components = "xyzw", colours = "rgba";
  const auto element = [&](size_t k) { return Operand::reg(names_.vector_element(name, k)); };
  if (!in_.token().is(Token::Kind::directive)) {
    std::vector<Operand> all;
    for (size_t k = 0; k < elements; ++k) all.push_back(element(k));
    return Operand::vector(std::move(all));
  }
  const std::string_view word = in_.token().text.substr(1);
  const size_t k =
      word.size() != 1 ? std::string_view::npos : std::min(components.find(word[0]), colours.find(word[0]));
  if (k >= elements) {
    in_.error(in_.token(), ParseCode::syntax,
              fmt::format("`{}` has no component `{}`", name, in_.token().text.substr(0, 60)));
    return std::nullopt;
  }
  in_.next();
  return element(k);
}

// A register, a special register, `_`, or a name whose role the form decides.
std::optional<Operand> Operands::name_operand() {
  const Token t = in_.token();
  in_.next();
  if (t.text == "_") return Operand::sink();
  if (const uint32_t elements = names_.vector_elements(t.text); elements != 0)
    return vector_register(t.text, elements);
  const RegId id = names_.find_register(t.text);
  if (id != no_id) {
    Operand o = Operand::reg(id);
    if (!in_.token().is(Token::Kind::directive)) return o;
    if (!selector::write(o, in_.token().text.substr(1))) {
      in_.error(in_.token(), ParseCode::syntax,
                fmt::format("`{}` has no component `{}`", t.text, in_.token().text.substr(0, 60)));
      return std::nullopt;
    }
    in_.next();
    return o;
  }
  if (t.text[0] == '%' && names_.find_variable(t.text) == no_id) return special_register(t);
  Operand o;
  o.kind = Operand::Kind::symbol;
  o.bits = open_names_.size();
  open_names_.push_back(t);
  if (in_.token().is('+') || in_.token().is('-')) {
    const auto offset = numbers_.integer("an offset");
    if (!offset) return std::nullopt;
    o.offset = *offset;
  }
  return o;
}

std::optional<Operand> Operands::negated_operand() {
  const Token at = in_.token();
  in_.next();
  if (!in_.token().is(Token::Kind::word)) {
    in_.error_expected("a predicate");
    return std::nullopt;
  }
  auto o = name_operand();
  if (!o) return o;
  if (!o->is(Operand::Kind::reg)) {
    in_.error(at, ParseCode::operands, "only predicate registers are negated with `!`");
    return std::nullopt;
  }
  o->negated = true;
  return o;
}

std::optional<Operand> Operands::vector_operand() {
  in_.next();
  std::vector<Operand> elements;
  if (!in_.accept('}')) {
    do {
      std::optional<Operand> o;
      if (in_.token().is(Token::Kind::word)) {
        o = name_operand();
      } else if (numbers_.at_constant()) {
        o = numbers_.constant();
      } else {
        in_.error_expected("an element of a vector");
      }
      if (!o) return std::nullopt;
      elements.push_back(std::move(*o));
    } while (in_.accept(','));
    if (!in_.expect('}')) return std::nullopt;
  }
  return Operand::vector(std::move(elements));
}

bool Operands::address_offset(Operand& address) {
  if (in_.token().is('+')) in_.next();
  const auto offset = numbers_.integer("an offset");
  if (offset)
    address.offset =
        static_cast<int64_t>(static_cast<uint64_t>(address.offset) + static_cast<uint64_t>(*offset));
  return offset.has_value();
}

bool Operands::coordinates(Operand& address) {
  if (!in_.token().is('{')) {
    in_.error_expected("the coordinates, as in `[map, {c0, c1}]`");
    return false;
  }
  auto list = vector_operand();
  if (!list) return false;
  for (Operand& c : list->elements) address.elements.push_back(std::move(c));
  return true;
}

// Behind `[T, `: a coordinate of one dimension, or the coordinates in braces, maybe with a sampler before
// them.
bool Operands::texel_coordinates(Operand& address) {
  std::optional<Operand> sampler;
  if (!in_.token().is('{')) {
    auto first = operand();
    if (!first) return false;
    if (in_.token().is(']') && first->is(Operand::Kind::reg)) {
      address.elements.push_back(std::move(*first));
      return true;
    }
    if (!in_.expect(',')) return false;
    sampler = std::move(first);
  }
  if (!coordinates(address)) return false;
  address.sampled = sampler.has_value();
  if (sampler) address.elements.push_back(std::move(*sampler));
  return true;
}

// [a], [a+4], [a, {c0, c1}]; of textures also [a, sampler, {c0, c1}] and [a, c0]
std::optional<Operand> Operands::address_operand(bool of_texels) {
  in_.next();
  Operand address = Operand::address({});
  Operand& base = address.elements[0];
  if (in_.token().is(Token::Kind::word) && in_.token().text != "WARP_SZ") {
    auto o = name_operand();
    if (!o) return std::nullopt;
    base = std::move(*o);
    std::swap(address.offset, base.offset);
    if ((in_.token().is('+') || in_.token().is('-')) && !address_offset(address)) return std::nullopt;
  } else {
    const Token at = in_.token();
    const auto o = numbers_.constant();
    if (!o) return std::nullopt;
    base = *o;
    if (o->imm_type != Operand::ImmType::integer) {
      in_.error(at, ParseCode::operands, "an address is an integer");
      return std::nullopt;
    }
  }
  if (in_.accept(',') && !(of_texels ? texel_coordinates(address) : coordinates(address)))
    return std::nullopt;
  if (!in_.expect(']')) return std::nullopt;
  return address;
}

std::optional<Operand> Operands::operand(bool of_texels) {
  if (in_.token().is(Token::Kind::word) && in_.token().text != "WARP_SZ") return name_operand();
  if (in_.token().is('[')) return address_operand(of_texels);
  if (in_.token().is('{')) return vector_operand();
  if (in_.token().is('!')) return negated_operand();
  if (numbers_.at_constant() || in_.token().is(Token::Kind::word)) return numbers_.constant();
  in_.error_expected("an operand");
  return std::nullopt;
}

bool Operands::list(std::vector<Operand>& list, bool of_texels) {
  if (in_.token().is(';') || in_.token().is('}')) return true;
  while (true) {
    auto o = operand(of_texels);
    if (!o) return false;
    list.push_back(std::move(*o));
    if (in_.token().is('|')) {
      in_.next();
      auto second = operand();
      if (!second) return false;
      second->joined = true;
      list.push_back(std::move(*second));
    }
    if (!in_.accept(',')) return true;
  }
}

bool Operands::call_list(Operand& list) {
  in_.next();
  list = Operand::vector({});
  if (in_.accept(')')) return true;
  do {
    auto o = operand();
    if (!o) return false;
    list.elements.push_back(std::move(*o));
  } while (in_.accept(','));
  return in_.expect(')');
}

// call (ret), function, (arguments), targets; all but the function may be left out.
bool Operands::call(CallText& call) {
  if (in_.token().is('(') && (!call_list(call.returns) || !in_.expect(','))) return false;
  if (!in_.token().is(Token::Kind::word)) {
    in_.error_expected("a function");
    return false;
  }
  auto function_name = name_operand();
  if (!function_name) return false;
  call.function = std::move(*function_name);
  if (in_.accept(',')) {
    if (in_.token().is('(')) {
      if (!call_list(call.arguments)) return false;
      if (!in_.accept(',')) return true;
    }
    if (!in_.token().is(Token::Kind::word)) {
      in_.error_expected("a prototype or a list of targets");
      return false;
    }
    auto targets = name_operand();
    if (!targets) return false;
    call.targets = std::move(*targets);
  }
  return true;
}

}  // namespace palladion::isa::detail
