// The nodes of graphs. The driver's parameters of a node differ from the runtime's for kernels and copies
// alone.
#include <cstring>

#include "cuda/driver/runtime/state.h"

namespace palladion::cuda::runtime {
namespace {

Status driver_kernel(const KernelNodeParams& p, KernelNode& out) {
  Function f = nullptr;
  const Status status = function_of(p.function, f);
  out = {.function = f,
         .grid = {p.grid.x, p.grid.y, p.grid.z},
         .block = {p.block.x, p.block.y, p.block.z},
         .shared_bytes = p.shared_bytes,
         .params = p.params,
         .extra = p.extra,
         .kernel = nullptr,
         .context = nullptr};
  return status;
}

MemsetNode driver_fill(const MemsetParams& p) {
  return {reinterpret_cast<Pointer>(p.dst), p.pitch, p.value, p.element_bytes, p.width, p.height};
}

// One row of bytes.
Copy3D row(void* to, const void* from, size_t bytes, int kind) {
  Copy3D c{};
  c.src = {const_cast<void*>(from), bytes, bytes, 1};
  c.dst = {to, bytes, bytes, 1};
  c.extent = {bytes, 1, 1};
  c.kind = kind;
  return c;
}

Status row_to_symbol(Copy3D& out, const void* symbol, const void* from, size_t bytes, size_t offset,
                     int kind) {
  Pointer address = 0;
  const Status status = part_of_symbol(symbol, bytes, offset, address);
  out = row(reinterpret_cast<void*>(address), from, bytes, kind);
  return status;
}

Status row_from_symbol(Copy3D& out, void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  Pointer address = 0;
  const Status status = part_of_symbol(symbol, bytes, offset, address);
  out = row(to, reinterpret_cast<const void*>(address), bytes, kind);
  return status;
}

Status add_kernel(GraphNode* out, Graph graph, const GraphNode* after, size_t count,
                  const KernelNodeParams& p) {
  KernelNode d{};
  const Status status = driver_kernel(p, d);
  return status != success ? status : cuGraphAddKernelNode_v2(out, graph, after, count, &d);
}

Status add_copy(GraphNode* out, Graph graph, const GraphNode* after, size_t count, const Copy3D& p) {
  Memcpy3D d{};
  const Status status = driver_copy(p, d);
  return status != success ? status : cuGraphAddMemcpyNode(out, graph, after, count, &d, nullptr);
}

Status add_fill(GraphNode* out, Graph graph, const GraphNode* after, size_t count, const MemsetParams& p) {
  const MemsetNode d = driver_fill(p);
  return cuGraphAddMemsetNode(out, graph, after, count, &d, nullptr);
}

// Of a graph's node (`exec` null), or of its twin in an instantiated graph.
Status set_kernel(GraphExec exec, GraphNode node, const KernelNodeParams& p) {
  KernelNode d{};
  const Status status = driver_kernel(p, d);
  if (status != success) return status;
  return exec != nullptr ? cuGraphExecKernelNodeSetParams_v2(exec, node, &d)
                         : cuGraphKernelNodeSetParams_v2(node, &d);
}

Status set_copy(GraphExec exec, GraphNode node, const Copy3D& p) {
  Memcpy3D d{};
  const Status status = driver_copy(p, d);
  if (status != success) return status;
  return exec != nullptr ? cuGraphExecMemcpyNodeSetParams(exec, node, &d, nullptr)
                         : cuGraphMemcpyNodeSetParams(node, &d);
}

Status set_fill(GraphExec exec, GraphNode node, const MemsetParams& p) {
  const MemsetNode d = driver_fill(p);
  return exec != nullptr ? cuGraphExecMemsetNodeSetParams(exec, node, &d, nullptr)
                         : cuGraphMemsetNodeSetParams(node, &d);
}

Status kernel_params(GraphNode node, KernelNodeParams* out) {
  KernelNode d{};
  if (out == nullptr) return driver::invalid_value;
  const Status status = cuGraphKernelNodeGetParams_v2(node, &d);
  if (status == success)
    *out = {d.function,
            {d.grid[0], d.grid[1], d.grid[2]},
            {d.block[0], d.block[1], d.block[2]},
            d.shared_bytes,
            d.params,
            d.extra};
  return status;
}

Status copy_params(GraphNode node, Copy3D* out) {
  Memcpy3D d{};
  if (out == nullptr) return driver::invalid_value;
  const Status status = cuGraphMemcpyNodeGetParams(node, &d);
  if (status != success) return status;
  *out = {.src_array = d.src_array,
          .src_pos = {d.src_x, d.src_y, d.src_z},
          .src = {reinterpret_cast<void*>(d.src_device), d.src_pitch, d.width, d.src_height},
          .dst_array = d.dst_array,
          .dst_pos = {d.dst_x, d.dst_y, d.dst_z},
          .dst = {reinterpret_cast<void*>(d.dst_device), d.dst_pitch, d.width, d.dst_height},
          .extent = {d.width, d.height, d.depth},
          .kind = copy_default};
  return success;
}

Status fill_params(GraphNode node, MemsetParams* out) {
  MemsetNode d{};
  const Status status = cuGraphMemsetNodeGetParams(node, &d);
  if (status == success)
    *out = {reinterpret_cast<void*>(d.dst), d.pitch, d.value, d.element_bytes, d.width, d.height};
  return status;
}

Status add_conditional(GraphNode* out, Graph graph, const GraphNode* after, size_t count,
                       ConditionalNodeParams& p) {
  driver::NodeParams d{};
  d.type = conditional_node;
  d.of.conditional = {p.handle, p.type, p.size, nullptr, nullptr};
  const Status status = cuGraphAddNode_v2(out, graph, after, nullptr, count, &d);
  if (status == success) p.graphs = d.of.conditional.graphs;
  return status;
}

Status add_node(GraphNode* out, Graph graph, const GraphNode* after, size_t count, NodeParams& p) {
  switch (p.kind) {
    case kernel_node:
      return add_kernel(out, graph, after, count, p.kernel);
    case memcpy_node:
      return add_copy(out, graph, after, count, p.memcpy.copy);
    case memset_node:
      return add_fill(out, graph, after, count, p.memset);
    case host_node:
      return cuGraphAddHostNode(out, graph, after, count, &p.host);
    case graph_node:
      return cuGraphAddChildGraphNode(out, graph, after, count, p.graph);
    case empty_node:
      return cuGraphAddEmptyNode(out, graph, after, count);
    case wait_node:
      return cuGraphAddEventWaitNode(out, graph, after, count, p.event);
    case record_node:
      return cuGraphAddEventRecordNode(out, graph, after, count, p.event);
    case allocate_node:
      return cuGraphAddMemAllocNode(out, graph, after, count, &p.allocate);
    case release_node:
      return cuGraphAddMemFreeNode(out, graph, after, count, reinterpret_cast<Pointer>(p.release));
    case conditional_node:
      return add_conditional(out, graph, after, count, p.conditional);
    default:
      return unsupported("graph nodes of semaphores");
  }
}

Status set_node(GraphExec exec, GraphNode node, const NodeParams& p) {
  switch (p.kind) {
    case kernel_node:
      return set_kernel(exec, node, p.kernel);
    case memcpy_node:
      return set_copy(exec, node, p.memcpy.copy);
    case memset_node:
      return set_fill(exec, node, p.memset);
    case host_node:
      return exec != nullptr ? cuGraphExecHostNodeSetParams(exec, node, &p.host)
                             : cuGraphHostNodeSetParams(node, &p.host);
    case graph_node:
      if (exec != nullptr) return cuGraphExecChildGraphNodeSetParams(exec, node, p.graph);
      return unsupported("cudaGraphNodeSetParams of a child graph");
    case wait_node:
      return exec != nullptr ? cuGraphExecEventWaitNodeSetEvent(exec, node, p.event)
                             : cuGraphEventWaitNodeSetEvent(node, p.event);
    case record_node:
      return exec != nullptr ? cuGraphExecEventRecordNodeSetEvent(exec, node, p.event)
                             : cuGraphEventRecordNodeSetEvent(node, p.event);
    case conditional_node:  // its parameters never change
      return driver::not_supported;
    default:
      return unsupported("cudaGraphNodeSetParams of this kind of node");
  }
}

}  // namespace
}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;

