// A program as capture meets it: finds the driver's functions in one of two ways, and launches kernels.
//   launching_program dlsym|proc KERNEL [LAUNCHES [graph]]
// With the variable AS_CUBIN it loads machine code that carries its PTX.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cuda/cubin/carried_ptx.h"

namespace {

using Status = int;
void* library = nullptr;
bool by_proc_address = false;

template <class F>
F* function(const char* name, const char* symbol = nullptr) {
  if (!by_proc_address) return reinterpret_cast<F*>(dlsym(library, symbol != nullptr ? symbol : name));
  static auto* const get = reinterpret_cast<Status (*)(const char*, void**, int, uint64_t, int*)>(
      dlsym(library, "cuGetProcAddress_v2"));
  void* f = nullptr;
  get(name, &f, 12000, 0, nullptr);
  return reinterpret_cast<F*>(f);
}

const char* const ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 table[16];
.visible .entry add_one(.param .u64 data, .param .u32 n) { ret; }
.visible .entry crash(.param .u64 data, .param .u32 n) { ret; }
)";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  by_proc_address = std::strcmp(argv[1], "proc") == 0;
  library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (library == nullptr) return 3;
  const int launches = argc > 3 ? std::atoi(argv[3]) : 1;
  void* const stream = argc > 4 ? argv : nullptr;
  const std::string image = std::getenv("AS_CUBIN") != nullptr ? palladion::cuda::cubin::carry(ptx) : ptx;
  void *module = nullptr, *kernel = nullptr;
  uint64_t data = 0, inner = 0;
  function<Status(void**, const void*)>("cuModuleLoadData")(&module, image.c_str());
  function<Status(void**, void*, const char*)>("cuModuleGetFunction")(&kernel, module, argv[2]);
  auto* const allocate = function<Status(uint64_t*, size_t)>("cuMemAlloc", "cuMemAlloc_v2");
  allocate(&data, 4096);
  allocate(&inner, 1000);
  auto* const copy = function<Status(uint64_t, const void*, size_t)>("cuMemcpyHtoD", "cuMemcpyHtoD_v2");
  copy(data + 64, &inner, 8);  // a pointer in memory
  uint32_t n = 1024;
  void* params[] = {&data, &n};
  auto* const launch = function<Status(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, void*, void**, void**)>("cuLaunchKernel");
  for (int i = 0; i < launches; ++i) launch(kernel, 4, 1, 1, 256, 1, 1, 64, stream, params, nullptr);
  const Status end = function<Status()>("cuCtxSynchronize")();
  std::printf("ended with %d\n", end);
  return end == 0 ? 0 : 1;
}
