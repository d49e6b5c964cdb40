// Contexts: the primary one and those that the program makes, the stack of each thread, limits. Contexts
// share all but what they allocated: a context's end frees that. It may lie in stacks of threads behind its
// end.
#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <vector>

#include "cuda/driver/device_attributes.h"
#include "cuda/driver/memory/arrays.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

// Of the thread; the last one is current. Never destroyed: global destructors of the program launch when
// those of the thread have run.
std::vector<Context*>& stack() {
  thread_local std::vector<Context*>* const own = [] {
    static std::mutex lock;
    static auto* const of_all = new std::list<std::vector<Context*>>;
    const std::lock_guard held(lock);
    return &of_all->emplace_back();
  }();
  return *own;
}
std::vector<std::unique_ptr<Context>> made, destroyed;

struct LogsReader : Handled<LogsReader> {};

bool is_context(const Context* c) {
  return c == &state().primary || std::ranges::any_of(made, [&](const auto& m) { return m.get() == c; });
}

// Of one context, or of all; variables of modules stay.
void free_memory(const Context* owner) {
  State& s = state();
  std::vector<Pointer> freed;
  for (const auto& [base, b] : s.blocks)
    if (!b.variable && b.origin != Origin::mapped && (owner == nullptr || b.owner == owner))
      freed.push_back(base);
  for (const Pointer p : freed) release(p);
}

void reset_primary() {
  State& s = state();
  complete(streams().all());
  host_knows_all();
  show_printed();
  forget_textures();
  forget_arrays();
  free_memory(nullptr);
  s.primary.active = false;  // a fault stays for the process
  s.primary.retained = 0;
}

void push(Context* c) { stack().push_back(c); }

}  // namespace

Context* current() { return stack().empty() ? nullptr : stack().back(); }
Status of_current() {
  const Context* const c = current();
  return c == nullptr ? invalid_context : c->destroyed ? context_is_destroyed : success;
}

}  // namespace palladion::cuda::driver

// ---- the primary context ----
PLD_CUDA cuDevicePrimaryCtxRetain(Context** context, DeviceId device) {
  const Guard guard(state().lock);
  if (context == nullptr) return invalid_value;
  if (device != 0) return invalid_device;
  if (state().sticky != success) return state().sticky;
  Context& primary = state().primary;
  primary.active = true;
  ++primary.retained;
  return *context = &primary, success;
}
PLD_CUDA cuDevicePrimaryCtxRelease_v2(DeviceId device) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  Context& primary = state().primary;
  if (primary.retained == 0) return invalid_context;
  if (--primary.retained == 0) reset_primary();
  return success;
}
PLD_CUDA cuDevicePrimaryCtxReset_v2(DeviceId device) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  return reset_primary(), success;
}
PLD_CUDA cuDevicePrimaryCtxGetState(DeviceId device, unsigned* flags, int* active) {
  const Guard guard(state().lock);
  if (flags == nullptr || active == nullptr) return invalid_value;
  if (device != 0) return invalid_device;
  return *flags = state().primary.flags, *active = state().primary.active ? 1 : 0, success;
}
// How the host waits, and whether it may map memory, which it may: kept for questions.
PLD_CUDA cuDevicePrimaryCtxSetFlags_v2(DeviceId device, unsigned flags) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  return state().primary.flags = flags, success;
}