// Where a new node stands in its graph.
#define PLD_PLACE GraphNode *out, Graph graph, const GraphNode *after, size_t count
#define PLD_COPY void *to, const void *from, size_t bytes, int kind
#define PLD_TO_SYMBOL const void *symbol, const void *from, size_t bytes, size_t offset, int kind
#define PLD_FROM_SYMBOL void *to, const void *symbol, size_t bytes, size_t offset, int kind

PLD_CALL(cudaGraphAddNode,
         (GraphNode * out, Graph graph, const GraphNode* after, const void*, size_t count, NodeParams* p),
         add_node(out, graph, after, count, *p))
PLD_CALL(cudaGraphAddKernelNode, (PLD_PLACE, const KernelNodeParams* p),
         add_kernel(out, graph, after, count, *p))
PLD_CALL(cudaGraphAddMemcpyNode, (PLD_PLACE, const Copy3D* p), add_copy(out, graph, after, count, *p))
PLD_CALL(cudaGraphAddMemcpyNode1D, (PLD_PLACE, PLD_COPY),
         add_copy(out, graph, after, count, row(to, from, bytes, kind)))
PLD_CALL(cudaGraphAddMemsetNode, (PLD_PLACE, const MemsetParams* p), add_fill(out, graph, after, count, *p))
PLD_CALL(cudaGraphAddHostNode, (PLD_PLACE, const HostNode* p),
         cuGraphAddHostNode(out, graph, after, count, p))
