// Memory in the order of a stream, and pools: how much of a pool is in use, and how much it keeps. An
// allocation of a pool is one like any other.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cuda/driver/state.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace {

struct Pool {
  uint64_t most_bytes = 0;  // 0: no limit
  uint64_t threshold = 0;   // that it may keep at a synchronisation
  int reuse[3] = {1, 1, 1};
  uint64_t used = 0, used_high = 0, kept = 0, reserved_high = 0;
  bool destroyed = false;
};
std::map<const void*, std::unique_ptr<Pool>> pools;
std::map<Pointer, Pool*> owners;
Pool* current_pool = nullptr;

Pool& default_pool() {
  static Pool* const pool = [] {
    auto made = std::make_unique<Pool>();
    Pool* const p = made.get();
    pools.emplace(p, std::move(made));
    return p;
  }();
  return *pool;
}
Pool* pool_of(const void* handle) {
  default_pool();
  const auto found = pools.find(handle);
  return found != pools.end() && !found->second->destroyed ? found->second.get() : nullptr;
}
Pool& device_pool() { return current_pool != nullptr ? *current_pool : default_pool(); }

void trim(Pool& pool, uint64_t bytes) {
  pool.kept = std::min(pool.kept, bytes > pool.used ? bytes - pool.used : 0);
}

Status allocate_from(Pointer* p, size_t bytes, Pool& pool, Stream* stream) {
  if (p == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (pool.most_bytes != 0 && bytes > pool.most_bytes - std::min(pool.used, pool.most_bytes))
    return out_of_memory;
  const Status status = allocate(*p, bytes, Origin::device, "memory of a pool");
  if (status != success) return status;
  owners[*p] = &pool;
  pool.kept -= std::min<uint64_t>(pool.kept, bytes);
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.used + pool.kept);
  Doing doing;
  const Status put = enqueue(stream, EmptyWork{}, doing);
  doing.as =
      named(order::Operation::Does::allocate, fmt::format("allocation of {} bytes", bytes), name_of(stream));
  judge(doing, touched_by_owner(*p));
  return put;
}

// Pools of the device alone: its location, and no handles for other processes.
Status check(const PoolProperties& p) {
  if (p.type != 1) return invalid_value;
  if (p.handle_types != 0) return unsupported("pools that other processes share");
  if (p.location.type != 1) return unsupported("pools of host memory");
  return p.location.id == 0 ? success : invalid_device;
}

Status at_location(void** pool, const MemLocation* location, int type, Pool& answer) {
  if (pool == nullptr || location == nullptr || type != 1) return invalid_value;
  if (location->type != 1) return unsupported("pools of host memory");
  if (location->id != 0) return invalid_device;
  return *pool = &answer, success;
}

}  // namespace

