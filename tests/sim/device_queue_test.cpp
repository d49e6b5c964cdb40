// The queue of what kernels launch; and a kernel that launches where nobody has made one.
#include "sim/launch/device_queue.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

DeviceWork kernel_work(uint32_t function) {
  return {.function = function, .grid = {2, 3, 4}, .block = {32, 1, 1}};
}

TEST(DeviceQueue, GivesWorkInTheOrderOfItsLaunchesAndTailLaunchesLast) {
  std::vector<uint8_t> memory(4096);
  DeviceQueue queue(memory);
  queue.clear();
  const uint64_t first = queue.reserve(kernel_work(1), 12), second = queue.reserve(kernel_work(2), 0),
                 third = queue.reserve(kernel_work(3), 4), never = queue.reserve(kernel_work(4), 4);
  ASSERT_NE(never, 0U);
  std::memset(memory.data() + first, 0x5A, 12);
  EXPECT_TRUE(queue.commit(third, DeviceWork::tail_stream));
  EXPECT_TRUE(queue.commit(second, 0));
  EXPECT_TRUE(queue.add_copy({.stream = 0, .to = 64, .from = 32, .bytes = 8}));
  EXPECT_TRUE(queue.commit(first, queue.new_stream()));
  EXPECT_FALSE(queue.commit(first, 0));  // twice
  EXPECT_FALSE(queue.commit(1 << 20, 0));
  const std::vector<DeviceWork> work = queue.take();
  ASSERT_EQ(work.size(), 4U);
  EXPECT_EQ(work[0].function, 2U);
  EXPECT_EQ(work[1].kind, DeviceWork::Kind::copy);
  EXPECT_EQ(work[1].to, 64U);
  EXPECT_EQ(work[2].function, 1U);
  EXPECT_EQ(work[2].params, std::vector<uint8_t>(12, 0x5A));
  EXPECT_EQ(work[2].grid, (isa::Dim3{2, 3, 4}));
  EXPECT_EQ(work[3].function, 3U);
  queue.clear();
  EXPECT_TRUE(queue.take().empty());
}

TEST(DeviceQueue, AFullQueueGivesNoPlace) {
  std::vector<uint8_t> memory(1024);
  DeviceQueue queue(memory);
  queue.clear();
  size_t launches = 0;
  while (queue.reserve(kernel_work(0), 64) != 0) ++launches;
  EXPECT_GT(launches, 2U);
  EXPECT_LT(launches, 16U);
  EXPECT_FALSE(queue.add_copy({}));
}

// A kernel can write into it.
TEST(DeviceQueue, OverwrittenContentsAreNotFollowed) {
  std::vector<uint8_t> memory(1024);
  DeviceQueue queue(memory);
  queue.clear();
  EXPECT_TRUE(queue.commit(queue.reserve(kernel_work(1), 16), 0));
  std::memset(memory.data(), 0xFF, 24);       // the header
  std::memset(memory.data() + 32, 0xFF, 16);  // the first record: its size
  EXPECT_TRUE(queue.take().empty());
  EXPECT_EQ(queue.reserve(kernel_work(1), 16), 0U);
}

TEST(DeviceQueue, WithoutOneALaunchIsUnsupportedByName) {
  const char* const ptx = R"(.version 8.7
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared);
.visible .entry child() { ret; }
.visible .entry parent()
{
  .reg .b64 %rd<4>;
  mov.u64 %rd1, child;
  { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
    st.param.b64 [f], %rd1;
    st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %rd2, [r]; }
  ret;
})";
  testing::PtxRunner runner(ptx);
  runner.launch.entry = "parent";
  const RunResult r = runner.run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::unsupported);
  EXPECT_EQ(r.findings[0].message, say<Phrase::launch_outside_exec>("__cudaCDP2GetParameterBufferV2"));
}

}  // namespace
}  // namespace palladion::sim
