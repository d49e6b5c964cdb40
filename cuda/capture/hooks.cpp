// The functions that the program calls instead of the driver's: through the dynamic linker, through dlsym or
// through cuGetProcAddress. Each calls the driver's own.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "cuda/capture/hooks.h"
#include "cuda/capture/links.h"
#include "cuda/capture/loaded.h"
#include "cuda/capture/memory.h"
#include "cuda/capture/nvrtc.h"
#include "cuda/capture/recorder.h"

using namespace palladion::cuda::capture;

namespace {

template <class Arguments>
Status launch(const Request& request, Arguments& arguments) {
  const auto go = [](void* a) { return static_cast<Arguments*>(a)->call(); };
  if (!wanted(request.function, request.stream)) return go(&arguments);
  return record(request, go, &arguments);
}

struct PlainLaunch {
  const char* name;
  Handle function;
  uint32_t g[3], b[3], shared;
  Handle stream;
  void **params, **extra;
  Status call() const {
    return Call<Status(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle,
                       void**, void**)>::to(name, function, g[0], g[1], g[2], b[0], b[1], b[2], shared,
                                            stream, params, extra);
  }
};
struct CooperativeLaunch : PlainLaunch {
  Status call() const {
    return Call<Status(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle,
                       void**)>::to(name, function, g[0], g[1], g[2], b[0], b[1], b[2], shared, stream,
                                    params);
  }
};
struct ConfiguredLaunch {
  const char* name;
  const LaunchConfig* config;
  Handle function;
  void **params, **extra;
  Status call() const {
    return Call<Status(const LaunchConfig*, Handle, void**, void**)>::to(name, config, function, params,
                                                                         extra);
  }
};

Request request_of(const PlainLaunch& l) {
  Request r{.function = l.function, .stream = l.stream};
  std::memcpy(r.grid, l.g, sizeof r.grid);
  std::memcpy(r.block, l.b, sizeof r.block);
  r.dynamic_shared = l.shared;
  r.params = l.params;
  r.extra = l.extra;
  return r;
}

Request request_of(const ConfiguredLaunch& l) {
  const LaunchConfig& c = *l.config;
  Request r{.function = l.function, .stream = c.stream};
  std::memcpy(r.grid, c.grid, sizeof c.grid);
  std::memcpy(r.block, c.block, sizeof c.block);
  r.dynamic_shared = c.shared_bytes;
  r.params = l.params;
  r.extra = l.extra;
  for (uint32_t i = 0; i < c.attribute_count; ++i) {
    const auto& a = c.attributes[i];
    if (a.id == LaunchAttributeId::cooperative) r.cooperative = a.value.flag != 0;
    if (a.id == LaunchAttributeId::programmatic_stream_serialization)
      r.programmatic_serialization = a.value.flag != 0;
    if (a.id != LaunchAttributeId::cluster_dimension) continue;
    const uint32_t sizes[3] = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
    std::memcpy(r.cluster, sizes, sizeof sizes);
  }
  return r;
}

void* hook_named(const char* name, int version, bool per_thread);

}  // namespace

