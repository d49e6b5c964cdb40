// Stands for a library that contains a copy of NVIDIA's runtime library: its functions only fail, and name
// themselves as NVIDIA's do. Its constructor calls it.
#include <cstdio>

#define COPY extern "C" __attribute__((noipa)) int

volatile const char* named;
COPY __cudaRegisterFatBinary(void*) { return std::puts("not directed"); }
COPY cudaGetDeviceCount(int*) { return named = "cudaGetDeviceCount", std::puts("not directed"); }
COPY cudaMalloc(void**, unsigned long) { return named = "cudaMalloc", std::puts("not directed"); }
COPY cudaMemset(void*, int, unsigned long) { return named = "cudaMemset", std::puts("not directed"); }

namespace {
int devices = 0;
__attribute__((constructor)) void count() { cudaGetDeviceCount(&devices); }
}  // namespace

extern "C" int result_of_the_library() {
  void* p = nullptr;
  return devices != 1 ? 1 : cudaMalloc(&p, 16) != 0 ? 2 : cudaMemset(p, 7, 16) != 0 ? 3 : 0;
}
