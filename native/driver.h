#pragma once
// The few types and functions of the CUDA driver API (12.0 and later, 64-bit) that we use, declared by
// us: the program builds without the toolkit and starts without the driver. Field order and sizes are
// the binary interface of libcuda.so.1 (CUDA driver API reference; checked against cuda.h 13.0).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

namespace palladion::native::driver {

using Status = int;  // CUresult
inline constexpr Status success = 0;
inline constexpr Status not_ready = 600;

using DeviceId = int;
using Address = uint64_t;  // CUdeviceptr
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

// CUdevice_attribute
enum class DeviceAttribute : int {
  sm_clock_khz = 13,
  sm_count = 16,
  memory_clock_khz = 36,
  l2_bytes = 38,
  threads_per_sm = 39,
  compute_major = 75,
  compute_minor = 76,
  shared_bytes_per_sm = 81,
  registers_per_sm = 82,
  shared_bytes_per_cta_optin = 97,
  reserved_shared_bytes_per_cta = 111
};

// CUfunction_attribute
enum class FunctionAttribute : int {
  max_threads_per_cta = 0,
  static_shared_bytes = 1,
  const_bytes = 2,
  local_bytes = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  max_dynamic_shared_bytes = 8,
  non_portable_cluster_allowed = 14
};

// CUjit_option
enum class JitOption : int {
  max_registers = 0,
  info_log = 3,
  info_log_bytes = 4,
  error_log = 5,
  error_log_bytes = 6,
  optimization_level = 7,
  log_verbose = 12,
  generate_line_info = 13
};

// CUlaunchAttributeID
enum class LaunchAttributeId : uint32_t { cluster_dimension = 4, programmatic_stream_serialization = 6 };

struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      uint32_t x, y, z;
    } cluster;
    int flag;
  } value;
};

struct LaunchConfig {
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};

struct alignas(128) OpaqueTensorMap {
  uint64_t words[16];
};

static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);
static_assert(sizeof(OpaqueTensorMap) == 128 && alignof(OpaqueTensorMap) == 128);

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

}  // namespace palladion::native::driver
