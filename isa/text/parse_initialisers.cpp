#include "isa/text/parse_initialisers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace palladion::isa::detail {
namespace {

constexpr uint64_t max_initialised_bytes = uint64_t{1} << 26;

std::optional<char> escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '0':
      return '\0';
    case '\\':
    case '"':
    case '\'':
      return c;
    default:
      return std::nullopt;
  }
}

void store(Variable& v, uint64_t at, uint64_t value, int size) {
  if (v.init.size() < at + static_cast<uint64_t>(size)) v.init.resize(at + static_cast<uint64_t>(size));
  for (int i = 0; i < size; ++i)
    v.init[at + static_cast<uint64_t>(i)] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t as_integer(const Operand& value) {
  if (value.imm_type == Operand::ImmType::integer) return value.bits;
  const double d = value.imm_type == Operand::ImmType::f64
                       ? std::bit_cast<double>(value.bits)
                       : std::bit_cast<float>(static_cast<uint32_t>(value.bits));
  return d >= -9.2e18 && d <= 9.2e18 ? static_cast<uint64_t>(static_cast<int64_t>(d)) : 0;
}

// Bytes taken by one element of dimension `dim`.
uint64_t stride(const Variable& v, size_t dim) {
  uint64_t size = static_cast<uint64_t>(bytes(v.type));
  if (dim <= v.dims.size()) size *= v.vector;
  for (size_t i = dim; i < v.dims.size(); ++i) size *= v.dims[i];
  return size;
}

bool put(Variable& v, uint64_t at, const Operand& value) {
  const int size = bytes(v.type);
  if (at + static_cast<uint64_t>(size) > max_initialised_bytes) return false;
  using I = Operand::ImmType;
  if (v.type == Type::f64 && value.imm_type != I::f64) {
    const double d = value.imm_type == I::f32 ? std::bit_cast<float>(static_cast<uint32_t>(value.bits))
                                              : static_cast<double>(static_cast<int64_t>(value.bits));
    store(v, at, std::bit_cast<uint64_t>(d), size);
  } else if (v.type == Type::f32 && value.imm_type != I::f32) {
    const float f = value.imm_type == I::f64 ? static_cast<float>(std::bit_cast<double>(value.bits))
                                             : static_cast<float>(static_cast<int64_t>(value.bits));
    store(v, at, std::bit_cast<uint32_t>(f), size);
  } else {
    // A float given to a .b32 or .b64 variable keeps its bits.
    const bool keeps_bits = kind(v.type) == TypeKind::untyped || is_float(v.type);
    store(v, at, keeps_bits ? value.bits : as_integer(value), size);
  }
  return true;
}

// What an initial value may name. Those of a sampler are in Sampler.
bool has_field(Type type, std::string_view field) {
  constexpr std::string_view both[] = {"width",         "height",    "depth", "channel_data_type",
                                       "channel_order", "array_size"};
  constexpr std::string_view of_texture[] = {"normalized_coords", "filter_mode", "addr_mode_0",
                                             "addr_mode_1",       "addr_mode_2", "num_mipmap_levels",
                                             "num_samples"};
  const auto among = [field](const auto& fields) {
    return std::ranges::find(fields, field) != std::end(fields);
  };
  return among(both) || (type == Type::texref ? among(of_texture) : field == "memory_layout");
}

bool is_word(std::string_view word) {
  const auto& modes = Sampler::address_words;
  const auto& filters = Sampler::filter_words;
  return std::ranges::find(modes, word) != modes.end() || std::ranges::find(filters, word) != filters.end();
}

}  // namespace

bool Initialisers::initialiser_string(Variable& v, uint64_t& at) {
  in_.next();
  const std::string_view s = in_.previous().text.substr(1, in_.previous().text.size() - 2);
  for (size_t i = 0; i < s.size(); ++i) {
    char c = s[i];
    if (c == '\\' && i + 1 < s.size()) {
      const auto escaped = escape(s[++i]);
      if (!escaped) {
        in_.error(in_.previous(), ParseCode::initialiser, fmt::format("`\\{}` is no escape sequence", s[i]));
        return false;
      }
      c = *escaped;
    }
    store(v, at++, static_cast<uint8_t>(c), 1);
  }
  if (v.dims.size() == 1 && v.dims[0] > at) store(v, at, 0, 1);
  return true;
}

