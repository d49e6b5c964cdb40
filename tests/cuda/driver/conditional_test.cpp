// Conditional nodes of graphs through the driver API: conditions that kernels set, bodies that run for them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

const std::string kernels = head + R"(
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry add(.param .u64 p, .param .u32 v) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [v];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry set(.param .u64 h, .param .u32 v) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [h];
  ld.param.u32 %r1, [v];
  { .param .b64 a; .param .b32 b;
    st.param.b64 [a], %rd1; st.param.b32 [b], %r1;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
.visible .entry take_one(.param .u64 p, .param .u64 h) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [h];
  ld.global.u32 %r1, [%rd1];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  { .param .b64 a; .param .b32 b;
    st.param.b64 [a], %rd2; st.param.b32 [b], %r1;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
})";

constexpr unsigned no_default = 0, assign_default = 1;

class Conditional : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped()) return;
    void* module = nullptr;
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kernels.c_str())), success);
    ASSERT_EQ(call("cuModuleGetFunction", &add_, module, "add"), success);
    ASSERT_EQ(call("cuModuleGetFunction", &set_, module, "set"), success);
    ASSERT_EQ(call("cuModuleGetFunction", &take_one_, module, "take_one"), success);
    p_ = memory(64);
    graph_ = new_graph();
  }
  void* new_graph() {
    void* graph = nullptr;
    EXPECT_EQ(call("cuGraphCreate", &graph, 0U), success);
    return owned(graph, "cuGraphDestroy");
  }
  uint64_t handle(void* graph, unsigned value = 0, unsigned flags = no_default) {
    uint64_t h = 0;
    EXPECT_EQ(call("cuGraphConditionalHandleCreate", &h, graph, static_cast<void*>(nullptr), value, flags),
              success);
    return h;
  }
  Status try_add(void*& node, void* graph, void* after, NodeParams& p) {
    return call("cuGraphAddNode_v2", &node, graph, &after, static_cast<const void*>(nullptr),
                size_t{after != nullptr ? 1U : 0U}, &p);
  }
  // The graphs of a new conditional node.
  std::vector<void*> conditional(void* graph, void* after, uint64_t h, ConditionalType type, uint32_t size) {
    NodeParams p{};
    p.type = static_cast<int>(NodeType::conditional);
    p.of.conditional = {h, type, size, nullptr, nullptr};
    EXPECT_EQ(try_add(node_, graph, after, p), success);
    return std::vector<void*>(p.of.conditional.graphs, p.of.conditional.graphs + size);
  }
  Status refused(void* graph, uint64_t h, ConditionalType type, uint32_t size) {
    NodeParams p{};
    p.type = static_cast<int>(NodeType::conditional);
    p.of.conditional = {h, type, size, nullptr, nullptr};
    return try_add(node_, graph, nullptr, p);
  }
  template <class A, class B>
  void* launches(void* graph, void* after, void* function, A a, B b) {
    void* params[] = {&a, &b};
    NodeParams p{};
    p.of.kernel.function = function;
    for (int i = 0; i < 3; ++i) p.of.kernel.grid[i] = p.of.kernel.block[i] = 1;
    p.of.kernel.params = params;
    void* node = nullptr;
    EXPECT_EQ(try_add(node, graph, after, p), success);
    return node;
  }
  void* adds(void* graph, uint32_t value, void* after = nullptr) {
    return launches(graph, after, add_, p_, value);
  }
  void* sets(void* graph, uint64_t h, uint32_t value, void* after = nullptr) {
    return launches(graph, after, set_, h, value);
  }
  // The caller destroys it.
  void* new_exec(void* graph) {
    void* exec = nullptr;
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
    return exec;
  }
  void* instantiated(void* graph) { return owned(new_exec(graph), "cuGraphExecDestroy"); }
  void store(uint32_t value) {
    EXPECT_EQ(call("cuMemcpyHtoD_v2", p_, static_cast<const void*>(&value), size_t{4}), success);
  }
  uint32_t launched(void* exec) {
    uint32_t value = 0;
    EXPECT_EQ(call("cuGraphLaunch", exec, static_cast<void*>(nullptr)), success);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p_, size_t{4}), success);
    return value;
  }
  // What a launch adds to a zero when a kernel sets the condition to `value` before the node. Body i adds
  // 10^i.
  uint32_t with_value(ConditionalType type, uint32_t size, uint32_t value) {
    void* const graph = new_graph();
    const uint64_t h = handle(graph);
    uint32_t step = 1;
    for (void* const body : conditional(graph, sets(graph, h, value), h, type, size)) {
      adds(body, step);
      step *= 10;
    }
    store(0);
    return launched(instantiated(graph));
  }
  void *add_ = nullptr, *set_ = nullptr, *take_one_ = nullptr, *graph_ = nullptr, *node_ = nullptr;
  Pointer p_ = 0;
};

