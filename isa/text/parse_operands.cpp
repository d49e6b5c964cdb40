// Operands as written, and the names in them.
#include <fmt/format.h>

#include <algorithm>

#include "isa/core/selector.h"
#include "isa/core/special.h"
#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {

// --- names ---------------------------------------------------------------------------------------

// A name for the flat list of the function: that of a nested block may be taken already.
std::string Parser::unique_name(std::string_view name) {
  std::string unique(name);
  const bool nested = scopes_.size() > 2;
  const auto taken = [&](const std::string& s) {
    return used_names_.contains(s) || (nested && module_names_.contains(s));
  };
  if (taken(unique)) {
    uint32_t& suffix = suffixes_[unique];
    do {
      unique = fmt::format("{}_{}", name, ++suffix);
    } while (taken(unique));
  }
  used_names_.insert(unique);
  return unique;
}

RegId Parser::new_register(Scope& s, std::string_view name, Type type) {
  const auto id = static_cast<RegId>(function_->registers.size());
  function_->registers.push_back({unique_name(name), type});
  s.registers.emplace(name, id);
  return id;
}

// A register is created when an instruction first names it: %r<2000> costs nothing.
RegId Parser::find_register(std::string_view name) {
  const size_t digits = name.size() - 1 - std::min(name.find_last_not_of("0123456789"), name.size() - 1);
  for (size_t i = scopes_.size(); i-- > 0;) {
    Scope& s = scopes_[i];
    if (const auto it = s.registers.find(name); it != s.registers.end()) return it->second;
    if (const auto it = s.declared.find(name); it != s.declared.end())
      return new_register(s, name, it->second);
    if (digits != 0 && digits < 10 && !s.ranges.empty()) {
      const std::string_view number = name.substr(name.size() - digits);
      const auto it = s.ranges.find(name.substr(0, name.size() - digits));
      const bool canonical = digits == 1 || number[0] != '0';
      uint64_t n = 0;
      for (const char c : number) n = n * 10 + static_cast<uint64_t>(c - '0');
      if (it != s.ranges.end() && canonical && n < it->second.count)
        return new_register(s, name, it->second.type);
    }
    if (s.variables.contains(name)) return no_id;
  }
  return no_id;
}

SymbolId Parser::find_variable(std::string_view name) const {
  for (size_t i = scopes_.size(); function_ != nullptr && i-- > 0;) {
    const auto it = scopes_[i].variables.find(name);
    if (it != scopes_[i].variables.end()) return it->second;
  }
  const auto it = module_names_.find(name);
  return it == module_names_.end() ? no_id : it->second;
}

std::string Parser::nearest_name(std::string_view name) const {
  Nearest nearest(name);
  for (const Scope& s : scopes_) {
    for (const auto& [n, id] : s.registers) nearest.offer(n);
    for (const auto& [n, id] : s.declared) nearest.offer(n);
    for (const auto& [n, id] : s.variables) nearest.offer(n);
  }
  for (const auto& [n, id] : module_names_) nearest.offer(n);
  if (!nearest.found().empty()) return nearest.help();
  for (const Scope& s : scopes_) {
    for (const auto& [n, range] : s.ranges) {
      const bool beyond = name.starts_with(n) &&
                          name.substr(n.size()).find_first_not_of("0123456789") == std::string_view::npos;
      if (beyond) return fmt::format("`{}<{}>` declares {}0 to {}{}", n, range.count, n, n, range.count - 1);
    }
  }
  return {};
}

// --- operands ------------------------------------------------------------------------------------

std::optional<Operand> Parser::special_register(const Token& t) {
  const auto s = special_named(t.text.substr(1));
  if (!s) {
    error(t, code::undeclared, fmt::format("register `{}` is not declared", t.text.substr(0, 60)),
          nearest_name(t.text));
    return std::nullopt;
  }
  Operand o = Operand::special_reg(s->special, s->index);
  if (!token_.is(Token::Kind::directive)) return o;
  static constexpr std::string_view components = "xyzw";
  const std::string_view word = token_.text.substr(1);
  const size_t component = word.size() == 1 ? components.find(word[0]) : std::string_view::npos;
  if (component == std::string_view::npos || !is_vector(s->special)) {
    error(token_, code::syntax, fmt::format("`{}` has no component `{}`", t.text, token_.text.substr(0, 60)));
    return std::nullopt;
  }
  next();
  o.component = static_cast<int8_t>(component);
  return o;
}

// The elements of a register that is declared as a vector; 0: it is none.
uint32_t Parser::vector_elements(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope& s = scopes_[i];
    if (const auto it = s.vectors.find(name); it != s.vectors.end()) return it->second;
    if (s.declared.contains(name) || s.registers.contains(name) || s.variables.contains(name)) return 0;
  }
  return 0;
}

