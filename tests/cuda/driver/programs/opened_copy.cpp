// Stands for a library that contains a copy of NVIDIA's runtime library: its functions only fail, and name
// themselves and the driver as NVIDIA's do. Its constructor calls it.
#include <cstdio>

#define COPY extern "C" __attribute__((noipa)) int

[[gnu::used]] const char opens[] = "libcuda.so.1";
volatile const char* named;
COPY __cudaRegisterFatBinary(void*) { return std::puts("not directed"); }
COPY cudaGetDeviceCount(int*) { return named = "cudaGetDeviceCount", std::puts("not directed"); }
COPY cudaMalloc(void**, unsigned long) { return named = "cudaMalloc", std::puts("not directed"); }
COPY cudaMemset(void*, int, unsigned long) { return named = "cudaMemset", std::puts("not directed"); }
COPY cudaGraphCreate(void**, unsigned) { return named = "cudaGraphCreate", std::puts("not directed"); }
// Two of CUDA 13.2 whose names differ by a version: both are ours.
COPY cudaGraphConditionalHandleCreate(unsigned long long*, void*, unsigned, unsigned) {
  return named = "cudaGraphConditionalHandleCreate", std::puts("not directed");
}
COPY cudaGraphConditionalHandleCreate_v2(unsigned long long*, void*, void*, unsigned, unsigned) {
  return named = "cudaGraphConditionalHandleCreate_v2", std::puts("not directed");
}

namespace {
int devices = 0;
__attribute__((constructor)) void count() { cudaGetDeviceCount(&devices); }
}  // namespace

extern "C" int result_of_the_library() {
  void* p = nullptr;
  if (devices != 1) return 1;
  if (cudaMalloc(&p, 16) != 0) return 2;
  if (cudaMemset(p, 7, 16) != 0) return 3;
  void* graph = nullptr;
  unsigned long long old_way = 0, new_way = 0;
  if (cudaGraphCreate(&graph, 0) != 0) return 4;
  if (cudaGraphConditionalHandleCreate(&old_way, graph, 0, 0) != 0) return 5;
  return cudaGraphConditionalHandleCreate_v2(&new_way, graph, nullptr, 0, 0) != 0 ? 6 : 0;
}
