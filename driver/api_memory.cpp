// The driver API's functions for memory. Asynchronous ones are done at once; a stream that is captured keeps
// them.
#include <algorithm>
#include <cstring>

#include "driver/state.h"
#include "driver/streams.h"

using namespace palladion::driver;

namespace {

Status put(Stream* stream, Work work) {
  State& s = state();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  return enqueue(stream, std::move(work));
}

const void* at(Pointer p) { return reinterpret_cast<const void*>(p); }
void* to(Pointer p) { return reinterpret_cast<void*>(p); }

Status copy_now(void* dst, const void* src, size_t bytes) {
  State& s = state();
  const Guard guard(s.lock);
  show_printed();
  if (s.sticky != success) return s.sticky;
  return copy(dst, src, bytes);
}

// What the arguments hold when a graph is made may be gone when it runs, but host memory is read then.
Status copy_async(void* dst, const void* src, size_t bytes, Stream* stream) {
  return put(stream, {.kind = NodeKind::memcpy, .run = [=] { return copy(dst, src, bytes); }});
}

Memcpy3D three(const Memcpy2D& c) {
  Memcpy3D d{};
  d.src_x = c.src_x, d.src_y = c.src_y, d.src_type = c.src_type, d.src_host = c.src_host;
  d.src_device = c.src_device, d.src_array = c.src_array, d.src_pitch = c.src_pitch;
  d.dst_x = c.dst_x, d.dst_y = c.dst_y, d.dst_type = c.dst_type, d.dst_host = c.dst_host;
  d.dst_device = c.dst_device, d.dst_array = c.dst_array, d.dst_pitch = c.dst_pitch;
  d.width = c.width, d.height = c.height, d.depth = 1;
  return d;
}

Status fill_async(Pointer p, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height,
                  Stream* stream) {
  return put(stream, {.kind = NodeKind::memset,
                      .run = [=] { return fill(p, pitch, value, element, width, height); }});
}

Status fill_now(Pointer p, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height) {
  State& s = state();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  return fill(p, pitch, value, element, width, height);
}

Status new_block(Pointer* p, size_t bytes, Origin origin) {
  State& s = state();
  const Guard guard(s.lock);
  if (p == nullptr) return invalid_value;
  if (s.sticky != success) return s.sticky;
  return allocate(*p, bytes, origin, nullptr);
}

Status free_block(Pointer p) {
  State& s = state();
  const Guard guard(s.lock);
  show_printed();
  if (s.sticky != success) return s.sticky;
  return release(p);
}

}  // namespace

PLD_CUDA cuMemAlloc_v2(Pointer* p, size_t bytes) { return new_block(p, bytes, Origin::device); }
PLD_CUDA cuMemAllocManaged(Pointer* p, size_t bytes, unsigned) {
  return new_block(p, bytes, Origin::managed);
}
PLD_CUDA cuMemAllocPitch_v2(Pointer* p, size_t* pitch, size_t width, size_t height, unsigned) {
  *pitch = (width + 511) / 512 * 512;
  return new_block(p, *pitch * height, Origin::device);
}
PLD_CUDA cuMemFree_v2(Pointer p) { return free_block(p); }
PLD_CUDA cuMemHostAlloc(void** p, size_t bytes, unsigned flags) {
  Pointer at = 0;
  const Status status = new_block(&at, bytes, Origin::host);
  if (status != success) return status;
  state().blocks[at].host_flags = flags;
  return *p = to(at), success;
}
PLD_CUDA cuMemAllocHost_v2(void** p, size_t bytes) { return cuMemHostAlloc(p, bytes, 0); }
PLD_CUDA cuMemFreeHost(void* p) { return free_block(reinterpret_cast<Pointer>(p)); }
PLD_CUDA cuMemHostGetDevicePointer_v2(Pointer* out, void* p, unsigned) {
  const Guard guard(state().lock);
  if (state().block_of(reinterpret_cast<Pointer>(p)) == nullptr) return invalid_value;
  return *out = reinterpret_cast<Pointer>(p), success;
}
PLD_CUDA cuMemHostGetFlags(unsigned* flags, void* p) {
  const Guard guard(state().lock);
  const Block* b = state().block_of(reinterpret_cast<Pointer>(p));
  if (b == nullptr) return invalid_value;
  return *flags = b->host_flags, success;
}
PLD_CUDA cuMemHostRegister_v2(void* p, size_t bytes, unsigned flags) {
  State& s = state();
  const Guard guard(s.lock);
  const auto base = reinterpret_cast<Pointer>(p);
  if (p == nullptr || bytes == 0) return invalid_value;
  if (!s.machine->memory().bind_at(base, {static_cast<uint8_t*>(p), bytes}, "registered memory"))
    return host_memory_already_registered;
  s.blocks[base] = {
      .base = base, .size = bytes, .origin = Origin::registered, .id = s.next_id++, .host_flags = flags};
  return success;
}
PLD_CUDA cuMemHostUnregister(void* p) {
  const Guard guard(state().lock);
  return release(reinterpret_cast<Pointer>(p)) == success ? success : host_memory_not_registered;
}
PLD_CUDA cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  State& s = state();
  const Guard guard(s.lock);
  size_t used = 0;
  for (const auto& [base, b] : s.blocks)
    if (b.origin == Origin::device || b.origin == Origin::managed) used += b.size;
  *total = static_cast<size_t>(s.arch->memory_bytes);
  *free_bytes = *total - std::min(*total, used);
  return success;
}
PLD_CUDA cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer p) {
  const Guard guard(state().lock);
  const Block* b = state().block_of(p);
  if (b == nullptr) return not_found;
  if (base != nullptr) *base = b->base;
  if (bytes != nullptr) *bytes = b->size;
  return success;
}