// `q.y` is one register, `q` all of them: a vector is as many registers, q_x, q_y, ...
std::optional<Operand> Parser::vector_register(std::string_view name, uint32_t elements) {
  static constexpr std::string_view components = "xyzw", colours = "rgba";
  const auto element = [&](size_t k) {
    return Operand::reg(find_register(element_names_.at(std::string(name))[k]));
  };
  if (!token_.is(Token::Kind::directive)) {
    std::vector<Operand> all;
    for (size_t k = 0; k < elements; ++k) all.push_back(element(k));
    return Operand::vector(std::move(all));
  }
  const std::string_view word = token_.text.substr(1);
  const size_t k =
      word.size() != 1 ? std::string_view::npos : std::min(components.find(word[0]), colours.find(word[0]));
  if (k >= elements) {
    error(token_, code::syntax, fmt::format("`{}` has no component `{}`", name, token_.text.substr(0, 60)));
    return std::nullopt;
  }
  next();
  return element(k);
}

// A register, a special register, `_`, or a name whose role the form decides.
std::optional<Operand> Parser::name_operand() {
  const Token t = token_;
  next();
  if (t.text == "_") return Operand::sink();
  if (const uint32_t elements = vector_elements(t.text); elements != 0)
    return vector_register(t.text, elements);
  const RegId id = find_register(t.text);
  if (id != no_id) {
    Operand o = Operand::reg(id);
    if (!token_.is(Token::Kind::directive)) return o;
    if (!selector::write(o, token_.text.substr(1))) {
      error(token_, code::syntax,
            fmt::format("`{}` has no component `{}`", t.text, token_.text.substr(0, 60)));
      return std::nullopt;
    }
    next();
    return o;
  }
  if (t.text[0] == '%' && find_variable(t.text) == no_id) return special_register(t);
  Operand o;
  o.kind = Operand::Kind::symbol;
  o.bits = names_.size();
  names_.push_back(t);
  if (token_.is('+') || token_.is('-')) {
    const auto offset = integer("an offset");
    if (!offset) return std::nullopt;
    o.offset = *offset;
  }
  return o;
}

std::optional<Operand> Parser::negated_operand() {
  const Token at = token_;
  next();
  if (!token_.is(Token::Kind::word)) {
    error_expected("a predicate");
    return std::nullopt;
  }
  auto o = name_operand();
  if (!o) return o;
  if (!o->is(Operand::Kind::reg)) {
    error(at, code::operands, "only predicate registers are negated with `!`");
    return std::nullopt;
  }
  o->negated = true;
  return o;
}

std::optional<Operand> Parser::vector_operand() {
  next();
  std::vector<Operand> elements;
  if (!accept('}')) {
    do {
      std::optional<Operand> o;
      if (token_.is(Token::Kind::word)) {
        o = name_operand();
      } else if (at_constant()) {
        o = constant();
      } else {
        error_expected("an element of a vector");
      }
      if (!o) return std::nullopt;
      elements.push_back(std::move(*o));
    } while (accept(','));
    if (!expect('}')) return std::nullopt;
  }
  return Operand::vector(std::move(elements));
}

bool Parser::address_offset(Operand& address) {
  if (token_.is('+')) next();
  const auto offset = integer("an offset");
  if (offset)
    address.offset =
        static_cast<int64_t>(static_cast<uint64_t>(address.offset) + static_cast<uint64_t>(*offset));
  return offset.has_value();
}

bool Parser::coordinates(Operand& address) {
  if (!token_.is('{')) {
    error_expected("the coordinates, as in `[map, {c0, c1}]`");
    return false;
  }
  auto list = vector_operand();
  if (!list) return false;
  for (Operand& c : list->elements) address.elements.push_back(std::move(c));
  return true;
}

// [a], [a+4], [a, {c0, c1}]; of textures also [a, sampler, {c0, c1}] and [a, c0]
std::optional<Operand> Parser::address_operand(bool of_texels) {
  next();
  Operand address = Operand::address({});
  Operand& base = address.elements[0];
  if (token_.is(Token::Kind::word) && token_.text != "WARP_SZ") {
    auto o = name_operand();
    if (!o) return std::nullopt;
    base = std::move(*o);
    std::swap(address.offset, base.offset);
    if ((token_.is('+') || token_.is('-')) && !address_offset(address)) return std::nullopt;
  } else {
    const Token at = token_;
    const auto o = constant();
    if (!o) return std::nullopt;
    base = *o;
    if (o->imm_type != Operand::ImmType::integer) {
      error(at, code::operands, "an address is an integer");
      return std::nullopt;
    }
  }
  if (accept(',') && !(of_texels ? texel_coordinates(address) : coordinates(address))) return std::nullopt;
  if (!expect(']')) return std::nullopt;
  return address;
}

std::optional<Operand> Parser::operand(bool of_texels) {
  if (token_.is(Token::Kind::word) && token_.text != "WARP_SZ") return name_operand();
  if (token_.is('[')) return address_operand(of_texels);
  if (token_.is('{')) return vector_operand();
  if (token_.is('!')) return negated_operand();
  if (at_constant() || token_.is(Token::Kind::word)) return constant();
  error_expected("an operand");
  return std::nullopt;
}

bool Parser::operands(std::vector<Operand>& list, bool of_texels) {
  if (token_.is(';') || token_.is('}')) return true;
  while (true) {
    auto o = operand(of_texels);
    if (!o) return false;
    list.push_back(std::move(*o));
    if (token_.is('|')) {
      next();
      auto second = operand();
      if (!second) return false;
      second->joined = true;
      list.push_back(std::move(*second));
    }
    if (!accept(',')) return true;
  }
}

}  // namespace palladion::isa::detail
