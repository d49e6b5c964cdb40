#include "cuda/driver/memory/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cuda/driver/device_attributes.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

std::map<const void*, std::unique_ptr<Array>> arrays;
std::map<const void*, std::unique_ptr<MipmappedArray>> mipmapped;

isa::Geometry geometry_of(const Array3DDescriptor& d) {
  using enum isa::Geometry;
  const bool layered = has(d.flags, array_layered);
  if (has(d.flags, array_cubemap)) return layered ? acube : cube;
  if (layered) return d.height == 0 ? a1d : a2d;
  return d.depth != 0 ? d3 : d.height != 0 ? d2 : d1;
}

// The chip's limits: numbers of CUdevice_attribute, 0 for none.
struct Limits {
  int width, height, depth;
};
Limits limits_of(isa::Geometry g) {
  using enum isa::Geometry;
  switch (g) {
    case d1:
      return {21, 0, 0};
    case d2:
      return {22, 23, 0};
    case d3:
      return {24, 25, 26};
    case a1d:
      return {42, 0, 43};
    case a2d:
      return {27, 28, 29};
    case cube:
      return {52, 52, 0};
    default:
      return {53, 53, 54};
  }
}

bool within(size_t size, int attribute) {
  if (attribute == 0) return true;
  const auto most = device_attribute(*state().arch, attribute);
  return !most || *most == 0 || size <= static_cast<size_t>(*most);
}

Status check(const Array3DDescriptor& d) {
  const isa::Geometry g = geometry_of(d);
  const Limits limits = limits_of(g);
  if (d.width == 0 || !within(d.width, limits.width) || !within(d.height, limits.height) ||
      !within(d.depth, limits.depth))
    return invalid_value;
  if (has(d.flags, array_layered) && d.depth == 0) return invalid_value;
  if (g == isa::Geometry::d3 && d.height == 0) return invalid_value;
  if (g == isa::Geometry::cube && d.depth != 6) return invalid_value;
  if (g == isa::Geometry::acube && d.depth % 6 != 0) return invalid_value;
  if (has(d.flags, array_cubemap) && d.width != d.height) return invalid_value;
  if (d.channels != 1 && d.channels != 2 && d.channels != 4) return invalid_value;
  if (has(d.flags, array_sparse)) return unsupported("sparse CUDA arrays");
  if (has(d.flags, array_deferred)) return unsupported("CUDA arrays with deferred mapping");
  if (has(d.flags, array_depth)) return unsupported("CUDA arrays of depth textures");
  if (has(d.flags, ~uint32_t{array_layered | array_surface | array_cubemap | array_gather | array_colour}))
    return unsupported(fmt::format("CUDA arrays with flags 0x{:x}", d.flags));
  if (!texel_format(d.format, d.channels))
    return unsupported(fmt::format("CUDA arrays of CUarray_format 0x{:x}", d.format));
  return success;
}

Status place(const Array3DDescriptor& d, uint32_t levels, sim::Image& image, Pointer& memory) {
  const auto number = [](size_t n) { return static_cast<uint32_t>(std::max<size_t>(n, 1)); };
  const auto make = [&](Pointer at) {
    return sim::Image::dense(geometry_of(d), *texel_format(d.format, d.channels), number(d.width),
                             number(d.height), number(d.depth), sim::Address(at), levels);
  };
  const Status status = allocate(memory, make(0).bytes(), Origin::array, nullptr);
  if (status == success) image = make(memory);
  return status;
}

Status create(void** out, const Array3DDescriptor* d) {
  const Guard guard(state().lock);
  if (out == nullptr || d == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_unsafe(); status != success) return status;
  if (const Status status = check(*d); status != success) return status;
  auto array = std::make_unique<Array>();
  array->description = *d;
  if (const Status status = place(*d, 1, array->image, array->memory); status != success) return status;
  *out = array.get();
  arrays.emplace(array.get(), std::move(array));
  return success;
}

uint32_t most_levels(const Array3DDescriptor& d) {
  size_t most = std::max(d.width, d.height);
  if (geometry_of(d) == isa::Geometry::d3) most = std::max(most, d.depth);
  return static_cast<uint32_t>(std::bit_width(most));
}

std::unique_ptr<Array> level_of(const MipmappedArray& m, uint32_t n) {
  auto level = std::make_unique<Array>();
  level->description = m.description;
  level->image = m.image.level(n);
  const sim::ImageLevel& l = level->image.levels.front();
  level->description.width = l.width;
  if (m.description.height != 0) level->description.height = l.height;
  if (m.description.depth != 0) level->description.depth = l.depth;
  return level;
}

Status requirements(ArrayMemoryRequirements* out, const sim::Image& image) {
  *out = {.size = image.bytes(), .alignment = 512, .reserved = {}};
  return success;
}

}  // namespace

Array* array_of(const void* handle) {
  const auto found = arrays.find(handle);
  if (found != arrays.end()) return found->second.get();
  for (const auto& [key, m] : mipmapped)
    for (const auto& level : m->levels)
      if (level.get() == handle) return level.get();
  return nullptr;
}

