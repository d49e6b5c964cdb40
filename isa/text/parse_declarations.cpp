#include "isa/text/parse_declarations.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::isa::detail {
namespace {

constexpr uint64_t max_variable_bytes = uint64_t{1} << 40;

bool is_power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

// Types that a variable, parameter or register may have.
bool is_storable(Type t) { return t == Type::pred || (bits(t) >= 8 && kind(t) != TypeKind::predicate); }

}  // namespace

// One of `.align 8`, `.v2`, `.b32`, `.ptr .global .align 4`, `.attribute(...)`. False when it is none of
// them.
bool Declarations::declarator_directive(Declarator& d) {
  Variable& v = d.variable;
  if (in_.accept_directive("align")) {
    const Token at = in_.token();
    if (!alignment(v.align)) return d.ok = false;
    if (!is_power_of_two(v.align))
      in_.error(at, ParseCode::directive, fmt::format("alignment {} is no power of two", v.align));
    return true;
  }
  if (in_.accept_directive("ptr")) return pointer_attributes(v) || (d.ok = false);
  if (in_.accept_directive("attribute")) return skip_attributes(v) || (d.ok = false);
  if (in_.token().is_directive("v2") || in_.token().is_directive("v4") || in_.token().is_directive("v8")) {
    v.vector = static_cast<uint32_t>(in_.token().text[2] - '0');
    in_.next();
    return true;
  }
  return type_directive(d);
}

bool Declarations::alignment(uint32_t& into) {
  const auto align = numbers_.small_integer("an alignment in bytes");
  if (align) into = *align;
  return align.has_value();
}

// Behind `.ptr`.
bool Declarations::pointer_attributes(Variable& v) {
  v.pointer = true;
  const auto opaque =
      in_.token().is(Token::Kind::directive) ? type_named(in_.token().text.substr(1)) : std::nullopt;
  if (opaque && is_opaque(*opaque)) {
    in_.next();  // `.ptr .texref`: a pointer like others
  } else if (in_.token().is(Token::Kind::directive) && !in_.token().is_directive("align")) {
    const auto space = space_named(in_.token().text.substr(1));
    if (!space) return false;
    v.pointee = *space;
    in_.next();
  }
  return !in_.accept_directive("align") || alignment(v.pointee_align);
}

// Behind `.attribute`.
bool Declarations::skip_attributes(Variable& v) {
  if (!in_.expect('(')) return false;
  while (!in_.token().is(')') && !in_.token().is(Token::Kind::end) && !in_.token().is(';')) {
    v.managed = v.managed || in_.token().is_directive("managed");
    in_.next();
  }
  return in_.expect(')');
}

bool Declarations::type_directive(Declarator& d) {
  Variable& v = d.variable;
  const auto type = type_named(in_.token().text.substr(1));
  if (!type || !is_storable(*type)) return false;
  if (d.has_type)
    in_.error(in_.token(), ParseCode::directive,
              fmt::format("`{}` behind `.{}`: a variable has one type", in_.token().text, name(v.type)));
  if (is_opaque(*type) && dialect_.is_before(1, 5))
    in_.error(in_.token(), ParseCode::directive, fmt::format("`{}` came with PTX 1.5", in_.token().text),
              "before, a texture is declared with `.tex .u32 name;`");
  v.type = *type;
  d.has_type = true;
  in_.next();
  return true;
}

// The part between the space and the name.
Declarations::Declarator Declarations::declarator(Space space) {
  Declarator d;
  d.ok = true;
  d.variable.space = space;
  while (in_.token().is(Token::Kind::directive)) {
    if (declarator_directive(d)) continue;
    const size_t before = in_.diagnostics().size();
    if (d.ok || before == 0) {
      Nearest nearest(in_.token().text.substr(1));
      for (const auto word : {"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16",
                              "s32", "s64", "f16", "f32", "f64", "pred", "align", "ptr"}) {
        nearest.offer(word);
      }
      in_.error(in_.token(), ParseCode::directive,
                fmt::format("`{}` is no type or attribute of a variable", in_.token().text.substr(0, 60)),
                nearest.help());
    }
    d.ok = false;
    return d;
  }
  if (d.ok && !d.has_type) {
    in_.error_expected("a type such as `.b32`");
    d.ok = false;
  }
  return d;
}

bool Declarations::dimensions(Variable& v) {
  const Token at = in_.token();
  while (in_.accept('[')) {
    if (v.dims.size() >= 16) {
      in_.error(in_.token(), ParseCode::directive, "arrays have at most 16 dimensions");
      return false;
    }
    if (in_.accept(']')) {
      v.dims.push_back(0);
      continue;
    }
    const auto n = numbers_.integer("the size of an array");
    if (!n || !in_.expect(']')) return false;
    v.dims.push_back(static_cast<uint64_t>(*n));
  }
  uint64_t size = static_cast<uint64_t>(bytes(v.type)) * v.vector;
  for (size_t i = 0; i < v.dims.size(); ++i) {
    const uint64_t n = v.dims[i];
    if (n > max_variable_bytes || (n != 0 && size > max_variable_bytes / n) || (n == 0 && i != 0)) {
      in_.error(at, ParseCode::directive,
                n == 0 ? "only the first dimension may be left open" : "this array is too large");
      v.dims.clear();
      return false;
    }
    if (n != 0) size *= n;
  }
  return true;
}

