// Variables and registers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {
namespace {

constexpr uint64_t max_variable_bytes = uint64_t{1} << 40;

bool is_power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

// Types that a variable, parameter or register may have.
bool is_storable(Type t) { return t == Type::pred || (bits(t) >= 8 && kind(t) != TypeKind::predicate); }

}  // namespace

// One of `.align 8`, `.v2`, `.b32`, `.ptr .global .align 4`, `.attribute(...)`. False when it is none of
// them.
bool Parser::declarator_directive(Declarator& d) {
  Variable& v = d.variable;
  if (accept_directive("align")) {
    const Token at = token_;
    const auto align = small_integer("an alignment in bytes");
    if (!align) return d.ok = false;
    if (!is_power_of_two(*align))
      error(at, code::directive, fmt::format("alignment {} is no power of two", *align));
    v.align = *align;
    return true;
  }
  if (accept_directive("ptr")) {
    v.pointer = true;
    const auto opaque = token_.is(Token::Kind::directive) ? type_named(token_.text.substr(1)) : std::nullopt;
    if (opaque && is_opaque(*opaque)) {
      next();  // `.ptr .texref`: a pointer like others
    } else if (token_.is(Token::Kind::directive) && !token_.is_directive("align")) {
      const auto space = space_named(token_.text.substr(1));
      if (!space) return d.ok = false;
      v.pointee = *space;
      next();
    }
    if (accept_directive("align")) {
      const auto align = small_integer("an alignment in bytes");
      if (!align) return d.ok = false;
      v.pointee_align = *align;
    }
    return true;
  }
  if (accept_directive("attribute")) {
    if (!expect('(')) return d.ok = false;
    while (!token_.is(')') && !token_.is(Token::Kind::end) && !token_.is(';')) {
      v.managed = v.managed || token_.is_directive("managed");
      next();
    }
    return expect(')') || (d.ok = false);
  }
  if (token_.is_directive("v2") || token_.is_directive("v4") || token_.is_directive("v8")) {
    v.vector = static_cast<uint32_t>(token_.text[2] - '0');
    next();
    return true;
  }
  const auto type = type_named(token_.text.substr(1));
  if (!type || !is_storable(*type)) return false;
  if (d.has_type)
    error(token_, code::directive,
          fmt::format("`{}` behind `.{}`: a variable has one type", token_.text, name(v.type)));
  if (is_opaque(*type) && is_before(1, 5))
    error(token_, code::directive, fmt::format("`{}` came with PTX 1.5", token_.text),
          "before, a texture is declared with `.tex .u32 name;`");
  v.type = *type;
  d.has_type = true;
  next();
  return true;
}

// The part between the space and the name.
Parser::Declarator Parser::declarator(Space space) {
  Declarator d;
  d.ok = true;
  d.variable.space = space;
  while (token_.is(Token::Kind::directive)) {
    if (declarator_directive(d)) continue;
    const size_t before = diagnostics.size();
    if (d.ok || before == 0) {
      Nearest nearest(token_.text.substr(1));
      for (const auto word : {"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16",
                              "s32", "s64", "f16", "f32", "f64", "pred", "align", "ptr"}) {
        nearest.offer(word);
      }
      error(token_, code::directive,
            fmt::format("`{}` is no type or attribute of a variable", token_.text.substr(0, 60)),
            nearest.help());
    }
    d.ok = false;
    return d;
  }
  if (d.ok && !d.has_type) {
    error_expected("a type such as `.b32`");
    d.ok = false;
  }
  return d;
}

bool Parser::dimensions(Variable& v) {
  const Token at = token_;
  while (accept('[')) {
    if (v.dims.size() >= 16) {
      error(token_, code::directive, "arrays have at most 16 dimensions");
      return false;
    }
    if (accept(']')) {
      v.dims.push_back(0);
      continue;
    }
    const auto n = integer("the size of an array");
    if (!n || !expect(']')) return false;
    v.dims.push_back(static_cast<uint64_t>(*n));
  }
  uint64_t size = static_cast<uint64_t>(bytes(v.type)) * v.vector;
  for (size_t i = 0; i < v.dims.size(); ++i) {
    const uint64_t n = v.dims[i];
    if (n > max_variable_bytes || (n != 0 && size > max_variable_bytes / n) || (n == 0 && i != 0)) {
      error(at, code::directive,
            n == 0 ? "only the first dimension may be left open" : "this array is too large");
      v.dims.clear();
      return false;
    }
    if (n != 0) size *= n;
  }
  return true;
}

