#include "sim/machine/state/textures.h"

#include <algorithm>

namespace palladion::sim {

Image Image::dense(isa::Geometry geometry, TexelFormat format, uint32_t width, uint32_t height,
                   uint32_t depth, Address address, uint32_t levels) {
  Image image{
      .geometry = geometry, .format = format, .levels = {}, .linear_memory = false, .unsupported = {}};
  const bool solid = geometry == isa::Geometry::d3;
  for (uint32_t n = 0; n < std::max(levels, 1U); ++n) {
    ImageLevel level;
    level.address = address;
    level.width = std::max(width >> n, 1U);
    level.height = std::max(height >> n, 1U);
    level.depth = std::max(solid ? depth >> n : depth, 1U);
    level.pitch = uint64_t{level.width} * format.bytes();
    level.slice = level.pitch * level.height;
    address += level.slice * level.depth;
    image.levels.push_back(level);
  }
  return image;
}

uint64_t Image::bytes() const {
  const ImageLevel& last = levels.back();
  return last.address + last.slice * last.depth - levels.front().address;
}

Image Image::level(uint32_t n) const {
  Image one = *this;
  one.levels = {levels[n]};
  return one;
}

std::string problem_of(const Texture& t) {
  const TexelFormat& f = t.image.format;
  const Sampling& s = t.sampling;
  const bool integers = f.kind != TexelKind::floating;
  if (t.image.levels.empty()) return "a texture needs an image";
  if (f.channels != 1 && f.channels != 2 && f.channels != 4) return "a texel has 1, 2 or 4 channels";
  if ((f.bits != 8 && f.bits != 16 && f.bits != 32) || (f.kind == TexelKind::floating && f.bits == 8))
    return "a channel has 8, 16 or 32 bits, a floating one 16 or 32";
  if (s.as_float && integers && f.bits == 32) return "integers of 32 bits are not read as normalised floats";
  if (s.linear && integers && !s.as_float) return "linear filtering needs floats";
  if (s.srgb && (f.kind != TexelKind::unsigned_int || f.bits != 8 || !s.as_float))
    return "sRGB needs 8-bit unsigned channels that are read as normalised floats";
  return {};
}

uint64_t TextureTable::create(Texture texture) {
  while (textures_.contains(next_) || surfaces_.contains(next_)) ++next_;
  textures_.emplace(next_, std::move(texture));
  return next_++;
}

uint64_t TextureTable::create_surface(Image image) {
  while (textures_.contains(next_) || surfaces_.contains(next_)) ++next_;
  surfaces_.emplace(next_, std::move(image));
  return next_++;
}

bool TextureTable::create_at(uint64_t handle, Texture texture) {
  return textures_.emplace(handle, std::move(texture)).second;
}

bool TextureTable::create_surface_at(uint64_t handle, Image image) {
  return surfaces_.emplace(handle, std::move(image)).second;
}

bool TextureTable::destroy(uint64_t handle) { return textures_.erase(handle) + surfaces_.erase(handle) != 0; }

const Texture* TextureTable::texture(uint64_t handle) const {
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : &it->second;
}

const Image* TextureTable::surface(uint64_t handle) const {
  const auto it = surfaces_.find(handle);
  return it == surfaces_.end() ? nullptr : &it->second;
}

}  // namespace palladion::sim
