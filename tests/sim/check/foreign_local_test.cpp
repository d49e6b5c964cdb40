// Addresses of local variables in the hands of other threads.
#include "sim/machine/state/local_address.h"
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

// %rd2: the thread's generic address of `mine`, which holds its index; %rd3: its word of the array.
const std::string own = R"(
  .local .align 8 .b8 mine[16];
  mov.u64 %rd4, mine;
  cvta.local.u64 %rd2, %rd4;
  st.local.u32 [mine], %r1;
  mad.wide.u32 %rd3, %r1, 4, %rd1;
)";
const std::string result = "  st.global.u32 [%rd3], %r3;\n";

Codes codes(const std::string& body, isa::Dim3 grid = {1, 1, 1}, isa::Dim3 block = {64, 1, 1}) {
  return codes_of(checked(own + body, grid, block));
}

// PTX has atomics on global and shared memory alone; an H100 performs those on local memory.
TEST(ForeignLocal, AnAtomicOnALocalVariableIsStrict) {
  EXPECT_EQ(codes("  atom.add.u32 %r3, [%rd2], 5;\n" + result), Codes{"PLD6108?"});
  EXPECT_EQ(codes("  atom.cas.b32 %r3, [%rd2], 1, 5;\n" + result), Codes{"PLD6108?"});
  EXPECT_EQ(codes("  atom.add.u32 %r3, [%rd3], 5;\n"), Codes{});
  EXPECT_EQ(codes("  red.add.u32 [%rd2], 5;\n  ld.local.u32 %r3, [mine];\n" + result), Codes{"PLD6108?"});
}

TEST(ForeignLocal, AnAddressPassedThroughSharedMemory) {
  const auto exchange = [](const std::string& from) {
    return R"(
  mad.wide.u32 %rd5, %r1, 8, 0;
  mov.u64 %rd6, tile;
  add.u64 %rd5, %rd5, %rd6;
  st.shared.u64 [%rd5], %rd2;
  bar.sync 0;
)" + from + "  ld.u32 %r3, [%rd6];\n" +
           result;
  };
  EXPECT_EQ(codes(exchange("  ld.shared.u64 %rd6, [tile];\n")), Codes{"PLD6107"});
  EXPECT_EQ(codes(exchange("  ld.shared.u64 %rd6, [%rd5];\n")), Codes{});
}

TEST(ForeignLocal, AnAddressOfAnotherLane) {
  const auto shuffled = [](const char* lane) {
    return std::string("  mov.b64 {%r4, %r5}, %rd2;\n  shfl.sync.bfly.b32 %r4, %r4, ") + lane +
           ", 31, -1;\n  shfl.sync.bfly.b32 %r5, %r5, " + lane +
           ", 31, -1;\n  mov.b64 %rd6, {%r4, %r5};\n  st.u32 [%rd6], 7;\n  ld.local.u32 %r3, [mine];\n" +
           result;
  };
  EXPECT_EQ(codes(shuffled("1")), Codes{"PLD6107"});
  EXPECT_EQ(codes(shuffled("0")), Codes{});
}

TEST(ForeignLocal, AnAddressOfTheSameThreadInAnotherCta) {
  const auto passed = [](const char* reader) {
    return R"(
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra WAIT;
  atom.global.exch.b64 %rd5, [%rd1+512], %rd2;
WAIT:
  setp.ne.u32 %p2, %r9, )" +
           std::string(reader) + R"(;
  @%p2 bra END;
AGAIN:
  ld.relaxed.gpu.global.u64 %rd6, [%rd1+512];
  setp.eq.u64 %p3, %rd6, 0;
  @%p3 bra AGAIN;
  ld.u32 %r3, [%rd6];
)" + result +
           "END:";
  };
  EXPECT_EQ(codes(passed("1"), {2, 1, 1}, {1, 1, 1}), Codes{"PLD6107"});
  EXPECT_EQ(codes(passed("0"), {2, 1, 1}, {1, 1, 1}), Codes{});
}

// The chip's threads find their own bytes there: so does the machine.
TEST(ForeignLocal, TheReadersOwnMemoryIsRead) {
  const std::string body = own + R"(
  mov.u64 %rd6, tile;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
  st.shared.u64 [tile], %rd2;
MEET:
  bar.sync 0;
  ld.shared.u64 %rd6, [tile];
  cvta.to.local.u64 %rd5, %rd6;
  ld.u32 %r3, [%rd6];
  ld.local.u32 %r4, [%rd5];
  add.u32 %r3, %r3, %r4;
)" + result;
  std::vector<uint32_t> array(1024);
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .shared .align 128 .b8 tile[512];
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
)" + body + "\n  ret;\n}\n"));
  runner.array(array).shape({1, 1, 1}, {64, 1, 1}).run_clean();
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(array[i], 2 * i);
}

// One that left the array is its own thread's, in front of the memory and behind it.
TEST(ForeignLocal, AnAddressOutOfBoundsIsItsThreads) {
  for (const int64_t offset : {-4, 4096}) {
    const uint64_t address = local_base(300, 1023) + static_cast<uint64_t>(offset);
    const LocalAddress at = local_address(address);
    EXPECT_EQ(at.offset, offset);
    EXPECT_EQ(at.thread, 1024U);
    EXPECT_EQ(at.cta, 300U % local_ctas);
    EXPECT_EQ(space_of(address), isa::Space::local);
    EXPECT_EQ(codes("  ld.u32 %r3, [%rd2+" + std::to_string(offset) + "];\n" + result), Codes{"PLD3023"});
  }
}

}  // namespace
}  // namespace palladion::sim::testing
