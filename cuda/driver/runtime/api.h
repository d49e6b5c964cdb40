#pragma once
// The part of the CUDA runtime API's binary interface (13.0, 64-bit Linux) that the library implements,
// declared by us: it builds without the toolkit. tests/driver compares it with cuda_runtime_api.h where there
// is one.
#include <cstddef>
#include <cstdint>

#include "cuda/driver/abi.h"

namespace palladion::cuda::runtime {

// cudaError_t. From CUDA 10.1 on its values are those of CUresult, with a few of its own.
using Error = int;
inline constexpr Error invalid_pitch_value = 12, invalid_symbol = 13, invalid_channel_descriptor = 20,
                       invalid_memcpy_direction = 21, missing_configuration = 52,
                       invalid_device_function = 98;

// Handles are the driver's: a stream of one API is a stream of the other.
using Stream = void*;
using Event = void*;
using Function = void*;  // cudaKernel_t, cudaFunction_t
using Library = void*;
using Graph = void*;
using GraphExec = void*;
using GraphNode = void*;
using Pool = void*;
using Array = void*;
using MipmappedArray = void*;
using Object = unsigned long long;  // of a texture or a surface

inline const Stream per_thread_stream = reinterpret_cast<Stream>(2);

struct Dim3 {
  uint32_t x, y, z;
};
enum : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  copy_default = 4
};

struct Extent {
  size_t width, height, depth;
};
struct Pos {
  size_t x, y, z;
};
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct Copy3D {  // cudaMemcpy3DParms
  Array src_array;
  Pos src_pos;
  PitchedPtr src;
  Array dst_array;
  Pos dst_pos;
  PitchedPtr dst;
  Extent extent;
  int kind;
};
struct PeerCopy3D {  // cudaMemcpy3DPeerParms
  Array src_array;
  Pos src_pos;
  PitchedPtr src;
  int src_device;
  Array dst_array;
  Pos dst_pos;
  PitchedPtr dst;
  int dst_device;
  Extent extent;
};
using Location = driver::MemLocation;
struct LaunchConfig {  // cudaLaunchConfig_t
  Dim3 grid, block;
  size_t shared_bytes;
  Stream stream;
  driver::LaunchAttribute* attributes;
  uint32_t attribute_count;
};
struct FunctionAttributes {  // cudaFuncAttributes
  size_t shared, constant, local;
  int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout,
      cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, nonportable_cluster;
  int reserved[16];
};
struct PointerAttributes {  // cudaPointerAttributes
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};
struct KernelNodeParams {  // cudaKernelNodeParams, and its V2
  void* function;
  Dim3 grid, block;
  uint32_t shared_bytes;
  void **params, **extra;
};
struct MemsetParams {  // cudaMemsetParams, and its V2
  void* dst;
  size_t pitch;
  uint32_t value, element_bytes;
  size_t width, height;
};
// Kinds of a node, and what cudaGraphAddNode takes for those that the library has.
enum : int {
  kernel_node = 0,
  memcpy_node = 1,
  memset_node = 2,
  host_node = 3,
  graph_node = 4,
  empty_node = 5,
  wait_node = 6,
  record_node = 7,
  allocate_node = 10,
  release_node = 11,
  conditional_node = 13
};
struct ConditionalNodeParams {  // cudaConditionalNodeParams
  unsigned long long handle;
  driver::ConditionalType type;
  unsigned size;
  Graph* graphs;  // filled
};
struct NodeParams {  // cudaGraphNodeParams
  int kind, reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    struct {
      int flags, reserved[3];
      Copy3D copy;
    } memcpy;
    MemsetParams memset;
    driver::HostNode host;
    Graph graph;
    Event event;
    driver::MemAllocNode allocate;
    void* release;
    ConditionalNodeParams conditional;
  };
  long long reserved2;
};
struct ChannelDesc {  // cudaChannelFormatDesc: bits of each channel
  int x, y, z, w, kind;
};
enum : int { channel_signed = 0, channel_unsigned = 1, channel_float = 2 };

struct ResourceDesc {  // cudaResourceDesc
  int kind;            // as the driver's
  union {
    void* array;  // or a mipmapped one
    struct {
      void* address;
      ChannelDesc channels;
      size_t bytes;
    } linear;
    struct {
      void* address;
      ChannelDesc channels;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  unsigned flags;
};
struct TextureDesc {  // cudaTextureDesc
  int address_mode[3], filter_mode;
  int normalized_read;  // cudaReadModeElementType, cudaReadModeNormalizedFloat
  int srgb;
  float border[4];
  int normalized_coordinates;
  unsigned anisotropy;
  int mipmap_filter_mode;
  float level_bias, least_level, most_level;
  int no_trilinear_optimization, seamless_cubemap;
};

}  // namespace palladion::cuda::runtime

// A function of the library.
#define PLD_RUNTIME extern "C" __attribute__((visibility("default"))) ::palladion::cuda::runtime::Error
#define PLD_CALL(name, parameters, call) \
  PLD_RUNTIME name parameters { return ended(ready() ? ready() : (call)); }
// A function of a stream, and its variant for programs compiled with --default-stream per-thread, whose null
// stream is the thread's own. The parameters name the stream `stream`; `call` gives a status.
#define PLD_STREAMED(name, parameters, call) PLD_STREAMED_AS(name, _ptsz, parameters, call)
#define PLD_STREAMED_AS(name, suffix, parameters, call)                     \
  PLD_RUNTIME name parameters { return ended(ready() ? ready() : (call)); } \
  PLD_RUNTIME name##suffix parameters {                                     \
    if (stream == nullptr) stream = per_thread_stream;                      \
    return ended(ready() ? ready() : (call));                               \
  }
// A synchronous function of the default stream. Which one that is matters to stream capture alone, as every
// operation is done at once.
#define PLD_SYNCHRONOUS(name, parameters, call)                             \
  PLD_RUNTIME name parameters { return ended(ready() ? ready() : (call)); } \
  PLD_RUNTIME name##_ptds parameters {                                      \
    const OwnDefaultStream own;                                             \
    return ended(ready() ? ready() : (call));                               \
  }