PLD_CUDA cuMemcpy(Pointer d, Pointer s, size_t n) { return copy_now(to(d), at(s), n); }
PLD_CUDA cuMemcpyPeer(Pointer d, void*, Pointer s, void*, size_t n) { return copy_now(to(d), at(s), n); }
PLD_CUDA cuMemcpyHtoD_v2(Pointer d, const void* s, size_t n) { return copy_now(to(d), s, n); }
PLD_CUDA cuMemcpyDtoH_v2(void* d, Pointer s, size_t n) { return copy_now(d, at(s), n); }
PLD_CUDA cuMemcpyDtoD_v2(Pointer d, Pointer s, size_t n) { return copy_now(to(d), at(s), n); }
PLD_CUDA cuMemcpyAsync(Pointer d, Pointer s, size_t n, Stream* q) { return copy_async(to(d), at(s), n, q); }
PLD_CUDA cuMemcpyPeerAsync(Pointer d, void*, Pointer s, void*, size_t n, Stream* q) {
  return copy_async(to(d), at(s), n, q);
}
PLD_CUDA cuMemcpyHtoDAsync_v2(Pointer d, const void* s, size_t n, Stream* q) {
  return copy_async(to(d), s, n, q);
}
PLD_CUDA cuMemcpyDtoHAsync_v2(void* d, Pointer s, size_t n, Stream* q) { return copy_async(d, at(s), n, q); }
PLD_CUDA cuMemcpyDtoDAsync_v2(Pointer d, Pointer s, size_t n, Stream* q) {
  return copy_async(to(d), at(s), n, q);
}
PLD_CUDA cuMemcpy3D_v2(const Memcpy3D* c) {
  const Guard guard(state().lock);
  show_printed();
  return state().sticky != success ? state().sticky : copy_3d(*c);
}
PLD_CUDA cuMemcpy3DAsync_v2(const Memcpy3D* c, Stream* q) {
  return put(q, {.kind = NodeKind::memcpy, .run = [c = *c] { return copy_3d(c); }});
}
PLD_CUDA cuMemcpy2D_v2(const Memcpy2D* c) {
  const Memcpy3D d = three(*c);
  return cuMemcpy3D_v2(&d);
}
PLD_CUDA cuMemcpy2DUnaligned_v2(const Memcpy2D* c) { return cuMemcpy2D_v2(c); }
PLD_CUDA cuMemcpy2DAsync_v2(const Memcpy2D* c, Stream* q) {
  const Memcpy3D d = three(*c);
  return cuMemcpy3DAsync_v2(&d, q);
}

PLD_CUDA cuMemsetD8_v2(Pointer p, unsigned char v, size_t n) { return fill_now(p, 0, v, 1, n, 1); }
PLD_CUDA cuMemsetD16_v2(Pointer p, unsigned short v, size_t n) { return fill_now(p, 0, v, 2, n, 1); }
PLD_CUDA cuMemsetD32_v2(Pointer p, unsigned v, size_t n) { return fill_now(p, 0, v, 4, n, 1); }
PLD_CUDA cuMemsetD2D8_v2(Pointer p, size_t pitch, unsigned char v, size_t w, size_t h) {
  return fill_now(p, pitch, v, 1, w, h);
}
PLD_CUDA cuMemsetD2D32_v2(Pointer p, size_t pitch, unsigned v, size_t w, size_t h) {
  return fill_now(p, pitch, v, 4, w, h);
}
PLD_CUDA cuMemsetD8Async(Pointer p, unsigned char v, size_t n, Stream* q) {
  return fill_async(p, 0, v, 1, n, 1, q);
}
PLD_CUDA cuMemsetD16Async(Pointer p, unsigned short v, size_t n, Stream* q) {
  return fill_async(p, 0, v, 2, n, 1, q);
}
PLD_CUDA cuMemsetD32Async(Pointer p, unsigned v, size_t n, Stream* q) {
  return fill_async(p, 0, v, 4, n, 1, q);
}
PLD_CUDA cuMemsetD2D8Async(Pointer p, size_t pitch, unsigned char v, size_t w, size_t h, Stream* q) {
  return fill_async(p, pitch, v, 1, w, h, q);
}

