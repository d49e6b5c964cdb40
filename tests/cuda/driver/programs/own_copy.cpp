// Stands for a program that contains a copy of NVIDIA's runtime library: functions of its names, which only
// fail. Under exec they are directed to ours. Compiled without a toolkit.
#include <cstdio>
#include <cstring>

#define COPY extern "C" __attribute__((noipa)) int

COPY __cudaRegisterFatBinary(void*) { return std::puts("not directed"); }
COPY cudaGetDeviceCount(int*) { return std::puts("not directed"); }
COPY cudaMalloc(void**, unsigned long) { return std::puts("not directed"); }
COPY cudaMemset(void*, int, unsigned long) { return std::puts("not directed"); }
COPY cudaMemcpy(void*, const void*, unsigned long, int) { return std::puts("not directed"); }
COPY cudaIpcGetMemHandle(void*, void*) { return std::puts("not directed"); }
COPY cudaOfTheProgram() { return 41; }  // no function of the API

int main() {
  int count = 0, device_to_host = 2;
  void* p = nullptr;
  unsigned char bytes[16] = {}, expected[16];
  std::memset(expected, 7, sizeof expected);
  if (cudaGetDeviceCount(&count) != 0 || count != 1) return 1;
  if (cudaMalloc(&p, 16) != 0 || cudaMemset(p, 7, 16) != 0) return 2;
  if (cudaMemcpy(bytes, p, 16, device_to_host) != 0 || std::memcmp(bytes, expected, 16) != 0) return 3;
  if (cudaIpcGetMemHandle(bytes, p) != 801) return 4;  // cudaErrorNotSupported
  return cudaOfTheProgram() == 41 ? 0 : 5;
}
