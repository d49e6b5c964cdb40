// The driver API's functions for allocations and fills.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "cuda/driver/session.h"
#include "cuda/driver/sizes.h"
#include "cuda/driver/state.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace {

Status fill_async(Pointer p, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height,
                  Stream* stream) {
  return put(stream, MemsetNode{.dst = p,
                                .pitch = pitch,
                                .value = value,
                                .element_bytes = element,
                                .width = width,
                                .height = height});
}

Status fill_now(Pointer p, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height) {
  State& s = state();
  const Guard guard(s.lock);
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_synchronous(); status != success) return status;
  const MemsetNode m{
      .dst = p, .pitch = pitch, .value = value, .element_bytes = element, .width = width, .height = height};
  const Synchronous operation = begin_synchronous(
      order::Operation::Does::fill, fmt::format("fill of {} bytes", (Size(width) * height * element).n));
  const Status status =
      operation.status != success ? operation.status : fill(p, pitch, value, element, width, height);
  // The host does not wait for a fill of the device's memory.
  end_synchronous(operation, status == success ? touched_by(m) : order::Touched{},
                  is_pinned_or_managed(to(p)));
  return status;
}

Status new_block(Pointer* p, size_t bytes, Origin origin) {
  State& s = state();
  const Guard guard(s.lock);
  if (p == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_unsafe(); status != success) return status;
  return allocate(*p, bytes, origin, nullptr);
}

// cudaFree waits for all streams; but of memory that was allocated in a stream's order it takes for granted
// that its uses are over (CUDA guide, "Stream Ordered Memory Allocator"), and nothing says that cudaFreeHost
// waits.
void wait_for_users(Pointer p) {
  const Block* const b = state().block_of(p);
  const bool waits = b == nullptr || (pool_that_gave(p) == nullptr && b->origin != Origin::host);
  if (!waits && judges()) {
    order::Place place;
    place.before = streams().host();
    const bool pinned = b->origin == Origin::host;
    using Does = order::Operation::Does;
    judge({place,
           named(pinned ? Does::free_pinned : Does::free, pinned ? "cudaFreeHost" : "cudaFree", "the host")},
          touched_by_owner(p));
  }
  complete(streams().all());
  host_knows_all();
}

// Pages of the program lie there.
bool is_mapped(Pointer base, size_t bytes) {
  constexpr size_t page = 4096, most = size_t{1} << 20;
  if (base > SIZE_MAX - page || bytes > SIZE_MAX - page - base) return false;
  std::vector<unsigned char> resident(std::min(most, bytes / page + 2));
  for (Pointer at = base / page * page; at < base + bytes; at += most * page)
    if (::mincore(to(at), std::min(most * page, (base + bytes - at + page - 1) / page * page),
                  resident.data()) != 0)
      return false;
  return true;
}

Status free_block(Pointer p) {
  State& s = state();
  const Guard guard(s.lock);
  show_printed();
  if (const Status status = usable(); status != success && !(status == s.sticky && clears_faults()))
    return status;
  if (const Status status = may_call_unsafe(); status != success) return status;
  if (p != 0) wait_for_users(p);
  return release(p);
}

}  // namespace

PLD_CUDA cuMemAlloc_v2(Pointer* p, size_t bytes) { return new_block(p, bytes, Origin::device); }
PLD_CUDA cuMemAllocManaged(Pointer* p, size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2;  // CUmemAttach_flags
  if (flags != global && flags != host) return invalid_value;
  return new_block(p, bytes, Origin::managed);
}
PLD_CUDA cuMemAllocPitch_v2(Pointer* p, size_t* pitch, size_t width, size_t height, unsigned element) {
  if (element != 4 && element != 8 && element != 16) return invalid_value;
  if (pitch == nullptr || width == 0 || height == 0) return invalid_value;
  if (width > SIZE_MAX - 511) return out_of_memory;
  const size_t rows = (width + 511) / 512 * 512;
  const Status status = new_block(p, (Size(rows) * height).n, Origin::device);
  if (status == success) *pitch = rows;
  return status;
}
PLD_CUDA cuMemFree_v2(Pointer p) { return free_block(p); }
PLD_CUDA cuMemHostAlloc(void** p, size_t bytes, unsigned flags) {
  constexpr unsigned known = 7;  // CU_MEMHOSTALLOC_*
  if (p == nullptr || flags > known) return invalid_value;
  if (bytes == 0) return *p = nullptr, state().sticky;
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
  if (out == nullptr) return invalid_value;
  if (state().block_of(reinterpret_cast<Pointer>(p)) == nullptr) return invalid_value;
  return *out = reinterpret_cast<Pointer>(p), success;
}
PLD_CUDA cuMemHostGetFlags(unsigned* flags, void* p) {
  const Guard guard(state().lock);
  if (flags == nullptr) return invalid_value;
  const Block* b = state().block_of(reinterpret_cast<Pointer>(p));
  if (b == nullptr) return invalid_value;
  return *flags = b->host_flags, success;
}
PLD_CUDA cuMemHostRegister_v2(void* p, size_t bytes, unsigned flags) {
  State& s = state();
  const Guard guard(s.lock);
  const auto base = reinterpret_cast<Pointer>(p);
  if (p == nullptr || bytes == 0 || !is_mapped(base, bytes)) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_unsafe(); status != success) return status;
  if (!s.machine->memory().bind_at(palladion::sim::Address(base), {static_cast<uint8_t*>(p), bytes},
                                   "registered memory"))
    return host_memory_already_registered;
  s.machine->memory().share_with_host(palladion::sim::Address(base));
  s.blocks[base] = {
      .base = base, .size = bytes, .origin = Origin::registered, .id = s.next_id++, .host_flags = flags};
  return success;
}
PLD_CUDA cuMemHostUnregister(void* p) {
  const Guard guard(state().lock);
  if (const Status status = may_call_unsafe(); status != success) return status;
  complete(streams().all());
  return release(reinterpret_cast<Pointer>(p)) == success ? success : host_memory_not_registered;
}
PLD_CUDA cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  State& s = state();
  const Guard guard(s.lock);
  if (free_bytes == nullptr || total == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  const size_t used = used_bytes();
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
PLD_CUDA cuMemsetD2D16_v2(Pointer p, size_t pitch, unsigned short v, size_t w, size_t h) {
  return fill_now(p, pitch, v, 2, w, h);
}
PLD_CUDA cuMemsetD2D16Async(Pointer p, size_t pitch, unsigned short v, size_t w, size_t h, Stream* q) {
  return fill_async(p, pitch, v, 2, w, h, q);
}
PLD_CUDA cuMemsetD2D32Async(Pointer p, size_t pitch, unsigned v, size_t w, size_t h, Stream* q) {
  return fill_async(p, pitch, v, 4, w, h, q);
}