MipmappedArray* mipmapped_of(const void* handle) {
  const auto found = mipmapped.find(handle);
  return found != mipmapped.end() ? found->second.get() : nullptr;
}

std::optional<sim::TexelFormat> texel_format(uint32_t format, uint32_t channels) {
  if (channels != 1 && channels != 2 && channels != 4) return std::nullopt;
  const auto n = static_cast<int>(channels);
  switch (format) {
    case format_u8:
    case format_u16:
    case format_u32:
      return sim::TexelFormat{sim::TexelKind::unsigned_int, 8 << (format - format_u8), n};
    case format_s8:
    case format_s16:
    case format_s32:
      return sim::TexelFormat{sim::TexelKind::signed_int, 8 << (format - format_s8), n};
    case format_f16:
      return sim::TexelFormat{sim::TexelKind::floating, 16, n};
    case format_f32:
      return sim::TexelFormat{sim::TexelKind::floating, 32, n};
    default:
      return std::nullopt;
  }
}

void forget_arrays() {
  arrays.clear();
  mipmapped.clear();
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuArray3DCreate_v2(void** out, const Array3DDescriptor* d) { return create(out, d); }
PLD_CUDA cuArrayCreate_v2(void** out, const ArrayDescriptor* d) {
  if (d == nullptr) return invalid_value;
  const Array3DDescriptor three{.width = d->width,
                                .height = d->height,
                                .depth = 0,
                                .format = d->format,
                                .channels = d->channels,
                                .flags = 0};
  return create(out, &three);
}
PLD_CUDA cuArrayDestroy(void* handle) {
  const Guard guard(state().lock);
  const auto found = arrays.find(handle);
  if (found == arrays.end()) return invalid_handle;
  if (const Status status = may_call_unsafe(); status != success) return status;
  const Status status = release(found->second->memory);
  arrays.erase(found);
  return status;
}
PLD_CUDA cuArray3DGetDescriptor_v2(Array3DDescriptor* out, const void* handle) {
  const Guard guard(state().lock);
  const Array* a = array_of(handle);
  if (a == nullptr || out == nullptr) return a == nullptr ? invalid_handle : invalid_value;
  return *out = a->description, success;
}
PLD_CUDA cuArrayGetDescriptor_v2(ArrayDescriptor* out, const void* handle) {
  if (out == nullptr) return invalid_value;

  Array3DDescriptor d{};
  const Status status = cuArray3DGetDescriptor_v2(&d, handle);
  if (status == success)
    *out = {.width = d.width, .height = d.height, .format = d.format, .channels = d.channels};
  return status;
}
PLD_CUDA cuArrayGetMemoryRequirements(ArrayMemoryRequirements* out, const void* handle, DeviceId) {
  const Guard guard(state().lock);
  const Array* a = array_of(handle);
  return a == nullptr ? invalid_handle : requirements(out, a->image);
}
// Arrays are neither sparse nor of several planes.
PLD_CUDA cuArrayGetSparseProperties(void*, const void*) { return invalid_value; }
PLD_CUDA cuArrayGetPlane(void**, const void*, unsigned) { return invalid_value; }
PLD_CUDA cuMipmappedArrayCreate(void** out, const Array3DDescriptor* d, unsigned levels) {
  const Guard guard(state().lock);
  if (out == nullptr || d == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_unsafe(); status != success) return status;
  if (const Status status = check(*d); status != success) return status;
  auto m = std::make_unique<MipmappedArray>();
  m->description = *d;
  const uint32_t count = std::clamp(levels, 1U, most_levels(*d));
  if (const Status status = place(*d, count, m->image, m->memory); status != success) return status;
  for (uint32_t n = 0; n < count; ++n) m->levels.push_back(level_of(*m, n));
  *out = m.get();
  mipmapped.emplace(m.get(), std::move(m));
  return success;
}
PLD_CUDA cuMipmappedArrayGetLevel(void** out, const void* handle, unsigned level) {
  const Guard guard(state().lock);
  const MipmappedArray* m = mipmapped_of(handle);
  if (m == nullptr) return invalid_handle;
  if (out == nullptr || level >= m->levels.size()) return invalid_value;
  return *out = m->levels[level].get(), success;
}
PLD_CUDA cuMipmappedArrayDestroy(void* handle) {
  const Guard guard(state().lock);
  const auto found = mipmapped.find(handle);
  if (found == mipmapped.end()) return invalid_handle;
  if (const Status status = may_call_unsafe(); status != success) return status;
  const Status status = release(found->second->memory);
  mipmapped.erase(found);
  return status;
}
PLD_CUDA cuMipmappedArrayGetMemoryRequirements(ArrayMemoryRequirements* out, const void* handle, DeviceId) {
  const Guard guard(state().lock);
  const MipmappedArray* m = mipmapped_of(handle);
  return m == nullptr ? invalid_handle : requirements(out, m->image);
}
PLD_CUDA cuMipmappedArrayGetSparseProperties(void*, const void*) { return invalid_value; }
