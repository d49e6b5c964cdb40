// The standard library alone, as in write.cpp.
#include <algorithm>
#include <string_view>

#include "cuda/bundle/json_text.h"
#include "cuda/bundle/textures.h"

namespace palladion::cuda::bundle {
namespace {

using namespace json_text;

constexpr uint64_t most_of_level = uint64_t{1} << 32;  // bytes

std::string text_of(const Texel& t) {
  return "\"format\": " + in_quotes(format_names[static_cast<size_t>(t.format)]) +
         ", \"channels\": " + std::to_string(t.channels);
}

std::string text_of(const Sampling& s) {
  std::string modes;
  for (const Sampling::Address a : s.address)
    modes += (modes.empty() ? "" : ", ") + in_quotes(address_names[static_cast<size_t>(a)]);
  std::string numbers;
  for (const uint32_t n : s.numbers) numbers += (numbers.empty() ? "" : ", ") + hex(uint64_t{n});
  return "{\"address\": [" + modes + "], \"linear\": " + word(s.linear) +
         ", \"linear_levels\": " + word(s.linear_levels) + ", \"normalized\": " + word(s.normalized) +
         ", \"integers\": " + word(s.integers) + ", \"srgb\": " + word(s.srgb) +
         ", \"seamless\": " + word(s.seamless) + ", \"anisotropy\": " + std::to_string(s.anisotropy) +
         ",\n      \"numbers\": [" + numbers + "]}";
}

std::string text_of(const View& v) {
  return "{" + (v.other_texel ? text_of(v.texel) + ", " : std::string()) +
         "\"levels\": " + list(std::array{v.first_level, v.last_level}) +
         ", \"layers\": " + list(std::array{v.first_layer, v.last_layer}) + "}";
}

std::string text_of_resource(const Object& o) {
  switch (o.resource) {
    case Object::Resource::array:
      return "\"array\": " + in_quotes(o.array) +
             (o.one_level ? ", \"level\": " + std::to_string(o.level) : "");
    case Object::Resource::linear:
      return "\"linear\": " + hex(o.address) + ", " + text_of(o.texel) +
             ", \"width\": " + std::to_string(o.size[0]);
    case Object::Resource::pitched:
      return "\"pitched\": " + hex(o.address) + ", " + text_of(o.texel) +
             ", \"width\": " + std::to_string(o.size[0]) + ", \"height\": " + std::to_string(o.size[1]) +
             ", \"pitch\": " + std::to_string(o.pitch);
    case Object::Resource::unsupported:
      break;
  }
  return "\"unsupported\": " + in_quotes(o.reason);
}

}  // namespace

uint64_t bytes_of(const Texel& t) {
  constexpr uint64_t bytes[] = {1, 2, 4, 1, 2, 4, 2, 4};
  return bytes[static_cast<size_t>(t.format)] * t.channels;
}

uint64_t bytes_of(const TexelArray& a) {
  const auto [width, height, depth] = a.size;
  const bool solid = !a.layered && !a.cubemap;
  if (width == 0 || a.levels == 0 || a.levels > 32 || (depth == 0 && !solid)) return 0;
  if (a.cubemap && (width != height || depth % 6 != 0 || (depth != 6 && !a.layered))) return 0;
  if (solid && depth != 0 && height == 0) return 0;
  uint64_t sum = 0;
  for (uint32_t n = 0; n < a.levels; ++n) {
    const uint64_t w = std::max(width >> n, 1U), h = std::max(height >> n, 1U),
                   d = std::max(solid ? depth >> n : depth, 1U);
    const auto all = static_cast<unsigned __int128>(w * h) * d * bytes_of(a.texel);
    if (all > most_of_level) return 0;
    sum += static_cast<uint64_t>(all);
  }
  return sum;
}

std::string text(const TexelArray& a) {
  return "{\"name\": " + in_quotes(a.name) + ", " + text_of(a.texel) + ", \"size\": " + list(a.size) +
         ", \"layered\": " + word(a.layered) + ", \"cubemap\": " + word(a.cubemap) +
         ", \"levels\": " + std::to_string(a.levels) + ",\n     \"before\": " + contents(a.before) +
         ", \"after\": " + contents(a.after) + "}";
}

std::string text(const Object& o) {
  const bool texture = o.kind == Object::Kind::texture;
  std::string out = std::string("{\"kind\": ") + (texture ? "\"texture\"" : "\"surface\"") +
                    ", \"handle\": " + hex(o.handle) + ", " + text_of_resource(o);
  if (texture && o.resource != Object::Resource::unsupported) {
    out += ",\n     \"sampling\": " + text_of(o.sampling);
    if (o.has_view) out += ",\n     \"view\": " + text_of(o.view);
  }
  return out + "}";
}

}  // namespace palladion::cuda::bundle