// ---- those of the program ----
PLD_CUDA cuCtxCreate_v2(Context** context, unsigned flags, DeviceId device) {
  State& s = state();
  const Guard guard(s.lock);
  if (context == nullptr) return invalid_value;
  if (device != 0) return invalid_device;
  auto c = std::make_unique<Context>();
  c->active = true;
  c->flags = flags;
  c->id = s.next_id++;
  push(*context = c.get());
  made.push_back(std::move(c));
  return success;
}
PLD_CUDA cuCtxCreate_v4(Context** context, void* params, unsigned flags, DeviceId device) {
  struct Params {
    void* affinity;
    int affinities;
    void* cig;
  };
  const auto* const p = static_cast<const Params*>(params);
  if (p != nullptr && (p->affinity != nullptr || p->cig != nullptr))
    return unsupported("contexts of a part of the device");
  return cuCtxCreate_v2(context, flags, device);
}
PLD_CUDA cuCtxDestroy_v2(Context* context) {
  const Guard guard(state().lock);
  show_printed();
  const auto found = std::ranges::find_if(made, [&](const auto& m) { return m.get() == context; });
  if (found == made.end()) return invalid_context;
  complete(streams().all());
  host_knows_all();
  free_memory(context);
  if (current() == context) stack().pop_back();
  context->destroyed = true;
  destroyed.push_back(std::move(*found));
  return made.erase(found), success;
}
PLD_CUDA cuCtxSetCurrent(Context* context) {
  const Guard guard(state().lock);
  if (context != nullptr && !is_context(context)) return invalid_context;
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) push(context);
  return success;
}
PLD_CUDA cuCtxGetCurrent(Context** context) {
  if (context == nullptr) return invalid_value;
  return *context = current(), success;
}
PLD_CUDA cuCtxPushCurrent_v2(Context* context) {
  const Guard guard(state().lock);
  if (!is_context(context)) return invalid_context;
  return push(context), success;
}
PLD_CUDA cuCtxPopCurrent_v2(Context** context) {
  if (stack().empty()) return invalid_context;
  if (context != nullptr) *context = stack().back();
  return stack().pop_back(), success;
}
PLD_CUDA cuCtxGetDevice(DeviceId* device) {
  const Guard guard(state().lock);
  if (device == nullptr) return invalid_value;
  if (const Status status = of_current(); status != success) return status;
  return *device = 0, success;
}
PLD_CUDA cuCtxGetDevice_v2(DeviceId* device, Context* context) {
  const Guard guard(state().lock);
  if (device == nullptr) return invalid_value;
  return is_context(context) ? (*device = 0, success) : invalid_context;
}
PLD_CUDA cuCtxGetFlags(unsigned* flags) {
  const Guard guard(state().lock);
  if (flags == nullptr) return invalid_value;
  if (const Status status = of_current(); status != success) return status;
  return *flags = current()->flags, success;
}
PLD_CUDA cuCtxSetFlags(unsigned flags) {
  const Guard guard(state().lock);
  if (const Status status = of_current(); status != success) return status;
  return current()->flags = flags, success;
}
PLD_CUDA cuCtxGetId(Context* context, unsigned long long* id) {
  const Guard guard(state().lock);
  if (id == nullptr) return invalid_value;
  if (context == nullptr) {
    if (const Status status = of_current(); status != success) return status;
    return *id = current()->id, success;
  }
  return is_context(context) ? (*id = context->id, success) : invalid_context;
}
PLD_CUDA cuCtxGetApiVersion(Context*, unsigned* version) {
  if (version == nullptr) return invalid_value;
  return *version = 3020, success;
}
PLD_CUDA cuCtxSynchronize() {
  const Guard guard(state().lock);
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_wait_for_all(); status != success) return status;
  complete(streams().all());
  host_knows_all();
  show_printed();
  trim_pools();
  return state().sticky;
}
PLD_CUDA cuCtxSynchronize_v2(Context*) { return cuCtxSynchronize(); }
// What a kernel gets of L1 and shared memory is for its speed alone.
PLD_CUDA cuCtxGetCacheConfig(int* config) {
  const Guard guard(state().lock);
  if (config == nullptr) return invalid_value;
  if (const Status status = of_current(); status != success) return status;
  return *config = current()->cache_config, success;
}
PLD_CUDA cuCtxSetCacheConfig(int config) {
  const Guard guard(state().lock);
  if (const Status status = of_current(); status != success) return status;
  if (config < 0 || config > 3) return invalid_value;
  return current()->cache_config = config, success;
}
PLD_CUDA cuCtxGetSharedMemConfig(int* config) {
  if (config == nullptr) return invalid_value;
  return *config = 1, success;
}  // banks of four bytes
PLD_CUDA cuCtxSetSharedMemConfig(int config) { return config < 0 || config > 2 ? invalid_value : success; }
PLD_CUDA cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return success;
}
PLD_CUDA cuCtxGetLimit(size_t* value, int limit) {
  const Guard guard(state().lock);
  if (limit < 0 || limit >= 10 || value == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  constexpr int synchronisation_depth = 3;  // of kernels that wait for their children: gone since CUDA 12
  if (limit == synchronisation_depth) return unsupported_limit;
  return *value = state().limits[limit], success;
}
PLD_CUDA cuCtxSetLimit(int limit, size_t value) {
  State& s = state();
  const Guard guard(s.lock);
  if (limit < 0 || limit >= 10) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  switch (limit) {
    case limit_stack:
      if (value > 512 << 10) return invalid_value;
      value = (value + 15) / 16 * 16;
      break;
    case limit_heap:
      if (s.heap_used) return invalid_value;
      break;
    case limit_l2_fetch:
      if (value > 128) return invalid_value;
      break;
    case limit_l2_persisting:
      value = std::min(value, static_cast<size_t>(device_attribute(*s.arch, 108).value_or(0)));
      break;
    case limit_printf:
    case limit_pending_launches:
      break;
    default:
      return unsupported_limit;
  }
  return s.limits[limit] = value, success;
}
PLD_CUDA cuCtxResetPersistingL2Cache() { return success; }
// Who would read the driver's logs: none are written.
PLD_CUDA cuLogsRegisterCallback(const void* function, void*, LogsReader** reader) {
  if (function == nullptr || reader == nullptr) return invalid_value;
  *reader = new LogsReader;
  return success;
}
PLD_CUDA cuLogsUnregisterCallback(LogsReader* reader) {
  if (!exist(reader)) return invalid_value;
  delete reader;
  return success;
}
PLD_CUDA cuProfilerStart() { return success; }
PLD_CUDA cuProfilerStop() { return success; }
