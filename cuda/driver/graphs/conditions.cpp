// Conditional nodes of graphs: conditions, which kernels set, and the bodies that run for their values.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/driver/streams/streams.h"
#include "sim/launch/graph_conditions.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

// The words of all conditions. Pages that nothing is written to take no memory.
constexpr uint64_t most_conditions = uint64_t{1} << 20;
std::vector<uint64_t> free_handles;  // of conditions that are gone
uint64_t conditions_made = 0;

void make_table(State& s) {
  if (s.conditions == 0)
    s.conditions = s.machine->memory().allocate(most_conditions * sizeof(uint32_t), "conditions of graphs");
}

uint32_t value_of(uint64_t handle) {
  uint32_t value = 0;
  std::memcpy(&value, state().machine->memory().find(sim::Address(handle), sizeof value), sizeof value);
  return value;
}

void set_value(uint64_t handle, uint32_t value) {
  std::memcpy(state().machine->memory().find(sim::Address(handle), sizeof value), &value, sizeof value);
}

Status new_condition(Graph& graph, Condition*& out) {
  State& s = state();
  make_table(s);
  auto condition = std::make_shared<Condition>();
  if (!free_handles.empty()) {
    condition->handle = free_handles.back();
    free_handles.pop_back();
  } else if (conditions_made < most_conditions) {
    condition->handle = s.conditions + sizeof(uint32_t) * conditions_made++;
  } else {
    return out_of_memory;
  }
  set_value(condition->handle, 0);
  out = condition.get();
  graph.conditions.push_back(std::move(condition));
  return success;
}

bool has_node_of(const Graph& graph, uint64_t handle) {
  return std::ranges::any_of(graph.nodes, [&](const auto& node) {
    const auto* c = std::get_if<std::shared_ptr<ConditionalWork>>(&node->work);
    return (c != nullptr && (*c)->handle == handle) ||
           std::ranges::any_of(inner_graphs(node->work),
                               [&](const Graph* g) { return has_node_of(*g, handle); });
  });
}

// Of this graph or of one that it is a part of, and no other node has it.
bool usable(const Graph& graph, uint64_t handle) {
  bool known = false;
  const Graph* root = &graph;
  for (const Graph* g = &graph; g != nullptr; g = g->parent) {
    known |= std::ranges::any_of(g->conditions, [&](const auto& c) { return c->handle == handle; });
    root = g;
  }
  return known && !has_node_of(*root, handle);
}

bool size_is_allowed(const ConditionalNode& p) {
  switch (p.type) {
    case ConditionalType::when:
      return p.size == 1 || p.size == 2;
    case ConditionalType::loop:
      return p.size == 1;
    case ConditionalType::choice:
      return p.size > 0;
  }
  return false;
}

// What a conditional node runs, at any depth.
bool is_allowed_body(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const auto& node) {
    const NodeKind kind = kind_of(node->work);
    const bool allowed = kind == NodeKind::kernel || kind == NodeKind::memcpy || kind == NodeKind::memset ||
                         kind == NodeKind::empty || kind == NodeKind::graph || kind == NodeKind::conditional;
    return allowed &&
           std::ranges::all_of(inner_graphs(node->work), [](const Graph* g) { return is_allowed_body(*g); });
  });
}

// To the end: then its kernels have set conditions.
Status run_body(Graph& body, Doing& doing) {
  Doing inside{streams().put_branch(doing.place.stream, doing.place.line, doing.place.before), nullptr};
  if (const Status status = run_graph(body, inside); status != success) return status;
  doing.place.before = inside.place.after();
  return complete(doing.place.before);
}

// Only a kernel can end the loop.
Status run_loop(const ConditionalWork& work, Doing& doing) {
  State& s = state();
  while (value_of(work.handle) != 0) {
    const uint64_t before = s.performed;
    if (const Status status = run_body(*work.bodies.front(), doing); status != success) return status;
    if (s.performed != before) continue;
    fmt::print(stderr, "palladion exec: a WHILE node of a graph does not end: its body launches no kernel\n");
    count_errors(1);
    return s.sticky = launch_timeout;
  }
  return success;
}

