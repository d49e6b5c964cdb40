// txq, suq, istypep.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/texture_objects.h"

namespace palladion::sim {
namespace {

// The numbers of the manual's enumerations "Channel Data Type and Channel Order Fields".
uint32_t channel_type(const TexelFormat& f, bool as_float) {
  const uint32_t size = f.bits == 8 ? 0 : f.bits == 16 ? 1 : 2;
  switch (f.kind) {
    case TexelKind::floating:
      return f.bits == 16 ? 0x10DD : 0x10DE;
    case TexelKind::signed_int:
      return (as_float ? 0x10D0 : 0x10D7) + size;
    default:
      return (as_float ? 0x10D2 : 0x10DA) + size;
  }
}

uint32_t attribute_of(isa::TextureAttribute a, const Image& image, const Sampling& s, uint32_t level) {
  using enum isa::TextureAttribute;
  const ImageLevel& l = image.levels[std::min<size_t>(level, image.levels.size() - 1)];
  const auto mode = [&](size_t d) -> uint32_t {
    static constexpr uint32_t numbers[] = {0, 3, 1, 4};  // wrap, clamp_to_edge, mirror, clamp_to_border
    return numbers[static_cast<size_t>(s.address[d])];
  };
  switch (a) {
    case width:
      return l.width;
    case height:
      return l.height;
    case depth:
      return image.geometry == isa::Geometry::d3 ? l.depth : 1;
    case channel_data_type:
      return channel_type(image.format, s.as_float);
    case channel_order:
      return image.format.channels == 1 ? 0x10B0 : image.format.channels == 2 ? 0x10B2 : 0x10B5;
    case normalized_coords:
      return s.normalized ? 1 : 0;
    case array_size:
      return has_layers(image.geometry) ? l.depth / (image.geometry == isa::Geometry::acube ? 6 : 1) : 0;
    case num_mipmap_levels:
      return static_cast<uint32_t>(image.levels.size());
    case filter_mode:
      return s.linear ? 1 : 0;
    case address_mode_0:
      return mode(0);
    case address_mode_1:
      return mode(1);
    case address_mode_2:
      return mode(2);
    default:
      return 0;
  }
}

bool is_of_sampler(isa::TextureAttribute a) {
  using enum isa::TextureAttribute;
  return a == filter_mode || a == address_mode_0 || a == address_mode_1 || a == address_mode_2 ||
         a == force_unnormalized_coords;
}

// None: the field is not set.
std::optional<uint32_t> attribute_of(isa::TextureAttribute a, const isa::Sampler& s) {
  using enum isa::TextureAttribute;
  if (a == force_unnormalized_coords) return s.force_unnormalized ? 1 : 0;
  if (a == filter_mode) return s.filter;
  return s.address[a == address_mode_0 ? 0 : a == address_mode_1 ? 1 : 2];
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::TextureQuery& e) {
  using enum isa::TextureAttribute;
  const bool is_type = e.attribute == is_texture || e.attribute == is_sampler || e.attribute == is_surface;
  uint32_t yes = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const DecodedOperand& object = op.operands[e.object];
    const uint64_t value = is_type ? x.lane_value(object, lane) : x.address_of_lane(object, lane);
    const uint64_t handle = handle_of(x, value);
    const Texture* t = x.launch.textures->texture(handle);
    const Image* s = x.launch.textures->surface(handle);
    if (is_type) {
      const bool is = e.attribute == is_texture   ? t != nullptr
                      : e.attribute == is_surface ? s != nullptr
                                                  : sampler_of(x, value).has_value();
      yes |= uint32_t{is} << lane;
      continue;
    }
    if (const auto sampler = is_of_sampler(e.attribute) ? sampler_of(x, value) : std::nullopt) {
      const auto found = attribute_of(e.attribute, *sampler);
      if (!found) return x.unsupported(say<Phrase::no_sampler_field>());
      x.lanes<uint32_t>(op.operands[e.dst])[lane] = *found;
      continue;
    }
    if (e.surface && s == nullptr) return no_such_object(x, "surface", value);
    if (!e.surface && t == nullptr) return no_such_object(x, "texture", value);
    const auto level = e.lod < 0 ? 0 : static_cast<uint32_t>(x.lane_value(op.operands[e.lod], lane));
    x.lanes<uint32_t>(op.operands[e.dst])[lane] =
        e.surface ? attribute_of(e.attribute, *s, {}, 0)
                  : attribute_of(e.attribute, t->image, t->sampling, level);
  }
  if (is_type) {
    uint32_t& d = x.predicate(op.operands[e.dst]);
    d = (d & ~x.active) | yes;
  }
  return Step::next;
}

}  // namespace palladion::sim
