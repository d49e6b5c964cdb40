// Allocations, pools, registered host memory, and what a pointer points to.
#include "cuda/driver/runtime/state.h"
#include "cuda/driver/sizes.h"

using namespace palladion::cuda::runtime;
namespace driver = palladion::cuda::driver;

namespace {

Pointer number(const void* p) { return reinterpret_cast<Pointer>(p); }

// An allocation of no bytes is null, and no error.
template <class Allocate>
Status allocated(void** out, size_t bytes, Allocate allocate) {
  if (out == nullptr) return driver::invalid_value;
  *out = nullptr;
  if (bytes == 0) return success;
  Pointer p = 0;
  const Status status = allocate(&p);
  if (status == success) *out = reinterpret_cast<void*>(p);
  return status;
}

Status allocate_pitch(void** out, size_t* pitch, size_t width, size_t height) {
  const bool none = width == 0 || height == 0;
  return allocated(out, none ? 0 : 1,
                   [&](Pointer* p) { return cuMemAllocPitch_v2(p, pitch, width, height, 16); });
}

Status allocate_async(void** out, size_t bytes, Pool pool, Stream stream) {
  return allocated(out, bytes, [&](Pointer* p) {
    return pool != nullptr ? cuMemAllocFromPoolAsync(p, bytes, pool, stream)
                           : cuMemAllocAsync(p, bytes, stream);
  });
}

Status pointer_attributes(PointerAttributes* out, const void* p) {
  enum { unregistered = 0, host = 1, device = 2, managed = 3 };
  if (out == nullptr) return driver::invalid_value;
  *out = {
      .type = unregistered, .device = -2, .device_pointer = nullptr, .host_pointer = nullptr, .reserved = {}};
  uint32_t kind = 0, is_managed = 0;
  if (cuPointerGetAttribute(&kind, 2, number(p)) != success) {
    out->host_pointer = const_cast<void*>(p);
    return success;
  }
  cuPointerGetAttribute(&is_managed, 8, number(p));
  out->type = is_managed != 0 ? managed : kind == driver::memory_host ? host : device;
  out->device = 0;
  out->device_pointer = const_cast<void*>(p);
  if (out->type != device) out->host_pointer = const_cast<void*>(p);
  return success;
}

}  // namespace

PLD_CALL(cudaMalloc, (void** out, size_t bytes),
         allocated(out, bytes, [&](Pointer* p) { return cuMemAlloc_v2(p, bytes); }))
PLD_CALL(cudaMallocManaged, (void** out, size_t bytes, unsigned flags),
         bytes == 0 ? driver::invalid_value
                    : allocated(out, bytes, [&](Pointer* p) { return cuMemAllocManaged(p, bytes, flags); }))
PLD_CALL(cudaMallocPitch, (void** out, size_t* pitch, size_t width, size_t height),
         allocate_pitch(out, pitch, width, height))
PLD_RUNTIME cudaMalloc3D(PitchedPtr* out, Extent e) {
  if (const Status s = ready()) return ended(s);
  if (out == nullptr) return ended(driver::invalid_value);
  out->xsize = e.width, out->ysize = e.height;
  return ended(allocate_pitch(&out->ptr, &out->pitch, e.width, (driver::Size(e.height) * e.depth).n));
}
PLD_CALL(cudaFree, (void* p), cuMemFree_v2(number(p)))
PLD_CALL(cudaHostAlloc, (void** out, size_t bytes, unsigned flags), cuMemHostAlloc(out, bytes, flags))
PLD_CALL(cudaMallocHost, (void** out, size_t bytes), cuMemHostAlloc(out, bytes, 0))
PLD_CALL(cudaFreeHost, (void* p), cuMemFreeHost(p))
PLD_CALL(cudaHostRegister, (void* p, size_t bytes, unsigned flags), cuMemHostRegister_v2(p, bytes, flags))
PLD_CALL(cudaHostUnregister, (void* p), cuMemHostUnregister(p))
PLD_RUNTIME cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  Pointer p = 0;
  Status status = ready();
  if (status == success) status = cuMemHostGetDevicePointer_v2(&p, host, flags);
  if (status == success) *out = reinterpret_cast<void*>(p);
  return ended(status);
}
PLD_CALL(cudaHostGetFlags, (unsigned* flags, void* host), cuMemHostGetFlags(flags, host))
PLD_CALL(cudaMemGetInfo, (size_t* free_bytes, size_t* total), cuMemGetInfo_v2(free_bytes, total))
PLD_CALL(cudaPointerGetAttributes, (PointerAttributes * out, const void* p), pointer_attributes(out, p))

