// Mistakes of the order of operations: of each program the wrong twin is found, and the right one is clean.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;

struct Subject {
  const char* name;
  const char* code;  // of the wrong twin
  void (*program)(P&);
};

Pointer address(volatile uint32_t* p) { return reinterpret_cast<Pointer>(p); }
uint32_t sink = 0;  // what the host reads

void* captured_graph(P& p, void* s, void (*body)(P&, void*, void*, Pointer, Pointer), Pointer a, Pointer b) {
  void *graph = nullptr, *exec = nullptr, *other = p.stream(), *fork = p.event(), *join = p.event();
  p.call("cuStreamBeginCapture_v2", s, 0);
  p.record(fork, s);
  p.wait(other, fork);
  body(p, s, other, a, b);
  p.record(join, other);
  p.wait(s, join);
  p.call("cuStreamEndCapture", s, &graph);
  p.call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0});
  return exec;
}

void half_columns(P& p, void* s, Pointer to, Pointer from, size_t x, size_t width) {
  Memcpy2D c{};
  c.src_type = c.dst_type = 2;  // device
  c.src_device = from, c.dst_device = to;
  c.src_pitch = c.dst_pitch = 32;
  c.src_x = c.dst_x = x;
  c.width = width, c.height = 8;
  p.call("cuMemcpy2DAsync_v2", static_cast<const Memcpy2D*>(&c), s);
}

