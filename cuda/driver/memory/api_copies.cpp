// The driver API's copies.
#include "cuda/driver/memory/arrays.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace {

const void* at(Pointer p) { return reinterpret_cast<const void*>(p); }

// Memory that the device knows: what a copy "to the device" names must be that. After a fault the copy gives
// it.
bool on_device(const void* p) {
  State& s = state();
  const Guard guard(s.lock);
  return s.sticky != success || is_known(p);
}

// The host waits for it, unless both sides are memory of the device (CUDA runtime API, "API synchronization
// behavior").
bool host_waits_for(const Memcpy3D& c) {
  const auto is_device = [](int type, Pointer p) {
    return type == memory_array || (type != memory_host && is_known(at(p)) && !is_pinned_or_managed(at(p)));
  };
  return !is_device(c.src_type, c.src_device) || !is_device(c.dst_type, c.dst_device);
}

Status copy_now(const Memcpy3D& c) {
  const Guard guard(state().lock);
  show_printed();
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_call_synchronous(); status != success) return status;
  const Synchronous operation = begin_synchronous(order::Operation::Does::copy, text_of(c));
  show_printed();
  const Status status = operation.status != success ? operation.status : copy_3d(c);
  end_synchronous(operation, status == success ? touched_by(c) : order::Touched{}, host_waits_for(c));
  return status;
}
Status copy_now(void* dst, const void* src, size_t bytes) {
  if (bytes != 0 && (dst == nullptr || src == nullptr)) return invalid_value;
  return copy_now(plain_copy(dst, src, bytes));
}

// What of a copy from or to memory of the program that is not pinned is over when the call returns: its
// source is kept, its destination is written.
void wait_for_pageable(const Memcpy3D& c, const Doing& doing) {
  const auto* const src =
      at(c.src_type == memory_host ? reinterpret_cast<Pointer>(c.src_host) : c.src_device);
  const auto* const dst =
      at(c.dst_type == memory_host ? reinterpret_cast<Pointer>(c.dst_host) : c.dst_device);
  if ((c.src_type != memory_array && !is_known(src)) || (c.dst_type != memory_array && !is_known(dst)))
    complete(doing.place.after());
  if (c.dst_type != memory_array && !is_known(dst)) host_knows(doing.place.after());
}

Status put_copy(Stream* stream, const Memcpy3D& c) {
  State& s = state();
  const Guard guard(s.lock);
  if (const Status status = usable(); status != success) return status;
  Doing doing;
  const bool captured = capturing(stream);
  const Status status = enqueue(stream, c, doing);
  if (status == success && !captured) wait_for_pageable(c, doing);
  return status;
}

// What the arguments hold when a graph is made may be gone when it runs, but host memory is read then.
Status copy_async(void* dst, const void* src, size_t bytes, Stream* stream) {
  if (dst == nullptr || src == nullptr) return bytes == 0 ? success : invalid_value;
  return put_copy(stream, plain_copy(dst, src, bytes));
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

// `bytes` of an array from `offset` on, in its order of texels; null: it has not so many.
void* part_of(const void* handle, size_t offset, size_t bytes) {
  const Guard guard(state().lock);
  const Array* a = array_of(handle);
  if (a == nullptr || offset > a->image.bytes() || bytes > a->image.bytes() - offset) return nullptr;
  return reinterpret_cast<void*>(uint64_t{a->image.levels.front().address + offset});
}

}  // namespace

