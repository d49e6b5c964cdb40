// Nodes of graphs: made, asked and changed, in a graph and in an instantiated one.
#include "cuda/driver/streams/streams.h"

using namespace palladion::cuda::driver;

namespace {

// The work that a description asks for.
tl::expected<Work, Status> work_of(const KernelNode& p, const LaunchWork* attributes = nullptr) {
  auto launch = std::make_shared<LaunchWork>();
  if (attributes != nullptr) {
    launch->cooperative = attributes->cooperative;
    launch->priority = attributes->priority;
    launch->cluster = attributes->cluster;
    launch->hints = attributes->hints;
  }
  launch->grid = {p.grid[0], p.grid[1], p.grid[2]};
  launch->block = {p.block[0], p.block[1], p.block[2]};
  launch->shared = p.shared_bytes;
  Status status = prepare(*launch, p.function != nullptr ? p.function : p.kernel, p.params, p.extra);
  if (status == success) status = check_launch(*launch);
  if (status != success) return tl::unexpected(status);
  return Work(std::move(launch));
}

// The copy may get the address of a graph that is gone: both are looked up before it is made.
tl::expected<Work, Status> child_of(const Graph* graph, const Graph* outer) {
  if (!exist(graph, outer)) return tl::unexpected(invalid_value);
  if (has_conditions(*graph)) return tl::unexpected(not_supported);
  auto copy = copy_of(*graph, outer);
  return copy ? tl::expected<Work, Status>(std::shared_ptr<Graph>(std::move(*copy)))
              : tl::unexpected(copy.error());
}

template <class T>
tl::expected<Work, Status> of_event(Event* event) {
  if (!exist(event)) return tl::unexpected(invalid_value);
  return Work(T{event});
}

tl::expected<Work, Status> call_of(const HostNode* h) {
  return h != nullptr && h->fn != nullptr ? tl::expected<Work, Status>(*h) : tl::unexpected(invalid_value);
}

// `outer`: the graph of the node.
tl::expected<Work, Status> work_of(const NodeParams& p, const Graph* outer) {
  switch (static_cast<NodeKind>(p.type)) {
    case NodeKind::kernel:
      return work_of(p.of.kernel);
    case NodeKind::memcpy:
      return Work(p.of.memcpy.copy);
    case NodeKind::memset:
      return Work(p.of.memset);
    case NodeKind::host:
      return call_of(&p.of.host);
    case NodeKind::graph:
      return child_of(static_cast<Graph*>(p.of.graph), outer);
    case NodeKind::empty:
      return Work(EmptyWork{});
    case NodeKind::wait:
      return of_event<WaitWork>(static_cast<Event*>(p.of.event));
    case NodeKind::record:
      return of_event<RecordWork>(static_cast<Event*>(p.of.event));
    case NodeKind::conditional:  // its parameters never change
      return tl::unexpected(not_supported);
    default:
      break;
  }
  return tl::unexpected(unsupported("graph nodes for semaphores and batches of memory operations"));
}

Status add(Node** out, Graph* graph, Node* const* after, size_t count, tl::expected<Work, Status> work) {
  return work ? add_node(out, graph, after, count, std::move(*work)) : work.error();
}

// Where the node, or its copy, is; null: not there.
const Graph* graph_of(Graph* graph, const Node* node) {
  const Node* const n = exist(graph) ? find_node(*graph, node) : nullptr;
  return n != nullptr ? n->graph : nullptr;
}

// A node keeps its kind.
Status set(Graph* graph, const Node* node, tl::expected<Work, Status> work) {
  if (!work) return work.error();
  Node* const n = exist(graph) ? find_node(*graph, node) : nullptr;
  if (n == nullptr || n->work.index() != work->index()) return invalid_value;
  n->work = std::move(*work);
  return success;
}

Status set_kernel(Graph* graph, const Node* node, const KernelNode& p) {
  const Node* const n = exist(graph) ? find_node(*graph, node) : nullptr;
  const auto* launch = n != nullptr ? std::get_if<std::shared_ptr<LaunchWork>>(&n->work) : nullptr;
  return launch != nullptr ? set(graph, node, work_of(p, launch->get())) : invalid_value;
}

template <class T>
Status get(const Node* node, T* out) {
  const Guard guard(state().lock);
  const T* const work = exist(node) ? std::get_if<T>(&node->work) : nullptr;
  if (work == nullptr || out == nullptr) return invalid_value;
  return *out = *work, success;
}

template <class T>
Status get_event(const Node* node, Event** out) {
  if (out == nullptr) return invalid_value;
  T work;
  const Status status = get(node, &work);
  if (status == success) *out = work.event;
  return status;
}

}  // namespace

