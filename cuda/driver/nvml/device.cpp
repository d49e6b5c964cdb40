// The one device, as a management library tells of it. Clocks, power and temperature are not there
// (absent.txt).
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "cuda/driver/stand_in.h"

extern "C" {
int cuInit(unsigned);
int cuDriverGetVersion(int*);
int cuDeviceGetByPCIBusId(int*, const char*);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceTotalMem_v2(size_t*, int);
int cuDeviceGetUuid_v2(unsigned char*, int);
}

namespace palladion::cuda::nvml {
namespace {

using Status = int;  // nvmlReturn_t
constexpr Status success = 0, invalid_argument = 2, not_supported = 3, not_found = 6, insufficient_size = 7;

struct Device {};
Device the_device;

Status give_device(unsigned index, Device** out) {
  if (out == nullptr || index != 0) return invalid_argument;
  return *out = &the_device, success;
}

Status give_text(const char* text, char* out, unsigned size) {
  if (out == nullptr) return invalid_argument;
  if (std::strlen(text) >= size) return insufficient_size;
  std::strcpy(out, text);
  return success;
}

template <class T>
Status give(T value, T* out) {
  return out == nullptr ? invalid_argument : (*out = value, success);
}

bool is_device(const Device* device) { return device == &the_device; }

int attribute(int which) {
  int value = 0;
  cuInit(0);
  cuDeviceGetAttribute(&value, which, 0);
  return value;
}

size_t total_memory() {
  size_t bytes = 0;
  cuInit(0);
  cuDeviceTotalMem_v2(&bytes, 0);
  return bytes;
}

}  // namespace

}  // namespace palladion::cuda::nvml

using namespace palladion::cuda::nvml;

PLD_STAND_IN Status nvmlInit() { return success; }
PLD_STAND_IN Status nvmlInit_v2() { return success; }
PLD_STAND_IN Status nvmlInitWithFlags(unsigned) { return success; }
PLD_STAND_IN Status nvmlShutdown() { return success; }
PLD_STAND_IN const char* nvmlErrorString(Status status) {
  switch (status) {
    case success:
      return "Success";
    case invalid_argument:
      return "Invalid Argument";
    case not_supported:
      return "Not Supported";
    case not_found:
      return "Not Found";
    case insufficient_size:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}
PLD_STAND_IN Status nvmlSystemGetCudaDriverVersion(int* version) {
  return version == nullptr ? invalid_argument : cuDriverGetVersion(version);
}
PLD_STAND_IN Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}
// The first release of NVIDIA's driver that has CUDA 13.0.
PLD_STAND_IN Status nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return give_text("580.65.06", out, size);
}
PLD_STAND_IN Status nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  return give_text("13.580.65.06", out, size);
}

PLD_STAND_IN Status nvmlDeviceGetCount(unsigned* out) { return give(1U, out); }
PLD_STAND_IN Status nvmlDeviceGetCount_v2(unsigned* out) { return give(1U, out); }
PLD_STAND_IN Status nvmlDeviceGetHandleByIndex(unsigned index, Device** out) {
  return give_device(index, out);
}
PLD_STAND_IN Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  return give_device(index, out);
}
PLD_STAND_IN Status nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** out) {
  int device = 0;
  cuInit(0);
  if (id == nullptr || cuDeviceGetByPCIBusId(&device, id) != 0) return not_found;
  return give_device(static_cast<unsigned>(device), out);
}
PLD_STAND_IN Status nvmlDeviceGetIndex(const Device* device, unsigned* out) {
  return is_device(device) ? give(0U, out) : invalid_argument;
}
PLD_STAND_IN Status nvmlDeviceGetName(const Device* device, char* out, unsigned size) {
  if (!is_device(device) || out == nullptr) return invalid_argument;
  cuInit(0);
  return cuDeviceGetName(out, static_cast<int>(size), 0) == 0 ? success : insufficient_size;
}
PLD_STAND_IN Status nvmlDeviceGetUUID(const Device* device, char* out, unsigned size) {
  if (!is_device(device)) return invalid_argument;
  unsigned char b[16] = {};
  cuInit(0);
  cuDeviceGetUuid_v2(b, 0);
  char text[41] = "GPU-";
  for (size_t i = 0, at = 4; i < sizeof b; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    at += static_cast<size_t>(std::snprintf(text + at, sizeof text - at, "%02x", b[i]));
  }
  return give_text(text, out, size);
}
PLD_STAND_IN Status nvmlDeviceGetCudaComputeCapability(const Device* device, int* major, int* minor) {
  constexpr int major_attribute = 75, minor_attribute = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  if (!is_device(device) || major == nullptr || minor == nullptr) return invalid_argument;
  return *major = attribute(major_attribute), *minor = attribute(minor_attribute), success;
}
struct Memory {
  unsigned long long total, free, used;
};
PLD_STAND_IN Status nvmlDeviceGetMemoryInfo(const Device* device, Memory* out) {
  if (!is_device(device)) return invalid_argument;
  const size_t bytes = total_memory();
  return give(Memory{bytes, bytes, 0}, out);
}
// The bus as an H200 has it; nothing here is as slow or as fast as a bus.
constexpr unsigned pcie_generation = 5, pcie_lanes = 16;
PLD_STAND_IN Status nvmlDeviceGetCurrPcieLinkGeneration(const Device* device, unsigned* out) {
  return is_device(device) ? give(pcie_generation, out) : invalid_argument;
}
PLD_STAND_IN Status nvmlDeviceGetMaxPcieLinkGeneration(const Device* device, unsigned* out) {
  return nvmlDeviceGetCurrPcieLinkGeneration(device, out);
}
PLD_STAND_IN Status nvmlDeviceGetCurrPcieLinkWidth(const Device* device, unsigned* out) {
  return is_device(device) ? give(pcie_lanes, out) : invalid_argument;
}
PLD_STAND_IN Status nvmlDeviceGetMaxPcieLinkWidth(const Device* device, unsigned* out) {
  return nvmlDeviceGetCurrPcieLinkWidth(device, out);
}
// No link is up: there is no other device.
PLD_STAND_IN Status nvmlDeviceGetNvLinkState(const Device* device, unsigned link, unsigned* out) {
  constexpr unsigned links = 18, disabled = 0;
  return is_device(device) && link < links ? give(disabled, out) : invalid_argument;
}
// nvmlGpuFabricInfo_v2_t and later ones: the version holds the size; all zero: the device is in no fabric.
PLD_STAND_IN Status nvmlDeviceGetGpuFabricInfoV(const Device* device, unsigned* info) {
  constexpr unsigned size_mask = 0xffffff, smallest = 36, largest = 256;
  if (!is_device(device) || info == nullptr) return invalid_argument;
  const unsigned bytes = *info & size_mask;
  if (bytes < smallest || bytes > largest) return invalid_argument;
  return std::memset(info + 1, 0, bytes - sizeof *info), success;
}