PLD_CUDA cuMemPrefetchAsync_v2(Pointer, size_t, uint64_t, unsigned, void*) { return success; }
PLD_CUDA cuMemAdvise_v2(Pointer, size_t, int, uint64_t) { return success; }

// Pools: an allocation of a pool is one like any other.
namespace {
int default_pool;
uint64_t release_threshold = 0;
}  // namespace
PLD_CUDA cuDeviceGetDefaultMemPool(void** pool, DeviceId) { return *pool = &default_pool, success; }
PLD_CUDA cuDeviceGetMemPool(void** pool, DeviceId) { return *pool = &default_pool, success; }
PLD_CUDA cuDeviceSetMemPool(DeviceId, void*) { return success; }
PLD_CUDA cuMemPoolCreate(void** pool, const void*) { return *pool = new int, success; }
PLD_CUDA cuMemPoolDestroy(void*) { return success; }
PLD_CUDA cuMemPoolTrimTo(void*, size_t) { return success; }
PLD_CUDA cuMemPoolSetAccess(void*, const void*, size_t) { return success; }
PLD_CUDA cuMemPoolSetAttribute(void*, int attribute, void* value) {
  if (attribute == 4) release_threshold = *static_cast<uint64_t*>(value);
  return success;
}
PLD_CUDA cuMemPoolGetAttribute(void*, int attribute, void* value) {
  State& s = state();
  const Guard guard(s.lock);
  if (attribute <= 3) return *static_cast<int*>(value) = 1, success;
  uint64_t used = 0;
  for (const auto& [base, b] : s.blocks)
    if (b.origin == Origin::device) used += b.size;
  *static_cast<uint64_t*>(value) = attribute == 4 ? release_threshold : used;
  return success;
}
PLD_CUDA cuMemAllocAsync(Pointer* p, size_t bytes, Stream* q) {
  const Guard guard(state().lock);
  if (capturing(q)) return unsupported("cuMemAllocAsync in a captured stream");
  return new_block(p, bytes, Origin::device);
}
PLD_CUDA cuMemAllocFromPoolAsync(Pointer* p, size_t bytes, void*, Stream* q) {
  return cuMemAllocAsync(p, bytes, q);
}
PLD_CUDA cuMemFreeAsync(Pointer p, Stream* q) {
  const Guard guard(state().lock);
  if (capturing(q)) return unsupported("cuMemFreeAsync in a captured stream");
  return release(p);
}

// CUpointer_attribute
PLD_CUDA cuPointerGetAttribute(void* out, int attribute, Pointer p) {
  State& s = state();
  const Guard guard(s.lock);
  const Block* b = s.block_of(p);
  const palladion::sim::Allocation* a = b == nullptr ? s.machine->memory().lookup(p) : nullptr;
  if (b == nullptr && a == nullptr) return invalid_value;
  const Origin origin = b != nullptr ? b->origin : Origin::device;
  const bool host = origin == Origin::host || origin == Origin::registered;
  switch (attribute) {
    case 1:
      *static_cast<void**>(out) = &s.primary;
      return success;
    case 2:
      *static_cast<uint32_t*>(out) = host ? memory_host : memory_device;
      return success;
    case 3:
      *static_cast<Pointer*>(out) = p;
      return success;
    case 4:
      if (origin == Origin::device) return invalid_value;
      *static_cast<Pointer*>(out) = p;
      return success;
    case 7:
      *static_cast<uint64_t*>(out) = b != nullptr ? b->id : 1;
      return success;
    case 8:
      *static_cast<unsigned*>(out) = origin == Origin::managed;
      return success;
    case 9:
      *static_cast<int*>(out) = 0;
      return success;
    case 11:
      *static_cast<Pointer*>(out) = b != nullptr ? b->base : a->base;
      return success;
    case 12:
      *static_cast<size_t*>(out) = b != nullptr ? b->size : a->size;
      return success;
    case 13:
      *static_cast<int*>(out) = 1;
      return success;
    default:
      return invalid_value;
  }
}
PLD_CUDA cuPointerGetAttributes(unsigned count, const int* attributes, void** out, Pointer p) {
  const Guard guard(state().lock);
  const bool known = state().block_of(p) != nullptr || state().machine->memory().lookup(p) != nullptr;
  for (unsigned i = 0; i < count; ++i) {
    const bool known_one = known && cuPointerGetAttribute(out[i], attributes[i], p) == success;
    if (known_one) continue;
    // A pointer that is not ours: zeros, the device -2, as the driver answers.
    if (attributes[i] == 2 || attributes[i] == 8) *static_cast<uint32_t*>(out[i]) = 0;
    if (attributes[i] == 9) *static_cast<int*>(out[i]) = -2;
    if (attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4 || attributes[i] == 11)
      *static_cast<Pointer*>(out[i]) = 0;
  }
  return success;
}
