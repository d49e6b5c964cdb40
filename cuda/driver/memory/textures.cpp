// Texture and surface objects: descriptors become the machine's.
#include <fmt/format.h>

#include <cmath>

#include "cuda/driver/memory/arrays.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

struct Described {
  ResourceDescriptor resource{};
  TextureDescriptor texture{};
  std::optional<ResourceViewDescriptor> view;
};
std::map<uint64_t, Described> described;

Status linear_image(sim::Image& out, Pointer address, uint32_t format, uint32_t channels, size_t bytes) {
  const auto texel = texel_format(format, channels);
  if (!texel) return invalid_value;
  const size_t texels = bytes / texel->bytes();
  if (address % 512 != 0 || texels == 0 || texels > 1U << 28) return invalid_value;
  out = sim::Image::dense(isa::Geometry::d1, *texel, static_cast<uint32_t>(texels), 1, 1,
                          sim::Address(address));
  out.linear_memory = true;
  return success;
}

Status pitch_image(sim::Image& out, const ResourceDescriptor& r) {
  const auto& p = r.of.pitch2d;
  const auto texel = texel_format(p.format, p.channels);
  if (!texel || p.address % 512 != 0 || p.pitch % 32 != 0 || p.width == 0 || p.height == 0 ||
      p.width > 1U << 17 || p.height > 1U << 17 || p.pitch > 1U << 28 || p.pitch < p.width * texel->bytes())
    return invalid_value;
  out = sim::Image::dense(isa::Geometry::d2, *texel, static_cast<uint32_t>(p.width),
                          static_cast<uint32_t>(p.height), 1, sim::Address(p.address));
  out.levels.front().pitch = p.pitch;
  out.levels.front().slice = p.pitch * p.height;
  return success;
}

Status image_of(sim::Image& out, const ResourceDescriptor& r) {
  switch (r.type) {
    case resource_array: {
      const Array* a = array_of(r.of.array.array);
      if (a == nullptr) return invalid_handle;
      return out = a->image, success;
    }
    case resource_mipmapped: {
      const MipmappedArray* m = mipmapped_of(r.of.mipmapped.array);
      if (m == nullptr) return invalid_handle;
      return out = m->image, success;
    }
    case resource_linear:
      return linear_image(out, r.of.linear.address, r.of.linear.format, r.of.linear.channels,
                          r.of.linear.bytes);
    case resource_pitch2d:
      return pitch_image(out, r);
    default:
      return invalid_value;
  }
}

// CUresourceViewFormat: three numbers of channels for each of eight formats of texels.
std::optional<sim::TexelFormat> view_format(uint32_t format) {
  static constexpr uint32_t formats[] = {format_u8,  format_s8,  format_u16, format_s16,
                                         format_u32, format_s32, format_f16, format_f32};
  if (format < 1 || format > 24) return std::nullopt;
  return texel_format(formats[(format - 1) / 3], 1U << (format - 1) % 3);
}

// The part of an image, and the type of its texels, that a view chooses. Its size is that of the image's
// first level, whichever levels it chooses; the last level may lie beyond the image's (measured, driver 580).
Status look_at(sim::Image& image, const ResourceViewDescriptor& v) {
  using enum isa::Geometry;
  const isa::Geometry g = image.geometry;
  const sim::ImageLevel whole = image.levels.front();
  const bool slices = g == a1d || g == a2d || g == cube || g == acube;
  if (v.format > 24) return unsupported("resource views of compressed formats");
  if (v.format != 0) {
    const auto format = view_format(v.format);
    if (!format || format->bytes() != image.format.bytes()) return invalid_value;
    image.format = *format;
  }
  if (v.width != whole.width || (v.height != 0 ? v.height : 1) != whole.height) return invalid_value;
  if ((slices || g == d3 || v.depth > 1) && v.depth != whole.depth) return invalid_value;
  if (v.first_level > v.last_level || v.first_level >= image.levels.size()) return invalid_value;
  const auto end = std::min<size_t>(v.last_level + size_t{1}, image.levels.size());
  image.levels = {image.levels.begin() + v.first_level, image.levels.begin() + static_cast<ptrdiff_t>(end)};
  if (g != a1d && g != a2d && g != acube) return success;
  if (v.first_layer > v.last_layer) return invalid_value;
  if (v.last_layer >= whole.depth)
    return unsupported("resource views of layers that the array does not have");
  for (sim::ImageLevel& level : image.levels) {
    level.address += v.first_layer * level.slice;
    level.depth = v.last_layer - v.first_layer + 1;
  }
  return success;
}