PLD_STREAMED(cudaMallocAsync, (void** out, size_t bytes, Stream stream),
             allocate_async(out, bytes, nullptr, stream))
PLD_STREAMED(cudaMallocFromPoolAsync, (void** out, size_t bytes, Pool pool, Stream stream),
             allocate_async(out, bytes, pool, stream))
PLD_STREAMED(cudaFreeAsync, (void* p, Stream stream), cuMemFreeAsync(number(p), stream))
PLD_CALL(cudaDeviceGetDefaultMemPool, (Pool * pool, int device), cuDeviceGetDefaultMemPool(pool, device))
PLD_CALL(cudaDeviceGetMemPool, (Pool * pool, int device), cuDeviceGetMemPool(pool, device))
PLD_CALL(cudaDeviceSetMemPool, (int device, Pool pool), cuDeviceSetMemPool(device, pool))
PLD_CALL(cudaMemPoolCreate, (Pool * pool, const void* properties), cuMemPoolCreate(pool, properties))
PLD_CALL(cudaMemPoolDestroy, (Pool pool), cuMemPoolDestroy(pool))
PLD_CALL(cudaMemPoolTrimTo, (Pool pool, size_t keep), cuMemPoolTrimTo(pool, keep))
PLD_CALL(cudaMemPoolSetAttribute, (Pool pool, int attribute, void* value),
         cuMemPoolSetAttribute(pool, attribute, value))
PLD_CALL(cudaMemPoolGetAttribute, (Pool pool, int attribute, void* value),
         cuMemPoolGetAttribute(pool, attribute, value))
PLD_CALL(cudaMemPoolSetAccess, (Pool pool, const void* access, size_t count),
         cuMemPoolSetAccess(pool, access, count))
PLD_CALL(cudaMemPoolGetAccess, (int* flags, Pool pool, Location* where),
         cuMemPoolGetAccess(flags, pool, where))
PLD_CALL(cudaMemGetDefaultMemPool, (Pool * pool, Location* where, int kind),
         cuMemGetDefaultMemPool(pool, where, kind))
PLD_CALL(cudaMemGetMemPool, (Pool * pool, Location* where, int kind), cuMemGetMemPool(pool, where, kind))
PLD_CALL(cudaMemSetMemPool, (Location * where, int kind, Pool pool), cuMemSetMemPool(where, kind, pool))

PLD_STREAMED(cudaMemPrefetchBatchAsync,
             (void** p, size_t* bytes, size_t count, Location* where, size_t* indices, size_t locations,
              unsigned long long flags, Stream stream),
             cuMemPrefetchBatchAsync(reinterpret_cast<Pointer*>(p), bytes, count, where, indices, locations,
                                     flags, stream))
PLD_CALL(cudaMemRangeGetAttribute, (void* out, size_t size, int attribute, const void* p, size_t bytes),
         cuMemRangeGetAttribute(out, size, attribute, number(p), bytes))
PLD_CALL(cudaMemRangeGetAttributes,
         (void** out, size_t* sizes, int* attributes, size_t count, const void* p, size_t bytes),
         cuMemRangeGetAttributes(out, sizes, attributes, count, number(p), bytes))
PLD_STREAMED(cudaMemPrefetchAsync,
             (const void* p, size_t bytes, Location where, unsigned flags, Stream stream),
             cuMemPrefetchAsync_v2(number(p), bytes, where, flags, stream))
PLD_CALL(cudaMemAdvise, (const void* p, size_t bytes, int advice, Location where),
         cuMemAdvise_v2(number(p), bytes, advice, where))
