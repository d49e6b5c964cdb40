#include "cuda/capture/textures.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "cuda/abi/cuda.h"
#include "cuda/capture/memory.h"
#include "cuda/capture/recorder.h"

namespace palladion::cuda::capture {
namespace {

using Resource = bundle::Object::Resource;
using Format = bundle::Texel::Format;
using cuda::ResourceDescriptor;

// Made on first use and never destroyed: the program calls the driver while it ends, too.
struct Objects {
  std::mutex lock;
  std::map<std::pair<uint64_t, ObjectKind>, std::optional<cuda::ResourceViewDescriptor>> all;  // with views
};
Objects& objects() {
  static auto* const o = new Objects;
  return *o;
}

constexpr uint32_t most_levels = 32;

// CUarray_format
std::optional<bundle::Texel> texel_of(uint32_t format, uint32_t channels) {
  static const std::map<uint32_t, Format> formats = {
      {0x01, Format::u8},  {0x02, Format::u16}, {0x03, Format::u32}, {0x08, Format::s8},
      {0x09, Format::s16}, {0x0a, Format::s32}, {0x10, Format::f16}, {0x20, Format::f32}};
  const auto found = formats.find(format);
  if (found == formats.end() || (channels != 1 && channels != 2 && channels != 4)) return std::nullopt;
  return bundle::Texel{found->second, channels};
}

// CUresourceViewFormat: of each format one, two and four channels.
std::optional<bundle::Texel> texel_of_view(uint32_t format) {
  constexpr Format order[] = {Format::u8,  Format::s8,  Format::u16, Format::s16,
                              Format::u32, Format::s32, Format::f16, Format::f32};
  if (format < 1 || format > 24) return std::nullopt;
  return bundle::Texel{order[(format - 1) / 3], 1U << (format - 1) % 3};
}

void refuse(bundle::Object& o, std::string reason) {
  o.resource = Resource::unsupported;
  o.reason = std::move(reason);
}

std::string format_text(uint32_t format) {
  char text[64];
  std::snprintf(text, sizeof text, "the CUDA array format 0x%x is not modelled", format);
  return text;
}

bool resource_of(const LiveObject& live, ResourceDescriptor& d) {
  const char* const name =
      live.kind == ObjectKind::texture ? "cuTexObjectGetResourceDesc" : "cuSurfObjectGetResourceDesc";
  return Call<Status(ResourceDescriptor*, uint64_t)>::to(name, &d, live.handle) == success;
}

bool sampling_of(uint64_t handle, bundle::Sampling& s) {
  cuda::TextureDescriptor d{};
  if (Call<Status(cuda::TextureDescriptor*, uint64_t)>::to("cuTexObjectGetTextureDesc", &d, handle) !=
      success)
    return false;
  for (size_t i = 0; i < 3; ++i) s.address[i] = bundle::Sampling::Address(d.address_mode[i] & 3);
  s.linear = d.filter_mode == 1;
  s.linear_levels = d.mipmap_filter_mode == 1;
  s.normalized = (d.flags & cuda::texture_normalized) != 0;
  s.integers = (d.flags & cuda::texture_read_as_integer) != 0;
  s.srgb = (d.flags & cuda::texture_srgb) != 0;
  s.seamless = (d.flags & cuda::texture_seamless_cubemap) != 0;
  s.anisotropy = d.anisotropy;
  const std::array numbers{d.level_bias, d.least_level, d.most_level, d.border[0],
                           d.border[1],  d.border[2],   d.border[3]};
  s.numbers = std::bit_cast<decltype(s.numbers)>(numbers);
  return true;
}

void take_view(bundle::Object& o, const cuda::ResourceViewDescriptor& d, const bundle::Manifest& m) {
  const auto& array = *std::ranges::find(m.arrays, o.array, &bundle::TexelArray::name);
  const auto texel = texel_of_view(d.format);
  const uint64_t bytes = bundle::bytes_of(array.texel);
  if (d.format != 0 && (!texel || bundle::bytes_of(*texel) != bytes))
    return refuse(o, "a view of block-compressed texels is not modelled");
  // The driver takes a last level beyond the array's, and layers beyond them, of which a texture reads zeros.
  if (array.layered && (d.first_layer > d.last_layer || d.last_layer >= array.size[2]))
    return refuse(o, "a view of layers that the array does not have is not modelled");
  o.has_view = true;
  o.view.other_texel = texel.has_value();
  if (texel) o.view.texel = *texel;
  o.view.first_level = d.first_level;
  o.view.last_level = std::min(d.last_level, array.levels - 1);
  o.view.first_layer = array.layered ? d.first_layer : 0;
  o.view.last_layer = array.layered ? d.last_layer : 0;
}

bool descriptor_of(Handle array, cuda::Array3DDescriptor& d) {
  return Call<Status(cuda::Array3DDescriptor*, Handle)>::to("cuArray3DGetDescriptor_v2", &d, array) ==
         success;
}

// The texels of one array, dense, to the start of `room`; `bytes`: how many.
bool read_array(Handle array, std::span<std::byte> room, uint64_t& bytes) {
  cuda::Array3DDescriptor d{};
  if (!descriptor_of(array, d)) return false;
  const auto texel = texel_of(d.format, d.channels);
  if (!texel) return false;
  cuda::Memcpy3D copy{};
  copy.width = d.width * bundle::bytes_of(*texel);
  copy.height = std::max<size_t>(d.height, 1);
  copy.depth = std::max<size_t>(d.depth, 1);
  copy.src_type = cuda::memory_array;
  copy.src_array = array;
  copy.dst_type = cuda::memory_host;
  copy.dst_host = room.data();
  copy.dst_pitch = copy.width;
  copy.dst_height = copy.height;
  bytes = copy.width * copy.height * copy.depth;
  return bytes <= room.size() && Call<Status(const cuda::Memcpy3D*)>::to("cuMemcpy3D_v2", &copy) == success;
}

}  // namespace

void object_created(ObjectKind kind, uint64_t handle, const cuda::ResourceViewDescriptor* view) {
  const std::lock_guard guard(objects().lock);
  auto& kept = objects().all[{handle, kind}];
  kept.reset();
  if (view != nullptr) kept = *view;
}

void object_destroyed(ObjectKind kind, uint64_t handle) {
  const std::lock_guard guard(objects().lock);
  objects().all.erase({handle, kind});
}

std::vector<LiveObject> live_objects() {
  const std::lock_guard guard(objects().lock);
  std::vector<LiveObject> out;
  for (const auto& [object, view] : objects().all) out.push_back({object.first, object.second, view});
  return out;
}

DevicePointer memory_of(const LiveObject& live) {
  ResourceDescriptor d{};
  if (!resource_of(live, d)) return 0;
  return d.type == cuda::resource_linear    ? d.of.linear.address
         : d.type == cuda::resource_pitch2d ? d.of.pitch2d.address
                                            : 0;
}

void RecordedArrays::describe(const std::vector<LiveObject>& live, bundle::Manifest& m) {
  // Mipmapped arrays first: another object may be on one of their levels.
  for (const bool mipmapped : {true, false})
    for (const LiveObject& l : live) {
      ResourceDescriptor d{};
      const bool known = resource_of(l, d);
      if ((known && d.type == cuda::resource_mipmapped) == mipmapped) m.objects.push_back(object(l, m));
    }
}

bundle::Object RecordedArrays::object(const LiveObject& live, bundle::Manifest& m) {
  bundle::Object o;
  o.kind = live.kind;
  o.handle = live.handle;
  ResourceDescriptor d{};
  if (!resource_of(live, d)) {
    refuse(o, "the driver does not describe this object");
    return o;
  }
  if (d.type == cuda::resource_array || d.type == cuda::resource_mipmapped) {
    d.type == cuda::resource_array ? take_array(o, d.of.array.array, m)
                                   : take_mipmapped(o, d.of.mipmapped.array, m);
  } else {
    const bool linear = d.type == cuda::resource_linear;
    const uint32_t format = linear ? d.of.linear.format : d.of.pitch2d.format;
    const auto texel = texel_of(format, linear ? d.of.linear.channels : d.of.pitch2d.channels);
    if (!texel) {
      refuse(o, format_text(format));
      return o;
    }
    o.resource = linear ? Resource::linear : Resource::pitched;
    o.texel = *texel;
    o.address = linear ? d.of.linear.address : d.of.pitch2d.address;
    o.size = linear ? std::array<uint64_t, 2>{d.of.linear.bytes / bundle::bytes_of(*texel), 1}
                    : std::array<uint64_t, 2>{d.of.pitch2d.width, d.of.pitch2d.height};
    o.pitch = linear ? 0 : d.of.pitch2d.pitch;
  }
  if (live.kind == ObjectKind::surface) return o;
  if (!sampling_of(live.handle, o.sampling)) refuse(o, "the driver does not describe this texture");
  if (live.view && o.resource == Resource::array) take_view(o, *live.view, m);
  return o;
}

void RecordedArrays::take_array(bundle::Object& o, Handle array, bundle::Manifest& m) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Source& s = sources_[i];
    const auto level = std::ranges::find(s.levels, array);
    if (level == s.levels.end()) continue;
    o.array = m.arrays[i].name;
    o.one_level = s.levels.size() > 1;
    o.level = static_cast<uint32_t>(level - s.levels.begin());
    return;
  }
  add(o, {array, {array}}, m);
}

