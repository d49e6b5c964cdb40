// Graphs: made by hand or captured, copied when they are instantiated, run in an order of their dependencies.
#include <algorithm>
#include <set>

#include "driver/streams.h"

using namespace palladion::driver;

namespace palladion::driver {

Status run_graph(Graph& graph) {
  std::set<const Node*> done;
  while (done.size() < graph.nodes.size()) {
    bool moved = false;
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get()) ||
          !std::ranges::all_of(node->after, [&](const Node* n) { return done.contains(n); }))
        continue;
      if (node->enabled) {
        const Status status = node->child      ? run_graph(*node->child)
                              : node->work.run ? node->work.run()
                                               : success;
        if (status != success) return status;
      }
      done.insert(node.get());
      moved = true;
    }
    if (!moved) return invalid_value;  // a cycle
  }
  return success;
}

namespace {

std::unique_ptr<Graph> copy_of(const Graph& graph) {
  auto out = std::make_unique<Graph>();
  std::map<const Node*, Node*> twin;
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<Node>(*node);
    made->graph = out.get();
    made->origin = node.get();
    if (made->work.launch) {
      made->work.launch = std::make_shared<LaunchWork>(*made->work.launch);
      made->work.run = [work = made->work.launch] { return perform(*work); };
    }
    twin[node.get()] = made.get();
    out->nodes.push_back(std::move(made));
  }
  for (const auto& node : out->nodes)
    for (Node*& n : node->after) n = twin[n];
  return out;
}

Node* find(Graph& graph, const Node* origin) {
  for (const auto& n : graph.nodes)
    if (n->origin == origin || n.get() == origin) return n.get();
  return nullptr;
}

Status add(Node** out, Graph* graph, Node* const* after, size_t count, Work work) {
  auto node = std::make_unique<Node>();
  node->graph = graph;
  node->work = std::move(work);
  node->after.assign(after, after + count);
  *out = node.get();
  graph->nodes.push_back(std::move(node));
  return success;
}

Status kernel_work(Work& work, const KernelNode& p) {
  auto launch = std::make_shared<LaunchWork>();
  launch->grid = {p.grid[0], p.grid[1], p.grid[2]};
  launch->block = {p.block[0], p.block[1], p.block[2]};
  launch->shared = p.shared_bytes;
  const Status status = prepare(*launch, p.function != nullptr ? p.function : p.kernel, p.params, p.extra);
  work = {.kind = NodeKind::kernel, .run = [launch] { return perform(*launch); }, .launch = launch};
  return status;
}
Work copy_work(const Memcpy3D& c) {
  return {.kind = NodeKind::memcpy, .run = [c] { return copy_3d(c); }, .launch = nullptr};
}
Work fill_work(const MemsetNode& m) {
  return {.kind = NodeKind::memset,
          .run = [m] { return fill(m.dst, m.pitch, m.value, m.element_bytes, m.width, m.height); },
          .launch = nullptr};
}
Work host_work(const HostNode& h) {
  return {.kind = NodeKind::host, .run = [h] { return h.fn(h.data), success; }, .launch = nullptr};
}

Status set(Graph* graph, const Node* node, Work work) {
  Node* const n = find(*graph, node);
  if (n == nullptr || n->work.kind != work.kind) return invalid_value;
  n->work = std::move(work);
  return success;
}

}  // namespace
}  // namespace palladion::driver

