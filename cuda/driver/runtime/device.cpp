// The device: there is one.
#include <cstdio>
#include <cstring>

#include "cuda/driver/runtime/device_properties.h"
#include "cuda/driver/runtime/state.h"

using namespace palladion::cuda::runtime;
namespace driver = palladion::cuda::driver;

namespace {

constexpr int runtime_version = 13000;
thread_local unsigned device_flags = 0;

Status device_exists(int device) { return device == 0 ? success : driver::invalid_device; }

Status attribute_of_device(int* out, int attribute, int device) {
  const Status status = device_exists(device);
  return status != success ? status : cuDeviceGetAttribute(out, attribute, device);
}

int property(int attribute) {
  int value = 0;
  cuDeviceGetAttribute(&value, attribute, 0);
  return value;
}

template <size_t N>
void properties(int (&out)[N], int first, int second, int third = 0) {
  const int numbers[] = {first, second, third};
  for (size_t i = 0; i < N; ++i) out[i] = property(numbers[i]);
}

size_t bytes(int attribute) { return static_cast<size_t>(property(attribute)); }

// The numbers are those of cudaDeviceAttr, which are CUdevice_attribute's.
Status fill_properties(DeviceProperties& p) {
  p = {};
  cuDeviceGetName(p.name, sizeof p.name, 0);
  cuDeviceGetUuid_v2(&p.uuid, 0);
  cuDeviceTotalMem_v2(&p.total_global_memory, 0);
  p.shared_per_block = bytes(8), p.registers_per_block = property(12), p.warp_size = property(10);
  p.memory_pitch = bytes(11), p.max_threads_per_block = property(1);
  properties(p.max_threads_dim, 2, 3, 4);
  properties(p.max_grid_size, 5, 6, 7);
  p.total_constant = bytes(9), p.major = property(75), p.minor = property(76);
  p.texture_alignment = bytes(14), p.texture_pitch_alignment = bytes(51);
  p.multiprocessors = property(16), p.integrated = property(18), p.can_map_host_memory = property(19);
  p.texture_1d = property(21), p.texture_1d_mipmap = property(77);
  properties(p.texture_2d, 22, 23);
  properties(p.texture_2d_mipmap, 73, 74);
  properties(p.texture_2d_linear, 70, 71, 72);
  properties(p.texture_2d_gather, 45, 46);
  properties(p.texture_3d, 24, 25, 26);
  properties(p.texture_3d_alternate, 47, 48, 49);
  p.texture_cubemap = property(52);
  properties(p.texture_1d_layered, 42, 43);
  properties(p.texture_2d_layered, 27, 28, 29);
  properties(p.texture_cubemap_layered, 53, 54);
  p.surface_1d = property(55);
  properties(p.surface_2d, 56, 57);
  properties(p.surface_3d, 58, 59, 60);
  properties(p.surface_1d_layered, 61, 62);
  properties(p.surface_2d_layered, 63, 64, 65);
  p.surface_cubemap = property(66);
  properties(p.surface_cubemap_layered, 67, 68);
  p.surface_alignment = bytes(30), p.concurrent_kernels = property(31), p.ecc = property(32);
  p.pci_bus = property(33), p.pci_device = property(34), p.pci_domain = property(50), p.tcc = property(35);
  p.async_engines = property(40), p.unified_addressing = property(41), p.memory_bus_width = property(37);
  p.l2_bytes = property(38), p.persisting_l2_max = property(108), p.max_threads_per_sm = property(39);
  p.stream_priorities = property(78), p.global_l1 = property(79), p.local_l1 = property(80);
  p.shared_per_sm = bytes(81), p.registers_per_sm = property(82), p.managed_memory = property(83);
  p.multi_gpu_board = property(84), p.multi_gpu_group = property(85), p.host_native_atomics = property(86);
  p.pageable_access = property(88), p.concurrent_managed = property(89), p.compute_preemption = property(90);
  p.host_pointer_registered = property(91), p.cooperative_launch = property(95);
  p.shared_per_block_optin = bytes(97), p.pageable_host_tables = property(100);
  p.direct_managed_host = property(101), p.max_blocks_per_sm = property(106);
  p.access_policy_window = property(109), p.reserved_shared_per_block = bytes(111);
  p.host_register = property(99), p.sparse_arrays = property(112), p.host_register_read_only = property(113);
  p.timeline_semaphores = property(114), p.memory_pools = property(115), p.gpudirect = property(116);
  p.gpudirect_flush = static_cast<unsigned>(property(117)), p.gpudirect_ordering = property(118);
  p.pool_handle_types = static_cast<unsigned>(property(119)), p.deferred_mapping = property(121);
  p.ipc_events = property(125), p.cluster_launch = property(120), p.unified_functions = property(129);
  p.numa_config = property(130), p.numa_id = property(131), p.mps = property(133);
  p.host_numa_id = property(134), p.pci_device_id = static_cast<unsigned>(property(139));
  p.pci_subsystem_id = static_cast<unsigned>(property(140)), p.host_numa_ipc = property(143);
  return success;
}

Status set_device(int device) { return device_exists(device); }

}  // namespace

