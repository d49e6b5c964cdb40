// Arguments that are wrong: sizes that overflow, handles that are none, or no longer, calls without a
// context. Each call answers, and touches nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

class Arguments : public Driver {
 protected:
  static constexpr size_t bytes = 256, all = ~size_t{0};
  static void* no_handle() { return reinterpret_cast<void*>(uintptr_t{0x1234'5678}); }
  // The handle of one that was destroyed.
  void* gone(const char* create, const char* destroy) {
    void* object = nullptr;
    EXPECT_EQ(call(create, &object, 0U), success) << create;
    EXPECT_EQ(call(destroy, object), success) << destroy;
    return object;
  }
  std::vector<uint8_t> contents(Pointer p) {
    std::vector<uint8_t> out(bytes);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, bytes), success);
    return out;
  }
};

TEST_F(Arguments, AFillThatLeavesItsMemoryWritesNothing) {
  const Pointer p = memory(bytes), next = memory(bytes);
  const std::vector<uint8_t> before = contents(p), after = contents(next);
  const unsigned char byte = 7;
  for (const size_t n : {all, all - p, all - 15, bytes + 1, size_t{1} << 63})
    EXPECT_EQ(call("cuMemsetD8_v2", p, byte, n), invalid_value) << n;
  for (const size_t words : {all / 4 + 1, all, size_t{1} << 62})
    EXPECT_EQ(call("cuMemsetD32_v2", p, 7U, words), invalid_value) << words;
  EXPECT_EQ(call("cuMemsetD2D8_v2", p, size_t{16}, byte, size_t{16}, size_t{17}), invalid_value);
  EXPECT_EQ(call("cuMemsetD2D8_v2", p, all / 2 + 1, byte, size_t{1}, size_t{3}), invalid_value);
  EXPECT_EQ(call("cuMemsetD2D32_v2", p, size_t{16}, 7U, all / 4 + 1, size_t{1}), invalid_value);
  EXPECT_EQ(call("cuMemsetD2D8_v2", p, size_t{16}, byte, size_t{0}, all), success);  // of nothing
  EXPECT_EQ(contents(p), before);
  EXPECT_EQ(contents(next), after);
}

TEST_F(Arguments, ACopyOfNothingNeedsNoMemory) {
  const Pointer none = 0, unknown = 0x1234;
  char here[1] = {};
  void* const stream = nullptr;
  for (const Pointer p : {none, unknown}) {
    EXPECT_EQ(call("cuMemcpyHtoD_v2", p, static_cast<const void*>(here), size_t{0}), success);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(here), p, size_t{0}), success);
    EXPECT_EQ(call("cuMemcpyDtoD_v2", p, p, size_t{0}), success);
    EXPECT_EQ(call("cuMemcpyHtoDAsync_v2", p, static_cast<const void*>(here), size_t{0}, stream), success);
    EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(here), p, size_t{0}, stream), success);
    EXPECT_EQ(call("cuMemcpyDtoDAsync_v2", p, p, size_t{0}, stream), success);
  }
}

TEST_F(Arguments, ACopyThatLeavesItsMemoryWritesNothing) {
  const Pointer p = memory(bytes), q = memory(bytes);
  const std::vector<uint8_t> before = contents(q);
  std::vector<uint8_t> host(bytes, 1);
  for (const size_t n : {all, all - p, bytes + 1}) {
    EXPECT_EQ(call("cuMemcpyDtoD_v2", q, p, n), invalid_value);
    EXPECT_EQ(call("cuMemcpyHtoD_v2", q, static_cast<const void*>(host.data()), n), invalid_value);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(host.data()), q, n), invalid_value);
  }
  Memcpy3D c{};
  c.src_type = c.dst_type = memory_device;
  c.src_device = p, c.dst_device = q;
  c.width = 16, c.height = 17, c.depth = 1, c.src_pitch = c.dst_pitch = 16;
  EXPECT_EQ(call("cuMemcpy3D_v2", &c), invalid_value) << "the last row lies outside";
  c.height = 2, c.src_pitch = all / 2 + 1;
  EXPECT_EQ(call("cuMemcpy3D_v2", &c), invalid_value);
  c.src_pitch = 16, c.src_y = all / 16 + 1;
  EXPECT_EQ(call("cuMemcpy3D_v2", &c), invalid_value) << "the offset is 0 again";
  c.src_y = 0, c.dst_x = all - 15;
  EXPECT_EQ(call("cuMemcpy3D_v2", &c), invalid_value);
  EXPECT_EQ(contents(q), before);
}