namespace palladion::cuda::driver {

void forget_in_pool(Pointer p) {
  const auto found = owners.find(p);
  if (found == owners.end()) return;
  Pool& pool = *found->second;
  const uint64_t bytes = state().blocks.at(p).size;
  pool.used -= bytes;
  pool.kept += bytes;
  owners.erase(found);
}

const void* pool_that_gave(Pointer p) {
  const auto found = owners.find(p);
  return found != owners.end() ? found->second : nullptr;
}

void trim_pools() {
  for (const auto& [handle, pool] : pools) trim(*pool, pool->threshold);
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuDeviceGetDefaultMemPool(void** pool, DeviceId device) {
  const Guard guard(state().lock);
  if (pool == nullptr) return invalid_value;
  if (device != 0) return invalid_device;
  return *pool = &default_pool(), success;
}
PLD_CUDA cuDeviceGetMemPool(void** pool, DeviceId device) {
  const Guard guard(state().lock);
  if (pool == nullptr) return invalid_value;
  if (device != 0) return invalid_device;
  return *pool = &device_pool(), success;
}
PLD_CUDA cuDeviceSetMemPool(DeviceId device, void* pool) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  if (pool_of(pool) == nullptr) return invalid_value;
  return current_pool = pool_of(pool), success;
}
PLD_CUDA cuMemGetDefaultMemPool(void** pool, const MemLocation* location, int type) {
  const Guard guard(state().lock);
  return at_location(pool, location, type, default_pool());
}
PLD_CUDA cuMemGetMemPool(void** pool, const MemLocation* location, int type) {
  const Guard guard(state().lock);
  return at_location(pool, location, type, device_pool());
}
PLD_CUDA cuMemSetMemPool(const MemLocation* location, int type, void* pool) {
  const Guard guard(state().lock);
  void* now = nullptr;
  const Status status = at_location(&now, location, type, device_pool());
  return status != success ? status : cuDeviceSetMemPool(0, pool);
}
PLD_CUDA cuMemPoolCreate(void** pool, const PoolProperties* properties) {
  const Guard guard(state().lock);
  if (pool == nullptr || properties == nullptr) return invalid_value;
  if (const Status status = check(*properties); status != success) return status;
  auto made = std::make_unique<Pool>();
  made->most_bytes = properties->most_bytes;
  *pool = made.get();
  pools.emplace(made.get(), std::move(made));
  return success;
}
// What was allocated from it stays until it is freed.
PLD_CUDA cuMemPoolDestroy(void* handle) {
  const Guard guard(state().lock);
  Pool* const pool = pool_of(handle);
  if (pool == nullptr || pool == &default_pool()) return invalid_value;
  if (current_pool == pool) current_pool = nullptr;
  return pool->destroyed = true, success;
}
PLD_CUDA cuMemPoolTrimTo(void* handle, size_t bytes) {
  const Guard guard(state().lock);
  Pool* const pool = pool_of(handle);
  if (pool == nullptr) return invalid_value;
  return trim(*pool, bytes), success;
}
// There is one device, which always reaches its own memory.
PLD_CUDA cuMemPoolSetAccess(void* handle, const AccessDescriptor* access, size_t count) {
  const Guard guard(state().lock);
  if (access == nullptr) return invalid_value;
  if (pool_of(handle) == nullptr) return invalid_value;
  for (size_t i = 0; i < count; ++i) {
    if (access[i].location.type != 1 || access[i].location.id != 0) return invalid_device;
    if (access[i].flags != 3) return invalid_value;
  }
  return success;
}
PLD_CUDA cuMemPoolGetAccess(int* flags, void* handle, const MemLocation* location) {
  const Guard guard(state().lock);
  if (flags == nullptr) return invalid_value;
  if (pool_of(handle) == nullptr || location == nullptr) return invalid_value;
  if (location->type != 1 || location->id != 0) return invalid_device;
  return *flags = 3, success;
}
// CUmemPool_attribute
PLD_CUDA cuMemPoolSetAttribute(void* handle, int attribute, void* value) {
  const Guard guard(state().lock);
  Pool* const pool = pool_of(handle);
  if (pool == nullptr || value == nullptr) return invalid_value;
  const uint64_t number = attribute >= 4 ? *static_cast<uint64_t*>(value) : 0;
  if (attribute >= 1 && attribute <= 3)
    pool->reuse[attribute - 1] = *static_cast<int*>(value);
  else if (attribute == 4)
    pool->threshold = number;
  else if (attribute == 6 && number == 0)
    pool->reserved_high = pool->used + pool->kept;
  else if (attribute == 8 && number == 0)
    pool->used_high = pool->used;
  else
    return invalid_value;
  return success;
}
PLD_CUDA cuMemPoolGetAttribute(void* handle, int attribute, void* value) {
  const Guard guard(state().lock);
  const Pool* const pool = pool_of(handle);
  if (pool == nullptr || value == nullptr || attribute < 1 || attribute > 8) return invalid_value;
  if (attribute <= 3) return *static_cast<int*>(value) = pool->reuse[attribute - 1], success;
  const uint64_t values[] = {pool->threshold, pool->used + pool->kept, pool->reserved_high, pool->used,
                             pool->used_high};
  return *static_cast<uint64_t*>(value) = values[attribute - 4], success;
}
PLD_CUDA cuMemAllocFromPoolAsync(Pointer* p, size_t bytes, void* handle, Stream* q) {
  const Guard guard(state().lock);
  Pool* const pool = pool_of(handle);
  if (pool == nullptr || bytes == 0) return invalid_value;
  if (const Status status = may_use(q); status != success) return status;
  if (capturing(q)) return capture_allocation(p, bytes, q);
  return allocate_from(p, bytes, *pool, q);
}
PLD_CUDA cuMemAllocAsync(Pointer* p, size_t bytes, Stream* q) {
  const Guard guard(state().lock);
  return cuMemAllocFromPoolAsync(p, bytes, &device_pool(), q);
}
PLD_CUDA cuMemFreeAsync(Pointer p, Stream* q) {
  const Guard guard(state().lock);
  if (const Status status = may_use(q); status != success) return status;
  if (capturing(q)) return capture_free(p, q);
  if (const Status status = usable(); status != success) return status;
  if (!state().blocks.contains(p)) return p == 0 ? success : invalid_value;
  return enqueue(q, FreeWork{p});
}
