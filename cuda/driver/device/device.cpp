// The device, occupancy and errors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/driver/device_attributes.h"
#include "cuda/driver/state.h"

using namespace palladion::cuda::driver;

namespace {

// Of the last toolkit of CUDA 13: PTX of each is taken, and programs that compile at run time (Warp) make PTX
// only for a driver that is not older than they are.
constexpr int driver_version = 13090;

struct ErrorText {
  Status status;
  const char *name, *text;
};
constexpr ErrorText errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {205, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {206, "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"},
    {208, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {211, "CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was not initiated in this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

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
PLD_CUDA cuGetErrorName(Status status, const char** text) {
  if (text == nullptr) return invalid_value;

  for (const ErrorText& e : errors)
    if (e.status == status) return *text = e.name, success;
  return *text = nullptr, invalid_value;
}
PLD_CUDA cuGetErrorString(Status status, const char** text) {
  if (text == nullptr) return invalid_value;

  for (const ErrorText& e : errors)
    if (e.status == status) return *text = e.text, success;
  return *text = nullptr, invalid_value;
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
