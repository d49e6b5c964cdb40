// Graphs through the driver API: nodes asked and changed, updates of instantiated graphs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

constexpr const char* add_value = R"(
.version 8.7
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 v) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [v];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
})";

class Graphs : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped()) return;
    function_ = kernel(add_value, "add");
    p_ = memory(64);
    graph_ = created();
  }
  void* created() {
    void* graph = nullptr;
    EXPECT_EQ(call("cuGraphCreate", &graph, 0U), success);
    return owned(graph, "cuGraphDestroy");
  }
  KernelNode adds(uint32_t* value) {
    arguments_[0] = &p_;
    arguments_[1] = value;
    return {.function = function_,
            .grid = {1, 1, 1},
            .block = {1, 1, 1},
            .shared_bytes = 0,
            .params = arguments_,
            .extra = nullptr,
            .kernel = nullptr,
            .context = nullptr};
  }
  MemsetNode sets(uint32_t value) {
    return {.dst = p_, .pitch = 0, .value = value, .element_bytes = 4, .width = 1, .height = 1};
  }
  void* memset_node(void* graph, uint32_t value) {
    void* node = nullptr;
    const MemsetNode m = sets(value);
    EXPECT_EQ(call("cuGraphAddMemsetNode", &node, graph, static_cast<void**>(nullptr), size_t{0}, &m,
                   static_cast<void*>(nullptr)),
              success);
    return node;
  }
  void* kernel_node(void* graph, void* after, uint32_t value) {
    void* node = nullptr;
    const KernelNode k = adds(&value);
    EXPECT_EQ(call("cuGraphAddKernelNode_v2", &node, graph, &after, size_t{1}, &k), success);
    return node;
  }
  void* instantiated(void* graph) {
    void* exec = nullptr;
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
    return owned(exec, "cuGraphExecDestroy");
  }
  uint32_t result_of(void* exec) {
    uint32_t value = 0;
    EXPECT_EQ(call("cuGraphLaunch", exec, static_cast<void*>(nullptr)), success);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p_, size_t{4}), success);
    return value;
  }
  void *function_ = nullptr, *graph_ = nullptr;
  Pointer p_ = 0;
  void* arguments_[2] = {};
};

TEST_F(Graphs, nodes_of_an_instantiated_graph_are_changed_by_those_it_was_made_of) {
  void* const set = memset_node(graph_, 10);
  void* const add = kernel_node(graph_, set, 5);
  void* const exec = instantiated(graph_);
  EXPECT_EQ(result_of(exec), 15U);

  uint32_t seven = 7;
  const KernelNode k = adds(&seven);
  EXPECT_EQ(call("cuGraphExecKernelNodeSetParams_v2", exec, add, &k), success);
  const MemsetNode m = sets(20);
  EXPECT_EQ(call("cuGraphExecMemsetNodeSetParams", exec, set, &m, static_cast<void*>(nullptr)), success);
  EXPECT_EQ(result_of(exec), 27U);
  EXPECT_EQ(call("cuGraphExecMemsetNodeSetParams", exec, add, &m, static_cast<void*>(nullptr)), invalid_value)
      << "a kernel's node";
  EXPECT_EQ(call("cuGraphNodeSetEnabled", exec, add, 0U), success);
  EXPECT_EQ(result_of(exec), 20U);

  KernelNode asked{};
  EXPECT_EQ(call("cuGraphKernelNodeGetParams_v2", add, &asked), success);
  EXPECT_EQ(asked.function, function_);
  EXPECT_EQ(*static_cast<uint32_t*>(asked.params[1]), 5U) << "the graph is as it was";
}

TEST_F(Graphs, an_update_takes_parameters_and_refuses_another_shape) {
  void* const exec = instantiated(graph_);
  void *const other = created(), *const longer = created();
  void* const first = memset_node(graph_, 1);
  void* const add = kernel_node(graph_, first, 2);
  kernel_node(other, memset_node(other, 30), 4);
  kernel_node(longer, kernel_node(longer, memset_node(longer, 1), 1), 1);
  UpdateResult result{};
  EXPECT_EQ(call("cuGraphExecUpdate_v2", exec, other, &result), graph_exec_update_failure);
  EXPECT_EQ(result.result, 2) << "the topology: the first was instantiated empty";

  void* const full = instantiated(graph_);
  EXPECT_EQ(call("cuGraphExecUpdate_v2", full, other, &result), success);
  EXPECT_EQ(result.result, 0);
  EXPECT_EQ(result_of(full), 34U);
  EXPECT_EQ(call("cuGraphExecUpdate_v2", full, longer, &result), graph_exec_update_failure);
  uint32_t nine = 9;
  const KernelNode k = adds(&nine);
  EXPECT_EQ(call("cuGraphExecKernelNodeSetParams_v2", full, add, &k), success)
      << "still known by its first graph";
  EXPECT_EQ(result_of(full), 39U);
}

