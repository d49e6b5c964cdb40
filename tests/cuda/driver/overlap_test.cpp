// Kernels that wait for what another stream or the host writes: streams overlap.
#include <gtest/gtest.h>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;
constexpr const char* unchecked = "v1;check=none";

class Overlap : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
  template <class Program>
  static void is_right(Program&& program) {
    EXPECT_EQ(output_of(program, false), "");
    EXPECT_EQ(output_of(program, false, unchecked), "");
  }
};

TEST_F(Overlap, AKernelWaitsForOneThatIsLaunchedLater) {
  is_right([](P& p) {
    void *s = p.stream(), *t = p.stream();
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("await_and_consume", t, a, b, flag);
    EXPECT_EQ(p.ask("cuStreamQuery", t), not_ready);
    p.launch("produce_and_signal", s, a, 0, flag);
    p.see_device(b, 40);
  });
}

TEST_F(Overlap, WhatIsBehindAWaitingKernelWaitsToo) {
  is_right([](P& p) {
    void *s = p.stream(), *t = p.stream(), *u = p.stream();
    const Pointer a = p.memory(), b = p.memory(), c = p.memory(), flag = p.memory();
    volatile uint32_t* const h = p.pinned();
    void* const e = p.event();
    p.launch("await_and_consume", t, a, b, flag);
    p.record(e, t);
    EXPECT_EQ(p.ask("cuEventQuery", e), not_ready);
    p.wait(u, e);
    p.launch("consume", u, b, c);
    p.to_host(h, c, u);
    static bool called = false;
    void (*const f)(void*) = [](void*) { called = true; };
    p.call("cuLaunchHostFunc", u, f, static_cast<void*>(nullptr));
    p.see(called ? 1 : 0, 0);
    p.launch("produce_and_signal", s, a, 0, flag);
    p.synchronize(u);
    p.see(h[20], 80);
    p.see(called ? 1 : 0, 1);
  });
}

TEST_F(Overlap, TheHostSignalsThroughPinnedMemory) {
  is_right([](P& p) {
    void* const s = p.stream();
    const Pointer a = p.memory(), b = p.memory();
    volatile uint32_t* const flag = p.pinned();
    flag[0] = 0;
    p.launch("await_and_consume", s, a, b, reinterpret_cast<Pointer>(flag));
    flag[0] = 1;
    p.synchronize(s);
  });
}

TEST_F(Overlap, ACopySignals) {
  is_right([](P& p) {
    void *s = p.stream(), *t = p.stream();
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("await_and_consume", s, a, b, flag);
    p.launch("produce_and_signal", t, a, 0, flag);
    p.see_device(b, 40);
  });
}

TEST_F(Overlap, BranchesOfAGraphOverlap) {
  is_right([](P& p) {
    void *s = p.stream(), *t = p.stream(), *fork = p.event(), *join = p.event(), *graph = nullptr,
         *exec = nullptr;
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.call("cuStreamBeginCapture_v2", s, 0);
    p.record(fork, s);
    p.wait(t, fork);
    p.launch("await_and_consume", s, a, b, flag);
    p.launch("produce_and_signal", t, a, 0, flag);
    p.record(join, t);
    p.wait(s, join);
    p.call("cuStreamEndCapture", s, &graph);
    p.call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0});
    p.call("cuGraphLaunch", exec, s);
    p.see_device(b, 40);
  });
}

// In one stream the second never begins: on a GPU it hangs.
TEST_F(Overlap, AKernelThatWaitsForOneBehindItIsADeadlock) {
  const auto program = [](P& p) {
    void* const s = p.stream();
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("await_and_consume", s, a, b, flag);
    p.launch("produce_and_signal", s, a, 0, flag);
    p.see(static_cast<uint32_t>(p.ask("cuStreamSynchronize", s)), launch_failed);
  };
  const std::string text = output_of(program, true, unchecked);
  EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
  EXPECT_EQ(text.find("UNEXPECTED"), std::string::npos) << text;
}

// The legacy stream waits for the blocking one.
TEST_F(Overlap, TheLegacyStreamDoesNotOverlapWithABlockingOne) {
  const auto program = [](P& p) {
    void* const s = p.stream(0);
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("await_and_consume", s, a, b, flag);
    p.launch("produce_and_signal", nullptr, a, 0, flag);
    p.ask("cuCtxSynchronize");
  };
  const std::string text = output_of(program, true, unchecked);
  EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
}

// The loop changes shared memory and barriers for ever, which nothing outside of the launch can observe.
TEST_F(Overlap, ACtaThatAsksTogetherWaitsAsOneThreadDoes) {
  is_right([](P& p) {
    void *s = p.stream(), *t = p.stream();
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("ask_together_and_consume", t, a, b, flag);
    p.launch("produce_and_signal", s, a, 0, flag);
    p.see_device(b, 40);
  });
  const auto alone = [](P& p) {
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("ask_together_and_consume", p.stream(), a, b, flag);
    p.ask("cuCtxSynchronize");
  };
  const std::string text = output_of(alone, true, unchecked);
  EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
}

TEST_F(Overlap, AKernelThatNobodyWaitsForIsToldAtTheEnd) {
  const auto program = [](P& p) {
    const Pointer a = p.memory(), b = p.memory(), flag = p.memory();
    p.launch("await_and_consume", p.stream(), a, b, flag);
  };
  const std::string text = output_of(program, true, unchecked);
  EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
}

}  // namespace
}  // namespace palladion::cuda::driver
