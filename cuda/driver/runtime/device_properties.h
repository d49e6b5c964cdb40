#pragma once
// cudaDeviceProp of CUDA 13.
#include "cuda/driver/runtime/api.h"

namespace palladion::cuda::runtime {

struct DeviceProperties {
  char name[256];
  driver::Uuid uuid;
  char luid[8];
  unsigned luid_mask;
  size_t total_global_memory, shared_per_block;
  int registers_per_block, warp_size;
  size_t memory_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3];
  size_t total_constant;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3],
      texture_2d_gather[2], texture_3d[3], texture_3d_alternate[3], texture_cubemap, texture_1d_layered[2],
      texture_2d_layered[3], texture_cubemap_layered[2];
  int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cubemap,
      surface_cubemap_layered[2];
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing,
      memory_bus_width, l2_bytes, persisting_l2_max, max_threads_per_sm, stream_priorities, global_l1,
      local_l1;
  size_t shared_per_sm;
  int registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_group, host_native_atomics,
      pageable_access, concurrent_managed, compute_preemption, host_pointer_registered, cooperative_launch;
  size_t shared_per_block_optin;
  int pageable_host_tables, direct_managed_host, max_blocks_per_sm, access_policy_window;
  size_t reserved_shared_per_block;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, gpudirect;
  unsigned gpudirect_flush;
  int gpudirect_ordering;
  unsigned pool_handle_types;
  int deferred_mapping, ipc_events, cluster_launch, unified_functions, numa_config, numa_id, mps,
      host_numa_id;
  unsigned pci_device_id, pci_subsystem_id;
  int host_numa_ipc, reserved[56];
};

}  // namespace palladion::cuda::runtime