// ---- launches ------------------------------------------------------------------------------------
#define PLD_LAUNCHES(suffix)                                                                               \
  PLD_EXPORT Status cuLaunchKernel##suffix(Handle f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,   \
                                           uint32_t by, uint32_t bz, uint32_t shared, Handle stream,       \
                                           void** params, void** extra) {                                  \
    PlainLaunch l{"cuLaunchKernel" #suffix, f, {gx, gy, gz}, {bx, by, bz}, shared, stream, params, extra}; \
    return launch(request_of(l), l);                                                                       \
  }                                                                                                        \
  PLD_EXPORT Status cuLaunchCooperativeKernel##suffix(Handle f, uint32_t gx, uint32_t gy, uint32_t gz,     \
                                                      uint32_t bx, uint32_t by, uint32_t bz,               \
                                                      uint32_t shared, Handle stream, void** params) {     \
    CooperativeLaunch l{{"cuLaunchCooperativeKernel" #suffix,                                              \
                         f,                                                                                \
                         {gx, gy, gz},                                                                     \
                         {bx, by, bz},                                                                     \
                         shared,                                                                           \
                         stream,                                                                           \
                         params,                                                                           \
                         nullptr}};                                                                        \
    Request r = request_of(l);                                                                             \
    r.cooperative = true;                                                                                  \
    return launch(r, l);                                                                                   \
  }                                                                                                        \
  PLD_EXPORT Status cuLaunchKernelEx##suffix(const LaunchConfig* config, Handle f, void** params,          \
                                             void** extra) {                                               \
    ConfiguredLaunch l{"cuLaunchKernelEx" #suffix, config, f, params, extra};                              \
    return launch(request_of(l), l);                                                                       \
  }
PLD_LAUNCHES()
PLD_LAUNCHES(_ptsz)

// ---- images --------------------------------------------------------------------------------------
PLD_EXPORT Status cuModuleLoad(Handle* module, const char* path) {
  const Status s = Call<Status(Handle*, const char*)>::to("cuModuleLoad", module, path);
  if (s == success) loaded_file(Owner::module, *module, path);
  return s;
}
PLD_EXPORT Status cuModuleLoadData(Handle* module, const void* image) {
  const Status s = Call<Status(Handle*, const void*)>::to("cuModuleLoadData", module, image);
  if (s == success) loaded(Owner::module, *module, image);
  return s;
}
PLD_EXPORT Status cuModuleLoadDataEx(Handle* module, const void* image, unsigned n, int* options,
                                     void** values) {
  const Status s = Call<Status(Handle*, const void*, unsigned, int*, void**)>::to(
      "cuModuleLoadDataEx", module, image, n, options, values);
  if (s == success) loaded(Owner::module, *module, image);
  return s;
}
PLD_EXPORT Status cuModuleLoadFatBinary(Handle* module, const void* image) {
  const Status s = Call<Status(Handle*, const void*)>::to("cuModuleLoadFatBinary", module, image);
  if (s == success) loaded(Owner::module, *module, image);
  return s;
}
PLD_EXPORT Status cuModuleGetFunction(Handle* function, Handle module, const char* name) {
  const Status s =
      Call<Status(Handle*, Handle, const char*)>::to("cuModuleGetFunction", function, module, name);
  if (s == success) belongs(*function, module);
  return s;
}
PLD_EXPORT Status cuLibraryLoadData(Handle* library, const void* image, int* jit, void** jit_values,
                                    unsigned n_jit, int* options, void** values, unsigned n) {
  const Status s = Call<Status(Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned)>::to(
      "cuLibraryLoadData", library, image, jit, jit_values, n_jit, options, values, n);
  if (s == success) loaded(Owner::library, *library, image);
  return s;
}
PLD_EXPORT Status cuLibraryLoadFromFile(Handle* library, const char* path, int* jit, void** jit_values,
                                        unsigned n_jit, int* options, void** values, unsigned n) {
  const Status s = Call<Status(Handle*, const char*, int*, void**, unsigned, int*, void**, unsigned)>::to(
      "cuLibraryLoadFromFile", library, path, jit, jit_values, n_jit, options, values, n);
  if (s == success) loaded_file(Owner::library, *library, path);
  return s;
}
PLD_EXPORT Status cuLibraryGetKernel(Handle* kernel, Handle library, const char* name) {
  const Status s =
      Call<Status(Handle*, Handle, const char*)>::to("cuLibraryGetKernel", kernel, library, name);
  if (s == success) belongs(*kernel, library);
  return s;
}
PLD_EXPORT Status cuLibraryGetModule(Handle* module, Handle library) {
  const Status s = Call<Status(Handle*, Handle)>::to("cuLibraryGetModule", module, library);
  if (s == success) belongs(*module, library);
  return s;
}
PLD_EXPORT Status cuModuleUnload(Handle module) {
  unloaded(module);
  return Call<Status(Handle)>::to("cuModuleUnload", module);
}
PLD_EXPORT Status cuLibraryUnload(Handle library) {
  unloaded(library);
  return Call<Status(Handle)>::to("cuLibraryUnload", library);
}
PLD_EXPORT Status cuKernelGetFunction(Handle* function, Handle kernel) {
  const Status s = Call<Status(Handle*, Handle)>::to("cuKernelGetFunction", function, kernel);
  if (s == success) belongs(*function, kernel);
  return s;
}

// ---- memory --------------------------------------------------------------------------------------
PLD_EXPORT Status cuMemAlloc_v2(DevicePointer* p, size_t bytes) {
  const Status s = Call<Status(DevicePointer*, size_t)>::to("cuMemAlloc_v2", p, bytes);
  if (s == success) allocated(*p, bytes);
  return s;
}
PLD_EXPORT Status cuMemAllocManaged(DevicePointer* p, size_t bytes, unsigned flags) {
  const Status s = Call<Status(DevicePointer*, size_t, unsigned)>::to("cuMemAllocManaged", p, bytes, flags);
  if (s == success) allocated(*p, bytes, true);
  return s;
}
PLD_EXPORT Status cuMemAllocPitch_v2(DevicePointer* p, size_t* pitch, size_t width, size_t height,
                                     unsigned element) {
  const Status s = Call<Status(DevicePointer*, size_t*, size_t, size_t, unsigned)>::to(
      "cuMemAllocPitch_v2", p, pitch, width, height, element);
  if (s == success) allocated(*p, *pitch * height);
  return s;
}
PLD_EXPORT Status cuMemFree_v2(DevicePointer p) {
  freed(p);
  return Call<Status(DevicePointer)>::to("cuMemFree_v2", p);
}
PLD_EXPORT Status cuMemHostAlloc(void** p, size_t bytes, unsigned flags) {
  const Status s = Call<Status(void**, size_t, unsigned)>::to("cuMemHostAlloc", p, bytes, flags);
  if (s == success && !inside) allocated(reinterpret_cast<DevicePointer>(*p), bytes, true);
  return s;
}
PLD_EXPORT Status cuMemAllocHost_v2(void** p, size_t bytes) {
  const Status s = Call<Status(void**, size_t)>::to("cuMemAllocHost_v2", p, bytes);
  if (s == success && !inside) allocated(reinterpret_cast<DevicePointer>(*p), bytes, true);
  return s;
}
PLD_EXPORT Status cuMemFreeHost(void* p) {
  freed(reinterpret_cast<DevicePointer>(p));
  return Call<Status(void*)>::to("cuMemFreeHost", p);
}
PLD_EXPORT Status cuMemMap(DevicePointer p, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  const Status s = Call<Status(DevicePointer, size_t, size_t, uint64_t, uint64_t)>::to("cuMemMap", p, bytes,
                                                                                       offset, handle, flags);
  if (s == success) allocated(p, bytes);
  return s;
}
PLD_EXPORT Status cuMemUnmap(DevicePointer p, size_t bytes) {
  freed(p);
  return Call<Status(DevicePointer, size_t)>::to("cuMemUnmap", p, bytes);
}
#define PLD_ASYNC_MEMORY(suffix)                                                                       \
  PLD_EXPORT Status cuMemAllocAsync##suffix(DevicePointer* p, size_t bytes, Handle stream) {           \
    const Status s =                                                                                   \
        Call<Status(DevicePointer*, size_t, Handle)>::to("cuMemAllocAsync" #suffix, p, bytes, stream); \
    if (s == success) allocated(*p, bytes);                                                            \
    return s;                                                                                          \
  }                                                                                                    \
  PLD_EXPORT Status cuMemAllocFromPoolAsync##suffix(DevicePointer* p, size_t bytes, Handle pool,       \
                                                    Handle stream) {                                   \
    const Status s = Call<Status(DevicePointer*, size_t, Handle, Handle)>::to(                         \
        "cuMemAllocFromPoolAsync" #suffix, p, bytes, pool, stream);                                    \
    if (s == success) allocated(*p, bytes);                                                            \
    return s;                                                                                          \
  }                                                                                                    \
  PLD_EXPORT Status cuMemFreeAsync##suffix(DevicePointer p, Handle stream) {                           \
    freed(p);                                                                                          \
    return Call<Status(DevicePointer, Handle)>::to("cuMemFreeAsync" #suffix, p, stream);               \
  }
PLD_ASYNC_MEMORY()
PLD_ASYNC_MEMORY(_ptsz)

// ---- texture and surface objects -----------------------------------------------------------------
PLD_EXPORT Status cuTexObjectCreate(uint64_t* object, const void* resource, const void* texture,
                                    const palladion::cuda::ResourceViewDescriptor* view) {
  const Status s = Call<Status(uint64_t*, const void*, const void*, const void*)>::to(
      "cuTexObjectCreate", object, resource, texture, view);
  if (s == success) object_created(ObjectKind::texture, *object, view);
  return s;
}
PLD_EXPORT Status cuTexObjectDestroy(uint64_t object) {
  object_destroyed(ObjectKind::texture, object);
  return Call<Status(uint64_t)>::to("cuTexObjectDestroy", object);
}
PLD_EXPORT Status cuSurfObjectCreate(uint64_t* object, const void* resource) {
  const Status s = Call<Status(uint64_t*, const void*)>::to("cuSurfObjectCreate", object, resource);
  if (s == success) object_created(ObjectKind::surface, *object, nullptr);
  return s;
}
PLD_EXPORT Status cuSurfObjectDestroy(uint64_t object) {
  object_destroyed(ObjectKind::surface, object);
  return Call<Status(uint64_t)>::to("cuSurfObjectDestroy", object);
}

// ---- ways to the driver's functions --------------------------------------------------------------
PLD_EXPORT Status cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                                      int* found) {
  const Status s = Call<Status(const char*, void**, int, uint64_t, int*)>::to(
      "cuGetProcAddress_v2", name, function, version, flags, found);
  if (s != success || function == nullptr || *function == nullptr) return s;
  if (std::strcmp(name, "cuGetProcAddress") == 0)  // since 12.0 of five arguments
    *function = version >= 12000 ? reinterpret_cast<void*>(&cuGetProcAddress_v2) : *function;
  else if (void* const hook = hook_named(name, version, (flags & 2) != 0))
    *function = hook;
  return s;
}
PLD_EXPORT Status cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  const Status s = Call<Status(const char*, void**, int, uint64_t)>::to("cuGetProcAddress", name, function,
                                                                        version, flags);
  if (s != success || function == nullptr || *function == nullptr) return s;
  if (std::strcmp(name, "cuGetProcAddress") == 0)
    *function = version >= 12000 ? reinterpret_cast<void*>(&cuGetProcAddress_v2)
                                 : reinterpret_cast<void*>(&cuGetProcAddress);
  else if (void* const hook = hook_named(name, version, (flags & 2) != 0))
    *function = hook;
  return s;
}

