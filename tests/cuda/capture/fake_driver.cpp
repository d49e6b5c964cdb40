// A libcuda.so.1 for tests: device memory is host memory, and every kernel adds 1 to each 32-bit word of the
// buffers that its parameters point to. It has what the library under test calls, and a program needs.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/cuda/capture/fake_driver.h"

namespace {

using fake::Function;
using fake::Status;
std::map<uint64_t, size_t> memory;
std::map<std::string, void*> variables;
struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  void* attributes;
  unsigned count;
};
Status failure = 0;

size_t room(uint64_t address) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return 0;
  --after;
  return address < after->first + after->second ? after->first + after->second - address : 0;
}

}  // namespace

namespace fake {

Status run(const Function& f, void** params) {
  if (f.name == "crash") return failure = 700, 0;
  if (run_with_objects(f.name, params)) return 0;
  uint64_t address = 0;
  std::memcpy(&address, params[0], 8);
  auto* const words = reinterpret_cast<uint32_t*>(address);
  for (size_t i = 0; i < room(address) / 4; ++i) ++words[i];
  return 0;
}

}  // namespace fake

extern "C" {
Status cuInit(unsigned) { return 0; }
Status cuDriverGetVersion(int* v) { return *v = 13000, 0; }
Status cuCtxGetDevice(int* d) { return *d = 0, 0; }
Status cuDeviceGetName(char* name, int n, int) {
  return std::strncpy(name, "fake H200", static_cast<size_t>(n)), 0;
}
Status cuDeviceGetAttribute(int* v, int which, int) { return *v = which == 75 ? 9 : 0, 0; }
Status cuCtxSynchronize() { return failure; }
Status cuStreamIsCapturing(void* stream, int* status) { return *status = stream != nullptr, 0; }
Status cuMemAlloc_v2(uint64_t* p, size_t n) {
  *p = reinterpret_cast<uint64_t>(std::calloc(n, 1));
  memory[*p] = n;
  return 0;
}
Status cuMemFree_v2(uint64_t p) {
  memory.erase(p);
  std::free(reinterpret_cast<void*>(p));
  return 0;
}
Status cuMemGetAddressRange_v2(uint64_t*, size_t*, uint64_t) { return 1; }
Status cuMemcpyDtoH_v2(void* to, uint64_t from, size_t n) {
  if (failure != 0) return failure;
  std::memcpy(to, reinterpret_cast<void*>(from), n);
  return 0;
}
Status cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t n) {
  std::memcpy(reinterpret_cast<void*>(to), from, n);
  return 0;
}
Status cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return 0;
}
Status cuModuleGetFunction(void** f, void* module, const char* name) {
  *f = new Function{module, name};
  return 0;
}
Status cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  return *library = const_cast<void*>(image), 0;
}
Status cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  static std::map<std::string, Function> kernels;
  static char module;  // a handle of its own, for which no program asked
  auto [at, fresh] = kernels.try_emplace(name, Function{library, name});
  if (fresh) at->second.in_context = new Function{&module, name};
  return *kernel = &at->second, 0;
}
Status cuKernelGetFunction(void** f, void* kernel) {
  return *f = static_cast<Function*>(kernel)->in_context, *f == nullptr ? 1 : 0;
}
Status cuFuncGetModule(void** module, void* f) { return *module = static_cast<Function*>(f)->module, 0; }
Status cuFuncGetName(const char** name, void* f) {
  return *name = static_cast<Function*>(f)->name.c_str(), 0;
}
Status cuModuleGetGlobal_v2(uint64_t* p, size_t* n, void*, const char* name) {
  auto [at, fresh] = variables.try_emplace(name);
  if (fresh) at->second = std::calloc(4, 4);
  *p = reinterpret_cast<uint64_t>(at->second);
  *n = 16;
  return 0;
}
Status cuFuncGetParamInfo(void* f, size_t i, size_t* offset, size_t* bytes) {
  const std::string& name = static_cast<Function*>(f)->name;
  if (i > (name == "sample" || name == "layers" ? 3 : 1)) return 1;
  *offset = i * 8;
  *bytes = i == 1 ? 4 : 8;
  return 0;
}
Status cuLaunchKernel(void* f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                      void** params, void**) {
  return fake::run(*static_cast<Function*>(f), params);
}
Status cuLaunchKernelEx(const Config*, void* f, void** params, void**) {
  return fake::run(*static_cast<Function*>(f), params);
}
// Linking gives machine code: an ELF file of no sections.
Status cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**) { return 0; }
Status cuLinkComplete(void*, void** cubin, size_t* bytes) {
  static char elf[64] = "\177ELF\2\1\1";
  elf[40] = 64;  // the table of sections begins behind the header
  return *cubin = elf, *bytes = sizeof elf, 0;
}
Status cuLinkDestroy(void*) { return 0; }
Status cuGetProcAddress_v2(const char* name, void** f, int, uint64_t, int*);
}

#include <dlfcn.h>
extern "C" Status cuGetProcAddress_v2(const char* name, void** f, int, uint64_t, int*) {
  static void* const self = dlopen("libcuda.so.1", RTLD_LAZY);
  const std::string second = std::string(name) + "_v2";
  *f = dlsym(self, second.c_str());
  if (*f == nullptr) *f = dlsym(self, name);
  return *f == nullptr ? 500 : 0;
}