sim::Sampling sampling_of(const TextureDescriptor& t, const sim::TexelFormat& format) {
  sim::Sampling s;
  for (size_t d = 0; d < 3; ++d) s.address[d] = static_cast<sim::AddressMode>(t.address_mode[d]);
  s.linear = t.filter_mode == 1;
  s.linear_levels = t.mipmap_filter_mode == 1;
  s.normalized = has(t.flags, texture_normalized);
  s.as_float =
      format.kind != sim::TexelKind::floating && format.bits < 32 && !has(t.flags, texture_read_as_integer);
  s.srgb = has(t.flags, texture_srgb);
  s.anisotropy = t.anisotropy;
  s.level_bias = t.level_bias;
  s.least_level = t.least_level;
  s.most_level = t.most_level;
  std::copy(std::begin(t.border), std::end(t.border), s.border.begin());
  return s;
}

Status create_texture(uint64_t* out, const ResourceDescriptor* r, const TextureDescriptor* t,
                      const ResourceViewDescriptor* v) {
  State& s = state();
  const Guard guard(s.lock);
  if (out == nullptr || r == nullptr || t == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  for (const uint32_t mode : t->address_mode)
    if (mode > 3) return invalid_value;
  if (has(t->flags, texture_srgb)) return unsupported("sRGB textures");
  if (has(t->flags, texture_seamless_cubemap)) return unsupported("seamless cubemaps");
  sim::Texture texture;
  if (const Status status = image_of(texture.image, *r); status != success) return status;
  if (v != nullptr) {
    if (r->type == resource_linear || r->type == resource_pitch2d) return invalid_value;
    if (const Status status = look_at(texture.image, *v); status != success) return status;
  }
  texture.sampling = sampling_of(*t, texture.image.format);
  if (const std::string problem = sim::problem_of(texture); !problem.empty()) {
    fmt::print(stderr, "palladion exec: cuTexObjectCreate: {}\n", problem);
    return invalid_value;
  }
  *out = s.machine->textures().create(std::move(texture));
  described[*out] = {*r, *t, v != nullptr ? std::optional(*v) : std::nullopt};
  return success;
}

Status create_surface(uint64_t* out, const ResourceDescriptor* r) {
  State& s = state();
  const Guard guard(s.lock);
  if (out == nullptr || r == nullptr || r->type != resource_array) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  const Array* a = array_of(r->of.array.array);
  if (a == nullptr) return invalid_handle;
  if (!has(a->description.flags, array_surface)) {
    fmt::print(stderr,
               "palladion exec: cuSurfObjectCreate: the array was made without CUDA_ARRAY3D_SURFACE_LDST\n");
    return invalid_value;
  }
  *out = s.machine->textures().create_surface(a->image);
  described[*out] = {*r, {}, std::nullopt};
  return success;
}

Status destroy(uint64_t handle) {
  const Guard guard(state().lock);
  if (!state().machine->textures().destroy(handle)) return invalid_value;
  return described.erase(handle), success;
}

const Described* find_described(uint64_t handle) {
  const auto found = described.find(handle);
  return found != described.end() ? &found->second : nullptr;
}

}  // namespace

void forget_textures() {
  for (const auto& [handle, d] : described) state().machine->textures().destroy(handle);
  described.clear();
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuTexObjectCreate(uint64_t* out, const ResourceDescriptor* r, const TextureDescriptor* t,
                           const ResourceViewDescriptor* v) {
  return create_texture(out, r, t, v);
}
PLD_CUDA cuTexObjectDestroy(uint64_t handle) { return destroy(handle); }
PLD_CUDA cuTexObjectGetResourceDesc(ResourceDescriptor* out, uint64_t handle) {
  const Guard guard(state().lock);
  const Described* d = find_described(handle);
  if (d == nullptr || out == nullptr) return invalid_value;
  return *out = d->resource, success;
}
PLD_CUDA cuTexObjectGetTextureDesc(TextureDescriptor* out, uint64_t handle) {
  const Guard guard(state().lock);
  const Described* d = find_described(handle);
  if (d == nullptr || out == nullptr) return invalid_value;
  return *out = d->texture, success;
}
PLD_CUDA cuTexObjectGetResourceViewDesc(ResourceViewDescriptor* out, uint64_t handle) {
  const Guard guard(state().lock);
  const Described* d = find_described(handle);
  if (d == nullptr || out == nullptr || !d->view) return invalid_value;
  return *out = *d->view, success;
}
PLD_CUDA cuSurfObjectCreate(uint64_t* out, const ResourceDescriptor* r) { return create_surface(out, r); }
PLD_CUDA cuSurfObjectDestroy(uint64_t handle) { return destroy(handle); }
PLD_CUDA cuSurfObjectGetResourceDesc(ResourceDescriptor* out, uint64_t handle) {
  return cuTexObjectGetResourceDesc(out, handle);
}
PLD_CUDA cuDeviceGetTexture1DLinearMaxWidth(size_t* out, uint32_t format, unsigned channels, DeviceId) {
  if (out == nullptr || !texel_format(format, channels)) return invalid_value;
  return *out = size_t{1} << 28, success;
}
