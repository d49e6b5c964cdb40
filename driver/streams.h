#pragma once
// Streams, what is put into them, and graphs.
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "driver/state.h"

namespace palladion::driver {

enum class NodeKind : int {  // CUgraphNodeType
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait = 6,
  record = 7,
  alloc = 10,
  free = 11
};

struct Graph;
struct Event;
struct AllocWork {
  Pointer address = 0;
  size_t bytes = 0;
};
struct FreeWork {
  Pointer address = 0;
};
struct WaitWork {
  Event* event = nullptr;
};
struct RecordWork {
  Event* event = nullptr;
};
struct EmptyWork {};
// One operation: in the order of NodeKind's subjects, not of its numbers.
using Work = std::variant<EmptyWork, std::shared_ptr<LaunchWork>, Memcpy3D, MemsetNode, HostNode,
                          std::shared_ptr<Graph>, WaitWork, RecordWork, AllocWork, FreeWork>;
NodeKind kind_of(const Work& work);
Status run(const Work& work);
// A copy of `bytes` that lie together.
Memcpy3D plain_copy(void* to, const void* from, size_t bytes);

struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> after;  // what it depends on
  bool enabled = true;
  const Node* origin = nullptr;  // of a node of a clone
};
struct UserObject {
  void* object = nullptr;
  HostFn destroy = nullptr;
  unsigned references = 0;
};
void release_references(UserObject* object, unsigned count);
struct Graph {
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<UserObject*, unsigned> objects;  // that it holds, how many times
  uint64_t flags = 0;                       // of an instantiated one: CUgraphInstantiate_flags
};
std::unique_ptr<Graph> copy_of(const Graph& graph);
// The node, or its copy, in this graph; null: none.
Node* find_node(Graph& graph, const Node* origin);
Status add_node(Node** out, Graph* graph, Node* const* after, size_t count, Work work);
Status run_graph(Graph& graph);

struct Capture {
  Graph* graph = nullptr;
  uint64_t id = 0;
  struct Stream* first = nullptr;
  std::vector<struct Stream*> streams;
};
struct Stream {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  Context* context = nullptr;
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;  // while captured: what the next node depends on
  std::map<uint32_t, LaunchAttributeValue> attributes;
};
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  double us = 0;  // the device's time, or the host's
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;
};

// The object behind a handle: null, 1 and 2 are default streams.
Stream& stream_of(Stream* handle);
bool capturing(Stream* handle);
// Does it, or keeps it in the graph when the stream is captured.
Status enqueue(Stream* handle, Work work);
Status put(Stream* handle, Work work);  // unless a kernel failed
Status record(Event* event, Stream* handle);
double now_us();

// graph_memory.cpp: allocations that belong to a graph.
Status capture_allocation(Pointer* out, size_t bytes, Stream* stream);
Status capture_free(Pointer p, Stream* stream);
Status add_allocation_node(Node** out, Graph* graph, Node* const* after, size_t count, MemAllocNode* p);
Status add_free_node(Node** out, Graph* graph, Node* const* after, size_t count, Pointer p);
Status run_allocation(const AllocWork& work);
Status run_free(const FreeWork& work);
void forget_in_graphs(Pointer p);

// launches.cpp
Status check_launch(const LaunchWork& work);

}  // namespace palladion::driver
