// Volatile accesses of a warp's lanes without a barrier of the warp.
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

// %r3 the lane's word of `tile`; %r4 that of the lane 16 above it.
Codes volatile_codes(const std::string& body, uint32_t threads = 32) {
  return codes_of(checked(R"(
  mov.u32 %r3, tile;
  mad.lo.u32 %r3, %r1, 4, %r3;
  setp.lt.u32 %p1, %r1, 16;
)" + body,
                          {1, 1, 1}, {threads, 1, 1}));
}

const Codes ordered = {}, counted_on = {"PLD4613?"};
constexpr const char* volatile_write = "  st.volatile.shared.u32 [%r3], %r1;\n";
constexpr const char* volatile_read = "  @%p1 ld.volatile.shared.u32 %r5, [%r3+64];\n";

TEST(Lockstep, ALaneReadsWhatAnotherOneWrote) {
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + volatile_read), counted_on);
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  bar.warp.sync -1;\n" + volatile_read), ordered);
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  bar.sync 0;\n" + volatile_read), ordered);
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1;\n" +
                           volatile_read),
            ordered);
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  fence.acq_rel.cta;\n" + volatile_read), ordered);
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  ld.volatile.shared.u32 %r5, [%r3];"), ordered)
      << "its own word";
}

TEST(Lockstep, ALaneOverwritesWhatAnotherOneReads) {
  const std::string first = std::string(volatile_write) + "  bar.warp.sync -1;\n" + volatile_read;
  EXPECT_EQ(volatile_codes(first + "  st.volatile.shared.u32 [%r3], %r1;"), counted_on);
  EXPECT_EQ(volatile_codes(first + "  bar.warp.sync -1;\n  st.volatile.shared.u32 [%r3], %r1;"), ordered);
}

TEST(Lockstep, OnlyTheLanesOfTheBarrierAreOrdered) {
  EXPECT_EQ(volatile_codes(std::string(volatile_write) + "  @%p1 bar.warp.sync 0xffff;\n" + volatile_read),
            counted_on);
}

TEST(Lockstep, OneLaneWritesForAll) {
  const std::string one = "  setp.eq.u32 %p2, %r1, 0;\n  @%p2 st.volatile.shared.u32 [tile], %r1;\n";
  EXPECT_EQ(volatile_codes(one + "  ld.volatile.shared.u32 %r5, [tile];"), counted_on);
  EXPECT_EQ(volatile_codes(one + "  bar.warp.sync -1;\n  ld.volatile.shared.u32 %r5, [tile];"), ordered);
}

// Lanes that execute neither instruction together count on no lockstep: a lock, a flag.
TEST(Lockstep, LanesThatDivergedAreNoMatterOfLockstep) {
  EXPECT_EQ(volatile_codes(R"(
  @%p1 bra WRITE;
WAIT:
  ld.volatile.shared.u32 %r5, [tile];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra WAIT;
  bra DONE;
WRITE:
  st.volatile.shared.u32 [tile], 1;
DONE:)")
                .size(),
            1U)
      << "tile is read before it is written";
}

TEST(Lockstep, PlainAccessesAreARaceAsBefore) {
  EXPECT_EQ(volatile_codes("  st.shared.u32 [%r3], %r1;\n  @%p1 ld.shared.u32 %r5, [%r3+64];"),
            Codes{"PLD4611"});
}

}  // namespace
}  // namespace palladion::sim::testing