TEST_F(Arguments, WhatNoDeviceHasIsNotAllocated) {
  Pointer p = 0;
  size_t pitch = 0;
  const size_t huge = size_t{1} << 40;
  EXPECT_EQ(call("cuMemAllocPitch_v2", &p, &pitch, huge, huge, 16U), out_of_memory);
  EXPECT_EQ(call("cuMemAllocPitch_v2", &p, &pitch, all, size_t{1}, 16U), out_of_memory);
  EXPECT_EQ(call("cuMemAllocPitch_v2", &p, &pitch, size_t{16}, size_t{0}, 16U), invalid_value);
  for (const size_t n : {all, all - 4095, huge, size_t{1} << 63}) {
    EXPECT_EQ(call("cuMemAlloc_v2", &p, n), out_of_memory) << n;
    EXPECT_EQ(call("cuMemAllocManaged", &p, n, 1U), out_of_memory) << n;
    EXPECT_EQ(call("cuMemAllocAsync", &p, n, static_cast<void*>(nullptr)), out_of_memory) << n;
  }
  const size_t whole = size_t{1} << 62;
  EXPECT_EQ(call("cuMemAddressReserve", &p, whole, size_t{0}, Pointer{0}, uint64_t{0}), out_of_memory);
  EXPECT_EQ(call("cuMemAddressReserve", &p, size_t{2} << 20, size_t{1} << 63, Pointer{0}, uint64_t{0}),
            out_of_memory);
  EXPECT_EQ(p, 0U);
  EXPECT_NE(memory(bytes), 0U) << "and no address is lost";
}

TEST_F(Arguments, HostMemoryThatIsNoneIsNotRegistered) {
  for (const uintptr_t at : {uintptr_t{8}, uintptr_t{4096}, ~uintptr_t{0} - 4095})
    EXPECT_EQ(call("cuMemHostRegister_v2", reinterpret_cast<void*>(at), size_t{4096}, 0U), invalid_value);
  std::vector<uint8_t> mine(bytes);
  EXPECT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(mine.data()), all, 0U), invalid_value);
  EXPECT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(mine.data()), bytes, 0U), success);
  EXPECT_EQ(call("cuMemHostUnregister", static_cast<void*>(mine.data())), success);
}

TEST_F(Arguments, StreamsThatAreNoneAreRefused) {
  const Pointer p = memory(bytes);
  void* event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0U), success);
  for (void* const s : {no_handle(), gone("cuStreamCreate", "cuStreamDestroy_v2"), event}) {
    unsigned flags = 0;
    int number = 0;
    EXPECT_EQ(call("cuStreamSynchronize", s), invalid_handle);
    EXPECT_EQ(call("cuStreamQuery", s), invalid_handle);
    EXPECT_EQ(call("cuStreamDestroy_v2", s), invalid_handle);
    EXPECT_EQ(call("cuStreamGetFlags", s, &flags), invalid_handle);
    EXPECT_EQ(call("cuStreamGetPriority", s, &number), invalid_handle);
    EXPECT_EQ(call("cuStreamWaitEvent", s, event, 0U), invalid_handle);
    EXPECT_EQ(call("cuStreamBeginCapture_v2", s, 0), invalid_handle);
    EXPECT_EQ(call("cuStreamIsCapturing", s, &number), invalid_handle);
    EXPECT_EQ(call("cuEventRecord", event, s), invalid_handle);
    EXPECT_EQ(call("cuMemsetD32Async", p, 7U, size_t{1}, s), invalid_handle);
    EXPECT_EQ(call("cuMemFreeAsync", p, s), invalid_handle);
  }
  EXPECT_EQ(call("cuEventDestroy_v2", event), success);
}

TEST_F(Arguments, EventsGraphsAndFunctionsThatAreNoneAreRefused) {
  void* none = nullptr;
  for (void* const e : {no_handle(), gone("cuEventCreate", "cuEventDestroy_v2")}) {
    EXPECT_EQ(call("cuEventRecord", e, none), invalid_handle);
    EXPECT_EQ(call("cuEventQuery", e), invalid_handle);
    EXPECT_EQ(call("cuEventSynchronize", e), invalid_handle);
    EXPECT_EQ(call("cuEventDestroy_v2", e), invalid_handle);
    EXPECT_EQ(call("cuStreamWaitEvent", none, e, 0U), invalid_handle);
  }
  for (void* const g : {no_handle(), gone("cuGraphCreate", "cuGraphDestroy")}) {
    void *made = nullptr, *after = nullptr;
    size_t count = 0;
    EXPECT_EQ(call("cuGraphDestroy", g), invalid_value);
    EXPECT_EQ(call("cuGraphClone", &made, g), invalid_value);
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &made, g, uint64_t{0}), invalid_value);
    EXPECT_EQ(call("cuGraphLaunch", g, none), invalid_value);
    EXPECT_EQ(call("cuGraphExecDestroy", g), invalid_value);
    EXPECT_EQ(call("cuGraphGetNodes", g, &after, &count), invalid_value);
    EXPECT_EQ(call("cuGraphAddEmptyNode", &made, g, &after, size_t{0}), invalid_value);
  }
  int value = 0;
  EXPECT_EQ(launch(no_handle(), 1, 1, nullptr), invalid_handle);
  EXPECT_EQ(call("cuFuncGetAttribute", &value, 0, no_handle()), invalid_handle);
  EXPECT_EQ(call("cuModuleUnload", no_handle()), invalid_handle);
  EXPECT_EQ(call("cuGraphNodeGetType", no_handle(), &value), invalid_value);
}

