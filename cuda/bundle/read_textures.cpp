#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "cuda/bundle/json_reader.h"

namespace palladion::cuda::bundle {
namespace {

constexpr uint64_t most_of_axis = uint64_t{1} << 32;  // texels

Texel texel_of(const Reader& r) {
  Texel t;
  t.format = static_cast<Texel::Format>(r.one_of("format", format_names));
  t.channels = static_cast<uint32_t>(r.number("channels", 4));
  if (t.channels != 1 && t.channels != 2 && t.channels != 4) r.wrong("channels", "1, 2 or 4");
  return t;
}

Sampling sampling_of(const json::value& value, const std::string& where) {
  const Reader r(object_of(value, where), where);
  Sampling s;
  const auto modes = r.all_of<3>("address", address_names);
  std::ranges::transform(modes, s.address.begin(), [](size_t m) { return Sampling::Address(m); });
  s.linear = r.flag("linear");
  s.linear_levels = r.flag("linear_levels");
  s.normalized = r.flag("normalized");
  s.integers = r.flag("integers");
  s.srgb = r.flag("srgb");
  s.seamless = r.flag("seamless");
  s.anisotropy = static_cast<uint32_t>(r.number("anisotropy", UINT32_MAX));
  const json::array& numbers = r.list("numbers", s.numbers.size());
  for (size_t i = 0; i < s.numbers.size(); ++i) {
    uint64_t bits = 0;
    if (numbers.size() != s.numbers.size() || !is_number(numbers[i], bits) || bits > UINT32_MAX)
      r.wrong("numbers", "the bits of 7 f32");
    s.numbers[i] = static_cast<uint32_t>(bits);
  }
  return s;
}

View view_of(const json::value& value, const std::string& where) {
  const Reader r(object_of(value, where), where);
  View v;
  v.other_texel = r.has("format");
  if (v.other_texel) v.texel = texel_of(r);
  const auto levels = r.numbers<2>("levels", 0), layers = r.numbers<2>("layers", 0);
  v.first_level = levels[0];
  v.last_level = levels[1];
  v.first_layer = layers[0];
  v.last_layer = layers[1];
  return v;
}

void take_resource(Object& o, const Reader& r) {
  if (r.has("unsupported")) {
    o.resource = Object::Resource::unsupported;
    o.reason = r.text("unsupported");
  } else if (r.has("array")) {
    o.array = r.text("array");
    o.one_level = r.has("level");
    if (o.one_level) o.level = static_cast<uint32_t>(r.number("level", 31));
  } else {
    o.resource = r.has("linear") ? Object::Resource::linear : Object::Resource::pitched;
    o.address = r.number(r.has("linear") ? "linear" : "pitched");
    o.texel = texel_of(r);
    o.size[0] = r.number("width", most_of_axis);
    if (o.resource == Object::Resource::linear) return;
    o.size[1] = r.number("height", most_of_axis);
    o.pitch = r.number("pitch", most_of_axis);
  }
}

void check_object(const Object& o, const std::string& where, const std::vector<TexelArray>& arrays) {
  using Resource = Object::Resource;
  if (o.resource == Resource::unsupported) return;
  if (o.resource != Resource::array) {
    if (o.kind == Object::Kind::surface) fail(where + ": a surface is on an array");
    if (o.has_view) fail(where + ": a view is of an array");
    const uint64_t height = o.resource == Resource::pitched ? o.size[1] : 1;
    if (o.size[0] == 0 || height == 0) fail(where + " has no texels");
    return;
  }
  const auto array = std::ranges::find(arrays, o.array, &TexelArray::name);
  if (array == arrays.end()) fail(fmt::format("{}: there is no array `{}`", where, o.array));
  if (o.level >= array->levels)
    fail(fmt::format("{}: level {} of `{}`, which has {}", where, o.level, o.array, array->levels));
  if (!o.has_view) return;
  const View& v = o.view;
  if (v.first_level > v.last_level || v.last_level >= array->levels || (o.one_level && v.last_level != 0))
    fail(fmt::format("{}: levels {} to {} of `{}`, which has {}", where, v.first_level, v.last_level, o.array,
                     array->levels));
  const uint32_t layers = array->layered || array->cubemap ? array->size[2] : 1;
  if (v.first_layer > v.last_layer || v.last_layer >= layers)
    fail(fmt::format("{}: layers {} to {} of `{}`, which has {}", where, v.first_layer, v.last_layer, o.array,
                     layers));
  if (v.other_texel && bytes_of(v.texel) != bytes_of(array->texel))
    fail(fmt::format("{}: a view whose texels have {} bytes, those of `{}` have {}", where, bytes_of(v.texel),
                     o.array, bytes_of(array->texel)));
}

std::string name_of(const Object& o) {
  return fmt::format("{} object 0x{:x}", o.kind == Object::Kind::texture ? "texture" : "surface", o.handle);
}

}  // namespace

TexelArray array_of(const json::value& value) {
  const Reader r(object_of(value, "an array"), "an array");
  TexelArray a;
  a.name = r.text("name");
  const std::string where = fmt::format("array `{}`", a.name);
  a.texel = texel_of(r);
  a.size = r.numbers<3>("size", 0);
  a.layered = r.flag("layered");
  a.cubemap = r.flag("cubemap");
  a.levels = static_cast<uint32_t>(r.number("levels", 32));
  a.before = contents_of(r.at("before"), where, false);
  a.after = contents_of(r.at("after"), where, true);
  if (bytes_of(a) == 0) fail(where + ": its size, layers and levels are those of no CUDA array");
  return a;
}

Object texture_object_of(const json::value& value) {
  const Reader r(object_of(value, "an object"), "an object");
  Object o;
  o.kind = static_cast<Object::Kind>(r.one_of("kind", std::array<std::string_view, 2>{"texture", "surface"}));
  o.handle = r.number("handle");
  const std::string where = name_of(o);
  take_resource(o, Reader(object_of(value, where), where));
  if (o.kind == Object::Kind::surface || o.resource == Object::Resource::unsupported) return o;
  o.sampling = sampling_of(r.at("sampling"), where);
  o.has_view = r.has("view");
  if (o.has_view) o.view = view_of(r.at("view"), where);
  return o;
}

void check_objects(const Manifest& m) {
  std::set<std::string_view> arrays;
  for (const TexelArray& a : m.arrays)
    if (!arrays.insert(a.name).second) fail(fmt::format("two arrays are called `{}`", a.name));
  std::set<std::pair<Object::Kind, uint64_t>> handles;
  for (const Object& o : m.objects) {
    if (!handles.emplace(o.kind, o.handle).second) fail(name_of(o) + " is there twice");
    check_object(o, name_of(o), m.arrays);
  }
}

}  // namespace palladion::cuda::bundle
