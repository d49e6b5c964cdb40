// Loads that end behind a CTA's shared memory.
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

Codes load_codes(uint32_t dynamic, const std::string& load) {
  return codes_of(checked(R"(
  mov.u32 %r3, dynamic;
  setp.lt.u32 %p1, %r1, 6;
  mad.lo.u32 %r4, %r1, 4, %r3;
  @%p1 st.shared.u32 [%r4], %r1;
  bar.sync 0;
)" + load,
                          {1, 1, 1}, {32, 1, 1}, dynamic));
}

TEST(LoadPastTheEnd, IsStrictWithinTheLastUnit) {
  const std::string load = "  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3+16];";
  EXPECT_EQ(load_codes(24, load), Codes{"PLD6104?"});
  EXPECT_EQ(load_codes(32, load), Codes{"PLD6101"}) << "within the memory, and nothing has written it";
  EXPECT_EQ(load_codes(24, "  ld.shared.v2.u32 {%r4, %r5}, [%r3+16];"), Codes{});
}

}  // namespace
}  // namespace palladion::sim::testing
