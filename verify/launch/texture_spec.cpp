#include "verify/launch/texture_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/formats/sampler.h"
#include "verify/arrays/words.h"

namespace palladion {
namespace {

using isa::Geometry;

tl::unexpected<std::string> no_texture(std::string text) { return tl::make_unexpected(std::move(text)); }

template <class T>
struct Word {
  std::string_view word;
  T value;
};

template <class T, size_t n>
std::string take_word(T& into, std::string_view option, std::string_view value, const Word<T> (&words)[n]) {
  std::string known;
  for (const auto& [word, meaning] : words) {
    if (word == value) {
      into = meaning;
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  return fmt::format("{} `{}`: expected {}", option, value, known);
}

// What the options say; sizes come from the array's type.
struct Texels {
  std::optional<Geometry> geometry;
  bool linear_memory = false;
  int channels = 1;
  sim::Sampling sampling;
};

std::string take_geometry(Texels& t, std::string_view value) {
  if (value == "linear") {
    t.geometry = Geometry::d1;
    t.linear_memory = true;
    return {};
  }
  using enum Geometry;
  static constexpr Word<Geometry> words[] = {{"1d", d1},   {"2d", d2},     {"3d", d3},      {"a1d", a1d},
                                             {"a2d", a2d}, {"cube", cube}, {"acube", acube}};
  Geometry geometry = d2;
  if (!take_word(geometry, "geometry", value, words).empty())
    return fmt::format("geometry `{}`: expected 1d, 2d, 3d, a1d, a2d, cube, acube or linear", value);
  t.geometry = geometry;
  return {};
}

std::string take_address(sim::Sampling& s, std::string_view value) {
  static constexpr Word<sim::AddressMode> words[] = {{"clamp", sim::AddressMode::clamp},
                                                     {"wrap", sim::AddressMode::wrap},
                                                     {"mirror", sim::AddressMode::mirror},
                                                     {"border", sim::AddressMode::border}};
  const auto modes = split(value, "/");
  if (modes.empty() || modes.size() > 3)
    return fmt::format("address `{}`: one to three modes, as wrap/clamp", value);
  for (size_t d = 0; d < 3; ++d)
    if (auto problem = take_word(s.address[d], "address", modes[std::min(d, modes.size() - 1)], words);
        !problem.empty())
      return problem;
  return {};
}

std::string take_border(sim::Sampling& s, std::string_view value) {
  const auto colours = split(value, "/");
  if (colours.empty() || colours.size() > 4)
    return fmt::format("border `{}`: one to four numbers, as 1/0/0/1", value);
  for (size_t c = 0; c < 4; ++c) {
    const bool given = c < colours.size() || colours.size() == 1;
    const auto number = given ? number_in<float>(colours[std::min(c, colours.size() - 1)]) : 0.0F;
    if (!number) return fmt::format("border `{}`: `{}` is not a number", value, colours[c]);
    s.border[c] = *number;
  }
  return {};
}

std::string take_texture_option(Texels& t, bool surface, std::string_view key, std::string_view value) {
  if (key == "geometry") return take_geometry(t, value);
  if (key == "channels") {
    static constexpr Word<int> words[] = {{"1", 1}, {"2", 2}, {"4", 4}};
    return take_word(t.channels, key, value, words);
  }
  if (surface) return fmt::format("a surface has no option `{}`; it has geometry, channels", key);
  static constexpr Word<bool> filters[] = {{"point", false}, {"linear", true}};
  static constexpr Word<bool> coordinates[] = {{"texels", false}, {"normalized", true}};
  static constexpr Word<bool> reads[] = {{"element", false}, {"normalized", true}};
  if (key == "filter") return take_word(t.sampling.linear, key, value, filters);
  if (key == "coords") return take_word(t.sampling.normalized, key, value, coordinates);
  if (key == "read") return take_word(t.sampling.as_float, key, value, reads);
  if (key == "address") return take_address(t.sampling, value);
  if (key == "border") return take_border(t.sampling, value);
  return fmt::format(
      "a texture has no option `{}`; it has geometry, channels, filter, address, coords, read, border", key);
}

std::optional<sim::TexelFormat> format_of(pl::DType dtype, int channels) {
  using enum sim::TexelKind;
  const int bits = static_cast<int>(8 * pl::bytes(dtype));
  if (dtype == pl::DType::f16 || dtype == pl::DType::f32) return sim::TexelFormat{floating, bits, channels};
  if (pl::is_float(dtype) || dtype == pl::DType::bool_ || bits > 32) return std::nullopt;
  return sim::TexelFormat{pl::is_signed(dtype) ? signed_int : unsigned_int, bits, channels};
}

// The sizes that an image of a geometry has, without channels.
size_t sizes_of(Geometry g) {
  switch (g) {
    case Geometry::d1:
      return 1;
    case Geometry::d2:
    case Geometry::a1d:
      return 2;
    default:
      return 3;
  }
}

Result<sim::Image> image_of(const pl::ShapeDtype& type, const Texels& t) {
  const auto format = format_of(type.dtype, t.channels);
  if (!format)
    return no_texture(
        fmt::format("texels are u8, s8, u16, s16, u32, s32, f16 or f32, not {}", pl::name(type.dtype)));
  pl::Shape shape = type.shape;
  if (t.channels > 1) {
    if (shape.empty() || shape.back() != t.channels)
      return no_texture(
          fmt::format("channels={} is the last size of the array, as in [48,64,{}]", t.channels, t.channels));
    shape.pop_back();
  }
  const auto by_rank = [&] {
    return shape.size() == 1 ? Geometry::d1 : shape.size() == 2 ? Geometry::d2 : Geometry::d3;
  };
  const Geometry geometry = t.geometry.value_or(by_rank());
  const size_t wanted = sizes_of(geometry);
  if (shape.size() != wanted)
    return no_texture(
        fmt::format("the array has {} sizes, an image of this geometry {}", shape.size(), wanted));
  for (const int64_t size : shape)
    if (size > INT32_MAX) return no_texture(fmt::format("an image of {} texels a side is too large", size));
  const auto size = [&](size_t outwards) {
    return outwards < shape.size() ? static_cast<uint32_t>(shape[shape.size() - 1 - outwards]) : 1U;
  };
  const bool layered_line = geometry == Geometry::a1d;
  sim::Image image = sim::Image::dense(geometry, *format, size(0), layered_line ? 1 : size(1),
                                       layered_line ? size(1) : size(2), sim::Address());
  image.linear_memory = t.linear_memory;
  const bool cube = geometry == Geometry::cube || geometry == Geometry::acube;
  if (cube && (size(0) != size(1) || size(2) % 6 != 0 || (geometry == Geometry::cube && size(2) != 6)))
    return no_texture("a cube has 6 square faces: [6,n,n], several of them [6k,n,n]");
  return image;
}

// "f32[48,64]@2", or an array of its own, into `arg`; returns the error.
std::string take_array(TextureArg& arg, std::string_view text) {
  const size_t at = text.find('@');
  const size_t equals = text.find('=');
  if (at != std::string_view::npos && at < equals) {
    const auto type = parse_type(text.substr(0, at));
    if (!type) return type.error();
    const auto over = number_in<int>(text.substr(at + 1));
    if (!over || *over < 0) return fmt::format("`{}` is not the number of an argument", text.substr(at + 1));
    arg.type = *type;
    arg.over = *over;
    return {};
  }
  Role role = Role::in;
  if (arg.surface) {
    const size_t colon = text.find(':');
    const auto named = colon < equals ? role_named(text.substr(0, colon)) : std::nullopt;
    if (!named || *named == Role::scratch)
      return "a surface needs in:, out: or inout: before its type, or the array of an argument, `@0`";
    role = *named;
    text.remove_prefix(colon + 1);
  }
  auto own = parse_array(role, text);
  if (!own) return own.error();
  arg.type = own->type;
  arg.array = std::move(*own);
  return {};
}

// One "key=value" behind another.
template <class Take>
std::string take_options(std::string_view text, Take take) {
  for (const std::string_view option : split(text, ",")) {
    const size_t equals = std::min(option.find('='), option.size());
    if (auto problem = take(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())));
        !problem.empty())
      return problem;
  }
  return {};
}

std::string take_sampler_option(Texels& t, std::string_view key, std::string_view value) {
  if (key == "filter" || key == "address" || key == "coords")
    return take_texture_option(t, false, key, value);
  return fmt::format("a sampler has no option `{}`; it has filter, address, coords", key);
}

// In the words of a .samplerref.
isa::Sampler sampler_of(const sim::Sampling& s) {
  static constexpr std::string_view modes[] = {"wrap", "clamp_to_edge", "mirror", "clamp_to_border"};
  isa::Sampler sampler{.force_unnormalized = !s.normalized};
  sampler.set("filter_mode", s.linear ? "linear" : "nearest");
  for (size_t d = 0; d < 3; ++d)
    sampler.set(fmt::format("addr_mode_{}", d), modes[static_cast<size_t>(s.address[d])]);
  return sampler;
}

}  // namespace

Result<ScalarArg> parse_sampler(std::string_view text) {
  Texels t;
  t.sampling.normalized = true;  // as the texture says
  const auto problem = take_options(
      text, [&](std::string_view key, std::string_view value) { return take_sampler_option(t, key, value); });
  if (!problem.empty()) return no_texture(problem);
  const uint64_t word = sampler_of(t.sampling).packed();
  const auto* bytes = reinterpret_cast<const uint8_t*>(&word);
  return ScalarArg{{bytes, bytes + sizeof word}};
}

Result<TextureArg> parse_texture(std::string_view text, bool surface) {
  TextureArg arg{.surface = surface, .type = {}, .over = -1, .array = {}, .texture = {}};
  const size_t end = end_of_array(text);
  if (const auto wrong = take_array(arg, text.substr(0, end)); !wrong.empty()) return no_texture(wrong);
  Texels texels;
  const auto problem = take_options(text.substr(std::min(end + 1, text.size())),
                                    [&](std::string_view key, std::string_view value) {
                                      return take_texture_option(texels, surface, key, value);
                                    });
  if (!problem.empty()) return no_texture(problem);
  auto image = image_of(arg.type, texels);
  if (!image) return tl::make_unexpected(image.error());
  if (surface && texels.linear_memory)
    return no_texture("a surface is an image: it has no geometry `linear`");
  arg.texture = {std::move(*image), texels.sampling};
  const sim::Sampling& sampling = texels.sampling;
  if (sampling.linear && !sampling.as_float && arg.texture.image.format.kind != sim::TexelKind::floating)
    return no_texture("linear filtering needs floats: integers with read=normalized");
  if (const auto wrong = surface ? "" : sim::problem_of(arg.texture); !wrong.empty())
    return no_texture(wrong);
  return arg;
}

}  // namespace palladion
