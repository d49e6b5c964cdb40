#include "cuda/native/driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace palladion::cuda::native::driver {
namespace {

class Binder {
 public:
  explicit Binder(void* library) : library_(library) {}

  template <class Function>
  void required(Function*& target, const char* name) {
    optional(target, name);
    if (!target && missing_.empty()) missing_ = name;
  }
  template <class Function>
  void optional(Function*& target, const char* name) {
    target = reinterpret_cast<Function*>(dlsym(library_, name));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

// Versioned names are the entry points that cuda.h maps the plain names to.
void bind(Binder& b, Api& api) {
  b.required(api.Init, "cuInit");
  b.required(api.DriverGetVersion, "cuDriverGetVersion");
  b.required(api.GetErrorName, "cuGetErrorName");
  b.required(api.GetErrorString, "cuGetErrorString");
  b.required(api.DeviceGetCount, "cuDeviceGetCount");
  b.required(api.DeviceGet, "cuDeviceGet");
  b.required(api.DeviceGetName, "cuDeviceGetName");
  b.required(api.DeviceGetAttribute, "cuDeviceGetAttribute");
  b.required(api.DeviceTotalMem, "cuDeviceTotalMem_v2");
  b.required(api.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  b.required(api.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  b.required(api.CtxSetCurrent, "cuCtxSetCurrent");
  b.required(api.CtxSynchronize, "cuCtxSynchronize");
  b.required(api.ModuleLoadDataEx, "cuModuleLoadDataEx");
  b.required(api.ModuleUnload, "cuModuleUnload");
  b.required(api.ModuleGetFunction, "cuModuleGetFunction");
  b.required(api.ModuleGetGlobal, "cuModuleGetGlobal_v2");
  b.required(api.FuncGetAttribute, "cuFuncGetAttribute");
  b.required(api.FuncSetAttribute, "cuFuncSetAttribute");
  b.optional(api.FuncGetParamInfo, "cuFuncGetParamInfo");
  b.required(api.LaunchKernelEx, "cuLaunchKernelEx");
  b.required(api.MemAlloc, "cuMemAlloc_v2");
  b.required(api.MemFree, "cuMemFree_v2");
  b.required(api.MemcpyHtoD, "cuMemcpyHtoD_v2");
  b.required(api.MemcpyDtoH, "cuMemcpyDtoH_v2");
  b.required(api.MemcpyDtoD, "cuMemcpyDtoD_v2");
  b.required(api.MemsetD8Async, "cuMemsetD8Async");
  b.required(api.StreamQuery, "cuStreamQuery");
  b.required(api.EventCreate, "cuEventCreate");
  b.required(api.EventDestroy, "cuEventDestroy_v2");
  b.required(api.EventRecord, "cuEventRecord");
  b.required(api.EventSynchronize, "cuEventSynchronize");
  b.required(api.EventElapsedTime, "cuEventElapsedTime");
  b.required(api.TensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  b.required(api.TensorMapEncodeIm2col, "cuTensorMapEncodeIm2col");
}

}  // namespace

std::string Api::text(Status status) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  GetErrorName(status, &name);
  GetErrorString(status, &meaning);
  return fmt::format("{} ({}): {}", name ? name : "unknown error", status,
                     meaning ? meaning : "no description");
}

tl::expected<std::shared_ptr<const Api>, std::string> load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return tl::unexpected(
        fmt::format("the CUDA driver library {} cannot be loaded ({})", library, why ? why : "?"));
  }
  auto api = std::make_shared<Api>();
  Binder binder(handle);
  bind(binder, *api);
  if (!binder.missing().empty())
    return tl::unexpected(
        fmt::format("the CUDA driver library {} has no {}: driver 525 (CUDA 12.0) or later is needed",
                    library, binder.missing()));
  return api;
}

}  // namespace palladion::cuda::native::driver