Status run_chosen(const ConditionalWork& work, Doing& doing) {
  const uint32_t value = value_of(work.handle);
  switch (work.type) {
    case ConditionalType::when:
      if (value != 0) return run_body(*work.bodies.front(), doing);
      return work.bodies.size() == 2 ? run_body(*work.bodies.back(), doing) : success;
    case ConditionalType::loop:
      return run_loop(work, doing);
    case ConditionalType::choice:
      return value < work.bodies.size() ? run_body(*work.bodies[value], doing) : success;
  }
  return invalid_value;
}

}  // namespace

Condition::~Condition() {
  const Guard guard(state().lock);
  if (handle != 0) free_handles.push_back(handle);
}

bool sets_conditions(const isa::Module& module) {
  return std::ranges::any_of(module.functions, [](const isa::Function& f) {
    return !f.defined && f.name == "cudaGraphSetConditional";
  });
}

void give_conditions(State& s, sim::Launch& launch) {
  make_table(s);
  launch.environment[sim::conditions_high] = static_cast<uint32_t>(s.conditions >> 32);
  launch.environment[sim::conditions_low] = static_cast<uint32_t>(s.conditions);
}

Status add_conditional_node(Node** out, Graph* graph, Node* const* after, size_t count, ConditionalNode* p) {
  if (!exist(graph) || p->size > most_conditions || !size_is_allowed(*p) || !usable(*graph, p->handle))
    return invalid_value;
  if (const Status status = may_be_in(graph, 1); status != success) return status;
  auto work = std::make_shared<ConditionalWork>();
  work->handle = p->handle;
  work->type = p->type;
  for (uint32_t i = 0; i < p->size; ++i) {
    work->bodies.push_back(std::make_shared<Graph>());
    work->bodies.back()->level = graph->level + 1;
    work->bodies.back()->parent = graph;
    work->given.push_back(work->bodies.back().get());
  }
  const Status status = add_node(out, graph, after, count, work);
  if (status == success) p->graphs = reinterpret_cast<void**>(work->given.data());
  return status;
}

Status run_conditional(ConditionalWork& work, Doing& doing) {
  const Status status = run_chosen(work, doing);
  finished(doing.place);
  return status;
}

void assign_defaults(const Graph& graph) {
  for (const auto& c : graph.conditions)
    if (c->assign_default) set_value(c->handle, c->default_value);
  for (const auto& node : graph.nodes)
    for (const Graph* inner : inner_graphs(node->work)) assign_defaults(*inner);
}

bool has_conditions(const Graph& graph) {
  return !graph.conditions.empty() || std::ranges::any_of(graph.nodes, [](const auto& node) {
    return kind_of(node->work) == NodeKind::conditional ||
           std::ranges::any_of(inner_graphs(node->work), [](const Graph* g) { return has_conditions(*g); });
  });
}

bool conditions_are_used(const Graph& graph) {
  return std::ranges::all_of(graph.conditions,
                             [&](const auto& c) { return has_node_of(graph, c->handle); }) &&
         std::ranges::all_of(graph.nodes, [](const auto& node) {
           return std::ranges::all_of(inner_graphs(node->work),
                                      [](const Graph* g) { return conditions_are_used(*g); });
         });
}

bool bodies_are_allowed(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const auto& node) {
    return kind_of(node->work) != NodeKind::conditional ||
           std::ranges::all_of(inner_graphs(node->work), [](const Graph* g) { return is_allowed_body(*g); });
  });
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuGraphConditionalHandleCreate(uint64_t* out, Graph* graph, Context*, unsigned default_value,
                                        unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned assign_default = 1;  // CU_GRAPH_COND_ASSIGN_DEFAULT
  if (out == nullptr || !exist(graph) || (flags & ~assign_default) != 0) return invalid_value;
  Condition* condition = nullptr;
  if (const Status status = new_condition(*graph, condition); status != success) return status;
  condition->default_value = default_value;
  condition->assign_default = (flags & assign_default) != 0;
  return *out = condition->handle, success;
}