// ---- kernels ----
PLD_CUDA cuGraphAddKernelNode_v2(Node** out, Graph* graph, Node* const* after, size_t count,
                                 const KernelNode* p) {
  const Guard guard(state().lock);
  if (p == nullptr) return invalid_value;
  return add(out, graph, after, count, work_of(*p));
}
PLD_CUDA cuGraphKernelNodeGetParams_v2(Node* node, KernelNode* out) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  const auto* const work = std::get_if<std::shared_ptr<LaunchWork>>(&node->work);
  if (work == nullptr || out == nullptr) return invalid_value;
  LaunchWork& w = **work;
  *out = {.function = w.kernel,
          .grid = {w.grid.x, w.grid.y, w.grid.z},
          .block = {w.block.x, w.block.y, w.block.z},
          .shared_bytes = w.shared,
          .params = parameter_pointers(w),
          .extra = nullptr,
          .kernel = nullptr,
          .context = &state().primary};
  return success;
}
PLD_CUDA cuGraphKernelNodeSetParams_v2(Node* node, const KernelNode* p) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  if (p == nullptr) return invalid_value;
  return set_kernel(node->graph, node, *p);
}
PLD_CUDA cuGraphExecKernelNodeSetParams_v2(Graph* exec, Node* node, const KernelNode* p) {
  const Guard guard(state().lock);
  if (p == nullptr) return invalid_value;
  return set_kernel(exec, node, *p);
}

// ---- copies, fills, calls ----
PLD_CUDA cuGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* after, size_t count, const Memcpy3D* c,
                              void*) {
  const Guard guard(state().lock);
  if (c == nullptr) return invalid_value;
  return add(out, graph, after, count, Work(*c));
}
PLD_CUDA cuGraphMemcpyNodeGetParams(Node* node, Memcpy3D* out) { return get(node, out); }
PLD_CUDA cuGraphMemcpyNodeSetParams(Node* node, const Memcpy3D* c) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  if (c == nullptr) return invalid_value;
  return set(node->graph, node, Work(*c));
}
PLD_CUDA cuGraphExecMemcpyNodeSetParams(Graph* exec, Node* node, const Memcpy3D* c, void*) {
  const Guard guard(state().lock);
  if (c == nullptr) return invalid_value;
  return set(exec, node, Work(*c));
}
PLD_CUDA cuGraphAddMemsetNode(Node** out, Graph* graph, Node* const* after, size_t count, const MemsetNode* m,
                              void*) {
  const Guard guard(state().lock);
  if (m == nullptr) return invalid_value;
  return add(out, graph, after, count, Work(*m));
}
PLD_CUDA cuGraphMemsetNodeGetParams(Node* node, MemsetNode* out) { return get(node, out); }
PLD_CUDA cuGraphMemsetNodeSetParams(Node* node, const MemsetNode* m) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  if (m == nullptr) return invalid_value;
  return set(node->graph, node, Work(*m));
}
PLD_CUDA cuGraphExecMemsetNodeSetParams(Graph* exec, Node* node, const MemsetNode* m, void*) {
  const Guard guard(state().lock);
  if (m == nullptr) return invalid_value;
  return set(exec, node, Work(*m));
}
PLD_CUDA cuGraphAddHostNode(Node** out, Graph* graph, Node* const* after, size_t count, const HostNode* h) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, call_of(h));
}
PLD_CUDA cuGraphHostNodeGetParams(Node* node, HostNode* out) { return get(node, out); }
PLD_CUDA cuGraphHostNodeSetParams(Node* node, const HostNode* h) {
  const Guard guard(state().lock);
  return exist(node) ? set(node->graph, node, call_of(h)) : invalid_value;
}
PLD_CUDA cuGraphExecHostNodeSetParams(Graph* exec, Node* node, const HostNode* h) {
  const Guard guard(state().lock);
  return set(exec, node, call_of(h));
}