PLD_CUDA cuMemcpy(Pointer d, Pointer s, size_t n) { return copy_now(to(d), at(s), n); }
PLD_CUDA cuMemcpyPeer(Pointer d, void*, Pointer s, void*, size_t n) { return copy_now(to(d), at(s), n); }
PLD_CUDA cuMemcpyHtoD_v2(Pointer d, const void* s, size_t n) {
  return n == 0 || on_device(at(d)) ? copy_now(to(d), s, n) : invalid_value;
}
PLD_CUDA cuMemcpyDtoH_v2(void* d, Pointer s, size_t n) {
  return n == 0 || on_device(at(s)) ? copy_now(d, at(s), n) : invalid_value;
}
PLD_CUDA cuMemcpyDtoD_v2(Pointer d, Pointer s, size_t n) {
  return n == 0 || (on_device(at(d)) && on_device(at(s))) ? copy_now(to(d), at(s), n) : invalid_value;
}
PLD_CUDA cuMemcpyAsync(Pointer d, Pointer s, size_t n, Stream* q) { return copy_async(to(d), at(s), n, q); }
PLD_CUDA cuMemcpyPeerAsync(Pointer d, void*, Pointer s, void*, size_t n, Stream* q) {
  return copy_async(to(d), at(s), n, q);
}
// A graph's allocation has memory only while the graph runs: a captured copy is checked then.
PLD_CUDA cuMemcpyHtoDAsync_v2(Pointer d, const void* s, size_t n, Stream* q) {
  return n == 0 || capturing(q) || on_device(at(d)) ? copy_async(to(d), s, n, q) : invalid_value;
}
PLD_CUDA cuMemcpyDtoHAsync_v2(void* d, Pointer s, size_t n, Stream* q) {
  return n == 0 || capturing(q) || on_device(at(s)) ? copy_async(d, at(s), n, q) : invalid_value;
}
PLD_CUDA cuMemcpyDtoDAsync_v2(Pointer d, Pointer s, size_t n, Stream* q) {
  const bool known = n == 0 || (on_device(at(d)) && on_device(at(s)));
  return capturing(q) || known ? copy_async(to(d), at(s), n, q) : invalid_value;
}
PLD_CUDA cuMemcpy3D_v2(const Memcpy3D* c) {
  if (c == nullptr) return invalid_value;
  return copy_now(*c);
}
PLD_CUDA cuMemcpy3DAsync_v2(const Memcpy3D* c, Stream* q) {
  if (c == nullptr) return invalid_value;
  return put_copy(q, *c);
}
PLD_CUDA cuMemcpy2D_v2(const Memcpy2D* c) {
  if (c == nullptr) return invalid_value;

  const Memcpy3D d = three(*c);
  return cuMemcpy3D_v2(&d);
}
PLD_CUDA cuMemcpy2DUnaligned_v2(const Memcpy2D* c) { return cuMemcpy2D_v2(c); }
PLD_CUDA cuMemcpy2DAsync_v2(const Memcpy2D* c, Stream* q) {
  if (c == nullptr) return invalid_value;

  const Memcpy3D d = three(*c);
  return cuMemcpy3DAsync_v2(&d, q);
}

PLD_CUDA cuMemcpy3DPeer(const Memcpy3D* c) { return cuMemcpy3D_v2(c); }
PLD_CUDA cuMemcpy3DPeerAsync(const Memcpy3D* c, Stream* q) { return cuMemcpy3DAsync_v2(c, q); }

PLD_CUDA cuMemcpyHtoA_v2(void* array, size_t offset, const void* s, size_t n) {
  return copy_now(part_of(array, offset, n), s, n);
}
PLD_CUDA cuMemcpyAtoH_v2(void* d, void* array, size_t offset, size_t n) {
  return copy_now(d, part_of(array, offset, n), n);
}
PLD_CUDA cuMemcpyDtoA_v2(void* array, size_t offset, Pointer s, size_t n) {
  return copy_now(part_of(array, offset, n), at(s), n);
}
PLD_CUDA cuMemcpyAtoD_v2(Pointer d, void* array, size_t offset, size_t n) {
  return copy_now(to(d), part_of(array, offset, n), n);
}
PLD_CUDA cuMemcpyAtoA_v2(void* d, size_t d_offset, void* s, size_t s_offset, size_t n) {
  return copy_now(part_of(d, d_offset, n), part_of(s, s_offset, n), n);
}
PLD_CUDA cuMemcpyHtoAAsync_v2(void* array, size_t offset, const void* s, size_t n, Stream* q) {
  return copy_async(part_of(array, offset, n), s, n, q);
}
PLD_CUDA cuMemcpyAtoHAsync_v2(void* d, void* array, size_t offset, size_t n, Stream* q) {
  return copy_async(d, part_of(array, offset, n), n, q);
}

// One after the other; the attributes say how long a source must stay as it is.
PLD_CUDA cuMemcpyBatchAsync_v2(const Pointer* d, const Pointer* s, const size_t* n, size_t count, const void*,
                               const size_t*, size_t, Stream* q) {
  const Guard guard(state().lock);
  if (d == nullptr || s == nullptr || n == nullptr) return invalid_value;
  if (const Status status = may_use_uncaptured(q); status != success) return status;
  for (size_t i = 0; i < count; ++i)
    if (const Status status = copy_async(to(d[i]), at(s[i]), n[i], q); status != success) return status;
  return success;
}
