// A program that launches a graph: a fill of `data` with 5, then two kernels, each of which adds 1 to it.
//   graph_program LAUNCHES plain|library|changed|disabled|odd
// library: they are kernels of a library. changed: the second kernel works on other memory. disabled: it does
// nothing. odd: the graph holds a node that capture cannot launch alone.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda/abi/cuda.h"

namespace {

using Status = int;
namespace abi = palladion::cuda;

template <class F>
F* function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<F*>(dlsym(library, name));
}

const char* const ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 n) { ret; }
)";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string what = argv[2];
  auto* const allocate = function<Status(uint64_t*, size_t)>("cuMemAlloc_v2");
  uint64_t data = 0, other = 0;
  allocate(&data, 64);
  allocate(&other, 64);
  void *module = nullptr, *f = nullptr, *graph = nullptr, *exec = nullptr;
  if (what == "library") {
    function<Status(void**, const void*, int*, void**, unsigned, int*, void**, unsigned)>(
        "cuLibraryLoadData")(&module, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
    function<Status(void**, void*, const char*)>("cuLibraryGetKernel")(&f, module, "add_one");
  } else {
    function<Status(void**, const void*)>("cuModuleLoadData")(&module, ptx);
    function<Status(void**, void*, const char*)>("cuModuleGetFunction")(&f, module, "add_one");
  }
  function<Status(void**, unsigned)>("cuGraphCreate")(&graph, 0);
  void *fill = nullptr, *first = nullptr, *second = nullptr, *odd = nullptr;
  const abi::MemsetNode five{data, 0, 5, 4, 16, 1};
  function<Status(void**, void*, void* const*, size_t, const abi::MemsetNode*, void*)>(
      "cuGraphAddMemsetNode")(&fill, graph, nullptr, 0, &five, nullptr);
  uint32_t n = 16;
  void* params[] = {&data, &n};
  abi::KernelNode kernel{f, {1, 1, 1}, {32, 1, 1}, 0, params, nullptr, nullptr, nullptr};
  auto* const add = function<Status(void**, void*, void* const*, size_t, const abi::KernelNode*)>(
      "cuGraphAddKernelNode_v2");
  add(&first, graph, &fill, 1, &kernel);
  add(&second, graph, &first, 1, &kernel);
  if (what == "odd")
    function<Status(void**, void*, void* const*, size_t, const void*)>("cuGraphAddBatchMemOpNode")(
        &odd, graph, &second, 1, nullptr);
  function<Status(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&exec, graph, 0);
  if (what == "changed") {
    params[0] = &other;
    function<Status(void*, void*, const abi::KernelNode*)>("cuGraphExecKernelNodeSetParams_v2")(exec, second,
                                                                                                &kernel);
  }
  if (what == "disabled") function<Status(void*, void*, unsigned)>("cuGraphNodeSetEnabled")(exec, second, 0);
  for (int i = 0; i < std::atoi(argv[1]); ++i) function<Status(void*, void*)>("cuGraphLaunch")(exec, nullptr);
  function<Status(void*)>("cuGraphExecDestroy")(exec);
  std::printf("data %u, other %u\n", *reinterpret_cast<uint32_t*>(data), *reinterpret_cast<uint32_t*>(other));
  return 0;
}
