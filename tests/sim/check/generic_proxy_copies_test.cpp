// cp.async and its like belong to the generic proxy: what they wrote and read needs a proxy fence.
#include <gtest/gtest.h>

#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

// Each thread of the first warp copies 16 bytes by cp.async; the asynchronous proxy reads or overwrites them.
RunResult crosses_the_proxies(const std::string& completion, const std::string& behind,
                              const std::string& access) {
  return checked(R"(
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra MADE;
  mbarrier.init.shared.b64 [full], 32;
MADE:
  bar.sync 0;
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 4;
  add.u32 %r4, %r3, %r4;
  cvt.u64.u32 %rd2, %r1;
  shl.b64 %rd2, %rd2, 4;
  add.u64 %rd2, %rd1, %rd2;
  cp.async.cg.shared.global [%r4], [%rd2], 16;
)" + completion + behind +
                     "  bar.sync 0;\n  @!%p1 bra DONE;\n" + access + "DONE:\n",
                 {1, 1, 1}, {32, 1, 1});
}

const std::string bulk_store = R"(
  add.u64 %rd3, %rd1, 2048;
  cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";

// cp.async belongs to the generic proxy: what it wrote needs a proxy fence behind its completion.
TEST(GenericProxyCopies, WhatCpAsyncFilledNeedsAProxyFence) {
  const std::string group = "  cp.async.wait_all;\n",
                    signal = "  cp.async.mbarrier.arrive.noinc.shared.b64 [full];\n" + wait("W", "full", "0"),
                    fence = "  fence.proxy.async.shared::cta;\n";
  for (const std::string& completion : {group, signal}) {
    const RunResult none = crosses_the_proxies(completion, "", bulk_store);
    ASSERT_EQ(codes_of(none), Codes{"PLD4309?"});
    EXPECT_EQ(none.findings[0].missing.phrase, Phrase::no_proxy_fence);
    EXPECT_EQ(none.findings[0].help.phrase, Phrase::fence_behind_completion);
    EXPECT_EQ(codes_of(crosses_the_proxies(fence + completion, "", bulk_store)), Codes{"PLD4309?"});
    EXPECT_EQ(codes_of(crosses_the_proxies(completion, fence, bulk_store)), Codes{});
    EXPECT_EQ(codes_of(crosses_the_proxies(completion, "", fence + bulk_store)), Codes{});
    EXPECT_EQ(codes_of(crosses_the_proxies("", fence + completion, bulk_store)), Codes{"PLD4309?"});
  }
  EXPECT_EQ(codes_of(crosses_the_proxies("  cp.async.commit_group;\n", fence, bulk_store)), Codes{"PLD4322"})
      << "a copy that is under way lacks a wait, not a fence";
}

// A bulk load overwrites what cp.async filled, a bulk store the global memory that it read.
TEST(GenericProxyCopies, ACopyOverWhatCpAsyncAccessedNeedsAProxyFence) {
  const std::string load = R"(
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 512, [full];
)" + wait("LOADED", "full", "0"),
                    over_source = R"(
  fence.proxy.async.shared::cta;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";
  const std::string done = "  cp.async.wait_all;\n", fence = "  fence.proxy.async;\n";
  const auto again = [](const std::string& access) {
    return "  mbarrier.inval.shared.b64 [full];\n" + access;
  };
  EXPECT_EQ(codes_of(crosses_the_proxies(done, "", again(load))), Codes{"PLD4308?"});
  EXPECT_EQ(codes_of(crosses_the_proxies(done, fence, again(load))), Codes{});
  EXPECT_EQ(codes_of(crosses_the_proxies(done, "", over_source)), Codes{"PLD4308?"});
  EXPECT_EQ(codes_of(crosses_the_proxies(done, fence, over_source)), Codes{});
}

}  // namespace
}  // namespace palladion::sim::testing
