// Launches, and what a kernel says of itself.
#include <algorithm>
#include <vector>

#include "cuda/driver/runtime/state.h"

using namespace palladion::cuda::runtime;
namespace driver = palladion::cuda::driver;

namespace {

struct Configuration {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
};
// Never destroyed: global destructors of the program launch when those of the thread have run.
std::vector<Configuration>& pushed() {
  thread_local auto* const all = new std::vector<Configuration>;
  return *all;
}

Status launch(Function f, const Dim3& grid, const Dim3& block, void** params, size_t shared, Stream stream,
              driver::LaunchAttribute* attributes, uint32_t attribute_count) {
  const driver::LaunchConfig config{{grid.x, grid.y, grid.z},
                                    {block.x, block.y, block.z},
                                    static_cast<uint32_t>(shared),
                                    stream,
                                    attributes,
                                    attribute_count};
  void* none[] = {nullptr};  // of a kernel without parameters
  return cuLaunchKernelEx(&config, f, params != nullptr ? params : none, nullptr);
}

Status launch_host(const void* host, const Dim3& grid, const Dim3& block, void** params, size_t shared,
                   Stream stream, driver::LaunchAttribute* attributes = nullptr, uint32_t count = 0) {
  Function f = nullptr;
  const Status status = function_of(host, f);
  if (status == invalid_device_function && f == host) return driver::invalid_handle;  // never registered
  return status != success ? status : launch(f, grid, block, params, shared, stream, attributes, count);
}

Status launch_cooperative(const void* host, const Dim3& grid, const Dim3& block, void** params, size_t shared,
                          Stream stream) {
  driver::LaunchAttribute cooperative{
      .id = driver::LaunchAttributeId::cooperative, .padding = {}, .value = {}};
  cooperative.value.flag = 1;
  return launch_host(host, grid, block, params, shared, stream, &cooperative, 1);
}

driver::LaunchConfig driver_config(const LaunchConfig& c) {
  return {{c.grid.x, c.grid.y, c.grid.z},
          {c.block.x, c.block.y, c.block.z},
          static_cast<uint32_t>(c.shared_bytes),
          c.stream,
          c.attributes,
          c.attribute_count};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block,
                                                                                       size_t shared,
                                                                                       Stream stream) {
  pushed().push_back({grid, block, shared, stream});
  return 0;
}
PLD_RUNTIME __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void* stream) {
  if (pushed().empty()) return ended(missing_configuration);
  const Configuration c = pushed().back();
  pushed().pop_back();
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<Stream*>(stream) = c.stream;
  return success;
}

// Of a kernel that could not be found the program keeps null.
PLD_STREAMED(__cudaLaunchKernel,
             (Function f, Dim3 grid, Dim3 block, void** params, size_t shared, Stream stream),
             f == nullptr ? invalid_device_function
                          : launch(f, grid, block, params, shared, stream, nullptr, 0))
PLD_STREAMED(cudaLaunchKernel,
             (const void* host, Dim3 grid, Dim3 block, void** params, size_t shared, Stream stream),
             launch_host(host, grid, block, params, shared, stream))
PLD_STREAMED(cudaLaunchCooperativeKernel,
             (const void* host, Dim3 grid, Dim3 block, void** params, size_t shared, Stream stream),
             launch_cooperative(host, grid, block, params, shared, stream))
PLD_RUNTIME cudaLaunchKernelExC(const LaunchConfig* c, const void* host, void** params) {
  if (const Status s = ready()) return ended(s);
  return ended(launch_host(host, c->grid, c->block, params, c->shared_bytes, c->stream, c->attributes,
                           c->attribute_count));
}
PLD_RUNTIME cudaLaunchKernelExC_ptsz(const LaunchConfig* c, const void* host, void** params) {
  LaunchConfig own = *c;
  if (own.stream == nullptr) own.stream = per_thread_stream;
  return cudaLaunchKernelExC(&own, host, params);
}
PLD_STREAMED(cudaLaunchHostFunc, (Stream stream, HostFn fn, void* data), cuLaunchHostFunc(stream, fn, data))

PLD_RUNTIME cudaFuncGetAttributes(FunctionAttributes* out, const void* host) {
  Function f = nullptr;
  if (const Status s = function_of(host, f)) return ended(s);
  int value[16] = {};
  for (int i = 0; i < 16; ++i)
    if (const Status s = cuFuncGetAttribute(&value[i], i, f)) return ended(s);
  *out = {.shared = static_cast<size_t>(value[1]),
          .constant = static_cast<size_t>(value[2]),
          .local = static_cast<size_t>(value[3]),
          .max_threads = value[0],
          .registers = value[4],
          .ptx_version = value[5],
          .binary_version = value[6],
          .cache_mode_ca = value[7],
          .max_dynamic_shared = value[8],
          .carveout = value[9],
          .cluster_must_be_set = value[10],
          .cluster_width = value[11],
          .cluster_height = value[12],
          .cluster_depth = value[13],
          .cluster_policy = value[15],
          .nonportable_cluster = value[14],
          .reserved = {}};
  return success;
}
PLD_RUNTIME cudaFuncSetAttribute(const void* host, int attribute, int value) {
  Function f = nullptr;
  const Status status = function_of(host, f);
  return ended(status != success ? status : cuFuncSetAttribute(f, attribute, value));
}
PLD_RUNTIME cudaKernelSetAttributeForDevice(Function f, int attribute, int value, int) {
  return ended(cuFuncSetAttribute(f, attribute, value));
}
// Preferences between L1 and shared memory: the machine divides them as each launch needs.
PLD_RUNTIME cudaFuncSetCacheConfig(const void* host, int) {
  Function f = nullptr;
  return ended(function_of(host, f));
}
PLD_RUNTIME cudaFuncSetSharedMemConfig(const void* host, int) {
  Function f = nullptr;
  return ended(function_of(host, f));
}
PLD_RUNTIME cudaFuncGetName(const char** name, const void* host) {
  Function f = nullptr;
  const Status status = function_of(host, f);
  return ended(status != success ? status : cuFuncGetName(name, f));
}
PLD_RUNTIME cudaFuncGetParamInfo(const void* host, size_t index, size_t* offset, size_t* bytes) {
  Function f = nullptr;
  const Status status = function_of(host, f);
  return ended(status != success ? status : cuFuncGetParamInfo(f, index, offset, bytes));
}

PLD_RUNTIME cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                   size_t shared, unsigned flags) {
  Function f = nullptr;
  if (const Status s = function_of(host, f)) return ended(s);
  return ended(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, flags));
}
PLD_RUNTIME cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
PLD_RUNTIME cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* host, int blocks,
                                                      int threads) {
  Function f = nullptr;
  if (const Status s = function_of(host, f)) return ended(s);
  return ended(cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads));
}
PLD_RUNTIME cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const LaunchConfig* c) {
  Function f = nullptr;
  if (const Status s = function_of(host, f)) return ended(s);
  if (c == nullptr) return ended(driver::invalid_value);
  const driver::LaunchConfig config = driver_config(*c);
  return ended(cuOccupancyMaxActiveClusters(clusters, f, &config));
}
PLD_RUNTIME cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* host, const LaunchConfig* c) {
  Function f = nullptr;
  if (const Status s = function_of(host, f)) return ended(s);
  if (c == nullptr) return ended(driver::invalid_value);
  const driver::LaunchConfig config = driver_config(*c);
  return ended(cuOccupancyMaxPotentialClusterSize(blocks, f, &config));
}