void Declarations::declare_variable(const Token& name, Variable v, Linkage linkage) {
  auto& names = names_.symbols_here();
  const auto existing = names.find(name.text);
  if (existing != names.end()) {
    Symbol& old = module_.symbols[existing->second];
    // `.extern .global x;` may be followed by its definition.
    const bool completes = old.kind == Symbol::Kind::variable &&
                           (old.linkage == Linkage::extern_ || linkage == Linkage::extern_);
    if (!completes)
      return in_.error(name, ParseCode::redefined, fmt::format("`{}` is declared twice", name.text));
    if (linkage != Linkage::extern_) {
      old.linkage = linkage;
      old.variable = std::move(v);
    }
    return;
  }
  const auto id = static_cast<SymbolId>(module_.symbols.size());
  Symbol s;
  s.name = !names_.in_function() ? std::string(name.text) : names_.unique_name(name.text);
  s.linkage = linkage;
  s.variable = std::move(v);
  if (names_.in_function()) {
    s.scope = names_.function().symbol;
    // Before PTX 1.4 a kernel's parameters are declared in its body.
    const bool parameter =
        s.variable.space == Space::param && names_.function().entry && dialect_.is_before(1, 4);
    (parameter ? names_.function().params : names_.function().locals).push_back(id);
  }
  module_.symbols.push_back(std::move(s));
  names.emplace(name.text, id);
}

// Behind the space word: `.align 8 .b8 a[16], b[16] = {...};`
void Declarations::variables(Space space, Linkage linkage) {
  const Declarator d = declarator(space);
  if (!d.ok) return in_.skip_statement();
  declare_variables(d.variable, linkage);
}

void Declarations::declare_variables(const Variable& declared_as, Linkage linkage) {
  do {
    const auto name = in_.expect_word("the name of a variable");
    if (!name) return in_.skip_statement();
    Variable v = declared_as;
    if (!dimensions(v)) return in_.skip_statement();
    initialisers_.begin_variable();
    if (in_.accept('=')) {
      if (linkage == Linkage::extern_)
        in_.error(*name, ParseCode::initialiser,
                  fmt::format("`{}` is .extern: its definition initialises it", name->text));
      if (!initialisers_.read(v, *name)) return in_.skip_statement();
    }
    const auto id = static_cast<SymbolId>(module_.symbols.size());
    declare_variable(*name, std::move(v), linkage);
    const auto declared = names_.find_variable(name->text);
    initialisers_.end_variable(declared == no_id ? id : declared);
  } while (in_.accept(','));
  if (!in_.expect(';')) in_.skip_statement();
}

// `.tex .u32 name;` is another way to write `.global .texref name;` (PTX, "Texture State Space").
void Declarations::old_textures(Linkage linkage) {
  const Token at = in_.token();
  if (!dialect_.is_before(1, 5))
    in_.error(at, ParseCode::directive, "`.tex` ended with PTX 1.4", "write `.global .texref name;`");
  Declarator d = declarator(Space::global);
  if (!d.ok) return in_.skip_statement();
  if (d.variable.type != Type::u32 && d.variable.type != Type::u64)
    in_.error(at, ParseCode::directive, "`.tex` is followed by `.u32` or `.u64`",
              "write `.global .texref name;`");
  d.variable.type = Type::texref;
  declare_variables(d.variable, linkage);
}

// --- registers -----------------------------------------------------------------------------------

// Behind the `<` of `%r<10>`. Not an expression: '>' would continue it.
std::optional<uint64_t> Declarations::register_count() {
  const Token at = in_.token();
  const auto count = at.is(Token::Kind::number) ? numbers_.constant_unary() : std::nullopt;
  if (!count) {
    in_.error(at, ParseCode::number, "expected a number of registers, as in `%r<10>`");
    return std::nullopt;
  }
  return count->bits;
}

void Declarations::declare_registers(const Token& name, Type type) {
  Scope& s = names_.scope();
  if (!in_.accept('<')) {
    if (!s.declared.emplace(name.text, type).second || s.variables.contains(name.text)) {
      in_.error(name, ParseCode::redefined, fmt::format("`{}` is declared twice", name.text));
    }
    return;
  }
  const auto count = register_count();
  if (!count) return;
  in_.expect('>');
  if (!s.ranges.emplace(name.text, Scope::Range{type, *count}).second) {
    in_.error(name, ParseCode::redefined, fmt::format("`{}` is declared twice", name.text));
  }
}

// `.reg .v2 .f32 %v<3>` declares three vectors.
void Declarations::declare_vector(const Token& name, Type type, uint32_t elements) {
  if (!in_.accept('<')) return names_.declare_vector(name, std::string(name.text), type, elements);
  const Token at = in_.token();
  const auto count = register_count();
  if (!count) return;
  if (*count > 100000)
    return in_.error(at, ParseCode::number, "expected a number of registers, as in `%r<10>`");
  in_.expect('>');
  for (uint64_t k = 0; k < *count; ++k)
    names_.declare_vector(name, fmt::format("{}{}", name.text, k), type, elements);
}

void Declarations::registers() {
  const Token at = in_.token();
  const Declarator d = declarator(Space::reg);
  if (!d.ok) return in_.skip_statement();
  if (is_opaque(d.variable.type))
    in_.error(at, ParseCode::directive, fmt::format("no register is a `.{}`", name(d.variable.type)),
              "its address, which `mov.u64` takes, has type .u64");
  do {
    const auto name = in_.expect_word("the name of a register");
    if (!name) return in_.skip_statement();
    if (d.variable.vector != 1)
      declare_vector(*name, d.variable.type, d.variable.vector);
    else
      declare_registers(*name, d.variable.type);
  } while (in_.accept(','));
  if (!in_.expect(';')) in_.skip_statement();
}

// Compilers for PTX 1.4 declared the registers of their calling convention for the whole module. A kernel
// that names one has it for itself; between functions they would carry values.
void Declarations::module_registers() {
  names_.begin_module_scope();
  registers();
  names_.end_module_scope();
}

}  // namespace palladion::isa::detail
