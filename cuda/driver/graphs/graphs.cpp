// Graphs: made by hand or captured, and run in an order of their dependencies.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <fstream>
#include <unordered_map>

#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {

namespace {

void destroy_unreferenced(UserObject* object) {
  if (object->references != 0 || object->held != 0) return;
  object->destroy(object->object);
  delete object;
}

}  // namespace

Graph::~Graph() {
  if (captures != 0) forget_in_capture(this);
  for (const auto& [object, count] : objects) object->held -= count, destroy_unreferenced(object);
}

std::vector<Graph*> inner_graphs(const Work& work) {
  if (const auto* child = std::get_if<std::shared_ptr<Graph>>(&work)) return {child->get()};
  if (const auto* c = std::get_if<std::shared_ptr<ConditionalWork>>(&work)) return (*c)->given;
  return {};
}

namespace {

int depth_of(const Graph& graph) {
  int inner = 0;
  for (const auto& node : graph.nodes)
    for (const Graph* g : inner_graphs(node->work)) inner = std::max(inner, depth_of(*g));
  return inner + 1;
}

// Of nodes and graphs, all inner ones too.
size_t size_of(const Graph& graph) {
  size_t n = 1 + graph.nodes.size();
  for (const auto& node : graph.nodes)
    for (const Graph* g : inner_graphs(node->work)) n += size_of(*g);
  return n;
}

}  // namespace

Status may_be_in(const Graph* outer, int levels) {
  constexpr int deepest = 64;
  const int above = outer != nullptr ? outer->level + 1 : 0;
  return above + levels <= deepest ? success : unsupported("graphs in graphs, nested deeper than 64 levels");
}

// Otherwise as they were added.
std::vector<Node*> in_order(const Graph& graph) {
  std::unordered_map<const Node*, std::vector<Node*>> next;
  std::unordered_map<const Node*, size_t> missing;
  std::deque<Node*> ready;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->after.size();
    if (node->after.empty()) ready.push_back(node.get());
    for (const Node* before : node->after) next[before].push_back(node.get());
  }
  std::vector<Node*> order;
  for (; !ready.empty(); ready.pop_front()) {
    order.push_back(ready.front());
    for (Node* const n : next[ready.front()])
      if (--missing[n] == 0) ready.push_back(n);
  }
  return order;
}

Status run_graph(Graph& graph, Doing& doing) {
  const std::vector<Node*> order = in_order(graph);
  if (order.size() != graph.nodes.size()) return invalid_value;
  const order::Clock start = doing.place.before;
  std::unordered_map<const Node*, order::Clock> over;
  for (Node* const node : order) {
    order::Clock before = start;
    for (const Node* const n : node->after) before.join(over.at(n));
    if (const auto* wait = std::get_if<WaitWork>(&node->work)) {
      if (!exist(wait->event)) return invalid_handle;  // it was destroyed
      before.join(wait->event->mark.over);
    }
    if (node->enabled) {
      if (node->line == 0) node->line = streams().add_branch();
      Doing inside{streams().put_branch(doing.place.stream, node->line, std::move(before)), nullptr};
      inside.as = named(node->work, "a graph");
      if (const Status status = submit(inside, node->work); status != success) return status;
      before = inside.place.after();
    }
    doing.place.before.join(before);
    over[node] = std::move(before);
  }
  return submit(doing, EmptyWork{});
}

namespace {

std::unique_ptr<Graph> duplicate(const Graph& graph, int level);

std::shared_ptr<ConditionalWork> duplicate(const ConditionalWork& work, Graph* parent) {
  auto out = std::make_shared<ConditionalWork>(work);
  for (size_t i = 0; i < out->bodies.size(); ++i) {
    out->bodies[i] = duplicate(*work.bodies[i], parent->level + 1);
    out->bodies[i]->parent = parent;
    out->given[i] = out->bodies[i].get();
  }
  return out;
}

std::unique_ptr<Graph> duplicate(const Graph& graph, int level) {
  auto out = std::make_unique<Graph>();
  out->level = level;
  std::unordered_map<const Node*, Node*> twin;
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<Node>(*node);
    made->graph = out.get();
    made->origin = node.get();
    made->line = 0;
    if (auto* launch = std::get_if<std::shared_ptr<LaunchWork>>(&made->work))
      *launch = std::make_shared<LaunchWork>(**launch);
    if (auto* child = std::get_if<std::shared_ptr<Graph>>(&made->work))
      *child = duplicate(**child, level + 1);
    if (auto* c = std::get_if<std::shared_ptr<ConditionalWork>>(&made->work)) *c = duplicate(**c, out.get());
    twin[node.get()] = made.get();
    out->nodes.push_back(std::move(made));
  }
  for (const auto& node : out->nodes)
    for (Node*& n : node->after) n = twin[n];
  out->conditions = graph.conditions;
  for (const auto& [object, count] : graph.objects) {
    object->held += count;
    out->objects[object] = count;
  }
  return out;
}

}  // namespace

