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
#include "tests/cuda/driver/order_memory.inc"
#include "tests/cuda/driver/order_streams.inc"
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

// The function says by a flag of the program that the copy is over, which nothing here observes.
TEST(OrderOfHostFunctions, WhatIsInFrontOfOneThatRanIsStrict) {
  if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
    GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  const auto program = [](P& p) {
    void* const s = p.stream();
    const Pointer a = p.memory();
    volatile uint32_t* const h = p.pinned();
    p.launch("produce", s, a);
    p.to_host(h, a, s);
    static volatile bool over = false;
    void (*const f)(void*) = [](void*) { over = true; };
    if (!p.wrong) p.call("cuLaunchHostFunc", s, f, static_cast<void*>(nullptr));
    while (!over && !p.wrong) std::this_thread::yield();
    sink = h[3];
  };
  const std::string reported = output_of(program, false), silent = output_of(program, true);
  EXPECT_NE(reported.find("strict[PLD7003]"), std::string::npos) << reported;
  EXPECT_NE(reported.find("a host function behind it in its stream has run"), std::string::npos) << reported;
  EXPECT_EQ(reported.find("error[PLD7003]"), std::string::npos) << reported;
  EXPECT_NE(silent.find("error[PLD7003]"), std::string::npos) << silent;
}

TEST(OrderOfHostFunctions, AnOperationBehindOneThatRanIsStrict) {
  if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
    GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  const auto program = [](P& p) {
    void *s = p.stream(), *t = p.stream();
    const Pointer a = p.memory(), b = p.memory();
    p.launch("produce", s, a);
    static volatile bool over = false;
    void (*const f)(void*) = [](void*) { over = true; };
    if (!p.wrong) p.call("cuLaunchHostFunc", s, f, static_cast<void*>(nullptr));
    while (!over && !p.wrong) std::this_thread::yield();
    p.launch("consume", t, a, b);
  };
  const std::string reported = output_of(program, false), silent = output_of(program, true);
  EXPECT_NE(reported.find("strict[PLD7001]"), std::string::npos) << reported;
  EXPECT_EQ(reported.find("error[PLD7001]"), std::string::npos) << reported;
  EXPECT_NE(silent.find("error[PLD7001]"), std::string::npos) << silent;
}

// Another thread hears of it while the function runs.
TEST(OrderOfHostFunctions, AnOperationBehindOneThatRunsIsStrict) {
  if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
    GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  static volatile bool began = false, done = false;
  const auto program = [](P& p) {
    void *s = p.stream(), *t = p.stream();
    const Pointer a = p.memory(), b = p.memory();
    p.launch("produce", s, a);
    std::thread other([&] {
      p.call("cuCtxSetCurrent", p.context);
      while (!began) std::this_thread::yield();
      p.launch("consume", t, a, b);
      done = true;
    });
    void (*const f)(void*) = [](void*) {
      began = true;
      while (!done) std::this_thread::yield();
    };
    p.call("cuLaunchHostFunc", s, f, static_cast<void*>(nullptr));
    other.join();
  };
  const std::string told = output_of(program, false);
  EXPECT_NE(told.find("strict[PLD7001]"), std::string::npos) << told;
  EXPECT_EQ(told.find("error[PLD7001]"), std::string::npos) << told;
}

// Accesses through the two addresses are not compared: the report says so, where both are accessible at once.
TEST(OrderOfAliases, MemoryAtTwoAddressesIsSaidToBeUnjudged) {
  if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
    GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  const auto program = [](P& p) {
    constexpr size_t bytes = 2 << 20;
    const AllocationProperties properties{
        .type = 1, .handle_types = 0, .location = {1, 0}, .win32 = nullptr, .flags = {}};
    const AccessDescriptor access{{1, 0}, 3};
    void* memory = nullptr;
    Pointer a = 0;
    p.call("cuMemCreate", &memory, bytes, &properties, uint64_t{0});
    p.call("cuMemAddressReserve", &a, 2 * bytes, size_t{0}, Pointer{0}, uint64_t{0});
    p.call("cuMemMap", a, bytes, size_t{0}, memory, uint64_t{0});
    p.call("cuMemSetAccess", a, bytes, &access, size_t{1});
    p.fill(a, 3, nullptr);
    p.synchronize(nullptr);
    if (!p.wrong) p.call("cuMemUnmap", a, bytes);  // it moves to another address
    p.call("cuMemMap", a + bytes, bytes, size_t{0}, memory, uint64_t{0});
    p.call("cuMemSetAccess", a + bytes, bytes, &access, size_t{1});
  };
  EXPECT_EQ(output_of(program, false), "");
  const std::string told = output_of(program, true);
  EXPECT_NE(told.find("unknown[PLD7010]"), std::string::npos) << told;
}

INSTANTIATE_TEST_SUITE_P(Programs, Order, ::testing::ValuesIn(subjects), name_of);

}  // namespace
}  // namespace palladion::cuda::driver
