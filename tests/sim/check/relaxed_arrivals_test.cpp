// What a relaxed arrival at an mbarrier is blamed for.
#include <gmock/gmock.h>

#include "sim/check/checker.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using Names = std::vector<std::string>;

// Warp 0 stores, arrives and stores again; warp 1 waits and reads the word at this offset.
Names around_arrival(const std::string& order, const std::string& offset) {
  std::vector<uint32_t> array(32);
  PtxRunner runner(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 full;
  .shared .align 4 .b32 words[2];
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [full], 32;
  bar.sync 0;
  setp.ge.u32 %p2, %r1, 32;
  @%p2 bra READER;
  @%p1 st.shared.u32 [words], 1;
  bar.warp.sync -1;
  mbarrier.arrive.)" +
                   order +
                   R"(.cta.shared::cta.b64 _, [full];
  @%p1 st.shared.u32 [words+4], 2;
  ret;
READER:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [full], 0;
  @!%p3 bra READER;
  ld.shared.u32 %r3, [words+)" +
                   offset + R"(];
  ret;
}
)");
  runner.array(array).shape({1, 1, 1}, {64, 1, 1});
  check::Checker checker;
  RunOptions options;
  options.observer = &checker;
  Names out;
  for (const Finding& f : runner.run(options).findings) out.push_back(f.code.name());
  return out;
}

TEST(RelaxedArrivals, AreBlamedForWhatTheyWouldHaveOrdered) {
  EXPECT_EQ(around_arrival("release", "0"), Names{});
  EXPECT_EQ(around_arrival("relaxed", "0"), Names{"PLD4119"});
  EXPECT_EQ(around_arrival("release", "4"), Names{"PLD4001"});
  EXPECT_EQ(around_arrival("relaxed", "4"), Names{"PLD4001"});
}

}  // namespace
}  // namespace palladion::sim::testing
