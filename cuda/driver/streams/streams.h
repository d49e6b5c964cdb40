#pragma once
// Streams, what is put into them, and graphs.
#include <map>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "cuda/driver/order/judge.h"
#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

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
  free = 11,
  conditional = 13
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
struct ComputeWork;  // compute.cpp: a library call, on the host
Status compute(ComputeWork& work);
order::Touched touched_by(const ComputeWork& work);  // when it was last computed
std::string text_of(const ComputeWork& work);
struct ConditionalWork {
  uint64_t handle = 0;  // of its condition
  ConditionalType type{};
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<Graph*> given;  // the bodies, as the program has them
};
// One operation: in the order of NodeKind's subjects, not of its numbers.
using Work = std::variant<EmptyWork, std::shared_ptr<LaunchWork>, Memcpy3D, MemsetNode, HostNode,
                          std::shared_ptr<Graph>, WaitWork, RecordWork, AllocWork, FreeWork,
                          std::shared_ptr<ConditionalWork>, std::shared_ptr<ComputeWork>>;
NodeKind kind_of(const Work& work);
// `doing.place.before` grows by what a graph did inside.
Status run(const Work& work, Doing& doing);
// A copy of `bytes` that lie together.
Memcpy3D plain_copy(void* to, const void* from, size_t bytes);

struct Node : Handled<Node> {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> after;  // what it depends on
  bool enabled = true;
  const Node* origin = nullptr;  // of a node of a clone
  order::Line line = 0;          // of its launches; 0: none yet
};
struct UserObject : Handled<UserObject> {
  UserObject(void* of, HostFn fn, unsigned count) : object(of), destroy(fn), references(count) {}
  void* object = nullptr;
  HostFn destroy = nullptr;
  uint64_t references = 0;  // of the program
  uint64_t held = 0;        // references of graphs, which the program cannot release
};
// A word that kernels set, and conditional nodes read. Its handle is its address.
struct Condition {
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();
  uint64_t handle = 0;
  uint32_t default_value = 0;
  bool assign_default = false;  // at each launch of the graph
};
struct Graph : Handled<Graph> {
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<UserObject*, uint64_t> objects;  // that it holds, how many times
  std::vector<std::shared_ptr<Condition>> conditions;
  order::Clock launched;         // what is over when its last launch is
  bool of_program = false;       // which destroys it
  int level = 0;                 // in how many graphs it is
  Graph* parent = nullptr;       // of a conditional node's body: where the node is
  int captures = 0;              // that go on into it
  std::weak_ptr<void> instance;  // held by what was instantiated from it last
  std::shared_ptr<void> instance_of;
  uint64_t flags = 0;  // of an instantiated one: CUgraphInstantiate_flags
};
// A graph that is inside of `outer`, null: of none, is nested; refused where that is too deep.
Status may_be_in(const Graph* outer, int levels);
// A copy that is to be put into `outer`. Copies of copies grow fast: no memory for too many nodes.
tl::expected<std::unique_ptr<Graph>, Status> copy_of(const Graph& graph, const Graph* outer = nullptr);
// The place of a node among a graph's, in the order in which they were added.
size_t number_of(const Graph& graph, const Node* node);
// Its nodes, each after what it depends on; fewer than all where there is a cycle.
std::vector<Node*> in_order(const Graph& graph);
// The graphs inside a node: a child, or the bodies of a conditional node.
std::vector<Graph*> inner_graphs(const Work& work);
// The node, or its copy, in this graph; null: none.
Node* find_node(Graph& graph, const Node* origin);
Status add_node(Node** out, Graph* graph, Node* const* after, size_t count, Work work);
// Puts its nodes; it is over when `doing` is.
Status run_graph(Graph& graph, Doing& doing);

enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };  // CUstreamCaptureMode
struct Capture {
  Graph* graph = nullptr;   // null: the sequence is over
  bool into_given = false;  // into a graph of the program
  uint64_t id = 0;
  CaptureMode mode{};
  std::thread::id thread;  // that began it
  struct Stream* origin = nullptr;
  std::vector<struct Stream*> streams;
  std::vector<Node*> forgotten;  // the last nodes of streams that were destroyed
  bool invalid = false;          // a rule was broken
};
struct Stream : Handled<Stream> {
  bool of_program = false;
  order::Line line = 0;  // 0: none yet
  uint64_t number = 0;   // the program's n-th
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  Context* context = nullptr;
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;  // while captured: what the next node depends on
  std::map<uint32_t, LaunchAttributeValue> attributes;
};
struct Event : Handled<Event> {
  unsigned flags = 0;
  bool recorded = false;
  double us = 0;  // the device's time, or the host's
  order::Mark mark;
  std::vector<order::Line> waiting;  // streams that waited since it was last recorded
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;
};

// Handles of default streams: null and 1 are the legacy one, 2 is the thread's own.
inline Stream* const per_thread_stream = reinterpret_cast<Stream*>(2);
bool is_stream(const Stream* handle);
// The object behind a handle; behind one that is none's a stream that nothing is put into.
Stream& stream_of(Stream* handle);
bool capturing(Stream* handle);
// Does it, or keeps it in the graph when the stream is captured, where that may be.
Status enqueue(Stream* handle, Work work);
// The operation; `as`: null where it is captured.
Status enqueue(Stream* handle, Work work, Doing& doing);
Status put(Stream* handle, Work work);  // unless a kernel failed
Status record(Event* event, Stream* handle);
void mark(Event& event, order::Mark what, order::Line stream);  // it is recorded
// The program's function runs, and is over.
template <class Call>
void call_host(const order::Place& place, Call&& call) {
  show_printed();
  {
    const InHostFunction running(place.before);
    call();
  }
  const Guard guard(state().lock);
  finished(place);
}
order::OperationRef named(const Work& work, std::string stream);
double now_us();
order::Line line_of(Stream* handle);
std::string name_of(Stream* handle);  // "stream 3 (non-blocking)"
Stream* synchronous_stream();         // into which this thread's synchronous calls are put

// operations.cpp: when they are done.
// Does it when what it depends on is over: now, or later.
Status submit(Doing& doing, const Work& work);
// Does what can be done.
void go_on();
// Does all up to there; launches that wait then for ever are deadlocks. The error of a kernel that failed.
Status complete(const order::Clock& until);
// An operation that is over when its call returns; it is to be ended with `end_synchronous`.
struct Synchronous {
  Doing doing;
  Status status = success;
};
Synchronous begin_synchronous(order::Operation::Does does, std::string text);
void end_synchronous(const Synchronous& operation, order::Touched touched, bool host_waits);

// graph_memory.cpp: allocations that belong to a graph.
Status capture_allocation(Pointer* out, size_t bytes, Stream* stream);
Status capture_free(Pointer p, Stream* stream);
Status add_allocation_node(Node** out, Graph* graph, Node* const* after, size_t count, MemAllocNode* p);
Status add_free_node(Node** out, Graph* graph, Node* const* after, size_t count, Pointer p);
Status run_allocation(const AllocWork& work);
Status run_free(const FreeWork& work);
void forget_in_graphs(Pointer p);

// conditions.cpp: conditional nodes.
Status add_conditional_node(Node** out, Graph* graph, Node* const* after, size_t count, ConditionalNode* p);
Status run_conditional(ConditionalWork& work, Doing& doing);
void assign_defaults(const Graph& graph);      // to the conditions of a graph that is launched
bool has_conditions(const Graph& graph);       // or conditional nodes
bool conditions_are_used(const Graph& graph);  // each by a node
bool bodies_are_allowed(const Graph& graph);   // they hold what a conditional node may run

// launches.cpp
Status check_launch(const LaunchWork& work);

}  // namespace palladion::cuda::driver