TEST_F(Arguments, AnAnswerWithoutAPlaceIsRefused) {
  void *graph = nullptr, *event = nullptr, *node = nullptr;
  void** const nowhere = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  ASSERT_EQ(call("cuEventCreate", &event, 0U), success);
  ASSERT_EQ(call("cuGraphAddEventRecordNode", &node, graph, nowhere, size_t{0}, event), success);
  EXPECT_EQ(call("cuGraphEventRecordNodeGetEvent", node, nowhere), invalid_value);
  ASSERT_EQ(call("cuGraphAddEventWaitNode", &node, graph, nowhere, size_t{0}, event), success);
  EXPECT_EQ(call("cuGraphEventWaitNodeGetEvent", node, nowhere), invalid_value);
  EXPECT_EQ(call("cuGraphChildGraphNodeGetGraph", node, nowhere), invalid_value);
  const HostNode nothing{}, something{[](void*) {}, nullptr};
  EXPECT_EQ(call("cuGraphAddHostNode", &node, graph, nowhere, size_t{0}, &nothing), invalid_value);
  ASSERT_EQ(call("cuGraphAddHostNode", &node, graph, nowhere, size_t{0}, &something), success);
  EXPECT_EQ(call("cuGraphHostNodeSetParams", node, &nothing), invalid_value);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
}

TEST_F(Arguments, AnInnerGraphIsNotTheProgramsToDestroy) {
  void *graph = nullptr, *child = nullptr, *node = nullptr, *inner = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  ASSERT_EQ(call("cuGraphCreate", &child, 0U), success);
  ASSERT_EQ(call("cuGraphAddChildGraphNode", &node, graph, static_cast<void**>(nullptr), size_t{0}, child),
            success);
  ASSERT_EQ(call("cuGraphChildGraphNodeGetGraph", node, &inner), success);
  EXPECT_EQ(call("cuGraphDestroy", inner), invalid_value);
  EXPECT_EQ(call("cuGraphDestroy", child), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
}

TEST_F(Arguments, CallsWithoutAContextAreRefused) {
  const Pointer p = memory(bytes);
  void *stream = nullptr, *event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0U), success);
  ASSERT_EQ(call("cuCtxSetCurrent", static_cast<void*>(nullptr)), success);
  Pointer q = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &q, bytes), invalid_context);
  EXPECT_EQ(call("cuMemFree_v2", p), invalid_context);
  EXPECT_EQ(call("cuMemsetD32_v2", p, 7U, size_t{1}), invalid_context);
  EXPECT_EQ(call("cuMemcpyDtoD_v2", p, p, size_t{4}), invalid_context);
  EXPECT_EQ(call("cuStreamCreate", &stream, 0U), invalid_context);
  EXPECT_EQ(call("cuStreamSynchronize", stream), invalid_context);
  EXPECT_EQ(call("cuEventRecord", event, stream), invalid_context);
  EXPECT_EQ(call("cuCtxSynchronize"), invalid_context);
  EXPECT_EQ(call("cuModuleLoadData", &stream, static_cast<const void*>(head.c_str())), invalid_context);
  use_context();
  EXPECT_EQ(call("cuMemFree_v2", p), success);
}

// The whole takes a second; one whose time grows with the square of their number would take minutes.
TEST_F(Arguments, AllocationsAreFreedInAnyOrder) {
  constexpr size_t n = 200'000;
  std::vector<Pointer> p(n);
  const auto make = [&](size_t i) { ASSERT_EQ(call("cuMemAlloc_v2", &p[i], size_t{16}), success); };
  const auto free = [&](size_t i) { ASSERT_EQ(call("cuMemFree_v2", p[i]), success); };
  for (size_t i = 0; i < n; ++i) make(i);
  for (size_t i = 0; i < n; i += 2) free(i);
  for (size_t i = 0; i < n; i += 2) make(i);  // there is still room
  for (size_t i = 0; i < n; ++i) free(i);     // the oldest first
  EXPECT_EQ(call("cuMemFree_v2", p.front()), invalid_value);
}

TEST_F(Arguments, AHundredThousandAllocationsLive) {
  constexpr size_t n = 100'000;
  std::vector<Pointer> all_of_them(n);
  for (Pointer& p : all_of_them) ASSERT_EQ(call("cuMemAlloc_v2", &p, size_t{16}), success);
  EXPECT_EQ(call("cuMemsetD32_v2", all_of_them.back(), 7U, size_t{4}), success);
  EXPECT_EQ(call("cuMemsetD32_v2", all_of_them.back(), 7U, size_t{5}), invalid_value);
  for (; !all_of_them.empty(); all_of_them.pop_back())
    ASSERT_EQ(call("cuMemFree_v2", all_of_them.back()), success);
}

}  // namespace