// ---- graphs, events, nothing ----
PLD_CUDA cuGraphAddEmptyNode(Node** out, Graph* graph, Node* const* after, size_t count) {
  const Guard guard(state().lock);
  return add_node(out, graph, after, count, EmptyWork{});
}
PLD_CUDA cuGraphAddChildGraphNode(Node** out, Graph* graph, Node* const* after, size_t count, Graph* child) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, child_of(child, graph));
}
PLD_CUDA cuGraphChildGraphNodeGetGraph(Node* node, Graph** out) {
  if (out == nullptr) return invalid_value;
  std::shared_ptr<Graph> child;
  const Status status = get(node, &child);
  if (status == success) *out = child.get();
  return status;
}
PLD_CUDA cuGraphExecChildGraphNodeSetParams(Graph* exec, Node* node, Graph* child) {
  const Guard guard(state().lock);
  return set(exec, node, child_of(child, graph_of(exec, node)));
}
PLD_CUDA cuGraphAddEventRecordNode(Node** out, Graph* graph, Node* const* after, size_t count, Event* event) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, of_event<RecordWork>(event));
}
PLD_CUDA cuGraphAddEventWaitNode(Node** out, Graph* graph, Node* const* after, size_t count, Event* event) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, of_event<WaitWork>(event));
}
PLD_CUDA cuGraphEventRecordNodeGetEvent(Node* node, Event** out) { return get_event<RecordWork>(node, out); }
PLD_CUDA cuGraphEventWaitNodeGetEvent(Node* node, Event** out) { return get_event<WaitWork>(node, out); }
PLD_CUDA cuGraphEventRecordNodeSetEvent(Node* node, Event* event) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  return set(node->graph, node, of_event<RecordWork>(event));
}
PLD_CUDA cuGraphEventWaitNodeSetEvent(Node* node, Event* event) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  return set(node->graph, node, of_event<WaitWork>(event));
}
PLD_CUDA cuGraphExecEventRecordNodeSetEvent(Graph* exec, Node* node, Event* event) {
  const Guard guard(state().lock);
  return set(exec, node, of_event<RecordWork>(event));
}
PLD_CUDA cuGraphExecEventWaitNodeSetEvent(Graph* exec, Node* node, Event* event) {
  const Guard guard(state().lock);
  return set(exec, node, of_event<WaitWork>(event));
}

// ---- of any kind ----
PLD_CUDA cuGraphAddNode_v2(Node** out, Graph* graph, Node* const* after, const void*, size_t count,
                           NodeParams* p) {
  const Guard guard(state().lock);
  if (p == nullptr) return invalid_value;
  switch (static_cast<NodeKind>(p->type)) {
    case NodeKind::alloc:
      return add_allocation_node(out, graph, after, count, &p->of.alloc);
    case NodeKind::free:
      return add_free_node(out, graph, after, count, p->of.free);
    case NodeKind::conditional:
      return add_conditional_node(out, graph, after, count, &p->of.conditional);
    default:
      return add(out, graph, after, count, work_of(*p, graph));
  }
}
PLD_CUDA cuGraphAddNode(Node** out, Graph* graph, Node* const* after, size_t count, NodeParams* p) {
  return cuGraphAddNode_v2(out, graph, after, nullptr, count, p);
}
PLD_CUDA cuGraphNodeSetParams(Node* node, NodeParams* p) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  if (p == nullptr) return invalid_value;
  if (static_cast<NodeKind>(p->type) == NodeKind::kernel) return set_kernel(node->graph, node, p->of.kernel);
  return set(node->graph, node, work_of(*p, node->graph));
}
PLD_CUDA cuGraphExecNodeSetParams(Graph* exec, Node* node, NodeParams* p) {
  const Guard guard(state().lock);
  if (p == nullptr) return invalid_value;
  if (static_cast<NodeKind>(p->type) == NodeKind::kernel) return set_kernel(exec, node, p->of.kernel);
  return set(exec, node, work_of(*p, graph_of(exec, node)));
}