TEST_F(Conditional, an_if_node_runs_its_body_or_the_other) {
  EXPECT_EQ(with_value(ConditionalType::when, 1, 0), 0U);
  EXPECT_EQ(with_value(ConditionalType::when, 1, 1), 1U);
  EXPECT_EQ(with_value(ConditionalType::when, 2, 7), 1U);
  EXPECT_EQ(with_value(ConditionalType::when, 2, 0), 10U);
}

TEST_F(Conditional, a_switch_node_runs_the_body_that_the_value_names) {
  EXPECT_EQ(with_value(ConditionalType::choice, 3, 0), 1U);
  EXPECT_EQ(with_value(ConditionalType::choice, 3, 1), 10U);
  EXPECT_EQ(with_value(ConditionalType::choice, 3, 2), 100U);
  EXPECT_EQ(with_value(ConditionalType::choice, 3, 3), 0U) << "no body has this number";
}

TEST_F(Conditional, a_while_node_runs_until_a_kernel_of_its_body_ends_it) {
  const uint64_t h = handle(graph_, 1, assign_default);
  void* const body = conditional(graph_, nullptr, h, ConditionalType::loop, 1)[0];
  void* const after = node_;
  Pointer counter = memory(4);
  launches(body, adds(body, 100), take_one_, counter, h);
  adds(graph_, 1, after);
  void* const exec = instantiated(graph_);
  store(0);
  for (const uint32_t rounds : {1U, 10U}) {
    EXPECT_EQ(call("cuMemcpyHtoD_v2", counter, static_cast<const void*>(&rounds), size_t{4}), success);
    EXPECT_EQ(launched(exec) % 1000, rounds == 1 ? 101U : 102U);
  }
}

TEST_F(Conditional, the_default_is_assigned_at_each_launch_where_that_was_asked_for) {
  for (const unsigned flags : {no_default, assign_default}) {
    void* const graph = new_graph();
    const uint64_t h = handle(graph, 1, flags);
    void* const first = sets(graph, h, 1);
    adds(conditional(graph, first, h, ConditionalType::when, 1)[0], 1);
    sets(graph, h, 0, node_);
    EXPECT_EQ(call("cuGraphDestroyNode", first), success);
    void* const exec = instantiated(graph);
    store(0);
    launched(exec);
    const uint32_t once = launched(exec);
    EXPECT_EQ(launched(exec) - once, flags == assign_default ? 1U : 0U) << "the last launch has set 0";
  }
}

TEST_F(Conditional, bodies_have_conditional_nodes_and_children) {
  const uint64_t rounds = handle(graph_, 1, assign_default), odd = handle(graph_);
  void* const body = conditional(graph_, nullptr, rounds, ConditionalType::loop, 1)[0];
  Pointer counter = memory(4);
  const uint32_t three = 3;
  EXPECT_EQ(call("cuMemcpyHtoD_v2", counter, static_cast<const void*>(&three), size_t{4}), success);
  void* const take = launches(body, nullptr, take_one_, counter, rounds);
  adds(conditional(body, sets(body, odd, 1, take), odd, ConditionalType::when, 1)[0], 10);
  void* const child = new_graph();
  adds(child, 100);
  void *node = nullptr, *after = node_;
  ASSERT_EQ(call("cuGraphAddChildGraphNode", &node, body, &after, size_t{1}, child), success);
  store(0);
  EXPECT_EQ(launched(instantiated(graph_)), 330U);
}

TEST_F(Conditional, a_capture_has_the_node_in_its_middle_and_fills_the_body) {
  void *stream = nullptr, *graph = nullptr, *captured = nullptr;
  void** nodes = nullptr;
  uint64_t id = 0, second = 0;
  size_t count = 0;
  int status = 0;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), success);
  owned(stream, "cuStreamDestroy_v2");
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), success);
  ASSERT_EQ(call("cuStreamGetCaptureInfo_v2", stream, &status, &id, &graph, &nodes, &count), success);
  EXPECT_EQ(count, 0U);
  uint64_t h = handle(graph);
  uint32_t one = 1;
  void* set_params[] = {&h, &one};
  EXPECT_EQ(launch(set_, 1, 1, set_params, stream), success);
  ASSERT_EQ(call("cuStreamGetCaptureInfo_v3", stream, &status, &second, &graph, &nodes,
                 static_cast<const void**>(nullptr), &count),
            success);
  EXPECT_EQ(second, id);
  ASSERT_EQ(count, 1U);
  void* const body = conditional(graph, nodes[0], h, ConditionalType::when, 1)[0];
  EXPECT_EQ(call("cuStreamUpdateCaptureDependencies", stream, &node_, size_t{1}, 1U), success);
  void* add_params[] = {&p_, &one};
  EXPECT_EQ(launch(add_, 1, 1, add_params, stream), success);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &captured), success);
  owned(captured, "cuGraphDestroy");
  EXPECT_EQ(captured, graph);

  ASSERT_EQ(call("cuStreamBeginCaptureToGraph", stream, body, static_cast<void**>(nullptr),
                 static_cast<const void*>(nullptr), size_t{0}, 0),
            success);
  void* exec = nullptr;
  EXPECT_NE(call("cuGraphInstantiateWithFlags", &exec, body, uint64_t{0}), success);
  uint32_t ten = 10;
  add_params[1] = &ten;
  EXPECT_EQ(launch(add_, 1, 1, add_params, stream), success);
  ASSERT_EQ(call("cuStreamEndCapture", stream, static_cast<void**>(nullptr)), success);
  store(0);
  EXPECT_EQ(launched(instantiated(captured)), 11U);
}

