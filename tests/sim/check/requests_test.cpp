// What the answer to a request to cancel a launch orders: the accesses that the asking thread knew of when it
// asked are not made visible by it, and a thread that overwrites what they read comes behind them all the
// same.
#include <gmock/gmock.h>

#include "sim/check/checker.h"
#include "tests/sim/check/said.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// Warp 1 does `first` with the word and tells warp 0, which asks for a launch; warp 2 waits for the answer
// and then does `then`. `told`: what warp 0 does before it asks.
std::vector<Said> around_request(const std::string& first, const std::string& then,
                                 const std::string& told = "bra.uni WAIT_READ;") {
  std::vector<uint32_t> out(256);
  PtxRunner runner(R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 read;
  .shared .align 8 .b64 answered;
  .shared .align 4 .b32 word;
  .reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  and.b32 %r2, %r0, 31;
  setp.ne.u32 %p0, %r2, 0;
  setp.eq.u32 %p1, %r0, 0;
  mov.u32 %r3, %ctaid.x;
  @%p1 mbarrier.init.shared.b64 [read], 1;
  @%p1 mbarrier.init.shared.b64 [answered], 1;
  @%p1 st.shared.u32 [word], %r3;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%p0 ret;
  setp.eq.u32 %p2, %r1, 1;
  @%p2 bra READER;
  setp.eq.u32 %p3, %r1, 2;
  @%p3 bra WRITER;
  )" + told + R"(
WAIT_READ:
  mbarrier.try_wait.parity.shared.b64 %p4, [read], 0;
  @!%p4 bra WAIT_READ;
ASK:
  fence.proxy.async;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [answered];
  ret;
READER:
  )" + first + R"(
  mbarrier.arrive.shared.b64 _, [read];
  ret;
WRITER:
  mbarrier.arrive.expect_tx.shared.b64 _, [answered], 16;
WAIT_ANSWER:
  mbarrier.try_wait.parity.shared.b64 %p4, [answered], 0;
  @!%p4 bra WAIT_ANSWER;
  )" + then + R"(
  ret;
}
)",
                   *isa::find_arch("b200"));
  runner.array(out, "out").shape({2, 1, 1}, {96, 1, 1});
  check::Checker checker;
  RunOptions options;
  options.observer = &checker;
  return said_by(runner.run(options).findings);
}

constexpr const char *read = "ld.shared.u32 %r5, [word];", *write = "st.shared.u32 [word], 7;";

std::vector<FindingSeverity> races(const std::vector<Said>& all) {
  std::vector<FindingSeverity> out;
  for (const Said& s : all)
    if (s.code == "PLD4001") out.push_back(s.severity);
  return out;
}

TEST(Requests, AWordIsOverwrittenBehindTheAnswer) {
  EXPECT_THAT(races(around_request(read, write)), ::testing::ElementsAre(FindingSeverity::strict));
}

TEST(Requests, ARequestThatWaitsForNoReaderOrdersNothing) {
  EXPECT_THAT(races(around_request(read, write, "bra.uni ASK;")),
              ::testing::ElementsAre(FindingSeverity::error));
}

// Nothing says that what was written is there when the answer is.
TEST(Requests, WhatWasWrittenIsNotVisibleBehindTheAnswer) {
  EXPECT_THAT(races(around_request("st.shared.u32 [word], 5;", "ld.shared.u32 %r5, [word];")),
              ::testing::ElementsAre(FindingSeverity::error));
  EXPECT_THAT(races(around_request("st.shared.u32 [word], 5;", write)),
              ::testing::ElementsAre(FindingSeverity::error));
}

}  // namespace
}  // namespace palladion::sim::testing
