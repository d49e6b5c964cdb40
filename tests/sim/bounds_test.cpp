// The edges of allocations and of a CTA's shared memory: the last bytes inside are reached, the first outside
// are a fault, whichever lane reaches them, and nothing outside changes.
#include <fmt/format.h>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

using testing::PtxRunner;

// Lane i stores 7 at `base + start + 4 i` of an array of 64 bytes of shared memory.
std::string shared_kernel() {
  return R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry store(.param .u32 start)
{
  .reg .b32 %r<8>;
  .shared .align 16 .b8 own[64];
  ld.param.u32 %r1, [start];
  mov.u32 %r2, own;
  mov.u32 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  add.u32 %r4, %r2, %r1;
  add.u32 %r4, %r4, %r3;
  st.shared.u32 [%r4], 7;
  ret;
})";
}

RunResult store_shared(uint32_t start, uint32_t threads) {
  PtxRunner runner(shared_kernel());
  return runner.scalar<uint32_t>(start).shape({1, 1, 1}, {threads, 1, 1}).run();
}

TEST(Bounds, OfSharedMemory) {
  EXPECT_TRUE(store_shared(0, 16).clean());
  EXPECT_TRUE(store_shared(60, 1).clean());
  for (const auto& [start, threads] :
       {std::pair(0U, 17U), std::pair(64U, 1U), std::pair(4U, 16U), std::pair(0U - 4, 1U),
        std::pair(0U - 8, 4U), std::pair(1U << 20, 8U)}) {
    const RunResult r = store_shared(start, threads);
    ASSERT_EQ(r.findings.size(), 1U) << start << " " << threads;
    EXPECT_EQ(r.findings[0].code, "PLD3020") << start << " " << threads;
  }
  const RunResult other = store_shared(1U << 24, 1);  // of the next CTA of a cluster
  ASSERT_EQ(other.findings.size(), 1U);
  EXPECT_EQ(other.findings[0].code, "PLD3021");
}

// The chip gives shared memory in units of 128 bytes: a vector load may end behind the array, within the
// unit. Measured on an H100 (driver 580.159.04, CUDA 13.0, 2026-11-28), with 24 and 120 bytes of shared
// memory.
RunResult load_shared(uint32_t bytes, uint32_t start, std::vector<uint32_t>& out) {
  PtxRunner runner(fmt::format(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry load(.param .u64 out, .param .u32 start)
{{
  .reg .b32 %r<8>; .reg .b64 %rd;
  .shared .align 16 .b8 own[{}];
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [start];
  mov.u32 %r2, own;
  add.u32 %r1, %r1, %r2;
  st.shared.u32 [own+16], 5;
  ld.shared.v4.u32 {{%r3, %r4, %r5, %r6}}, [%r1];
  st.global.v4.u32 [%rd], {{%r3, %r4, %r5, %r6}};
  ret;
}})",
                               bytes));
  return runner.array(out).scalar<uint32_t>(start).shape({1, 1, 1}, {1, 1, 1}).run();
}

TEST(Bounds, AVectorLoadMayEndBehindSharedMemory) {
  std::vector<uint32_t> out(4, 9);
  EXPECT_TRUE(load_shared(24, 16, out).clean());
  EXPECT_EQ(out, (std::vector<uint32_t>{5, 0, 0, 0}));
  EXPECT_TRUE(load_shared(120, 112, out).clean());
  for (const auto& [bytes, start] : {std::pair(24U, 32U), std::pair(128U, 128U), std::pair(24U, 0U - 16)}) {
    const RunResult r = load_shared(bytes, start, out);
    ASSERT_EQ(r.findings.size(), 1U) << bytes << " " << start;
    EXPECT_EQ(r.findings[0].code, "PLD3020") << bytes << " " << start;
  }
}

// Lane i stores its number at `p + 4 i`.
constexpr const char* global_kernel = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
})";

// Words [8, 16) of 64 are an allocation.
TEST(Bounds, OfAnAllocation) {
  for (const auto& [first, threads] :
       {std::pair(8, 8U), std::pair(15, 1U), std::pair(8, 9U), std::pair(16, 1U), std::pair(7, 1U),
        std::pair(7, 4U), std::pair(4, 32U)}) {
    std::vector<uint32_t> words(64, 99);
    const auto module = isa::parse(global_kernel);
    ASSERT_TRUE(module);
    Machine machine(isa::default_arch());
    const Address base(0x1000'0000);
    ASSERT_TRUE(machine.memory().bind_at(base, {reinterpret_cast<uint8_t*>(words.data() + 8), 32}, "own"));
    const uint64_t start = base + static_cast<uint64_t>(4 * (first - 8));
    Launch launch;
    launch.module = &*module;
    launch.grid = {1, 1, 1};
    launch.block = {threads, 1, 1};
    launch.params.assign(reinterpret_cast<const uint8_t*>(&start),
                         reinterpret_cast<const uint8_t*>(&start + 1));
    const RunResult r = machine.run(launch, {});
    const bool inside = first >= 8 && first + static_cast<int>(threads) <= 16;
    EXPECT_EQ(r.clean(), inside) << first << " " << threads;
    if (!inside) {
      ASSERT_EQ(r.findings.size(), 1U);
      EXPECT_EQ(r.findings[0].code, "PLD3022");
      EXPECT_EQ(r.findings[0].help, say<Phrase::guard_the_access>());
    }
    for (size_t i = 0; i < words.size(); ++i)
      if (i < 8 || i >= 16) {
        EXPECT_EQ(words[i], 99U) << i;
      }
  }
}

}  // namespace
}  // namespace palladion::sim