namespace {

const Hook hooks[] = {PLD_HOOK_PTSZ(cuLaunchKernel),
                      PLD_HOOK_PTSZ(cuLaunchKernelEx),
                      PLD_HOOK_PTSZ(cuLaunchCooperativeKernel),
                      PLD_HOOK(cuModuleLoad),
                      PLD_HOOK(cuModuleLoadData),
                      PLD_HOOK(cuModuleLoadDataEx),
                      PLD_HOOK(cuModuleLoadFatBinary),
                      PLD_HOOK(cuModuleUnload),
                      PLD_HOOK(cuModuleGetFunction),
                      PLD_HOOK(cuLibraryLoadData),
                      PLD_HOOK(cuLibraryLoadFromFile),
                      PLD_HOOK(cuLibraryUnload),
                      PLD_HOOK(cuLibraryGetKernel),
                      PLD_HOOK(cuLibraryGetModule),
                      PLD_HOOK(cuKernelGetFunction),
                      PLD_HOOK_V2(cuMemAlloc),
                      PLD_HOOK_V2(cuMemAllocPitch),
                      PLD_HOOK(cuMemAllocManaged),
                      PLD_HOOK_V2(cuMemFree),
                      PLD_HOOK(cuMemHostAlloc),
                      PLD_HOOK_V2(cuMemAllocHost),
                      PLD_HOOK(cuMemFreeHost),
                      PLD_HOOK(cuMemMap),
                      PLD_HOOK(cuMemUnmap),
                      PLD_HOOK(cuTexObjectCreate),
                      PLD_HOOK(cuTexObjectDestroy),
                      PLD_HOOK(cuSurfObjectCreate),
                      PLD_HOOK(cuSurfObjectDestroy),
                      PLD_HOOK_PTSZ(cuMemAllocAsync),
                      PLD_HOOK_PTSZ(cuMemAllocFromPoolAsync),
                      PLD_HOOK_PTSZ(cuMemFreeAsync)};

void* find_hook(const char* name) {
  for (const std::span<const Hook> table : {std::span<const Hook>(hooks), graph_hooks(), link_hooks()})
    for (const Hook& h : table)
      if (std::strcmp(h.name, name) == 0) return h.function;
  return nullptr;
}

void* hook_named(const char* name, int version, bool per_thread) {
  name = symbol_of_graph_call(name, version);
  if (per_thread) {
    const std::string variant = std::string(name) + "_ptsz";
    if (void* const hook = find_hook(variant.c_str())) return hook;
  }
  return find_hook(name);
}

}  // namespace

// A program that loads the driver itself asks for its functions by dlsym; it gets ours of the same name.
PLD_EXPORT void* dlsym(void* library, const char* name) {
  // RTLD_NEXT depends on who calls: this is a jump, not a call, so that it stays the program.
  static const auto real =
      reinterpret_cast<void* (*)(void*, const char*)>(palladion::cuda::capture::find_dlsym());
  if (library != RTLD_NEXT && std::strcmp(name, "nvrtcGetCUBIN") == 0) return nvrtc_hook(library);
  if (library != RTLD_NEXT && name[0] != 'c')
    if (void* const hook = nvjitlink_hook(library, name)) return hook;
  if (library == RTLD_NEXT || name[0] != 'c' || name[1] != 'u') return real(library, name);
  void* const found = real(library, name);
  if (found == nullptr) return found;
  if (std::strcmp(name, "cuGetProcAddress") == 0) return reinterpret_cast<void*>(&cuGetProcAddress);
  if (std::strcmp(name, "cuGetProcAddress_v2") == 0) return reinterpret_cast<void*>(&cuGetProcAddress_v2);
  void* const hook = find_hook(name);
  return hook != nullptr ? hook : found;
}
