#pragma once
// The part of the CUDA driver API's binary interface (13.0, 64-bit Linux) that we use, declared by us: it
// builds without the toolkit. `native` and `capture` call it, `driver` implements it. tests/driver compares
// it with cuda.h where there is one.
#include <cstddef>
#include <cstdint>

namespace palladion::cuda {

using Status = int;  // CUresult
inline constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3,
                        no_device = 100, invalid_device = 101, invalid_image = 200, invalid_context = 201,
                        map_failed = 205, unmap_failed = 206, already_mapped = 208, no_binary_for_gpu = 209,
                        not_mapped = 211, unsupported_limit = 215, peer_access_unsupported = 217,
                        invalid_ptx = 218, file_not_found = 301, peer_access_not_enabled = 705,
                        invalid_handle = 400, illegal_state = 401, not_found = 500, not_ready = 600,
                        illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                        context_is_destroyed = 709, assert_failed = 710, host_memory_already_registered = 712,
                        host_memory_not_registered = 713, illegal_instruction = 715, misaligned_address = 716,
                        invalid_pc = 718, launch_failed = 719, cooperative_launch_too_large = 720,
                        not_permitted = 800, not_supported = 801, stream_capture_unsupported = 900,
                        stream_capture_invalidated = 901, stream_capture_merge = 902,
                        stream_capture_unmatched = 903, stream_capture_unjoined = 904,
                        stream_capture_isolation = 905, stream_capture_implicit = 906, captured_event = 907,
                        stream_capture_wrong_thread = 908, graph_exec_update_failure = 910,
                        invalid_cluster = 912, unknown = 999;

using DeviceId = int;
using Pointer = uint64_t;  // CUdeviceptr
using HostFn = void (*)(void*);

struct Uuid {
  unsigned char bytes[16];
};

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

// ---- launches ----

// CUlaunchAttributeID
enum class LaunchAttributeId : uint32_t {
  ignore = 0,
  access_policy_window = 1,
  cooperative = 2,
  synchronization_policy = 3,
  cluster_dimension = 4,
  cluster_scheduling_policy = 5,
  programmatic_stream_serialization = 6,
  programmatic_event = 7,
  priority = 8,
  mem_sync_domain_map = 9,
  mem_sync_domain = 10,
  preferred_cluster_dimension = 11,
  launch_completion_event = 12,
  device_updatable_kernel_node = 13,
  shared_memory_carveout = 14,
  nvlink_util_centric_scheduling = 16
};

union LaunchAttributeValue {
  char bytes[64];
  struct {
    uint32_t x, y, z;
  } cluster;
  struct {
    void* event;
    int flags, trigger_at_block_start;
  } event;
  int flag;
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};

struct alignas(128) OpaqueTensorMap {
  uint64_t words[16];
};

// ---- copies ----

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
  void* src_context;  // of copies between devices; else reserved
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  uint32_t dst_type;
  void* dst_host;
  Pointer dst_device;
  void* dst_array;
  void* dst_context;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
};

// ---- arrays, textures, surfaces ----

// CUarray_format
enum : uint32_t {
  format_u8 = 1,
  format_u16 = 2,
  format_u32 = 3,
  format_s8 = 8,
  format_s16 = 9,
  format_s32 = 10,
  format_f16 = 16,
  format_f32 = 32
};
// CUDA_ARRAY3D_*
enum : uint32_t {
  array_layered = 1,
  array_surface = 2,
  array_cubemap = 4,
  array_gather = 8,
  array_depth = 16,
  array_colour = 32,
  array_sparse = 64,
  array_deferred = 128
};
struct ArrayDescriptor {
  size_t width, height;
  uint32_t format, channels;
};
struct Array3DDescriptor {
  size_t width, height, depth;
  uint32_t format, channels, flags;
};
struct ArrayMemoryRequirements {
  size_t size, alignment;
  uint32_t reserved[4];
};

// CUresourcetype
enum : uint32_t { resource_array = 0, resource_mipmapped = 1, resource_linear = 2, resource_pitch2d = 3 };
struct ResourceDescriptor {
  uint32_t type;
  union {
    struct {
      void* array;
    } array;
    struct {
      void* array;
    } mipmapped;
    struct {
      Pointer address;
      uint32_t format, channels;
      size_t bytes;
    } linear;
    struct {
      Pointer address;
      uint32_t format, channels;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  uint32_t flags;
};

// CU_TRSF_*
enum : uint32_t {
  texture_read_as_integer = 1,
  texture_normalized = 2,
  texture_srgb = 16,
  texture_no_trilinear_optimization = 32,
  texture_seamless_cubemap = 64
};
struct TextureDescriptor {
  uint32_t address_mode[3];  // wrap, clamp, mirror, border
  uint32_t filter_mode;      // point, linear
  uint32_t flags;
  uint32_t anisotropy;
  uint32_t mipmap_filter_mode;
  float level_bias, least_level, most_level;
  float border[4];
  int reserved[12];
};
struct ResourceViewDescriptor {
  uint32_t format;  // CUresourceViewFormat; 0: the resource's own
  size_t width, height, depth;
  uint32_t first_level, last_level, first_layer, last_layer;
  uint32_t reserved[16];
};

// ---- virtual memory, pools ----

struct MemLocation {
  int type, id;  // CUmemLocationType: 1 a device, 2 the host
};
struct AllocationProperties {
  int type, handle_types;
  MemLocation location;
  void* win32;
  struct {
    unsigned char compression, rdma;
    uint16_t usage;
    unsigned char reserved[4];
  } flags;
};
struct AccessDescriptor {
  MemLocation location;
  int flags;  // CUmemAccess_flags: 0 none, 1 read, 3 read and write
};
struct PoolProperties {
  int type, handle_types;
  MemLocation location;
  void* win32;
  size_t most_bytes;
  uint16_t usage;
  unsigned char reserved[54];
};

// ---- graphs ----

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
struct KernelNode {
  void* function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void** params;
  void** extra;
  void* kernel;
  void* context;
};
struct MemcpyNode {
  int flags, reserved;
  void* context;
  Memcpy3D copy;
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
struct MemAllocNode {
  PoolProperties pool;
  const AccessDescriptor* access;
  size_t access_count, bytes;
  Pointer address;
};
enum class ConditionalType : int { when, loop, choice };  // CUgraphConditionalNodeType: IF, WHILE, SWITCH
struct ConditionalNode {
  uint64_t handle;
  ConditionalType type;
  uint32_t size;  // graphs
  void** graphs;  // filled
  void* context;
};
struct NodeParams {
  int type, reserved0[3];
  union {
    long long reserved[29];
    KernelNode kernel;
    MemcpyNode memcpy;
    MemsetNode memset;
    HostNode host;
    MemAllocNode alloc;
    ConditionalNode conditional;
    void* graph;
    void* event;
    Pointer free;
  } of;
  long long reserved1;
};
struct UpdateResult {
  int result;
  void *node, *from;
};
struct InstantiateParams {
  uint64_t flags;
  void* upload_stream;
  void* node;
  int result;
};

static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);
static_assert(sizeof(OpaqueTensorMap) == 128 && alignof(OpaqueTensorMap) == 128);
static_assert(sizeof(Memcpy2D) == 128 && sizeof(Memcpy3D) == 200 && sizeof(KernelNode) == 72 &&
              sizeof(MemsetNode) == 40 && sizeof(ConditionalNode) == 32 && sizeof(NodeParams) == 256);

}  // namespace palladion::cuda