tl::expected<std::unique_ptr<Graph>, Status> copy_of(const Graph& graph, const Graph* outer) {
  constexpr size_t most = size_t{1} << 21;
  if (const Status status = may_be_in(outer, depth_of(graph)); status != success)
    return tl::unexpected(status);
  if (size_of(graph) + Handled<Node>::count() + Handled<Graph>::count() > most)
    return tl::unexpected(Status{out_of_memory});
  return duplicate(graph, outer != nullptr ? outer->level + 1 : 0);
}

Node* find_node(Graph& graph, const Node* origin) {
  for (const auto& n : graph.nodes) {
    if (n->origin == origin || n.get() == origin) return n.get();
    for (Graph* const inner : inner_graphs(n->work))
      if (Node* const found = find_node(*inner, origin)) return found;
  }
  return nullptr;
}

Status add_node(Node** out, Graph* graph, Node* const* after, size_t count, Work work) {
  if (out == nullptr || !exist(graph) || (count != 0 && after == nullptr)) return invalid_value;
  for (size_t i = 0; i < count; ++i)
    if (!exist(after[i]) || after[i]->graph != graph) return invalid_value;
  auto node = std::make_unique<Node>();
  node->graph = graph;
  node->work = std::move(work);
  node->after.assign(after, after + count);
  *out = node.get();
  graph->nodes.push_back(std::move(node));
  return success;
}

size_t number_of(const Graph& graph, const Node* node) {
  return static_cast<size_t>(
      std::ranges::find_if(graph.nodes, [&](const auto& n) { return n.get() == node; }) -
      graph.nodes.begin());
}

namespace {

// A list as the API gives it: with `out`, at most *count of it; the rest of `out` is null.
template <class T>
Status give(const std::vector<T>& all, T* out, size_t* count) {
  if (count == nullptr) return invalid_value;
  if (out == nullptr) return *count = all.size(), success;
  for (size_t i = 0; i < *count; ++i) out[i] = i < all.size() ? all[i] : T{};
  return *count = std::min(*count, all.size()), success;
}

// Of references.
bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

std::string_view name_of(NodeKind kind) {
  static constexpr std::string_view names[] = {"kernel", "memcpy", "memset", "host",       "graph",
                                               "empty",  "wait",   "record", "",           "",
                                               "alloc",  "free",   "",       "conditional"};
  return names[static_cast<int>(kind)];
}

}  // namespace
}  // namespace palladion::cuda::driver