void RecordedArrays::take_mipmapped(bundle::Object& o, Handle array, bundle::Manifest& m) {
  const auto known = std::ranges::find(sources_, array, &Source::array);
  if (known != sources_.end()) {
    o.array = m.arrays[static_cast<size_t>(known - sources_.begin())].name;
    return;
  }
  Source s{array, {}};
  Handle level = nullptr;
  while (s.levels.size() < most_levels &&
         Call<Status(Handle*, Handle, uint32_t)>::to("cuMipmappedArrayGetLevel", &level, array,
                                                     static_cast<uint32_t>(s.levels.size())) == success)
    s.levels.push_back(level);
  add(o, s, m);
}

bool RecordedArrays::add(bundle::Object& o, const Source& source, bundle::Manifest& m) {
  cuda::Array3DDescriptor d{};
  if (source.levels.empty() || !descriptor_of(source.levels.front(), d))
    return refuse(o, "the driver does not describe this CUDA array"), false;
  const auto texel = texel_of(d.format, d.channels);
  if (!texel) return refuse(o, format_text(d.format)), false;
  if ((d.flags & cuda::array_sparse) != 0) return refuse(o, "sparse CUDA arrays are not modelled"), false;
  bundle::TexelArray a;
  a.name = "array" + std::to_string(m.arrays.size());
  a.texel = *texel;
  a.size = {static_cast<uint32_t>(d.width), static_cast<uint32_t>(d.height), static_cast<uint32_t>(d.depth)};
  a.layered = (d.flags & cuda::array_layered) != 0;
  a.cubemap = (d.flags & cuda::array_cubemap) != 0;
  a.levels = static_cast<uint32_t>(source.levels.size());
  if (bundle::bytes_of(a) == 0) return refuse(o, "a CUDA array of more than 4 GiB is not recorded"), false;
  o.array = a.name;
  m.arrays.push_back(std::move(a));
  sources_.push_back(source);
  return true;
}

bool RecordedArrays::store(bundle::Manifest& m, const std::string& folder, bool after) const {
  bool whole = true;
  for (size_t i = 0; i < sources_.size(); ++i) {
    bundle::TexelArray& a = m.arrays[i];
    const uint64_t size = bundle::bytes_of(a);
    const HostBytes host = host_bytes(size);
    uint64_t at = 0, bytes = 0;
    bool read = host != nullptr;
    for (size_t n = 0; read && n < sources_[i].levels.size(); ++n, at += bytes)
      read = read_array(sources_[i].levels[n], {host.get() + at, size - at}, bytes);
    if (read && at == size && settings().strip) {
      store_stripped({host.get(), size}, m.buffers.size() + i + 1, a.before);
      continue;
    }
    whole = read && at == size &&
            store_contents({host.get(), size}, folder, a.name, after ? &a.before : nullptr,
                           after ? a.after : a.before) &&
            whole;
  }
  return whole;
}

}  // namespace palladion::cuda::capture
