#pragma once
// Structs of the CUDA driver API's binary interface (13.0, 64-bit Linux) that the recording of textures and
// of graphs reads and writes, declared by us: it builds without the toolkit.
#include <cstddef>
#include <cstdint>

namespace palladion::capture::abi {

// CUDA_ARRAY3D_DESCRIPTOR
struct ArrayDescriptor {
  size_t width, height, depth;
  uint32_t format, channels, flags;
};
enum : uint32_t { array_layered = 1, array_cubemap = 4, array_sparse = 0x40 };

// CUDA_RESOURCE_DESC
struct ResourceDescriptor {
  enum : uint32_t { array = 0, mipmapped = 1, linear = 2, pitched = 3 };
  uint32_t type;
  union {
    void* handle;  // CUarray, CUmipmappedArray
    struct {
      uint64_t address;
      uint32_t format, channels;
      size_t bytes;
    } line;
    struct {
      uint64_t address;
      uint32_t format, channels;
      size_t width, height, pitch;
    } plane;
    int reserved[32];
  };
  uint32_t flags;
};

// CUDA_TEXTURE_DESC
struct TextureDescriptor {
  enum : uint32_t { as_integer = 1, normalized = 2, srgb = 0x10, seamless = 0x40 };
  uint32_t address[3], filter, flags, anisotropy, level_filter;
  uint32_t numbers[7];  // bits of f32: level bias, least and most level, border
  int reserved[12];
};

// CUDA_RESOURCE_VIEW_DESC
struct ViewDescriptor {
  uint32_t format;
  size_t width, height, depth;
  uint32_t first_level, last_level, first_layer, last_layer;
  uint32_t reserved[16];
};

// CUDA_MEMCPY3D
struct Memcpy3D {
  struct End {
    size_t x, y, z, level;
    uint32_t type;
    void* host;
    uint64_t device;
    void* array;
    void* reserved;
    size_t pitch, height;
  };
  End source, destination;
  size_t width, height, depth;
};
enum : uint32_t { memory_host = 1, memory_array = 3 };  // CUmemorytype

// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNode {
  void* function;
  uint32_t grid[3], block[3], shared_bytes;
  void** params;
  void** extra;
  void* kernel;  // where there is no function
  void* context;
};

// CUDA_MEMSET_NODE_PARAMS
struct MemsetNode {
  uint64_t address;
  size_t pitch;
  uint32_t value, element_bytes;
  size_t width, height;
};

// CUDA_HOST_NODE_PARAMS
struct HostNode {
  void (*function)(void*);
  void* argument;
};

// CUgraphNodeType
enum class NodeType : int {
  kernel,
  memcpy,
  memset,
  host,
  graph,
  empty,
  wait_event,
  record_event,
  signal_semaphore,
  wait_semaphore,
  alloc,
  free,
  batch_mem_op,
  conditional
};

static_assert(sizeof(KernelNode) == 72 && sizeof(MemsetNode) == 40 && sizeof(HostNode) == 16);
static_assert(sizeof(ArrayDescriptor) == 40 && sizeof(ResourceDescriptor) == 144);
static_assert(offsetof(ResourceDescriptor, flags) == 136 && sizeof(TextureDescriptor) == 104);
static_assert(sizeof(ViewDescriptor) == 112 && sizeof(Memcpy3D) == 200);

}  // namespace palladion::capture::abi
