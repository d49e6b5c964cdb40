// CUDA graphs of the fake driver: kernels and fills, with edges.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "cuda/abi/cuda.h"
#include "tests/cuda/capture/fake_driver.h"

namespace {

using fake::Status;
namespace abi = palladion::cuda;

struct Node {
  abi::NodeType type{};
  abi::KernelNode kernel{};
  abi::MemsetNode fill{};
  std::vector<std::vector<char>> values;  // of the kernel's two parameters
  std::vector<void*> pointers;
  std::vector<Node*> after;
  const Node* original = nullptr;
  bool enabled = true;

  // Nodes hold functions, as the driver's do: of a library's kernel the one that it made of it.
  void take(const abi::KernelNode& k) {
    kernel = k;
    auto* const f = static_cast<fake::Function*>(k.function);
    if (f->in_context != nullptr) kernel.function = f->in_context;
    values = {std::vector<char>(8), std::vector<char>(4)};
    pointers.clear();
    for (size_t i = 0; i < 2; ++i) {
      std::memcpy(values[i].data(), k.params[i], values[i].size());
      pointers.push_back(values[i].data());
    }
    kernel.params = pointers.data();
  }
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

// In the opposite order: the edges alone say what comes first.
Graph* copy_of(const Graph& from) {
  auto* const to = new Graph;
  const auto twin = [&](const Node* n) {
    return std::ranges::find(to->nodes, n, [](const auto& c) { return c->original; })->get();
  };
  for (auto n = from.nodes.rbegin(); n != from.nodes.rend(); ++n) {
    to->nodes.push_back(std::make_unique<Node>());
    Node& made = *to->nodes.back();
    made.type = (*n)->type;
    made.fill = (*n)->fill;
    made.original = n->get();
    if (made.type == abi::NodeType::kernel) made.take((*n)->kernel);
  }
  for (const auto& n : from.nodes)
    for (const Node* before : n->after) twin(n.get())->after.push_back(twin(before));
  return to;
}

Node* add(void** node, void* graph, void* const* dependencies, size_t count, abi::NodeType type) {
  auto& nodes = static_cast<Graph*>(graph)->nodes;
  nodes.push_back(std::make_unique<Node>());
  Node* const made = nodes.back().get();
  made->type = type;
  for (size_t i = 0; i < count; ++i) made->after.push_back(static_cast<Node*>(dependencies[i]));
  *node = made;
  return made;
}

Node* twin_in(void* exec, const void* node) {
  const auto& nodes = static_cast<Graph*>(exec)->nodes;
  const auto found = std::ranges::find(nodes, node, [](const auto& n) -> const void* { return n->original; });
  return found == nodes.end() ? nullptr : found->get();
}

}  // namespace

extern "C" {
Status cuGraphCreate(void** graph, unsigned) { return *graph = new Graph, 0; }
Status cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), 0; }
Status cuGraphAddKernelNode_v2(void** node, void* graph, void* const* after, size_t n,
                               const abi::KernelNode* k) {
  return add(node, graph, after, n, abi::NodeType::kernel)->take(*k), 0;
}
Status cuGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t n, const abi::MemsetNode* m,
                            void*) {
  return add(node, graph, after, n, abi::NodeType::memset)->fill = *m, 0;
}
Status cuGraphAddBatchMemOpNode(void** node, void* graph, void* const* after, size_t n, const void*) {
  return add(node, graph, after, n, abi::NodeType::batch_mem_op), 0;
}
Status cuGraphClone(void** clone, void* graph) { return *clone = copy_of(*static_cast<Graph*>(graph)), 0; }
Status cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return *exec = copy_of(*static_cast<Graph*>(graph)), 0;
}
Status cuGraphExecDestroy(void* exec) { return delete static_cast<Graph*>(exec), 0; }
Status cuGraphNodeFindInClone(void** cloned, void* node, void* clone) {
  return *cloned = twin_in(clone, node), *cloned == nullptr ? 1 : 0;
}
Status cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  const auto& all = static_cast<Graph*>(graph)->nodes;
  for (size_t i = 0; nodes != nullptr && i < all.size(); ++i) nodes[i] = all[i].get();
  return *count = all.size(), 0;
}
Status cuGraphGetEdges_v2(void* graph, void** from, void** to, void*, size_t* count) {
  *count = 0;
  for (const auto& n : static_cast<Graph*>(graph)->nodes)
    for (Node* before : n->after) {
      if (from != nullptr) from[*count] = before, to[*count] = n.get();
      ++*count;
    }
  return 0;
}
Status cuGraphNodeGetType(void* node, abi::NodeType* type) {
  return *type = static_cast<Node*>(node)->type, 0;
}
Status cuGraphKernelNodeGetParams_v2(void* node, abi::KernelNode* k) {
  return *k = static_cast<Node*>(node)->kernel, 0;
}
Status cuGraphKernelNodeSetParams_v2(void* node, const abi::KernelNode* k) {
  return static_cast<Node*>(node)->take(*k), 0;
}
Status cuGraphKernelNodeGetAttribute(void*, int, void* value) { return std::memset(value, 0, 64), 0; }
Status cuGraphExecKernelNodeSetParams_v2(void* exec, void* node, const abi::KernelNode* k) {
  Node* const found = twin_in(exec, node);
  return found == nullptr ? 1 : (found->take(*k), 0);
}
Status cuGraphNodeSetEnabled(void* exec, void* node, unsigned on) {
  return twin_in(exec, node)->enabled = on != 0, 0;
}
Status cuGraphMemsetNodeGetParams(void* node, abi::MemsetNode* m) {
  return *m = static_cast<Node*>(node)->fill, 0;
}
Status cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void*) {
  return std::fill_n(reinterpret_cast<uint32_t*>(to), n, value), 0;
}
Status cuGraphLaunch(void* exec, void*) {
  const auto& nodes = static_cast<Graph*>(exec)->nodes;
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    if (!(*n)->enabled) continue;
    if ((*n)->type == abi::NodeType::memset)
      cuMemsetD32Async((*n)->fill.dst, (*n)->fill.value, (*n)->fill.width, nullptr);
    if ((*n)->type == abi::NodeType::kernel)
      fake::run(*static_cast<fake::Function*>((*n)->kernel.function), (*n)->kernel.params);
  }
  std::printf("launched as a graph\n");
  return 0;
}
}
