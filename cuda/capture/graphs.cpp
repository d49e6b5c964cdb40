#include "cuda/capture/graphs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda/abi/cuda.h"
#include "cuda/capture/recorder.h"
#include "cuda/capture/say.h"

namespace palladion::cuda::capture {
namespace {

using cuda::NodeType;

struct Node {
  Handle handle = nullptr;
  NodeType type = NodeType::empty;
};

struct ExecutableGraph {
  Handle clone = nullptr;
  std::string why_not;        // it is not recorded; empty: it can be
  std::set<Handle> disabled;  // nodes of the clone
  bool said = false;
  // Of the clone, until it changes.
  bool known = false;
  std::vector<Node> nodes;
  std::vector<Handle> functions;
};

// Made on first use and never destroyed.
struct Graphs {
  std::mutex lock;
  std::map<Handle, ExecutableGraph> all;
};
Graphs& graphs() {
  static auto* const g = new Graphs;
  return *g;
}

const char* kind_name(NodeType type) {
  switch (type) {
    case NodeType::signal_semaphore:
    case NodeType::wait_semaphore:
      return "an external semaphore";
    case NodeType::alloc:
    case NodeType::free:
      return "an allocation of memory";
    case NodeType::batch_mem_op:
      return "a batch of memory operations";
    case NodeType::conditional:
      return "a conditional node";
    default:
      return nullptr;
  }
}

// Every edge of the graph, from and to. The first form of the call does not know edges with data.
bool edges_of(Handle graph, std::vector<Handle>& from, std::vector<Handle>& to) {
  struct EdgeData {
    char bytes[8];
  };
  size_t count = 0;
  using V2 = Status(Handle, Handle*, Handle*, EdgeData*, size_t*);
  using V1 = Status(Handle, Handle*, Handle*, size_t*);
  if (Call<V2>::to("cuGraphGetEdges_v2", graph, nullptr, nullptr, nullptr, &count) == success) {
    from.resize(count);
    to.resize(count);
    std::vector<EdgeData> data(count);
    return count == 0 ||
           Call<V2>::to("cuGraphGetEdges_v2", graph, from.data(), to.data(), data.data(), &count) == success;
  }
  if (Call<V1>::to("cuGraphGetEdges", graph, nullptr, nullptr, &count) != success) return false;
  from.resize(count);
  to.resize(count);
  return count == 0 || Call<V1>::to("cuGraphGetEdges", graph, from.data(), to.data(), &count) == success;
}

// The nodes in an order that the edges allow; nodes of child graphs take the place of their node. `why_not`:
// a node that cannot be launched alone.
void add_nodes(Handle graph, const std::set<Handle>& disabled, std::vector<Node>& out, std::string& why_not) {
  size_t count = 0;
  using GetNodes = Status(Handle, Handle*, size_t*);
  std::vector<Handle> nodes, from, to;
  bool known = Call<GetNodes>::to("cuGraphGetNodes", graph, nullptr, &count) == success;
  nodes.resize(count);
  known = known &&
          (count == 0 || Call<GetNodes>::to("cuGraphGetNodes", graph, nodes.data(), &count) == success) &&
          edges_of(graph, from, to);
  std::map<Handle, size_t> waits;  // for so many nodes
  for (const Handle n : to) ++waits[n];
  std::vector<Handle> ready;
  for (const Handle n : nodes)
    if (waits[n] == 0) ready.push_back(n);
  for (size_t i = 0; known && i < ready.size(); ++i) {
    const Handle node = ready[i];
    Node next{node, NodeType::empty};
    known = Call<Status(Handle, NodeType*)>::to("cuGraphNodeGetType", node, &next.type) == success;
    if (const char* const name = kind_name(next.type); name != nullptr)
      why_not = std::string("it holds ") + name;
    if (next.type == NodeType::graph) {
      Handle child = nullptr;
      known = known &&
              Call<Status(Handle, Handle*)>::to("cuGraphChildGraphNodeGetGraph", node, &child) == success;
      if (known) add_nodes(child, disabled, out, why_not);
    } else if (!disabled.contains(node)) {
      out.push_back(next);
    }
    for (size_t e = 0; e < from.size(); ++e)
      if (from[e] == node && --waits[to[e]] == 0) ready.push_back(to[e]);
  }
  if (!known || ready.size() != nodes.size()) why_not = "the driver does not describe its nodes";
}

bool params_of(Handle node, cuda::KernelNode& k) {
  return Call<Status(Handle, cuda::KernelNode*)>::to("cuGraphKernelNodeGetParams_v2", node, &k) == success;
}
Handle function_of(const cuda::KernelNode& k) { return k.function != nullptr ? k.function : k.kernel; }

struct NodeLaunch {
  LaunchConfig config;
  Handle function;
  void **params, **extra;
};

bool attribute_of(Handle node, LaunchAttributeId id, cuda::LaunchAttribute& out) {
  out = {};
  out.id = id;
  return Call<Status(Handle, LaunchAttributeId, cuda::LaunchAttributeValue*)>::to(
             "cuGraphKernelNodeGetAttribute", node, id, &out.value) == success;
}

Status launch_kernel(Handle node, Handle stream) {
  cuda::KernelNode k{};
  if (!params_of(node, k)) return cuda::invalid_value;
  Request r{.function = function_of(k), .stream = stream};
  std::copy_n(k.grid, 3, r.grid);
  std::copy_n(k.block, 3, r.block);
  r.dynamic_shared = k.shared_bytes;
  r.params = k.params;
  r.extra = k.extra;
  NodeLaunch l{{.shared_bytes = k.shared_bytes, .stream = stream}, r.function, k.params, k.extra};
  std::copy_n(k.grid, 3, l.config.grid);
  std::copy_n(k.block, 3, l.config.block);
  cuda::LaunchAttribute attributes[2]{};
  uint32_t& count = l.config.attribute_count;
  l.config.attributes = attributes;
  if (attribute_of(node, LaunchAttributeId::cooperative, attributes[count]) &&
      attributes[count].value.flag != 0) {
    r.cooperative = true;
    ++count;
  }
  if (attribute_of(node, LaunchAttributeId::cluster_dimension, attributes[count]) &&
      attributes[count].value.cluster.x != 0) {
    std::memcpy(r.cluster, &attributes[count].value.cluster, sizeof r.cluster);
    ++count;
  }
  const auto go = [](void* argument) {
    const auto& launch = *static_cast<const NodeLaunch*>(argument);
    return Call<Status(const LaunchConfig*, Handle, void**, void**)>::to(
        "cuLaunchKernelEx", &launch.config, launch.function, launch.params, launch.extra);
  };
  return wanted(r.function, stream) ? record(r, go, &l) : go(&l);
}

Status set_memory(Handle node, Handle stream) {
  cuda::MemsetNode m{};
  if (Call<Status(Handle, cuda::MemsetNode*)>::to("cuGraphMemsetNodeGetParams", node, &m) != success)
    return cuda::invalid_value;
  using Row = Status(uint64_t, uint32_t, size_t, Handle);
  using Rows = Status(uint64_t, size_t, uint32_t, size_t, size_t, Handle);
  if (m.height <= 1) {
    const char* const name = m.element_bytes == 1   ? "cuMemsetD8Async"
                             : m.element_bytes == 2 ? "cuMemsetD16Async"
                                                    : "cuMemsetD32Async";
    return Call<Row>::to(name, m.dst, m.value, m.width, stream);
  }
  const char* const name = m.element_bytes == 1   ? "cuMemsetD2D8Async"
                           : m.element_bytes == 2 ? "cuMemsetD2D16Async"
                                                  : "cuMemsetD2D32Async";
  return Call<Rows>::to(name, m.dst, m.pitch, m.value, m.width, m.height, stream);
}

Status launch_node(const Node& node, Handle stream) {
  switch (node.type) {
    case NodeType::kernel:
      return launch_kernel(node.handle, stream);
    case NodeType::memset:
      return set_memory(node.handle, stream);
    case NodeType::memcpy: {
      cuda::Memcpy3D copy{};
      if (Call<Status(Handle, cuda::Memcpy3D*)>::to("cuGraphMemcpyNodeGetParams", node.handle, &copy) !=
          success)
        return cuda::invalid_value;
      return Call<Status(const cuda::Memcpy3D*, Handle)>::to("cuMemcpy3DAsync_v2", &copy, stream);
    }
    case NodeType::host: {
      cuda::HostNode h{};
      if (Call<Status(Handle, cuda::HostNode*)>::to("cuGraphHostNodeGetParams", node.handle, &h) != success)
        return cuda::invalid_value;
      return Call<Status(Handle, void (*)(void*), void*)>::to("cuLaunchHostFunc", stream, h.fn, h.data);
    }
    case NodeType::wait_event:
    case NodeType::record_event: {
      const bool waits = node.type == NodeType::wait_event;
      Handle event = nullptr;
      if (Call<Status(Handle, Handle*)>::to(
              waits ? "cuGraphEventWaitNodeGetEvent" : "cuGraphEventRecordNodeGetEvent", node.handle,
              &event) != success)
        return cuda::invalid_value;
      return waits ? Call<Status(Handle, Handle, unsigned)>::to("cuStreamWaitEvent", stream, event, 0)
                   : Call<Status(Handle, Handle)>::to("cuEventRecord", event, stream);
    }
    default:
      return success;
  }
}

Handle clone_of(Handle graph) {
  Handle clone = nullptr;
  return Call<Status(Handle*, Handle)>::to("cuGraphClone", &clone, graph) == success ? clone : nullptr;
}

void drop(ExecutableGraph& e) {
  if (e.clone != nullptr) Call<Status(Handle)>::to("cuGraphDestroy", e.clone);
  e.clone = nullptr;
  e.disabled.clear();
}

// The caller holds the lock.
ExecutableGraph* find(Handle exec) {
  const auto found = graphs().all.find(exec);
  return found == graphs().all.end() ? nullptr : &found->second;
}

void say_not_recorded(ExecutableGraph& e) {
  if (e.said) return;
  e.said = true;
  say_code("unsupported", Code::unrecorded_graph, "the kernels of a CUDA graph are not recorded: %s",
           e.why_not.c_str());
}

void look_into(ExecutableGraph& e) {
  e.nodes.clear();
  e.functions.clear();
  e.known = true;
  if (e.clone == nullptr) return;
  add_nodes(e.clone, e.disabled, e.nodes, e.why_not);
  for (const Node& n : e.nodes) {
    cuda::KernelNode k{};
    if (n.type == NodeType::kernel && params_of(n.handle, k)) e.functions.push_back(function_of(k));
  }
}

}  // namespace

void instantiated(Handle exec, Handle graph) {
  if (settings().folder.empty()) return;
  const Handle clone = clone_of(graph);
  const std::lock_guard guard(graphs().lock);
  ExecutableGraph& e = graphs().all[exec];
  drop(e);
  e = {};
  e.clone = clone;
  if (clone == nullptr)
    e.why_not = "the driver does not clone it (it allocates memory, or is launched by kernels)";
}

void destroyed(Handle exec) {
  if (settings().folder.empty()) return;
  const std::lock_guard guard(graphs().lock);
  if (ExecutableGraph* const e = find(exec); e != nullptr) drop(*e);
  graphs().all.erase(exec);
}

Handle node_in_clone(Handle exec, Handle node, const char* call) {
  if (settings().folder.empty()) return nullptr;
  const std::lock_guard guard(graphs().lock);
  ExecutableGraph* const e = find(exec);
  if (e == nullptr || e->clone == nullptr) return nullptr;
  e->known = false;
  Handle cloned = nullptr;
  if (Call<Status(Handle*, Handle, Handle)>::to("cuGraphNodeFindInClone", &cloned, node, e->clone) == success)
    return cloned;
  if (e->why_not.empty()) e->why_not = std::string(call) + " changed a node that its clone does not have";
  return nullptr;
}

void out_of_step(Handle exec, const char* call) {
  if (settings().folder.empty()) return;
  const std::lock_guard guard(graphs().lock);
  if (ExecutableGraph* const e = find(exec); e != nullptr && e->why_not.empty())
    e->why_not = std::string(call) + " changed it in a way that is not followed";
}

void enabled(Handle exec, Handle node, bool is_enabled) {
  const Handle cloned = node_in_clone(exec, node, "cuGraphNodeSetEnabled");
  if (cloned == nullptr) return;
  const std::lock_guard guard(graphs().lock);
  ExecutableGraph* const e = find(exec);
  if (e == nullptr) return;
  e->known = false;
  if (is_enabled)
    e->disabled.erase(cloned);
  else
    e->disabled.insert(cloned);
}

bool launch_nodes(Handle exec, Handle stream, Status& result) {
  if (settings().folder.empty() || inside || makes_graph(stream)) return false;
  std::vector<Node> nodes;
  {
    const std::lock_guard guard(graphs().lock);
    ExecutableGraph* const e = find(exec);
    if (e == nullptr) return false;
    if (!e->known) look_into(*e);
    const bool wants = wants_any(e->functions);
    if (!wants || !e->why_not.empty()) {
      count_launches(e->functions);
      if (wants || e->clone == nullptr) say_not_recorded(*e);
      return false;
    }
    nodes = e->nodes;
  }
  for (const Node& n : nodes)
    if (result = launch_node(n, stream); result != success) break;
  return true;
}

}  // namespace palladion::cuda::capture
