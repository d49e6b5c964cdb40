// The device and occupancy.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/driver/device_attributes.h"
#include "cuda/driver/state.h"

using namespace palladion::cuda::driver;

namespace {

// Of the last toolkit of CUDA 13: PTX of each is taken, and programs that compile at run time (Warp) make PTX
// only for a driver that is not older than they are.
constexpr int driver_version = 13090;

Status blocks_per_sm(int* out, Kernel* kernel, int threads, size_t shared) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (out == nullptr || threads <= 0) return invalid_value;
  const auto needs = needs_of(*kernel);
  if (!needs) return needs.error();
  *out = ctas_per_sm(*needs, threads, shared);
  return success;
}

}  // namespace

PLD_CUDA cuInit(unsigned flags) {
  State& s = state();
  const Guard guard(s.lock);
  if (s.forked) return not_initialized;
  if (flags != 0) return invalid_value;
  if (!s.initialised) forbid_use_by_forked_processes();
  s.initialised = true;
  return success;
}
PLD_CUDA cuDriverGetVersion(int* version) {
  if (version == nullptr) return invalid_value;
  return *version = driver_version, success;
}
PLD_CUDA cuDeviceGetCount(int* count) {
  if (count == nullptr) return invalid_value;
  return *count = 1, success;
}
PLD_CUDA cuDeviceGet(DeviceId* device, int ordinal) {
  if (device == nullptr) return invalid_value;

  if (ordinal != 0) return invalid_device;
  return *device = 0, success;
}
PLD_CUDA cuDeviceGetName(char* name, int bytes, DeviceId) {
  if (name == nullptr || bytes <= 0) return invalid_value;
  const std::string text(state().arch->chip);
  std::snprintf(name, static_cast<size_t>(bytes), "%s", text.c_str());
  return success;
}
PLD_CUDA cuDeviceGetUuid_v2(Uuid* uuid, DeviceId) {
  if (uuid == nullptr) return invalid_value;

  std::memcpy(uuid->bytes, "palladion-device", 16);
  return success;
}
PLD_CUDA cuDeviceGetUuid(Uuid* uuid, DeviceId d) { return cuDeviceGetUuid_v2(uuid, d); }
PLD_CUDA cuDeviceTotalMem_v2(size_t* bytes, DeviceId) {
  if (bytes == nullptr) return invalid_value;

  return *bytes = static_cast<size_t>(state().arch->memory_bytes), success;
}
PLD_CUDA cuDeviceGetAttribute(int* value, int attribute, DeviceId device) {
  if (value == nullptr) return invalid_value;

  if (device != 0) return invalid_device;
  const auto known = device_attribute(*state().arch, attribute);
  if (!known) return invalid_value;
  return *value = *known, success;
}
PLD_CUDA cuDeviceComputeCapability(int* major, int* minor, DeviceId) {
  if (major == nullptr || minor == nullptr) return invalid_value;

  return *major = state().arch->sm / 10, *minor = state().arch->sm % 10, success;
}
PLD_CUDA cuDeviceGetPCIBusId(char* text, int bytes, DeviceId) {
  if (text == nullptr || bytes <= 0) return invalid_value;
  return std::snprintf(text, static_cast<size_t>(bytes), "0000:00:06.0"), success;
}
PLD_CUDA cuDeviceGetByPCIBusId(DeviceId* device, const char* text) {
  if (device == nullptr) return invalid_value;

  if (text == nullptr) return invalid_value;
  if (std::strstr(text, "00:06.0") == nullptr) return invalid_device;
  return *device = 0, success;
}
// There is one device, and none is its own peer.
PLD_CUDA cuDeviceCanAccessPeer(int* can, DeviceId a, DeviceId b) {
  if (can == nullptr) return invalid_value;

  if (a != 0 || b != 0) return invalid_device;
  return *can = 0, success;
}
PLD_CUDA cuDeviceGetP2PAttribute(int*, int, DeviceId, DeviceId) { return invalid_device; }
PLD_CUDA cuCtxEnablePeerAccess(Context*, unsigned) { return peer_access_unsupported; }
PLD_CUDA cuCtxDisablePeerAccess(Context*) { return peer_access_not_enabled; }

PLD_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, Kernel* kernel, int threads, size_t shared) {
  return blocks_per_sm(out, kernel, threads, shared);
}
PLD_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, Kernel* kernel, int threads,
                                                              size_t shared, unsigned) {
  return blocks_per_sm(out, kernel, threads, shared);
}
PLD_CUDA cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Kernel* kernel,
                                                   size_t (*shared_of)(int), size_t shared, int limit,
                                                   unsigned) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (grid == nullptr || block == nullptr) return invalid_value;
  const auto needs = needs_of(*kernel);
  if (!needs) return needs.error();
  int best = 0;
  *block = 0;
  const int most = limit > 0 ? std::min(limit, needs->max_threads) : needs->max_threads;
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    int n = 0;
    blocks_per_sm(&n, kernel, threads, shared_of != nullptr ? shared_of(threads) : shared);
    if (n * threads > best) {
      best = n * threads;
      *block = threads;
      *grid = n * state().arch->sm_count;
    }
  }
  return success;
}
PLD_CUDA cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel, size_t (*shared_of)(int),
                                          size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared_of, shared, limit, 0);
}
PLD_CUDA cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Kernel* kernel, int blocks, int) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (bytes == nullptr) return invalid_value;
  const auto needs = needs_of(*kernel);
  if (!needs) return needs.error();
  const auto& a = *state().arch;
  const int64_t each =
      a.shared_bytes_per_sm / std::max(blocks, 1) / a.shared_unit_bytes * a.shared_unit_bytes;
  *bytes = static_cast<size_t>(std::max<int64_t>(
      0, std::min<int64_t>(each - a.reserved_shared_bytes_per_cta, a.max_shared_bytes_per_cta) -
             needs->static_shared));
  return success;
}