PLD_CUDA cuGraphCreate(Graph** graph, unsigned flags) {
  const Guard guard(state().lock);
  if (graph == nullptr || flags != 0) return invalid_value;
  *graph = new Graph;
  return (*graph)->of_program = true, success;
}
// Not that of a node, nor one that a stream is captured into.
PLD_CUDA cuGraphDestroy(Graph* graph) {
  const Guard guard(state().lock);
  if (!exist(graph) || !graph->of_program || graph->instance_of != nullptr || graph->captures != 0)
    return invalid_value;
  return delete graph, success;
}
PLD_CUDA cuGraphClone(Graph** out, Graph* graph) {
  const Guard guard(state().lock);
  if (!exist(graph)) return invalid_value;
  if (out == nullptr) return invalid_value;
  if (has_conditions(*graph)) return not_supported;
  auto copy = copy_of(*graph);
  if (!copy) return copy.error();
  *out = copy->release();
  return (*out)->of_program = true, success;
}
PLD_CUDA cuGraphNodeFindInClone(Node** out, Node* node, Graph* graph) {
  const Guard guard(state().lock);
  if (!exist(node, graph)) return invalid_value;
  if (out == nullptr) return invalid_value;

  return (*out = find_node(*graph, node)) != nullptr ? success : invalid_value;
}
PLD_CUDA cuGraphGetNodes(Graph* graph, Node** out, size_t* count) {
  const Guard guard(state().lock);
  if (!exist(graph)) return invalid_value;
  std::vector<Node*> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return give(all, out, count);
}
PLD_CUDA cuGraphGetRootNodes(Graph* graph, Node** out, size_t* count) {
  const Guard guard(state().lock);
  if (!exist(graph)) return invalid_value;
  std::vector<Node*> roots;
  for (const auto& node : graph->nodes)
    if (node->after.empty()) roots.push_back(node.get());
  return give(roots, out, count);
}
PLD_CUDA cuGraphGetEdges_v2(Graph* graph, Node** from, Node** to, void*, size_t* count) {
  const Guard guard(state().lock);
  if (!exist(graph)) return invalid_value;
  std::vector<Node*> froms, tos;
  for (const auto& node : graph->nodes)
    for (Node* before : node->after) froms.push_back(before), tos.push_back(node.get());
  size_t room = count != nullptr ? *count : 0;
  const Status status = give(froms, from, count);
  return status != success || to == nullptr ? status : give(tos, to, &room);
}
PLD_CUDA cuGraphNodeGetDependencies_v2(Node* node, Node** out, void*, size_t* count) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  return give(node->after, out, count);
}
PLD_CUDA cuGraphNodeGetDependentNodes_v2(Node* node, Node** out, void*, size_t* count) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  std::vector<Node*> later;
  for (const auto& n : node->graph->nodes)
    if (std::ranges::find(n->after, node) != n->after.end()) later.push_back(n.get());
  return give(later, out, count);
}
// Each edge is a whole dependency, which is what programmatic ones may be as well.
PLD_CUDA cuGraphAddDependencies_v2(Graph* graph, Node* const* from, Node* const* to, const void*,
                                   size_t count) {
  const Guard guard(state().lock);
  if (!exist(graph) || (count != 0 && (from == nullptr || to == nullptr))) return invalid_value;
  for (size_t i = 0; i < count; ++i)
    if (!exist(from[i], to[i]) || from[i]->graph != graph || to[i]->graph != graph) return invalid_value;
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return success;
}
PLD_CUDA cuGraphRemoveDependencies_v2(Graph*, Node* const* from, Node* const* to, const void*, size_t count) {
  const Guard guard(state().lock);
  if (count != 0 && (from == nullptr || to == nullptr)) return invalid_value;
  for (size_t i = 0; i < count; ++i)
    if (!exist(to[i]) || std::erase(to[i]->after, from[i]) == 0) return invalid_value;
  return success;
}
PLD_CUDA cuGraphDestroyNode(Node* node) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  Graph* const graph = node->graph;
  for (const auto& n : graph->nodes) std::erase(n->after, node);
  return std::erase_if(graph->nodes, [&](const auto& n) { return n.get() == node; }) == 1 ? success
                                                                                          : invalid_value;
}
PLD_CUDA cuGraphNodeGetType(Node* node, int* type) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  if (type == nullptr) return invalid_value;

  return *type = static_cast<int>(kind_of(node->work)), success;
}
PLD_CUDA cuGraphNodeSetEnabled(Graph* exec, Node* node, unsigned enabled) {
  const Guard guard(state().lock);
  if (!exist(exec, node)) return invalid_value;
  Node* const n = find_node(*exec, node);
  if (n == nullptr) return invalid_value;
  const NodeKind kind = kind_of(n->work);
  if (kind != NodeKind::kernel && kind != NodeKind::memcpy && kind != NodeKind::memset) return invalid_value;
  return n->enabled = enabled != 0, success;
}
PLD_CUDA cuGraphNodeGetEnabled(Graph* exec, Node* node, unsigned* enabled) {
  const Guard guard(state().lock);
  if (!exist(exec, node)) return invalid_value;
  if (enabled == nullptr) return invalid_value;
  const Node* const n = find_node(*exec, node);
  if (n == nullptr) return invalid_value;
  return *enabled = n->enabled ? 1 : 0, success;
}
PLD_CUDA cuGraphDebugDotPrint(Graph* graph, const char* path, unsigned) {
  const Guard guard(state().lock);
  if (!exist(graph)) return invalid_value;
  if (path == nullptr) return invalid_value;
  std::ofstream out(path);
  out << "digraph graph_1 {\n";
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = *graph->nodes[i];
    const auto* launch = std::get_if<std::shared_ptr<LaunchWork>>(&node.work);
    out << fmt::format("  n{} [label=\"{}{}\"];\n", i, name_of(kind_of(node.work)),
                       launch != nullptr ? "\\n" + (*launch)->kernel->name : "");
    for (const Node* before : node.after) out << fmt::format("  n{} -> n{};\n", number_of(*graph, before), i);
  }
  out << "}\n";
  return out.flush() ? success : Status{unknown};
}

PLD_CUDA cuUserObjectCreate(UserObject** out, void* object, HostFn destroy, unsigned references,
                            unsigned flags) {
  const Guard guard(state().lock);
  if (out == nullptr || destroy == nullptr || references == 0 || flags != 1) return invalid_value;
  return *out = new UserObject{object, destroy, references}, success;
}
PLD_CUDA cuUserObjectRetain(UserObject* object, unsigned count) {
  const Guard guard(state().lock);
  if (!exist(object) || !is_count(count)) return invalid_value;
  return object->references += count, success;
}
PLD_CUDA cuUserObjectRelease(UserObject* object, unsigned count) {
  const Guard guard(state().lock);
  if (!exist(object) || !is_count(count) || count > object->references) return invalid_value;
  object->references -= count;
  return destroy_unreferenced(object), success;
}
PLD_CUDA cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned move = 1;  // CU_GRAPH_USER_OBJECT_MOVE
  if (!exist(graph, object) || !is_count(count) || flags > move) return invalid_value;
  if (flags == move && count > object->references) return invalid_value;
  if (flags == move) object->references -= count;
  object->held += count;
  return graph->objects[object] += count, success;
}
PLD_CUDA cuGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  const Guard guard(state().lock);
  if (!exist(graph) || !is_count(count)) return invalid_value;
  const auto found = graph->objects.find(object);
  if (found == graph->objects.end() || found->second < count) return invalid_value;
  found->second -= count;
  if (found->second == 0) graph->objects.erase(found);
  object->held -= count;
  return destroy_unreferenced(object), success;
}
