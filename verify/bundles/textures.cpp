#include "verify/bundles/textures.h"

#include <algorithm>
#include <bit>

namespace palladion::verify {
namespace {

using cuda::bundle::Object;
using isa::Geometry;

sim::TexelFormat format_of(const cuda::bundle::Texel& t) {
  using enum cuda::bundle::Texel::Format;
  sim::TexelFormat f;
  const bool is_signed = t.format == s8 || t.format == s16 || t.format == s32;
  f.kind = t.format == f16 || t.format == f32 ? sim::TexelKind::floating
           : is_signed                        ? sim::TexelKind::signed_int
                                              : sim::TexelKind::unsigned_int;
  f.channels = static_cast<int>(t.channels);
  f.bits = static_cast<int>(8 * cuda::bundle::bytes_of(t) / t.channels);
  return f;
}

Geometry geometry_of(const cuda::bundle::TexelArray& a) {
  const bool flat = a.size[1] == 0;  // of one dimension
  if (a.cubemap) return a.layered ? Geometry::acube : Geometry::cube;
  if (a.layered) return flat ? Geometry::a1d : Geometry::a2d;
  if (a.size[2] != 0) return Geometry::d3;
  return flat ? Geometry::d1 : Geometry::d2;
}

void take_view(sim::Image& image, const cuda::bundle::View& v, const cuda::bundle::TexelArray& array) {
  if (v.other_texel) image.format = format_of(v.texel);
  image.levels = {image.levels.begin() + v.first_level, image.levels.begin() + v.last_level + 1};
  if (!array.layered) return;
  if (array.cubemap && (v.first_layer != 0 || v.last_layer + 1 != array.size[2])) {
    image.unsupported = "a view of some layers of a layered cubemap is not modelled";
    return;
  }
  for (sim::ImageLevel& level : image.levels) {
    level.address += v.first_layer * level.slice;
    level.depth = v.last_layer - v.first_layer + 1;
  }
}

sim::Image image_of(const Object& o, const cuda::bundle::Manifest& m) {
  sim::Image image;
  if (o.resource == Object::Resource::unsupported) {
    image.unsupported = o.reason;
  } else if (o.resource == Object::Resource::array) {
    const auto& array = *std::ranges::find(m.arrays, o.array, &cuda::bundle::TexelArray::name);
    image = sim::Image::dense(geometry_of(array), format_of(array.texel), array.size[0], array.size[1],
                              array.size[2], sim::Address(), array.levels);
    if (o.one_level) image = image.level(o.level);
    if (o.has_view) take_view(image, o.view, array);
  } else {
    image.format = format_of(o.texel);
    image.linear_memory = o.resource == Object::Resource::linear;
    image.geometry = image.linear_memory ? Geometry::d1 : Geometry::d2;
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(o.size[0], UINT32_MAX));
    const auto height =
        image.linear_memory ? 1 : static_cast<uint32_t>(std::min<uint64_t>(o.size[1], UINT32_MAX));
    image.levels = {{sim::Address(o.address), o.pitch, o.pitch * height, width, height, 1}};
  }
  return image;
}

sim::Sampling sampling_of(const Object& o, sim::Image& image) {
  const cuda::bundle::Sampling& from = o.sampling;
  sim::Sampling s;
  for (size_t d = 0; d < 3; ++d) s.address[d] = static_cast<sim::AddressMode>(from.address[d]);
  s.linear = from.linear;
  s.linear_levels = from.linear_levels;
  s.normalized = from.normalized;
  s.as_float = !from.integers && image.format.kind != sim::TexelKind::floating && image.format.bits < 32;
  s.srgb = from.srgb;
  s.anisotropy = from.anisotropy;
  const auto number = [&](size_t i) { return std::bit_cast<float>(from.numbers[i]); };
  s.level_bias = number(0);
  s.least_level = number(1);
  s.most_level = number(2);
  for (size_t c = 0; c < 4; ++c) s.border[c] = number(3 + c);
  const bool cube = image.geometry == Geometry::cube || image.geometry == Geometry::acube;
  if (from.seamless && from.linear && cube && image.unsupported.empty())
    image.unsupported = "filtering across the edges of a seamless cubemap is not modelled";
  return s;
}

}  // namespace

std::vector<TextureObject> objects_of(const cuda::bundle::Manifest& m, int buffer) {
  std::vector<TextureObject> out;
  for (const Object& o : m.objects) {
    TextureObject object{
        .handle = o.handle, .surface = o.kind == Object::Kind::surface, .buffer = -1, .texture = {}};
    object.texture.image = image_of(o, m);
    object.texture.sampling = sampling_of(o, object.texture.image);
    if (o.resource == Object::Resource::array) {
      const auto at = std::ranges::find(m.arrays, o.array, &cuda::bundle::TexelArray::name);
      object.buffer = buffer + static_cast<int>(at - m.arrays.begin());
    }
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace palladion::verify