PLD_CUDA cuGraphCreate(Graph** graph, unsigned) { return *graph = new Graph, success; }
PLD_CUDA cuGraphDestroy(Graph* graph) { return delete graph, success; }
PLD_CUDA cuGraphClone(Graph** out, Graph* graph) {
  const Guard guard(state().lock);
  return *out = copy_of(*graph).release(), success;
}
PLD_CUDA cuGraphNodeFindInClone(Node** out, Node* node, Graph* graph) {
  return (*out = find(*graph, node)) != nullptr ? success : invalid_value;
}
PLD_CUDA cuGraphInstantiateWithFlags(Graph** exec, Graph* graph, uint64_t) {
  const Guard guard(state().lock);
  return *exec = copy_of(*graph).release(), success;
}
PLD_CUDA cuGraphInstantiateWithParams(Graph** exec, Graph* graph, void*) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
PLD_CUDA cuGraphExecDestroy(Graph* exec) { return delete exec, success; }
PLD_CUDA cuGraphUpload(Graph*, Stream*) { return success; }
PLD_CUDA cuGraphLaunch(Graph* exec, Stream* stream) {
  const Guard guard(state().lock);
  if (state().sticky != success) return state().sticky;
  if (capturing(stream)) return unsupported("cuGraphLaunch in a captured stream");
  return run_graph(*exec);
}
PLD_CUDA cuGraphExecUpdate_v2(Graph* exec, Graph* graph, void* result) {
  const Guard guard(state().lock);
  struct Result {
    int result;
    Node *error, *from;
  };
  auto* const r = static_cast<Result*>(result);
  if (r != nullptr) *r = {0, nullptr, nullptr};
  bool same = exec->nodes.size() == graph->nodes.size();
  for (size_t i = 0; same && i < exec->nodes.size(); ++i)
    same = exec->nodes[i]->work.kind == graph->nodes[i]->work.kind;
  if (!same) {
    if (r != nullptr) r->result = 2;  // topology
    return 910;                       // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  }
  exec->nodes = std::move(copy_of(*graph)->nodes);
  for (const auto& n : exec->nodes) n->graph = exec;
  return success;
}
PLD_CUDA cuGraphAddKernelNode_v2(Node** out, Graph* graph, Node* const* after, size_t count,
                                 const KernelNode* p) {
  const Guard guard(state().lock);
  Work work;
  const Status status = kernel_work(work, *p);
  return status != success ? status : add(out, graph, after, count, std::move(work));
}
PLD_CUDA cuGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* after, size_t count, const Memcpy3D* c,
                              void*) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, copy_work(*c));
}
PLD_CUDA cuGraphAddMemsetNode(Node** out, Graph* graph, Node* const* after, size_t count, const MemsetNode* m,
                              void*) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, fill_work(*m));
}
PLD_CUDA cuGraphAddHostNode(Node** out, Graph* graph, Node* const* after, size_t count, const HostNode* h) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, host_work(*h));
}
PLD_CUDA cuGraphAddEmptyNode(Node** out, Graph* graph, Node* const* after, size_t count) {
  const Guard guard(state().lock);
  return add(out, graph, after, count, {});
}
PLD_CUDA cuGraphAddChildGraphNode(Node** out, Graph* graph, Node* const* after, size_t count, Graph* child) {
  const Guard guard(state().lock);
  const Status status =
      add(out, graph, after, count, {.kind = NodeKind::graph, .run = {}, .launch = nullptr});
  (*out)->child = copy_of(*child);
  return status;
}
PLD_CUDA cuGraphAddDependencies_v2(Graph*, Node* const* from, Node* const* to, const void*, size_t count) {
  const Guard guard(state().lock);
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return success;
}
PLD_CUDA cuGraphGetNodes(Graph* graph, Node** out, size_t* count) {
  const Guard guard(state().lock);
  if (out != nullptr)
    for (size_t i = 0; i < *count; ++i) out[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  return *count = graph->nodes.size(), success;
}
PLD_CUDA cuGraphGetRootNodes(Graph* graph, Node** out, size_t* count) {
  const Guard guard(state().lock);
  size_t n = 0;
  for (const auto& node : graph->nodes) {
    if (!node->after.empty()) continue;
    if (out != nullptr && n < *count) out[n] = node.get();
    ++n;
  }
  return *count = n, success;
}
PLD_CUDA cuGraphNodeGetType(Node* node, int* type) {
  return *type = static_cast<int>(node->work.kind), success;
}
PLD_CUDA cuGraphKernelNodeSetParams_v2(Node* node, const KernelNode* p) {
  const Guard guard(state().lock);
  Work work;
  const Status status = kernel_work(work, *p);
  return status != success ? status : set(node->graph, node, std::move(work));
}
PLD_CUDA cuGraphExecKernelNodeSetParams_v2(Graph* exec, Node* node, const KernelNode* p) {
  const Guard guard(state().lock);
  Work work;
  const Status status = kernel_work(work, *p);
  return status != success ? status : set(exec, node, std::move(work));
}
PLD_CUDA cuGraphExecMemcpyNodeSetParams(Graph* exec, Node* node, const Memcpy3D* c, void*) {
  const Guard guard(state().lock);
  return set(exec, node, copy_work(*c));
}
PLD_CUDA cuGraphExecMemsetNodeSetParams(Graph* exec, Node* node, const MemsetNode* m, void*) {
  const Guard guard(state().lock);
  return set(exec, node, fill_work(*m));
}
PLD_CUDA cuGraphExecHostNodeSetParams(Graph* exec, Node* node, const HostNode* h) {
  const Guard guard(state().lock);
  return set(exec, node, host_work(*h));
}
PLD_CUDA cuGraphNodeSetEnabled(Graph* exec, Node* node, unsigned enabled) {
  const Guard guard(state().lock);
  Node* const n = find(*exec, node);
  if (n == nullptr) return invalid_value;
  return n->enabled = enabled != 0, success;
}