PLD_CALL(cudaGraphAddEmptyNode, (PLD_PLACE), cuGraphAddEmptyNode(out, graph, after, count))
PLD_CALL(cudaGraphAddChildGraphNode, (PLD_PLACE, Graph child),
         cuGraphAddChildGraphNode(out, graph, after, count, child))
PLD_CALL(cudaGraphAddEventRecordNode, (PLD_PLACE, Event event),
         cuGraphAddEventRecordNode(out, graph, after, count, event))
PLD_CALL(cudaGraphAddEventWaitNode, (PLD_PLACE, Event event),
         cuGraphAddEventWaitNode(out, graph, after, count, event))
PLD_CALL(cudaGraphAddMemAllocNode, (PLD_PLACE, palladion::cuda::driver::MemAllocNode* p),
         cuGraphAddMemAllocNode(out, graph, after, count, p))
PLD_CALL(cudaGraphAddMemFreeNode, (PLD_PLACE, void* p),
         cuGraphAddMemFreeNode(out, graph, after, count, reinterpret_cast<Pointer>(p)))
PLD_RUNTIME cudaGraphAddMemcpyNodeToSymbol(PLD_PLACE, PLD_TO_SYMBOL) {
  Copy3D c;
  const Status status = row_to_symbol(c, symbol, from, bytes, offset, kind);
  return ended(status != success ? status : add_copy(out, graph, after, count, c));
}
PLD_RUNTIME cudaGraphAddMemcpyNodeFromSymbol(PLD_PLACE, PLD_FROM_SYMBOL) {
  Copy3D c;
  const Status status = row_from_symbol(c, to, symbol, bytes, offset, kind);
  return ended(status != success ? status : add_copy(out, graph, after, count, c));
}

PLD_CALL(cudaGraphConditionalHandleCreate,
         (unsigned long long* out, Graph graph, unsigned default_value, unsigned flags),
         cuGraphConditionalHandleCreate(reinterpret_cast<uint64_t*>(out), graph, nullptr, default_value,
                                        flags))
// With an execution context, of which there is none here: green contexts are not there.
PLD_CALL(cudaGraphConditionalHandleCreate_v2,
         (unsigned long long* out, Graph graph, void* execution, unsigned default_value, unsigned flags),
         execution != nullptr ? unsupported("cudaGraphConditionalHandleCreate_v2 with an execution context")
                              : cuGraphConditionalHandleCreate(reinterpret_cast<uint64_t*>(out), graph,
                                                               nullptr, default_value, flags))

PLD_CALL(cudaGraphNodeGetType, (GraphNode node, int* type), cuGraphNodeGetType(node, type))
PLD_CALL(cudaGraphNodeSetParams, (GraphNode node, NodeParams* p), set_node(nullptr, node, *p))
PLD_CALL(cudaGraphExecNodeSetParams, (GraphExec exec, GraphNode node, NodeParams* p),
         set_node(exec, node, *p))
PLD_CALL(cudaGraphKernelNodeGetParams, (GraphNode node, KernelNodeParams* p), kernel_params(node, p))
PLD_CALL(cudaGraphKernelNodeSetParams, (GraphNode node, const KernelNodeParams* p),
         set_kernel(nullptr, node, *p))
PLD_CALL(cudaGraphExecKernelNodeSetParams, (GraphExec exec, GraphNode node, const KernelNodeParams* p),
         set_kernel(exec, node, *p))
PLD_CALL(cudaGraphKernelNodeSetAttribute, (GraphNode node, int attribute, const void* value),
         cuGraphKernelNodeSetAttribute(node, static_cast<uint32_t>(attribute), value))
PLD_CALL(cudaGraphKernelNodeGetAttribute, (GraphNode node, int attribute, void* value),
         cuGraphKernelNodeGetAttribute(node, static_cast<uint32_t>(attribute), value))
PLD_CALL(cudaGraphKernelNodeCopyAttributes, (GraphNode to, GraphNode from),
         cuGraphKernelNodeCopyAttributes(to, from))
PLD_CALL(cudaGraphMemcpyNodeGetParams, (GraphNode node, Copy3D* p), copy_params(node, p))
PLD_CALL(cudaGraphMemcpyNodeSetParams, (GraphNode node, const Copy3D* p), set_copy(nullptr, node, *p))
PLD_CALL(cudaGraphMemcpyNodeSetParams1D, (GraphNode node, PLD_COPY),
         set_copy(nullptr, node, row(to, from, bytes, kind)))
