// Allocations of graphs: the address is chosen when the node is made, the memory comes and goes with each
// launch.
#include <algorithm>

#include "cuda/driver/streams/streams.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

struct GraphMemory {
  std::map<Pointer, size_t> nodes, live;
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
} memory;

AllocWork new_allocation(size_t bytes) {
  const AllocWork work{.address = take_addresses(bytes, 512), .bytes = bytes};
  memory.nodes[work.address] = bytes;
  return work;
}

}  // namespace

Status capture_allocation(Pointer* out, size_t bytes, Stream* stream) {
  if (out == nullptr) return invalid_value;
  if (bytes > static_cast<size_t>(state().arch->memory_bytes)) return out_of_memory;
  const AllocWork work = new_allocation(bytes);
  *out = work.address;
  return enqueue(stream, work);
}

Status capture_free(Pointer p, Stream* stream) {
  if (!memory.nodes.contains(p)) return invalid_value;
  return enqueue(stream, FreeWork{p});
}

Status run_allocation(const AllocWork& work) {
  if (memory.live.contains(work.address)) return invalid_value;  // the last launch's was not freed
  const Status status = put_memory(work.address, work.bytes, Origin::device, "memory of a graph");
  if (status != success) return status;
  memory.live[work.address] = work.bytes;
  memory.used += work.bytes;
  memory.used_high = std::max(memory.used_high, memory.used);
  memory.reserved = std::max(memory.reserved, memory.used);
  memory.reserved_high = std::max(memory.reserved_high, memory.reserved);
  return success;
}

Status run_free(const FreeWork& work) { return release(work.address); }

Status add_allocation_node(Node** out, Graph* graph, Node* const* after, size_t count, MemAllocNode* p) {
  if (p == nullptr || p->bytes == 0 || !exist(graph)) return invalid_value;
  if (p->bytes > static_cast<size_t>(state().arch->memory_bytes)) return out_of_memory;
  const AllocWork work = new_allocation(p->bytes);
  p->address = work.address;
  return add_node(out, graph, after, count, work);
}

Status add_free_node(Node** out, Graph* graph, Node* const* after, size_t count, Pointer p) {
  return memory.nodes.contains(p) ? add_node(out, graph, after, count, FreeWork{p}) : invalid_value;
}

void forget_in_graphs(Pointer p) {
  const auto found = memory.live.find(p);
  if (found == memory.live.end()) return;
  memory.used -= found->second;
  memory.live.erase(found);
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuGraphAddMemAllocNode(Node** out, Graph* graph, Node* const* after, size_t count, MemAllocNode* p) {
  const Guard guard(state().lock);
  return add_allocation_node(out, graph, after, count, p);
}
PLD_CUDA cuGraphAddMemFreeNode(Node** out, Graph* graph, Node* const* after, size_t count, Pointer p) {
  const Guard guard(state().lock);
  return add_free_node(out, graph, after, count, p);
}
PLD_CUDA cuGraphMemAllocNodeGetParams(Node* node, MemAllocNode* out) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  const auto* work = std::get_if<AllocWork>(&node->work);
  if (work == nullptr || out == nullptr) return invalid_value;
  *out = {};
  out->pool.type = 1;
  out->pool.location = {1, 0};
  out->bytes = work->bytes;
  out->address = work->address;
  return success;
}
PLD_CUDA cuGraphMemFreeNodeGetParams(Node* node, Pointer* out) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  const auto* work = std::get_if<FreeWork>(&node->work);
  if (work == nullptr || out == nullptr) return invalid_value;
  return *out = work->address, success;
}
// CUgraphMem_attribute: used now and at most, reserved now and at most.
PLD_CUDA cuDeviceGetGraphMemAttribute(DeviceId device, int attribute, void* value) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  if (attribute < 0 || attribute > 3 || value == nullptr) return invalid_value;
  const uint64_t values[] = {memory.used, memory.used_high, memory.reserved, memory.reserved_high};
  return *static_cast<uint64_t*>(value) = values[attribute], success;
}
PLD_CUDA cuDeviceSetGraphMemAttribute(DeviceId device, int attribute, void* value) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  if ((attribute != 1 && attribute != 3) || *static_cast<uint64_t*>(value) != 0) return invalid_value;
  if (attribute == 1)
    memory.used_high = memory.used;
  else
    memory.reserved_high = memory.reserved;
  return success;
}
PLD_CUDA cuDeviceGraphMemTrim(DeviceId device) {
  const Guard guard(state().lock);
  if (device != 0) return invalid_device;
  return memory.reserved = memory.used, success;
}