void Parser::declare_variable(const Token& name, Variable v, Linkage linkage) {
  auto& names = function_ == nullptr ? module_names_ : scope().variables;
  const auto existing = names.find(name.text);
  if (existing != names.end()) {
    Symbol& old = module.symbols[existing->second];
    // `.extern .global x;` may be followed by its definition.
    const bool completes = old.kind == Symbol::Kind::variable &&
                           (old.linkage == Linkage::extern_ || linkage == Linkage::extern_);
    if (!completes) return error(name, code::redefined, fmt::format("`{}` is declared twice", name.text));
    if (linkage != Linkage::extern_) {
      old.linkage = linkage;
      old.variable = std::move(v);
    }
    return;
  }
  const auto id = static_cast<SymbolId>(module.symbols.size());
  Symbol s;
  s.name = function_ == nullptr ? std::string(name.text) : unique_name(name.text);
  s.linkage = linkage;
  s.variable = std::move(v);
  if (function_ != nullptr) {
    s.scope = function_->symbol;
    // Before PTX 1.4 a kernel's parameters are declared in its body.
    const bool parameter = s.variable.space == Space::param && function_->entry && is_before(1, 4);
    (parameter ? function_->params : function_->locals).push_back(id);
  }
  module.symbols.push_back(std::move(s));
  names.emplace(name.text, id);
}

// Behind the space word: `.align 8 .b8 a[16], b[16] = {...};`
void Parser::variables(Space space, Linkage linkage) {
  const Declarator d = declarator(space);
  if (!d.ok) return skip_statement();
  declare_variables(d.variable, linkage);
}

void Parser::declare_variables(const Variable& declared_as, Linkage linkage) {
  do {
    const auto name = expect_word("the name of a variable");
    if (!name) return skip_statement();
    Variable v = declared_as;
    if (!dimensions(v)) return skip_statement();
    new_addresses_.clear();
    if (accept('=')) {
      if (linkage == Linkage::extern_)
        error(*name, code::initialiser,
              fmt::format("`{}` is .extern: its definition initialises it", name->text));
      if (!is_opaque(v.type))
        initialiser(v, *name);
      else if (!opaque_initialiser(v))
        return skip_statement();
    }
    const auto id = static_cast<SymbolId>(module.symbols.size());
    declare_variable(*name, std::move(v), linkage);
    const auto declared = find_variable(name->text);
    for (PendingAddress& p : new_addresses_) {
      p.variable = declared == no_id ? id : declared;
      if (p.variable < module.symbols.size()) pending_addresses_.push_back(p);
    }
  } while (accept(','));
  if (!expect(';')) skip_statement();
}

// --- registers -----------------------------------------------------------------------------------

void Parser::declare_registers(const Token& name, Type type) {
  Scope& s = scope();
  if (!accept('<')) {
    if (!s.declared.emplace(name.text, type).second || s.variables.contains(name.text)) {
      error(name, code::redefined, fmt::format("`{}` is declared twice", name.text));
    }
    return;
  }
  const Token at = token_;
  // Not an expression: '>' would continue it.
  const auto count = token_.is(Token::Kind::number) ? constant_unary() : std::nullopt;
  if (!count) return error(at, code::number, "expected a number of registers, as in `%r<10>`");
  expect('>');
  if (!s.ranges.emplace(name.text, Scope::Range{type, count->bits}).second) {
    error(name, code::redefined, fmt::format("`{}` is declared twice", name.text));
  }
}

// One register for each element. `.reg .v2 .f32 %v<3>` declares three vectors.
void Parser::declare_vector(const Token& name, Type type, uint32_t elements) {
  uint64_t count = 0;
  if (accept('<')) {
    const Token at = token_;
    const auto n = token_.is(Token::Kind::number) ? constant_unary() : std::nullopt;
    if (!n || n->bits > 100000)
      return error(at, code::number, "expected a number of registers, as in `%r<10>`");
    expect('>');
    count = n->bits;
  }
  Scope& s = scope();
  const auto declare = [&](const std::string& vector) {
    auto& names = element_names_[vector];
    names.clear();
    for (uint32_t k = 0; k < elements; ++k) names.push_back(fmt::format("{}_{}", vector, "xyzwabcd"[k & 7]));
    const auto kept = element_names_.find(vector);
    if (!s.vectors.emplace(kept->first, elements).second || s.declared.contains(kept->first))
      error(name, code::redefined, fmt::format("`{}` is declared twice", vector));
    for (const std::string& element : kept->second) s.declared.emplace(element, type);
  };
  if (count == 0) declare(std::string(name.text));
  for (uint64_t k = 0; k < count; ++k) declare(fmt::format("{}{}", name.text, k));
}

void Parser::register_declaration() {
  const Token at = token_;
  const Declarator d = declarator(Space::reg);
  if (!d.ok) return skip_statement();
  if (is_opaque(d.variable.type))
    error(at, code::directive, fmt::format("no register is a `.{}`", name(d.variable.type)),
          "its address, which `mov.u64` takes, has type .u64");
  do {
    const auto name = expect_word("the name of a register");
    if (!name) return skip_statement();
    if (d.variable.vector != 1)
      declare_vector(*name, d.variable.type, d.variable.vector);
    else
      declare_registers(*name, d.variable.type);
  } while (accept(','));
  if (!expect(';')) skip_statement();
}

}  // namespace palladion::isa::detail
