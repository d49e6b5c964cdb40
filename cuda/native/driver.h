#pragma once
// The few functions of the CUDA driver API (12.0 and later) that we use: the program builds without the
// toolkit and starts without the driver.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "cuda/abi/cuda.h"

namespace palladion::cuda::native::driver {

using cuda::DeviceAttribute;
using cuda::DeviceId;
using cuda::FunctionAttribute;
using cuda::JitOption;
using cuda::LaunchAttribute;
using cuda::LaunchAttributeId;
using cuda::LaunchConfig;
using cuda::not_ready;
using cuda::OpaqueTensorMap;
using cuda::Status;
using cuda::success;
using Address = cuda::Pointer;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;
using Event = EventTag*;

// The functions, under the names of the library without their prefix. Those marked optional are null
// when the driver is too old to have them.
struct Api {
  Status (*Init)(unsigned flags);
  Status (*DriverGetVersion)(int*);
  Status (*GetErrorName)(Status, const char**);
  Status (*GetErrorString)(Status, const char**);
  Status (*DeviceGetCount)(int*);
  Status (*DeviceGet)(DeviceId*, int ordinal);
  Status (*DeviceGetName)(char*, int bytes, DeviceId);
  Status (*DeviceGetAttribute)(int*, DeviceAttribute, DeviceId);
  Status (*DeviceTotalMem)(size_t*, DeviceId);
  Status (*DevicePrimaryCtxRetain)(Context*, DeviceId);
  Status (*DevicePrimaryCtxRelease)(DeviceId);
  Status (*CtxSetCurrent)(Context);
  Status (*CtxSynchronize)();
  Status (*ModuleLoadDataEx)(Module*, const void* image, unsigned count, JitOption*, void** values);
  Status (*ModuleUnload)(Module);
  Status (*ModuleGetFunction)(Function*, Module, const char*);
  Status (*ModuleGetGlobal)(Address*, size_t*, Module, const char*);
  Status (*FuncGetAttribute)(int*, FunctionAttribute, Function);
  Status (*FuncSetAttribute)(Function, FunctionAttribute, int);
  Status (*FuncGetParamInfo)(Function, size_t index, size_t* offset, size_t* bytes);  // optional, 12.4
  Status (*LaunchKernelEx)(const LaunchConfig*, Function, void** parameters, void** extra);
  Status (*MemAlloc)(Address*, size_t);
  Status (*MemFree)(Address);
  Status (*MemcpyHtoD)(Address, const void*, size_t);
  Status (*MemcpyDtoH)(void*, Address, size_t);
  Status (*MemcpyDtoD)(Address, Address, size_t);
  Status (*MemsetD8Async)(Address, unsigned char, size_t, Stream);
  Status (*StreamQuery)(Stream);
  Status (*EventCreate)(Event*, unsigned flags);
  Status (*EventDestroy)(Event);
  Status (*EventRecord)(Event, Stream);
  Status (*EventSynchronize)(Event);
  Status (*EventElapsedTime)(float* milliseconds, Event, Event);
  Status (*TensorMapEncodeTiled)(OpaqueTensorMap*, int type, uint32_t rank, void* address,
                                 const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                                 const uint32_t* element_strides, int interleave, int swizzle,
                                 int l2_promotion, int oob_fill);
  Status (*TensorMapEncodeIm2col)(OpaqueTensorMap*, int type, uint32_t rank, void* address,
                                  const uint64_t* dims, const uint64_t* strides, const int* lower,
                                  const int* upper, uint32_t channels_per_pixel, uint32_t pixels_per_column,
                                  const uint32_t* element_strides, int interleave, int swizzle,
                                  int l2_promotion, int oob_fill);

  // "CUDA_ERROR_INVALID_VALUE (1): invalid argument"
  std::string text(Status status) const;
};

inline constexpr const char* default_library = "libcuda.so.1";

// Loads the library and binds the functions; it stays loaded for the life of the process (the driver
// does not support being unloaded). Does not call the driver. The text says what is missing.
tl::expected<std::shared_ptr<const Api>, std::string> load(const std::string& library = default_library);

}  // namespace palladion::cuda::native::driver