const Subject subjects[] = {
    {"AnEventBetweenTwoStreams", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("produce", s, a);
       if (!p.wrong) p.order(t, s);
       p.launch("consume", t, a, b);
       p.see_device(b, 40);
     }},
    {"AnEventRecordedBeforeTheProducer", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream(), *e = p.event();
       const Pointer a = p.memory(), b = p.memory();
       if (p.wrong) p.record(e, s);
       p.launch("produce", s, a);
       if (!p.wrong) p.record(e, s);
       p.wait(t, e);
       p.launch("consume", t, a, b);
     }},
    {"AWaitBeforeTheRecord", "PLD7002",
     [](P& p) {
       void *s = p.stream(), *t = p.stream(), *e = p.event();
       const Pointer a = p.memory(), b = p.memory();
       if (p.wrong) p.wait(t, e);
       p.launch("produce", s, a);
       p.record(e, s);
       if (!p.wrong) p.wait(t, e);
       p.launch("consume", t, a, b);
     }},
    {"AWaitForTheRecordOfTheTurnBefore", "PLD7002",
     [](P& p) {
       void *s = p.stream(), *t = p.stream(), *e = p.event(), *free = p.event();
       const Pointer a = p.memory(), b = p.memory();
       for (int turn = 0; turn < 3; ++turn) {
         p.wait(s, free);  // has no effect in the first turn, and needs none
         if (p.wrong) p.wait(t, e);
         p.launch("produce", s, a);
         p.record(e, s);
         if (!p.wrong) p.wait(t, e);
         p.launch("consume", t, a, b);
         p.record(free, t);
       }
     }},
    {"ABufferIsFilledAgainBeforeItsReaderIsOver", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       for (int turn = 0; turn < 2; ++turn) {
         p.launch("produce", s, a);
         p.order(t, s);
         p.launch("consume", t, a, b);
         if (!p.wrong) p.order(s, t);
       }
     }},
    {"TheHostReadsPinnedMemoryBehindACopy", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned();
       p.launch("produce", s, a);
       p.to_host(h, a, s);
       if (!p.wrong) p.synchronize(s);
       sink = h[20];
     }},
    {"TheHostWaitsForTheWrongStream", "PLD7003",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned();
       p.to_host(h, a, s);
       p.synchronize(p.wrong ? t : s);
       sink = h[0];
     }},
    {"TheHostWaitsForAnEventInFrontOfTheCopy", "PLD7003",
     [](P& p) {
       void *s = p.stream(), *e = p.event();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned();
       if (p.wrong) p.record(e, s);
       p.to_host(h, a, s);
       if (!p.wrong) p.record(e, s);
       p.call("cuEventSynchronize", e);
       sink = h[63];
     }},
    {"TheHostAsksWhetherTheCopyIsOver", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned();
       p.to_host(h, a, s);
       while (!p.wrong && p.ask("cuStreamQuery", s) == not_ready) {
       }
       sink = h[1];
     }},
    {"TheHostOverwritesTheSourceOfACopy", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned();
       h[5] = 1;
       p.to_device(a, h, s);
       sink = h[5];  // may be read
       if (!p.wrong) p.synchronize(s);
       h[5] = 2;
     }},
    {"TheHostUsesTheOtherHalf", "PLD7003",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory();
       volatile uint32_t* const h = p.pinned(2 * P::bytes);
       p.to_host(h, a, s);
       p.to_host(h + 64, a, t);
       p.synchronize(s);
       for (int i = 0; i < 64; ++i) sink += h[i];
       sink = h[p.wrong ? 64 : 63];
     }},
    {"TheHostReadsManagedMemoryBehindAKernel", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       volatile uint32_t* const m = p.managed();
       p.launch("produce", s, address(m));
       if (!p.wrong) p.synchronize();
       p.see(m[20], 20);
     }},
    {"TheHostWritesManagedMemoryThatAKernelReads", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       const Pointer b = p.memory();
       volatile uint32_t* const m = p.managed();
       m[0] = 1;
       p.launch("consume", s, address(m), b);
       if (!p.wrong) p.synchronize(s);
       m[0] = 2;
     }},
    {"AHostFunctionReadsWhatACopyWrote", "PLD7003",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory();
       static volatile uint32_t* h = nullptr;
       h = p.pinned();
       p.to_host(h, a, s);
       void (*const f)(void*) = [](void*) { sink = h[20]; };
       p.call("cuLaunchHostFunc", p.wrong ? t : s, f, static_cast<void*>(nullptr));
     }},
    {"ThePinnedSideOfACopyIsInFlight", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       volatile uint32_t* const h = p.pinned();
       p.to_host(h, a, s);
       if (!p.wrong) p.order(t, s);
       p.to_device(b, h, t);
     }},
    {"APageableDestinationIsWrittenWhenTheCallReturns", "PLD7003",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory();
       uint32_t mine[64];
       volatile uint32_t* const h = p.wrong ? p.pinned() : mine;
       p.launch("produce", s, a);
       p.to_host(h, a, s);
       p.see(h[20], 20);
     }},
    {"TwoCopiesToOnePlace", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory(), c = p.memory();
       p.copy(a, b, s);
       p.copy(p.wrong ? a : c, b, t);
     }},
    {"AFillAndAKernel", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory();
       p.fill(a, 7, s);
       if (!p.wrong) p.synchronize(s);
       p.launch("produce", t, a);
     }},
    {"ACudaMemsetAndANonBlockingStream", "PLD7001",
     [](P& p) {
       void* const s = p.stream(p.wrong ? 1 : 0);
       const Pointer a = p.memory();
       p.call("cuMemsetD32_v2", a, 7U, size_t{64});
       p.launch("count_plainly", s, a);
     }},
    {"ACudaMemcpyAndANonBlockingStream", "PLD7001",
     [](P& p) {
       void* const s = p.stream(p.wrong ? 1 : 0);
       const Pointer a = p.memory();
       uint32_t mine[64];
       p.launch("produce", s, a);
       p.call("cuMemcpyDtoH_v2", static_cast<void*>(mine), a, P::bytes);
     }},
    {"ACopyOnTheDeviceIsNotWaitedFor", "PLD7001",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.call("cuMemcpyDtoD_v2", a, b, P::bytes);
       if (!p.wrong) p.synchronize(nullptr);
       p.launch("produce", s, a);
     }},
    {"TheThreadsOwnDefaultStreamIsABlockingOne", "PLD7001",
     [](P& p) {
       const Pointer a = p.memory(), b = p.memory();
       p.launch("produce", nullptr, a);
       p.launch("consume", p.wrong ? p.stream() : reinterpret_cast<void*>(2), a, b);
     }},
    {"HalvesOfAnArray", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(2 * P::bytes);
       p.launch("produce", s, a);
       p.launch("produce", t, a + (p.wrong ? P::bytes - 4 : P::bytes));
     }},
    {"ColumnsOfAMatrix", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       half_columns(p, s, a, b, 0, 16);
       half_columns(p, t, a, b, p.wrong ? 12 : 16, 16);
     }},
    {"TwoCountersInOneWord", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory();
       p.launch("count", s, a);
       p.launch(p.wrong ? "count_plainly" : "count", t, a);
     }},
    {"AFlagBetweenTwoKernels", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
       p.launch("produce_and_signal", s, a, 0, flag);
       p.launch(p.wrong ? "consume" : "await_and_consume", t, a, b, flag);
     }},
    {"ADestroyedStreamsWorkGoesOn", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("produce", s, a);
       if (!p.wrong) p.order(t, s);
       p.call("cuStreamDestroy_v2", s);
       p.launch("consume", t, a, b);
     }},
    {"AnEventThatALaunchRecordsWhenItHasBegun", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream(), *e = p.event();
       const Pointer a = p.memory(), b = p.memory();
       LaunchAttribute attribute{};
       attribute.id = LaunchAttributeId::launch_completion_event;
       attribute.value.event = {e, 0, 0};
       p.launch("produce", s, a, 0, 0, {attribute});
       if (!p.wrong) p.record(e, s);
       p.wait(t, e);
       p.launch("consume", t, a, b);
     }},
    {"TwoThreadsOfTheHost", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       std::thread other([&] {
         p.launch("produce", s, a);
         if (!p.wrong) p.synchronize(s);
       });
       other.join();
       p.launch("consume", t, a, b);
     }},
    // --- memory in a stream's order ---
    {"FreedInAnotherStream", "PLD7004",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       Pointer a = 0;
       p.call("cuMemAllocAsync", &a, P::bytes, s);
       p.launch("produce", s, a);
       if (!p.wrong) p.order(t, s);
       p.call("cuMemFreeAsync", a, t);
     }},
    {"FreedWhileAnotherStreamReads", "PLD7004",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       Pointer a = 0;
       const Pointer b = p.memory();
       p.call("cuMemAllocAsync", &a, P::bytes, s);
       p.launch("produce", s, a);
       p.order(t, s);
       p.launch("consume", t, a, b);
       if (!p.wrong) p.order(s, t);
       p.call("cuMemFreeAsync", a, s);
     }},
    {"UsedBeforeItIsAllocated", "PLD7004",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       Pointer a = 0;
       p.call("cuMemAllocAsync", &a, P::bytes, s);
       if (!p.wrong) p.order(t, s);
       p.launch("produce", t, a);
     }},
    {"CudaFreeOfMemoryOfAPool", "PLD7004",
     [](P& p) {
       void* const s = p.stream();
       Pointer a = 0, b = p.memory();
       p.call("cuMemAllocAsync", &a, P::bytes, s);
       p.launch("produce", s, a);
       p.launch("produce", s, b);
       p.call("cuMemFree_v2", b);  // waits for all
       p.launch("produce", s, a);
       if (!p.wrong) p.synchronize(s);
       p.call("cuMemFree_v2", a);
     }},
    {"ACacheGivesABlockToAnotherStream", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer block = p.memory(), b = p.memory();
       p.launch("consume", s, block, b);
       if (!p.wrong) p.order(t, s);
       p.launch("produce", t, block);
     }},
    // --- graphs ---
    {"BranchesOfACapturedGraph", "PLD7001",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       void* const exec = captured_graph(
           p, s,
           [](P& q, void* one, void* other, Pointer x, Pointer y) {
             q.launch("produce", one, x);
             q.launch("produce", other, q.wrong ? x : y);
           },
           a, b);
       for (int i = 0; i < 2; ++i) p.call("cuGraphLaunch", exec, s);
       p.see_device(a, 20);
     }},
    {"AnEdgeOfACapturedGraph", "PLD7001",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       void* const exec = captured_graph(
           p, s,
           [](P& q, void* one, void* other, Pointer x, Pointer y) {
             q.launch("produce", one, x);
             if (!q.wrong) q.order(other, one);
             q.launch("consume", other, x, y);
           },
           a, b);
       p.call("cuGraphLaunch", exec, s);
     }},
    {"AGraphAndAnotherStream", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory(), c = p.memory();
       void* const exec = captured_graph(
           p, s,
           [](P& q, void* one, void* other, Pointer x, Pointer y) {
             q.launch("produce", one, x);
             q.fill(y, 1, other);
           },
           a, b);
       p.call("cuGraphLaunch", exec, s);
       if (!p.wrong) p.order(t, s);
       p.launch("consume", t, a, c);
     }},
    {"LaunchesOfOneGraphInTwoStreams", "PLD7001",
     [](P& p) {
       void *s = p.stream(), *t = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       const auto body = [](P& q, void* one, void* other, Pointer x, Pointer y) {
         q.launch("produce", one, x);
         q.launch("produce", other, y);
       };
       void* const exec = captured_graph(p, s, body, a, b);
       void* const again =
           p.wrong ? captured_graph(p, s, body, a, b) : exec;  // one does not overlap with itself
       p.call("cuGraphLaunch", exec, s);
       p.call("cuGraphLaunch", again, t);
     }},
    // --- programmatic launches ---
    {"NoDependencyWait", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("trigger_and_produce", s, a);
       p.launch_early(p.wrong ? "consume" : "wait_and_consume", s, a, b);
       p.see_device(b, 40);
     }},
    {"ALoadBeforeTheDependencyWait", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("trigger_and_produce", s, a);
       p.launch_early(p.wrong ? "consume_and_wait" : "wait_and_consume", s, a, b);
     }},
    {"OneThreadWaitsForAll", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("trigger_and_produce", s, a);
       p.launch_early(p.wrong ? "one_waits_late" : "one_waits", s, a, b);
     }},
    {"AStoreBeforeTheDependencyWait", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("trigger_and_consume", s, a, b);
       p.launch_early(p.wrong ? "produce" : "wait_and_produce", s, a);
     }},
    {"WithoutTheAttributeNothingBeginsEarly", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory();
       p.launch("trigger_and_produce", s, a);
       if (p.wrong)
         p.launch_early("consume", s, a, b);
       else
         p.launch("consume", s, a, b);
     }},
    {"TheThirdKernelOfAChain", "PLD7005",
     [](P& p) {
       void* const s = p.stream();
       const Pointer a = p.memory(), b = p.memory(), c = p.memory(), d = p.memory();
       p.launch("trigger_and_produce", s, a);
       p.launch_early(p.wrong ? "trigger_and_consume" : "wait_and_consume", s, c, b);  // lets the third begin
       p.launch_early("consume_and_wait", s, a, d);
     }},
};

std::string name_of(const ::testing::TestParamInfo<Subject>& info) { return info.param.name; }

class Order : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
};

TEST_P(Order, IsRight) { EXPECT_EQ(output_of(GetParam().program, false), ""); }

TEST_P(Order, IsWrong) {
  const std::string text = output_of(GetParam().program, true);
  EXPECT_NE(text.find(std::string("error[") + GetParam().code + "]"), std::string::npos) << text;
  EXPECT_EQ(text.find("UNEXPECTED"), std::string::npos) << text;
  EXPECT_NE(text.find("called at "), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Programs, Order, ::testing::ValuesIn(subjects), name_of);

}  // namespace
}  // namespace palladion::cuda::driver
