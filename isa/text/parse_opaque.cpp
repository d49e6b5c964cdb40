// Variables of opaque type and how instructions name textures, samplers and surfaces (PTX, "Texture Sampler
// and Surface Types").
#include <fmt/format.h>

#include <algorithm>

#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {
namespace {

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

// `filter_mode = linear`
bool Parser::opaque_field(Type type, Sampler& sampler) {
  const auto field = expect_word("a field such as filter_mode");
  if (!field || !expect('=')) return false;
  const Token value = token_;
  const bool is_number = !value.is(Token::Kind::word);
  std::string word(value.text);
  if (is_number) {
    const auto number = integer("the value of a field");
    if (!number) return false;
    word = std::to_string(*number);
  } else {
    next();
  }
  const bool takes_it = type == Type::samplerref
                            ? sampler.set(field->text, word)
                            : has_field(type, field->text) && (is_number || is_word(word));
  if (!takes_it)
    error(*field, code::initialiser,
          fmt::format("a `.{}` takes no `{} = {}`", name(type), field->text.substr(0, 60),
                      std::string_view(word).substr(0, 60)));
  return takes_it;
}

// `{ filter_mode = linear, addr_mode_0 = wrap }`. Of a texture or surface the values mean nothing: what is
// bound to it has them (ptxas drops them, too).
bool Parser::opaque_initialiser(Variable& v) {
  Sampler sampler;
  if (!expect('{')) return false;
  if (accept('}')) return true;
  do {
    if (!opaque_field(v.type, sampler)) return false;
  } while (accept(','));
  if (!expect('}')) return false;
  if (v.type != Type::samplerref) return true;
  const uint64_t word = sampler.packed();
  for (int k = 0; k < 8; ++k) v.init.push_back(static_cast<uint8_t>(word >> (8 * k)));
  return true;
}

// Behind `[T, `: a coordinate of one dimension, or the coordinates in braces, maybe with a sampler before
// them.
bool Parser::texel_coordinates(Operand& address) {
  std::optional<Operand> sampler;
  if (!token_.is('{')) {
    auto first = operand();
    if (!first) return false;
    if (token_.is(']') && first->is(Operand::Kind::reg)) {
      address.elements.push_back(std::move(*first));
      return true;
    }
    if (!expect(',')) return false;
    sampler = std::move(first);
  }
  if (!coordinates(address)) return false;
  address.sampled = sampler.has_value();
  if (sampler) address.elements.push_back(std::move(*sampler));
  return true;
}

}  // namespace palladion::isa::detail