PLD_RUNTIME cudaGetDeviceCount(int* count) {
  if (const Status s = ready()) return ended(s);
  return count == nullptr ? ended(driver::invalid_value) : (*count = 1, success);
}
PLD_CALL(cudaGetDeviceProperties, (DeviceProperties * out, int device),
         device_exists(device) ? device_exists(device)
         : out == nullptr      ? driver::invalid_value
                               : fill_properties(*out))
PLD_CALL(cudaDeviceGetAttribute, (int* out, int attribute, int device),
         attribute_of_device(out, attribute, device))
PLD_CALL(cudaSetDevice, (int device), set_device(device))
PLD_CALL(cudaInitDevice, (int device, unsigned, unsigned), set_device(device))
PLD_RUNTIME cudaGetDevice(int* device) {
  return device == nullptr ? ended(driver::invalid_value) : (*device = 0, success);
}
PLD_RUNTIME cudaSetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return ended(driver::invalid_device);
  return success;
}
PLD_RUNTIME cudaChooseDevice(int* device, const DeviceProperties*) {
  return device == nullptr ? ended(driver::invalid_value) : (*device = 0, success);
}
PLD_RUNTIME cudaSetDeviceFlags(unsigned flags) { return device_flags = flags, success; }
PLD_RUNTIME cudaGetDeviceFlags(unsigned* flags) {
  return flags == nullptr ? ended(driver::invalid_value) : (*flags = device_flags | 8, success);
}  // maps host memory
PLD_CALL(cudaDeviceGetPCIBusId, (char* text, int size, int device), cuDeviceGetPCIBusId(text, size, device))
PLD_CALL(cudaDeviceGetByPCIBusId, (int* device, const char* text), cuDeviceGetByPCIBusId(device, text))

PLD_CALL(cudaDeviceSynchronize, (), cuCtxSynchronize())
PLD_RUNTIME cudaDeviceReset() {
  if (const Status s = ready()) return ended(s);
  if (cuCtxSynchronize() != success) lose_device();
  return ended(cuDevicePrimaryCtxReset_v2(0));
}
PLD_CALL(cudaDeviceSetLimit, (int limit, size_t value), cuCtxSetLimit(limit, value))
PLD_CALL(cudaDeviceGetLimit, (size_t* value, int limit), cuCtxGetLimit(value, limit))
PLD_CALL(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest),
         cuCtxGetStreamPriorityRange(least, greatest))
// Preferences between L1 and shared memory, which the machine divides as each launch needs.
PLD_CALL(cudaDeviceGetCacheConfig, (int* config),
         config == nullptr ? driver::invalid_value : (*config = 0, success))
PLD_CALL(cudaDeviceSetCacheConfig, (int), success)
PLD_CALL(cudaDeviceGetSharedMemConfig, (int* config),
         config == nullptr ? driver::invalid_value : (*config = 1, success))
PLD_CALL(cudaDeviceSetSharedMemConfig, (int), success)
PLD_CALL(cudaCtxResetPersistingL2Cache, (), cuCtxResetPersistingL2Cache())

// There is no second device.
PLD_CALL(cudaDeviceCanAccessPeer, (int* can, int device, int peer),
         device_exists(device) ? device_exists(device)
         : device_exists(peer) ? device_exists(peer)
         : can == nullptr      ? driver::invalid_value
                               : (*can = 0, success))
PLD_CALL(cudaDeviceEnablePeerAccess, (int, unsigned), driver::invalid_device)
PLD_CALL(cudaDeviceDisablePeerAccess, (int), driver::invalid_device)
PLD_CALL(cudaDeviceGetP2PAttribute, (int*, int, int, int), driver::invalid_device)

PLD_RUNTIME cudaDriverGetVersion(int* version) { return ended(cuDriverGetVersion(version)); }
PLD_RUNTIME cudaRuntimeGetVersion(int* version) {
  return version == nullptr ? ended(driver::invalid_value) : (*version = runtime_version, success);
}
// A profiler is not there to be started.
PLD_RUNTIME cudaProfilerStart() { return ended(ready()); }
PLD_RUNTIME cudaProfilerStop() { return ended(ready()); }

namespace {
Status entry_point(const char* name, void** out, int version, int* found) {
  int status = 0;
  const Status s = cuGetProcAddress_v2(name, out, version, 0, &status);
  if (found != nullptr) *found = status;
  return s;
}
}  // namespace
PLD_CALL(cudaGetDriverEntryPointByVersion,
         (const char* name, void** out, unsigned version, unsigned long long, int* found),
         entry_point(name, out, static_cast<int>(version), found))
PLD_CALL(cudaGetDriverEntryPointByVersion_ptsz,
         (const char* name, void** out, unsigned version, unsigned long long, int* found),
         entry_point(name, out, static_cast<int>(version), found))
PLD_CALL(cudaGetDriverEntryPoint, (const char* name, void** out, unsigned long long, int* found),
         entry_point(name, out, runtime_version, found))
PLD_CALL(cudaGetDriverEntryPoint_ptsz, (const char* name, void** out, unsigned long long, int* found),
         entry_point(name, out, runtime_version, found))