// symbol, symbol+4, generic(symbol)+4, 0xFF00(symbol+4): `mask` is the part of the address that is kept.
bool Initialisers::initialiser_address(Variable& v, uint64_t at, uint64_t mask) {
  bool generic = false;
  int closing = 0;
  if (in_.token().is(Token::Kind::word) && in_.token().text == "generic" && in_.peek() == '(') {
    in_.next();
    in_.next();
    generic = true;
    ++closing;
  }
  const auto name = in_.expect_word("the name of a variable or function");
  if (!name) return false;
  while (closing > 0 && in_.expect(')')) --closing;
  int64_t addend = 0;
  if (in_.token().is('+') || in_.token().is('-')) {
    const auto value = numbers_.integer("an offset");
    if (!value) return false;
    addend = *value;
  }
  const int shift = mask == 0 ? 0 : std::countr_zero(mask) / 8;
  const bool part = mask != ~uint64_t{0};
  // LLVM prints a pointer inside a struct of bytes as its eight masked bytes: one address again.
  if (part && shift > 0) {
    const bool goes_on = !v.relocations.empty() &&
                         v.relocations.back().at + v.relocations.back().size == at &&
                         v.relocations.back().size == shift && v.relocations.back().addend == addend &&
                         !new_addresses_.empty() && new_addresses_.back().name.text == name->text;
    if (!goes_on || bytes(v.type) != 1) {
      in_.error(*name, ParseCode::not_modelled,
                "only whole addresses, from their lowest byte on, are modelled in initialisers");
      return false;
    }
    ++v.relocations.back().size;
  } else {
    const int size = part ? 1 : bytes(v.type);
    if (size != 8 && size != 4 && !part) {
      in_.error(*name, ParseCode::initialiser,
                fmt::format("an address does not fit `.{}`", isa::name(v.type)), "use .u64 or .b64");
      return false;
    }
    Relocation r;
    r.at = at;
    r.size = static_cast<uint8_t>(size);
    r.addend = addend;
    r.generic = generic;
    new_addresses_.push_back({no_id, v.relocations.size(), *name});
    v.relocations.push_back(r);
  }
  store(v, at, 0, bytes(v.type));
  return true;
}

bool Initialisers::initialiser_value(Variable& v, uint64_t at) {
  const Token start = in_.token();
  if (at + static_cast<uint64_t>(bytes(v.type)) > max_initialised_bytes) {
    in_.error(start, ParseCode::initialiser, "this initialiser is too large");
    return false;
  }
  if (in_.token().is(Token::Kind::word) && in_.token().text != "WARP_SZ")
    return initialiser_address(v, at, ~uint64_t{0});
  if (in_.token().is(Token::Kind::number) && in_.peek() == '(') {
    in_.next();
    const auto mask = numbers_.literal(in_.previous());
    if (!mask || !in_.expect('(')) return false;
    return initialiser_address(v, at, mask->bits) && in_.expect(')');
  }
  const auto value = numbers_.constant();
  if (!value) return false;
  return put(v, at, *value);
}

// { ... } of dimension `dim`; values without braces fill it in order.
bool Initialisers::initialiser_level(Variable& v, size_t dim, uint64_t& at, int depth) {
  const Token open = in_.token();
  if (depth > 20) {
    in_.error(in_.token(), ParseCode::initialiser, "this initialiser is nested too deeply");
    return false;
  }
  const uint64_t begin = at, inner = stride(v, dim + 1);
  const bool unsized = dim < v.dims.size() && v.dims[dim] == 0;
  const uint64_t limit = unsized ? max_initialised_bytes : stride(v, dim);
  if (!in_.expect('{')) return false;
  while (!in_.token().is('}')) {
    if (at - begin >= limit && !(at == begin && limit == 0)) {
      in_.error(in_.token(), ParseCode::initialiser, "more values than the variable has elements");
      return false;
    }
    if (in_.token().is('{')) {
      uint64_t start = at;
      if (!initialiser_level(v, dim + 1, start, depth + 1)) return false;
      at += std::max<uint64_t>(inner, 1);
    } else if (in_.token().is(Token::Kind::string)) {
      if (!initialiser_string(v, at)) return false;
    } else {
      if (!initialiser_value(v, at)) return false;
      at += static_cast<uint64_t>(bytes(v.type));
    }
    if (!in_.accept(',')) break;
  }
  if (!in_.token().is('}')) {
    in_.error(in_.token(), ParseCode::initialiser,
              fmt::format("expected `,` or `}}` in the initialiser that starts in line {}", open.line));
    return false;
  }
  in_.next();
  if (unsized && dim == 0) v.dims[0] = (at - begin) / std::max<uint64_t>(1, inner);
  return true;
}

