// Versions of functions before those of today, in terms of them: what older programs call, and bindings that
// ask for each function as it was when they were written.
#include <cstring>

#include "cuda/driver/streams/streams.h"

using namespace palladion::cuda::driver;

extern "C" {
Status cuCtxCreate_v2(Context**, unsigned, DeviceId);
Status cuMemAdvise_v2(Pointer, size_t, int, MemLocation);
Status cuMemPrefetchAsync_v2(Pointer, size_t, MemLocation, unsigned, Stream*);
Status cuMemcpyBatchAsync_v2(const Pointer*, const Pointer*, const size_t*, size_t, const void*,
                             const size_t*, size_t, Stream*);
Status cuGraphGetEdges_v2(Graph*, Node**, Node**, void*, size_t*);
Status cuGraphNodeGetDependencies_v2(Node*, Node**, void*, size_t*);
Status cuGraphNodeGetDependentNodes_v2(Node*, Node**, void*, size_t*);
Status cuGraphAddDependencies_v2(Graph*, Node* const*, Node* const*, const void*, size_t);
Status cuGraphRemoveDependencies_v2(Graph*, Node* const*, Node* const*, const void*, size_t);
Status cuGraphInstantiateWithFlags(Graph**, Graph*, uint64_t);
Status cuGraphExecUpdate_v2(Graph*, Graph*, UpdateResult*);
Status cuGraphAddKernelNode_v2(Node**, Graph*, Node* const*, size_t, const KernelNode*);
Status cuGraphKernelNodeGetParams_v2(Node*, KernelNode*);
Status cuGraphKernelNodeSetParams_v2(Node*, const KernelNode*);
Status cuGraphExecKernelNodeSetParams_v2(Graph*, Node*, const KernelNode*);
}

namespace {

// CUdevice, or CU_DEVICE_CPU.
MemLocation location_of(DeviceId device) {
  constexpr int on_a_device = 1, on_the_host = 2;  // CUmemLocationType
  return device == -1 ? MemLocation{on_the_host, 0} : MemLocation{on_a_device, device};
}

// CUDA_KERNEL_NODE_PARAMS_v1 ends before `kernel`.
constexpr size_t first_bytes = offsetof(KernelNode, kernel);
struct WithoutKernel {
  explicit WithoutKernel(const void* first) : given(first != nullptr) {
    if (given) std::memcpy(&node, first, first_bytes);
  }
  const KernelNode* get() const { return given ? &node : nullptr; }

  KernelNode node{};
  bool given;
};

}  // namespace

PLD_CUDA cuCtxCreate_v3(Context** context, void*, int affinities, unsigned flags, DeviceId device) {
  return affinities != 0 ? unsupported("contexts of a part of the device")
                         : cuCtxCreate_v2(context, flags, device);
}
PLD_CUDA cuMemAdvise(Pointer p, size_t bytes, int what, DeviceId device) {
  return cuMemAdvise_v2(p, bytes, what, location_of(device));
}
PLD_CUDA cuMemPrefetchAsync(Pointer p, size_t bytes, DeviceId device, Stream* stream) {
  return cuMemPrefetchAsync_v2(p, bytes, location_of(device), 0, stream);
}
PLD_CUDA cuMemcpyBatchAsync(const Pointer* d, const Pointer* s, const size_t* n, size_t count,
                            const void* attributes, const size_t* first, size_t attribute_count,
                            size_t* failed, Stream* stream) {
  if (failed != nullptr) *failed = ~size_t{0};  // not said which
  return cuMemcpyBatchAsync_v2(d, s, n, count, attributes, first, attribute_count, stream);
}

PLD_CUDA cuGraphGetEdges(Graph* graph, Node** from, Node** to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
PLD_CUDA cuGraphNodeGetDependencies(Node* node, Node** out, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, out, nullptr, count);
}
PLD_CUDA cuGraphNodeGetDependentNodes(Node* node, Node** out, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}
PLD_CUDA cuGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
PLD_CUDA cuGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

// What went wrong was written as text.
PLD_CUDA cuGraphInstantiate_v2(Graph** exec, Graph* graph, Node** failed, char* log, size_t log_bytes) {
  if (failed != nullptr) *failed = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
PLD_CUDA cuGraphInstantiate(Graph** exec, Graph* graph, Node** failed, char* log, size_t log_bytes) {
  return cuGraphInstantiate_v2(exec, graph, failed, log, log_bytes);
}
PLD_CUDA cuGraphExecUpdate(Graph* exec, Graph* graph, Node** failed, int* result) {
  if (failed == nullptr || result == nullptr) return invalid_value;
  UpdateResult update{};
  const Status status = cuGraphExecUpdate_v2(exec, graph, &update);
  *failed = static_cast<Node*>(update.node);
  return *result = update.result, status;
}
PLD_CUDA cuGraphAddKernelNode(Node** out, Graph* graph, Node* const* after, size_t count, const void* p) {
  return cuGraphAddKernelNode_v2(out, graph, after, count, WithoutKernel(p).get());
}
PLD_CUDA cuGraphKernelNodeGetParams(Node* node, void* out) {
  KernelNode all{};
  const Status status = cuGraphKernelNodeGetParams_v2(node, out != nullptr ? &all : nullptr);
  if (status == success) std::memcpy(out, &all, first_bytes);
  return status;
}
PLD_CUDA cuGraphKernelNodeSetParams(Node* node, const void* p) {
  return cuGraphKernelNodeSetParams_v2(node, WithoutKernel(p).get());
}
PLD_CUDA cuGraphExecKernelNodeSetParams(Graph* exec, Node* node, const void* p) {
  return cuGraphExecKernelNodeSetParams_v2(exec, node, WithoutKernel(p).get());
}