TEST_F(Graphs, nodes_and_edges_are_told) {
  void* const a = memset_node(graph_, 1);
  void* const b = kernel_node(graph_, a, 2);
  size_t count = 0;
  EXPECT_EQ(call("cuGraphGetEdges_v2", graph_, static_cast<void**>(nullptr), static_cast<void**>(nullptr),
                 static_cast<void*>(nullptr), &count),
            success);
  ASSERT_EQ(count, 1U);
  void *from = nullptr, *to = nullptr;
  EXPECT_EQ(call("cuGraphGetEdges_v2", graph_, &from, &to, static_cast<void*>(nullptr), &count), success);
  EXPECT_EQ(from, a);
  EXPECT_EQ(to, b);
  EXPECT_EQ(call("cuGraphDestroyNode", a), success);
  EXPECT_EQ(call("cuGraphNodeGetDependencies_v2", b, static_cast<void**>(nullptr),
                 static_cast<void*>(nullptr), &count),
            success);
  EXPECT_EQ(count, 0U);
}

TEST_F(Graphs, a_graph_launched_in_a_captured_stream_is_a_child) {
  memset_node(graph_, 3);
  void *stream = nullptr, *captured = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), success);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), success);
  EXPECT_EQ(call("cuGraphLaunch", instantiated(graph_), stream), success);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &captured), success);
  owned(captured, "cuGraphDestroy");
  EXPECT_EQ(result_of(instantiated(captured)), 3U);
  EXPECT_EQ(call("cuStreamDestroy_v2", stream), success);
}

TEST_F(Graphs, an_object_of_the_program_is_destroyed_with_the_last_graph_that_holds_it) {
  static int destroyed = 0;
  void *object = nullptr, *graph = nullptr, *clone = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  const HostFn count = [](void* p) { ++*static_cast<int*>(p); };
  ASSERT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), count, 1U, 1U), success);
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 1U, 1U), success);
  ASSERT_EQ(call("cuGraphClone", &clone, graph), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(call("cuGraphDestroy", clone), success);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, the_references_of_a_graph_are_not_the_programs_to_release) {
  static int destroyed = 0;
  void *object = nullptr, *graph = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  const HostFn count = [](void* p) { ++*static_cast<int*>(p); };
  ASSERT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), count, 2U, 1U), success);
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 3U, 8U), invalid_value) << "no such flag";
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 3U, 1U), invalid_value) << "it has two to give";
  EXPECT_EQ(call("cuUserObjectRetain", object, 0U), invalid_value);
  EXPECT_EQ(call("cuUserObjectRetain", object, 0x8000'0000U), invalid_value) << "at most INT_MAX";
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 3U, 0U), success);
  EXPECT_EQ(call("cuUserObjectRelease", object, 3U), invalid_value) << "of five, two are the program's";
  EXPECT_EQ(call("cuUserObjectRelease", object, 2U), success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(call("cuUserObjectRelease", object, 1U), invalid_value);
  EXPECT_EQ(call("cuGraphReleaseUserObject", graph, object, 2U), success);
  void* clone = nullptr;
  ASSERT_EQ(call("cuGraphClone", &clone, graph), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(call("cuGraphDestroy", clone), success);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, a_graph_that_is_gone_is_not_taken_for_the_copy_that_has_its_address) {
  void *gone = nullptr, *node = nullptr;
  memset_node(graph_, 1);
  const auto child = [&](void* into) {
    return call("cuGraphAddChildGraphNode", &node, into, static_cast<void**>(nullptr), size_t{0}, graph_);
  };
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(call("cuGraphCreate", &gone, 0U), success);
    ASSERT_EQ(call("cuGraphDestroy", gone), success);
    ASSERT_EQ(child(gone), invalid_value);
    NodeParams p{};
    p.type = 4;  // CU_GRAPH_NODE_TYPE_GRAPH
    p.of.graph = graph_;
    ASSERT_EQ(call("cuGraphAddNode", &node, gone, static_cast<void**>(nullptr), size_t{0}, &p),
              invalid_value);
    ASSERT_EQ(child(graph_), success);
    ASSERT_EQ(call("cuGraphDestroyNode", node), success);
  }
  ASSERT_EQ(child(graph_), success);
  void *const outer = node, *exec = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph_, uint64_t{0}), success);
  ASSERT_EQ(call("cuGraphExecDestroy", exec), success);
  EXPECT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, outer, graph_), invalid_value);
}