PLD_CALL(cudaGraphExecMemcpyNodeSetParams, (GraphExec exec, GraphNode node, const Copy3D* p),
         set_copy(exec, node, *p))
PLD_CALL(cudaGraphExecMemcpyNodeSetParams1D, (GraphExec exec, GraphNode node, PLD_COPY),
         set_copy(exec, node, row(to, from, bytes, kind)))
PLD_RUNTIME cudaGraphExecMemcpyNodeSetParamsToSymbol(GraphExec exec, GraphNode node, PLD_TO_SYMBOL) {
  Copy3D c;
  const Status status = row_to_symbol(c, symbol, from, bytes, offset, kind);
  return ended(status != success ? status : set_copy(exec, node, c));
}
PLD_RUNTIME cudaGraphExecMemcpyNodeSetParamsFromSymbol(GraphExec exec, GraphNode node, PLD_FROM_SYMBOL) {
  Copy3D c;
  const Status status = row_from_symbol(c, to, symbol, bytes, offset, kind);
  return ended(status != success ? status : set_copy(exec, node, c));
}
PLD_RUNTIME cudaGraphMemcpyNodeSetParamsToSymbol(GraphNode node, PLD_TO_SYMBOL) {
  return cudaGraphExecMemcpyNodeSetParamsToSymbol(nullptr, node, symbol, from, bytes, offset, kind);
}
PLD_RUNTIME cudaGraphMemcpyNodeSetParamsFromSymbol(GraphNode node, PLD_FROM_SYMBOL) {
  return cudaGraphExecMemcpyNodeSetParamsFromSymbol(nullptr, node, to, symbol, bytes, offset, kind);
}
PLD_CALL(cudaGraphMemsetNodeGetParams, (GraphNode node, MemsetParams* p), fill_params(node, p))
PLD_CALL(cudaGraphMemsetNodeSetParams, (GraphNode node, const MemsetParams* p), set_fill(nullptr, node, *p))
PLD_CALL(cudaGraphExecMemsetNodeSetParams, (GraphExec exec, GraphNode node, const MemsetParams* p),
         set_fill(exec, node, *p))
PLD_CALL(cudaGraphHostNodeGetParams, (GraphNode node, HostNode* p), cuGraphHostNodeGetParams(node, p))
PLD_CALL(cudaGraphHostNodeSetParams, (GraphNode node, const HostNode* p), cuGraphHostNodeSetParams(node, p))
PLD_CALL(cudaGraphExecHostNodeSetParams, (GraphExec exec, GraphNode node, const HostNode* p),
         cuGraphExecHostNodeSetParams(exec, node, p))
PLD_CALL(cudaGraphChildGraphNodeGetGraph, (GraphNode node, Graph* out),
         cuGraphChildGraphNodeGetGraph(node, out))
PLD_CALL(cudaGraphExecChildGraphNodeSetParams, (GraphExec exec, GraphNode node, Graph child),
         cuGraphExecChildGraphNodeSetParams(exec, node, child))
PLD_CALL(cudaGraphEventRecordNodeGetEvent, (GraphNode node, Event* out),
         cuGraphEventRecordNodeGetEvent(node, out))
PLD_CALL(cudaGraphEventRecordNodeSetEvent, (GraphNode node, Event event),
         cuGraphEventRecordNodeSetEvent(node, event))
PLD_CALL(cudaGraphExecEventRecordNodeSetEvent, (GraphExec exec, GraphNode node, Event event),
         cuGraphExecEventRecordNodeSetEvent(exec, node, event))
PLD_CALL(cudaGraphEventWaitNodeGetEvent, (GraphNode node, Event* out),
         cuGraphEventWaitNodeGetEvent(node, out))
PLD_CALL(cudaGraphEventWaitNodeSetEvent, (GraphNode node, Event event),
         cuGraphEventWaitNodeSetEvent(node, event))
PLD_CALL(cudaGraphExecEventWaitNodeSetEvent, (GraphExec exec, GraphNode node, Event event),
         cuGraphExecEventWaitNodeSetEvent(exec, node, event))
PLD_CALL(cudaGraphMemAllocNodeGetParams, (GraphNode node, palladion::cuda::driver::MemAllocNode* p),
         cuGraphMemAllocNodeGetParams(node, p))
PLD_CALL(cudaGraphMemFreeNodeGetParams, (GraphNode node, void* out),
         cuGraphMemFreeNodeGetParams(node, static_cast<Pointer*>(out)))
PLD_CALL(cudaGraphNodeSetEnabled, (GraphExec exec, GraphNode node, unsigned enabled),
         cuGraphNodeSetEnabled(exec, node, enabled))
PLD_CALL(cudaGraphNodeGetEnabled, (GraphExec exec, GraphNode node, unsigned* enabled),
         cuGraphNodeGetEnabled(exec, node, enabled))