void Initialisers::initialiser(Variable& v, const Token& name) {
  uint64_t at = 0;
  const bool is_array = !v.dims.empty() || v.vector > 1;
  bool fits = false;
  if (in_.token().is(Token::Kind::string) && bytes(v.type) == 1) {
    fits = initialiser_string(v, at);
    if (fits && !v.dims.empty() && v.dims[0] == 0) {
      store(v, at, 0, 1);  // the terminating zero
      v.dims[0] = at + 1;
    }
  } else if (in_.token().is('{')) {
    fits = initialiser_level(v, 0, at, 0);
  } else {
    fits = initialiser_value(v, 0);
    if (fits && is_array) {
      in_.error(name, ParseCode::initialiser, "an array is initialised with { }");
    }
  }
  if (fits && v.size() != 0 && v.init.size() > v.size()) {
    in_.error(name, ParseCode::initialiser,
              fmt::format("the initialiser has {} bytes, `{}` has {}", v.init.size(), name.text, v.size()));
  }
  if (!fits) {
    if (in_.diagnostics().empty()) in_.error(name, ParseCode::initialiser, "this initialiser is too large");
    while (!in_.token().is(';') && !in_.token().is(Token::Kind::end)) in_.next();
  }
  const bool has_home = v.space == Space::global || v.space == Space::const_;
  if (!has_home) in_.error(name, ParseCode::initialiser, "only .global and .const variables are initialised");
}

// `filter_mode = linear`
bool Initialisers::opaque_field(Type type, Sampler& sampler) {
  const auto field = in_.expect_word("a field such as filter_mode");
  if (!field || !in_.expect('=')) return false;
  const Token value = in_.token();
  const bool is_number = !value.is(Token::Kind::word);
  std::string word(value.text);
  if (is_number) {
    const auto number = numbers_.integer("the value of a field");
    if (!number) return false;
    word = std::to_string(*number);
  } else {
    in_.next();
  }
  const bool takes_it = type == Type::samplerref
                            ? sampler.set(field->text, word)
                            : has_field(type, field->text) && (is_number || is_word(word));
  if (!takes_it)
    in_.error(*field, ParseCode::initialiser,
              fmt::format("a `.{}` takes no `{} = {}`", name(type), field->text.substr(0, 60),
                          std::string_view(word).substr(0, 60)));
  return takes_it;
}

// `{ filter_mode = linear, addr_mode_0 = wrap }`. Of a texture or surface the values mean nothing: what is
// bound to it has them (ptxas drops them, too).
bool Initialisers::opaque_initialiser(Variable& v) {
  Sampler sampler;
  if (!in_.expect('{')) return false;
  if (in_.accept('}')) return true;
  do {
    if (!opaque_field(v.type, sampler)) return false;
  } while (in_.accept(','));
  if (!in_.expect('}')) return false;
  if (v.type != Type::samplerref) return true;
  const uint64_t word = sampler.packed();
  for (int k = 0; k < 8; ++k) v.init.push_back(static_cast<uint8_t>(word >> (8 * k)));
  return true;
}

bool Initialisers::read(Variable& v, const Token& name) {
  if (is_opaque(v.type)) return opaque_initialiser(v);
  initialiser(v, name);
  return true;
}

void Initialisers::end_variable(SymbolId id) {
  if (id >= module_.symbols.size()) return;
  for (PendingAddress& p : new_addresses_) {
    p.variable = id;
    pending_addresses_.push_back(p);
  }
}

void Initialisers::finish() {
  for (const PendingAddress& p : pending_addresses_) {
    const SymbolId id = names_.find_symbol(p.name.text);
    if (id == no_id) {
      in_.error(p.name, ParseCode::undeclared, fmt::format("`{}` is not declared", p.name.text));
    } else {
      auto& relocations = module_.symbols[p.variable].variable.relocations;
      // A variable that is declared twice has the first one's.
      if (p.relocation < relocations.size()) relocations[p.relocation].symbol = id;
    }
  }
}

}  // namespace palladion::isa::detail