TEST_F(Graphs, graphs_nest_so_deeply_and_no_deeper) {
  void *node = nullptr, *inner = graph_, *clone = nullptr;
  void* const leaf = created();
  memset_node(leaf, 5);
  int levels = 1;
  const auto deeper = [&](void* child) {
    return call("cuGraphAddChildGraphNode", &node, inner, static_cast<void**>(nullptr), size_t{0}, child);
  };
  Status status = success;
  for (; levels < 1000 && (status = deeper(leaf)) == success; ++levels)
    ASSERT_EQ(call("cuGraphChildGraphNodeGetGraph", node, &inner), success);
  EXPECT_EQ(status, not_supported);
  EXPECT_EQ(levels, 64);
  EXPECT_EQ(result_of(instantiated(graph_)), 5U);
  ASSERT_EQ(call("cuGraphClone", &clone, graph_), success);
  owned(clone, "cuGraphDestroy");
  inner = created();
  EXPECT_EQ(deeper(clone), not_supported) << "which would be 65";

  void* stream = nullptr;  // captured into the innermost graph
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), success);
  owned(stream, "cuStreamDestroy_v2");
  inner = clone;
  for (bool is_leaf = false; !is_leaf;) {
    void* nodes[2] = {};
    size_t n = 2;
    ASSERT_EQ(call("cuGraphGetNodes", inner, static_cast<void**>(nodes), &n), success);
    is_leaf = call("cuGraphChildGraphNodeGetGraph", nodes[n - 1], &inner) != success;
  }
  ASSERT_EQ(call("cuStreamBeginCaptureToGraph", stream, inner, static_cast<void**>(nullptr),
                 static_cast<const void*>(nullptr), size_t{0}, 0),
            success);
  EXPECT_EQ(call("cuGraphLaunch", instantiated(leaf), stream), not_supported);
  EXPECT_EQ(call("cuStreamEndCapture", stream, &inner), success);
}

TEST_F(Graphs, a_graph_that_holds_itself_again_and_again_is_too_large_at_last) {
  void *node = nullptr, *clone = nullptr;
  memset_node(graph_, 6);
  Status status = success;
  int times = 0;
  for (; times < 64 && status == success; ++times)
    status = call("cuGraphAddChildGraphNode", &node, graph_, static_cast<void**>(nullptr), size_t{0}, graph_);
  EXPECT_EQ(status, out_of_memory) << times;
  EXPECT_EQ(call("cuGraphClone", &clone, graph_), out_of_memory);
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &clone, graph_, uint64_t{0}), out_of_memory);
}

TEST_F(Graphs, a_capture_ends_with_the_graph_that_it_goes_into) {
  void *outer = nullptr, *node = nullptr, *inner = nullptr, *stream = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &outer, 0U), success);
  ASSERT_EQ(call("cuGraphAddChildGraphNode", &node, outer, static_cast<void**>(nullptr), size_t{0}, graph_),
            success);
  ASSERT_EQ(call("cuGraphChildGraphNodeGetGraph", node, &inner), success);
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), success);
  owned(stream, "cuStreamDestroy_v2");
  ASSERT_EQ(call("cuStreamBeginCaptureToGraph", stream, inner, static_cast<void**>(nullptr),
                 static_cast<const void*>(nullptr), size_t{0}, 0),
            success);
  EXPECT_EQ(call("cuGraphDestroy", outer), success);
  void* const next = created();  // where the inner one was, or not
  EXPECT_EQ(call("cuMemsetD32Async", p_, 7U, size_t{1}, stream), stream_capture_invalidated);
  EXPECT_EQ(call("cuStreamEndCapture", stream, &inner), stream_capture_invalidated);
  size_t count = 1;
  EXPECT_EQ(call("cuGraphGetNodes", next, static_cast<void**>(nullptr), &count), success);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(call("cuMemsetD32Async", p_, 7U, size_t{1}, stream), success) << "the stream goes on";
}

}  // namespace
