// Instantiated graphs: copies of graphs, which are launched and updated.
#include <algorithm>
#include <optional>
#include <set>

#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

// CUgraphInstantiateResult
enum : int { instantiated = 0, failed = 1, invalid_structure = 2, unused_condition = 5 };

bool has_cycle(const Graph& graph) {
  return in_order(graph).size() != graph.nodes.size() ||
         std::ranges::any_of(graph.nodes, [](const auto& node) {
           return std::ranges::any_of(inner_graphs(node->work), [](const Graph* g) { return has_cycle(*g); });
         });
}

// What keeps the graph from being instantiated.
Status check(const Graph& graph, uint64_t flags, int& result) {
  constexpr uint64_t device_launch = 4;  // CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
  result = failed;
  if ((flags & device_launch) != 0) return unsupported("graphs that kernels launch");
  if (graph.parent != nullptr || graph.captures != 0) return invalid_value;
  result = invalid_structure;
  if (has_cycle(graph) || !bodies_are_allowed(graph)) return invalid_value;
  result = unused_condition;
  if (!conditions_are_used(graph)) return invalid_value;
  result = failed;
  if (has_conditions(graph) && !graph.instance.expired()) return not_supported;
  result = instantiated;
  return success;
}

Status instantiate(Graph** exec, Graph* graph, uint64_t flags, int& result) {
  result = failed;
  if (exec == nullptr || !exist(graph)) return invalid_value;
  if (const Status status = check(*graph, flags, result); status != success) return status;
  auto copy = copy_of(*graph);
  if (!copy) return result = failed, copy.error();
  *exec = copy->release();
  (*exec)->of_program = true;
  (*exec)->instance_of = std::make_shared<int>();
  graph->instance = (*exec)->instance_of;
  return (*exec)->flags = flags, success;
}

// CUgraphExecUpdateResult
enum : int { update_topology = 2, update_type = 3, update_parameters = 5 };

// What keeps node i of `graph` from replacing that of `exec`; 0: nothing.
int difference(const Graph& exec, const Graph& graph, size_t i) {
  const Node &a = *exec.nodes[i], &b = *graph.nodes[i];
  if (kind_of(a.work) != kind_of(b.work)) return update_type;
  std::set<size_t> before_a, before_b;
  for (const Node* n : a.after) before_a.insert(number_of(exec, n));
  for (const Node* n : b.after) before_b.insert(number_of(graph, n));
  if (before_a != before_b) return update_topology;
  if (const auto* x = std::get_if<AllocWork>(&a.work))
    if (x->address != std::get<AllocWork>(b.work).address) return update_parameters;
  if (const auto* x = std::get_if<std::shared_ptr<ConditionalWork>>(&a.work)) {
    const ConditionalWork& y = *std::get<std::shared_ptr<ConditionalWork>>(b.work);
    if ((*x)->type != y.type || (*x)->bodies.size() != y.bodies.size()) return update_parameters;
  }
  return 0;
}

struct Refusal {
  int why = 0;
  Node* node = nullptr;
};

// The first difference, in the graphs inside too.
std::optional<Refusal> refusal(const Graph& exec, const Graph& graph) {
  if (exec.nodes.size() != graph.nodes.size()) return Refusal{update_topology, nullptr};
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    if (const int why = difference(exec, graph, i); why != 0) return Refusal{why, graph.nodes[i].get()};
    const auto ours = inner_graphs(exec.nodes[i]->work), theirs = inner_graphs(graph.nodes[i]->work);
    for (size_t k = 0; k < ours.size(); ++k)
      if (const auto inner = refusal(*ours[k], *theirs[k])) return inner;
  }
  return std::nullopt;
}

// The parameters of `from`, which has the same nodes. Nodes keep their places, by which the program knows
// them.
void take(Graph& exec, Graph& from) {
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    Work &ours = exec.nodes[i]->work, &theirs = from.nodes[i]->work;
    const std::vector<Graph*> inner = inner_graphs(ours), others = inner_graphs(theirs);
    for (size_t k = 0; k < inner.size(); ++k) take(*inner[k], *others[k]);
    if (auto* c = std::get_if<std::shared_ptr<ConditionalWork>>(&ours))
      (*c)->handle = std::get<std::shared_ptr<ConditionalWork>>(theirs)->handle;
    else if (inner.empty())
      ours = std::move(theirs);
  }
  exec.conditions = from.conditions;
}

Status update(Graph& exec, const Graph& graph, UpdateResult* result) {
  const std::optional<Refusal> why = refusal(exec, graph);
  if (result != nullptr) *result = why ? UpdateResult{why->why, why->node, nullptr} : UpdateResult{};
  if (why) return graph_exec_update_failure;
  const auto copy = copy_of(graph);
  if (!copy) return copy.error();
  take(exec, **copy);
  return success;
}

}  // namespace
}  // namespace palladion::cuda::driver

PLD_CUDA cuGraphInstantiateWithFlags(Graph** exec, Graph* graph, uint64_t flags) {
  const Guard guard(state().lock);
  int result = 0;
  return instantiate(exec, graph, flags, result);
}
PLD_CUDA cuGraphInstantiateWithParams(Graph** exec, Graph* graph, InstantiateParams* params) {
  const Guard guard(state().lock);
  if (params == nullptr) return invalid_value;
  params->node = nullptr;
  return instantiate(exec, graph, params->flags, params->result);
}
PLD_CUDA cuGraphExecGetFlags(Graph* exec, uint64_t* flags) {
  const Guard guard(state().lock);
  if (!exist(exec)) return invalid_value;
  if (flags == nullptr) return invalid_value;
  return *flags = exec->flags, success;
}
// A launch of it goes on.
PLD_CUDA cuGraphExecDestroy(Graph* exec) {
  const Guard guard(state().lock);
  if (!exist(exec) || !exec->of_program || exec->instance_of == nullptr) return invalid_value;
  return delete exec, success;
}
PLD_CUDA cuGraphUpload(Graph*, Stream*) { return success; }
PLD_CUDA cuGraphLaunch(Graph* exec, Stream* stream) {
  const Guard guard(state().lock);
  constexpr uint64_t auto_free = 1;  // CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
  if (!exist(exec)) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_use(stream); status != success) return status;
  if (capturing(stream)) {
    if (has_conditions(*exec)) return not_supported;
    auto copy = copy_of(*exec, stream_of(stream).capture->graph);
    return copy ? enqueue(stream, std::shared_ptr<Graph>(std::move(*copy))) : copy.error();
  }
  for (const auto& node : exec->nodes) {
    const auto* const work = std::get_if<AllocWork>(&node->work);
    if (work == nullptr || !state().blocks.contains(work->address)) continue;
    if ((exec->flags & auto_free) == 0) return invalid_value;  // the last launch's was not freed
    release(work->address);
  }
  Doing doing{streams().put(line_of(stream)), nullptr};
  doing.place.before.join(exec->launched);  // launches of one graph do not overlap
  if (has_conditions(*exec)) complete(doing.place.before);
  assign_defaults(*exec);
  const Status status = run_graph(*exec, doing);
  if (status != success) finished(doing.place);
  streams().extend(line_of(stream), exec->launched = doing.place.after());
  return status;
}
PLD_CUDA cuGraphExecUpdate_v2(Graph* exec, Graph* graph, UpdateResult* result) {
  const Guard guard(state().lock);
  if (!exist(exec, graph)) return invalid_value;
  return update(*exec, *graph, result);
}