TEST_F(Conditional, what_the_manual_does_not_allow_is_refused) {
  const uint64_t h = handle(graph_);
  void* other = new_graph();
  EXPECT_EQ(refused(graph_, h, ConditionalType::when, 3), invalid_value);
  EXPECT_EQ(refused(graph_, h, ConditionalType::loop, 2), invalid_value);
  EXPECT_EQ(refused(graph_, h, ConditionalType::choice, 0), invalid_value);
  EXPECT_EQ(refused(other, h, ConditionalType::when, 1), invalid_value) << "of another graph";
  EXPECT_EQ(refused(graph_, h + 4, ConditionalType::when, 1), invalid_value) << "of none";
  InstantiateParams unused{};
  void *exec = nullptr, *clone = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithParams", &exec, graph_, &unused), invalid_value);
  EXPECT_EQ(unused.result, 5) << "the handle has no node";

  void* const body = conditional(graph_, nullptr, h, ConditionalType::when, 1)[0];
  EXPECT_EQ(refused(graph_, h, ConditionalType::when, 1), invalid_value) << "a handle has one node";
  EXPECT_EQ(call("cuGraphDestroy", body), invalid_value) << "it belongs to its node";
  EXPECT_EQ(call("cuGraphClone", &clone, graph_), not_supported);
  EXPECT_EQ(call("cuGraphAddChildGraphNode", &node_, other, static_cast<void**>(nullptr), size_t{0}, graph_),
            not_supported);
  exec = new_exec(graph_);
  void* second = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &second, graph_, uint64_t{0}), not_supported);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), success);
  EXPECT_EQ(call("cuGraphExecDestroy", new_exec(graph_)), success);

  const HostNode nothing{[](void*) {}, nullptr};
  void* host = nullptr;
  if (call("cuGraphAddHostNode", &host, body, static_cast<void**>(nullptr), size_t{0}, &nothing) == success) {
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &second, graph_, uint64_t{0}), invalid_value)
        << "a body has no nodes of the host";
  }
}

TEST_F(Conditional, an_update_takes_the_conditions_and_bodies_of_another_graph) {
  const auto make = [&](void* graph, unsigned value, uint32_t step, ConditionalType type) {
    const uint64_t h = handle(graph, value, assign_default);
    adds(conditional(graph, nullptr, h, type, 1)[0], step);
    return graph;
  };
  void* const exec = instantiated(make(graph_, 1, 5, ConditionalType::when));
  store(0);
  EXPECT_EQ(launched(exec), 5U);
  UpdateResult result{};
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, make(new_graph(), 1, 7, ConditionalType::when), &result),
            success);
  EXPECT_EQ(launched(exec), 12U);
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, make(new_graph(), 0, 7, ConditionalType::when), &result),
            success);
  EXPECT_EQ(launched(exec), 12U) << "the default is 0 now";
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, make(new_graph(), 1, 7, ConditionalType::choice), &result),
            graph_exec_update_failure);
  EXPECT_EQ(result.result, 5) << "parameters";
  void* const longer = make(new_graph(), 1, 7, ConditionalType::when);
  void* const body = conditional(longer, nullptr, handle(longer), ConditionalType::when, 1)[0];
  EXPECT_NE(body, nullptr);
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, longer, &result), graph_exec_update_failure);
  EXPECT_EQ(result.result, 2) << "topology";
}

TEST_F(Conditional, a_loop_that_nothing_can_end_is_told) {
  conditional(graph_, nullptr, handle(graph_, 1, assign_default), ConditionalType::loop, 1);
  void* const exec = instantiated(graph_);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cuGraphLaunch", exec, static_cast<void*>(nullptr)), launch_timeout);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a WHILE node of a graph does not end"),
            std::string::npos);
}

TEST_F(Conditional, a_kernel_that_sets_what_is_no_condition_fails) {
  uint64_t h = p_;
  uint32_t value = 1;
  void* params[] = {&h, &value};
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(set_, 1, 1, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), launch_failed);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("PLD3017"), std::string::npos);
}

}  // namespace
