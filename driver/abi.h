#pragma once
// The part of the CUDA driver API's binary interface (13.0, 64-bit Linux) that the library implements,
// declared by us: it builds without the toolkit. tests/driver compares it with cuda.h where there is one.
#include <cstddef>
#include <cstdint>

namespace palladion::driver {

using Status = int;  // CUresult
inline constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3,
                        no_device = 100, invalid_device = 101, invalid_image = 200, invalid_context = 201,
                        no_binary_for_gpu = 209, invalid_ptx = 218, file_not_found = 301,
                        invalid_handle = 400, illegal_state = 401, not_found = 500, not_ready = 600,
                        illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                        assert_failed = 710, host_memory_already_registered = 712,
                        host_memory_not_registered = 713, illegal_instruction = 715, misaligned_address = 716,
                        invalid_pc = 718, launch_failed = 719, cooperative_launch_too_large = 720,
                        not_supported = 801, stream_capture_invalidated = 901, stream_capture_unmatched = 903,
                        unknown = 999;

using Pointer = uint64_t;  // CUdeviceptr
using DeviceId = int;
using HostFn = void (*)(void*);

struct Uuid {
  unsigned char bytes[16];
};

struct LaunchAttribute {
  uint32_t id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      uint32_t x, y, z;
    } cluster;
    int flag;
  } value;
};
enum : uint32_t { attribute_cooperative = 2, attribute_cluster = 4 };

struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};

// CUmemorytype
enum : uint32_t { memory_host = 1, memory_device = 2, memory_array = 3, memory_unified = 4 };

struct Memcpy2D {
  size_t src_x, src_y;
  uint32_t src_type;
  const void* src_host;
  Pointer src_device;
  void* src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  uint32_t dst_type;
  void* dst_host;
  Pointer dst_device;
  void* dst_array;
  size_t dst_pitch;
  size_t width, height;
};

struct Memcpy3D {
  size_t src_x, src_y, src_z, src_lod;
  uint32_t src_type;
  const void* src_host;
  Pointer src_device;
  void* src_array;
  void* reserved0;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  uint32_t dst_type;
  void* dst_host;
  Pointer dst_device;
  void* dst_array;
  void* reserved1;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
};

struct KernelNode {
  void* function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void** params;
  void** extra;
  void* kernel;
  void* context;
};
struct MemsetNode {
  Pointer dst;
  size_t pitch;
  uint32_t value, element_bytes;
  size_t width, height;
};
struct HostNode {
  HostFn fn;
  void* data;
};

static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56 && sizeof(Memcpy2D) == 128 &&
              sizeof(Memcpy3D) == 200 && sizeof(KernelNode) == 72 && sizeof(MemsetNode) == 40);

}  // namespace palladion::driver

// A function of the library, by its name in it.
#define PLD_CUDA extern "C" __attribute__((visibility("default"))) ::palladion::driver::Status
