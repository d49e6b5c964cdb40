// Texture and surface objects. The runtime's descriptions differ from the driver's; they are kept for who
// asks.
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include "cuda/driver/runtime/state.h"

namespace palladion::cuda::runtime {
namespace {

using View = driver::ResourceViewDescriptor;
struct Described {
  ResourceDesc resource{};
  std::optional<TextureDesc> texture;  // of a surface: none
  std::optional<View> view;
};
struct Objects {
  std::mutex lock;
  std::map<Object, Described> textures, surfaces;
};
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

Status driver_resource(const ResourceDesc& r, driver::ResourceDescriptor& out, bool& integer) {
  out = {};
  out.type = static_cast<uint32_t>(r.kind);
  out.flags = r.flags;
  Format f;
  Status status = success;
  switch (out.type) {
    case driver::resource_array: {
      driver::Array3DDescriptor about{};
      status = array_of(r.of.array, about, f);
      out.of.array.array = r.of.array;
      break;
    }
    case driver::resource_mipmapped: {
      driver::Array3DDescriptor about{};
      void* level = nullptr;
      status = cuMipmappedArrayGetLevel(&level, r.of.array, 0);
      if (status == success) status = array_of(level, about, f);
      out.of.mipmapped.array = r.of.array;
      break;
    }
    case driver::resource_linear:
      status = format_of(r.of.linear.channels, f);
      out.of.linear = {reinterpret_cast<Pointer>(r.of.linear.address), f.format, f.channels,
                       r.of.linear.bytes};
      break;
    case driver::resource_pitch2d:
      status = format_of(r.of.pitch2d.channels, f);
      out.of.pitch2d = {reinterpret_cast<Pointer>(r.of.pitch2d.address),
                        f.format,
                        f.channels,
                        r.of.pitch2d.width,
                        r.of.pitch2d.height,
                        r.of.pitch2d.pitch};
      break;
    default:
      return driver::invalid_value;
  }
  integer = f.format != driver::format_f16 && f.format != driver::format_f32;
  return status;
}

driver::TextureDescriptor driver_texture(const TextureDesc& t, bool integer) {
  driver::TextureDescriptor out{};
  std::copy(std::begin(t.address_mode), std::end(t.address_mode), out.address_mode);
  out.filter_mode = static_cast<uint32_t>(t.filter_mode);
  if (integer && t.normalized_read == 0) out.flags |= driver::texture_read_as_integer;
  if (t.normalized_coordinates != 0) out.flags |= driver::texture_normalized;
  if (t.srgb != 0) out.flags |= driver::texture_srgb;
  if (t.no_trilinear_optimization != 0) out.flags |= driver::texture_no_trilinear_optimization;
  if (t.seamless_cubemap != 0) out.flags |= driver::texture_seamless_cubemap;
  out.anisotropy = t.anisotropy;
  out.mipmap_filter_mode = static_cast<uint32_t>(t.mipmap_filter_mode);
  out.level_bias = t.level_bias, out.least_level = t.least_level, out.most_level = t.most_level;
  std::copy(std::begin(t.border), std::end(t.border), out.border);
  return out;
}

Status create_texture(Object* out, const ResourceDesc* r, const TextureDesc* t, const View* view) {
  constexpr Error invalid_filter = 26, invalid_normalisation = 27;
  if (out == nullptr || r == nullptr || t == nullptr) return driver::invalid_value;
  driver::ResourceDescriptor resource{};
  bool integer = false;
  if (const Status s = driver_resource(*r, resource, integer)) return s;
  if (integer && t->normalized_read == 0 && t->filter_mode == 1) return invalid_filter;
  if (!integer && t->normalized_read != 0 && t->srgb != 0) return invalid_normalisation;
  const driver::TextureDescriptor texture = driver_texture(*t, integer);
  uint64_t object = 0;
  const Status status = cuTexObjectCreate(&object, &resource, &texture, view);
  if (status != success) return status;
  Objects& all = objects();
  const std::lock_guard guard(all.lock);
  all.textures[object] = {*r, *t, view != nullptr ? std::optional(*view) : std::nullopt};
  return *out = object, success;
}

Status create_surface(Object* out, const ResourceDesc* r) {
  if (out == nullptr || r == nullptr) return driver::invalid_value;
  driver::ResourceDescriptor resource{};
  bool integer = false;
  if (const Status s = driver_resource(*r, resource, integer)) return s;
  uint64_t object = 0;
  const Status status = cuSurfObjectCreate(&object, &resource);
  if (status != success) return status;
  Objects& all = objects();
  const std::lock_guard guard(all.lock);
  all.surfaces[object] = {*r, std::nullopt, std::nullopt};
  return *out = object, success;
}

Status destroy_texture(Object object) {
  Objects& all = objects();
  const std::lock_guard guard(all.lock);
  all.textures.erase(object);
  return object == 0 ? success : cuTexObjectDestroy(object);
}

Status destroy_surface(Object object) {
  Objects& all = objects();
  const std::lock_guard guard(all.lock);
  all.surfaces.erase(object);
  return object == 0 ? success : cuSurfObjectDestroy(object);
}

template <class Give>
Status described(const std::map<Object, Described>& all, Object object, Give give) {
  const std::lock_guard guard(objects().lock);
  const auto found = all.find(object);
  return found != all.end() && give(found->second) ? success : driver::invalid_value;
}

Status max_linear_width(size_t* out, const ChannelDesc* desc, int device) {
  Format f;
  const Status status = format_of(*desc, f);
  return status != success ? status : cuDeviceGetTexture1DLinearMaxWidth(out, f.format, f.channels, device);
}

}  // namespace
}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;

PLD_CALL(cudaCreateTextureObject,
         (Object * out, const ResourceDesc* r, const TextureDesc* t,
          const palladion::cuda::driver::ResourceViewDescriptor* view),
         create_texture(out, r, t, view))
PLD_CALL(cudaDestroyTextureObject, (Object object), destroy_texture(object))
PLD_CALL(cudaGetTextureObjectResourceDesc, (ResourceDesc * out, Object object),
         described(objects().textures, object, [&](const Described& d) { return *out = d.resource, true; }))
PLD_CALL(cudaGetTextureObjectTextureDesc, (TextureDesc * out, Object object),
         described(objects().textures, object, [&](const Described& d) { return *out = *d.texture, true; }))
PLD_CALL(cudaGetTextureObjectResourceViewDesc,
         (palladion::cuda::driver::ResourceViewDescriptor * out, Object object),
         described(objects().textures, object,
                   [&](const Described& d) { return d.view.has_value() && (*out = *d.view, true); }))
PLD_CALL(cudaCreateSurfaceObject, (Object * out, const ResourceDesc* r), create_surface(out, r))
PLD_CALL(cudaDestroySurfaceObject, (Object object), destroy_surface(object))
PLD_CALL(cudaGetSurfaceObjectResourceDesc, (ResourceDesc * out, Object object),
         described(objects().surfaces, object, [&](const Described& d) { return *out = d.resource, true; }))
PLD_CALL(cudaDeviceGetTexture1DLinearMaxWidth, (size_t* out, const ChannelDesc* desc, int device),
         max_linear_width(out, desc, device))
