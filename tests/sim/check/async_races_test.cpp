// Races with copies and products, whose cause another one could hide.
#include <gmock/gmock.h>

#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Granules of one tile with two histories that take turns: every second one was read by another copy.
TEST(AsyncRaces, GranulesWhoseHistoriesTakeTurnsAreJudgedEach) {
  const auto read_out = [](int from) {
    std::string text;
    for (int at = from; at < 128; at += 32) {
      const std::string place = std::to_string(at);
      text += "  cp.async.bulk.global.shared::cta.bulk_group [%rd1+" + std::to_string(2048 + at) +
              "], [tile+" + place + "], 16;\n";
    }
    return text + "  cp.async.bulk.commit_group;\n";
  };
  const std::string fill =
      "  mbarrier.arrive.expect_tx.shared.b64 _, [full], 128;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [full];\n";
  const auto refilled = [&](const std::string& awaited, const std::string& before_read) {
    return checked(R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
  mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
)" + fill + wait("FIRST", "full", "0") +
                       read_out(0) + read_out(16) + awaited + fill + R"(
MEET:
  bar.sync 0;
)" + before_read + R"(
  shl.b32 %r3, %r1, 2;
  and.b32 %r3, %r3, 127;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  ld.shared.u32 %r5, [%r4];
)" + wait("LAST", "full", "1"),
                   {1, 1, 1}, {64, 1, 1});
  };
  const std::string both = "  cp.async.bulk.wait_group.read 0;\n", second = wait("SECOND", "full", "1");
  EXPECT_EQ(codes_of(refilled(both, second)), Codes{});
  // The bytes of `tile` that the finding is about.
  const auto bytes = [](const RunResult& r, std::string_view code) {
    for (const Finding& f : r.findings)
      if (f.code.name() == code && !f.object.names.empty() && !f.object.names.front().bytes.empty())
        return f.object.names.front().bytes.front();
    return Range{};
  };
  const RunResult early = refilled(both, "");
  ASSERT_EQ(codes_of(early), Codes{"PLD4307"});
  EXPECT_EQ(bytes(early, "PLD4307"), (Range{0, 128}));
  // The copies of odd granules are not awaited: the first of them.
  const RunResult overwritten = refilled("  cp.async.bulk.wait_group.read 1;\n", second);
  ASSERT_THAT(codes_of(overwritten), Contains("PLD4312"));
  EXPECT_EQ(bytes(overwritten, "PLD4312"), (Range{16, 32}));
}

// Warp 0 fills the tile twice; warp 1 waits for the first copy and reads behind the issue of the second one.
RunResult filled_twice(const std::string& before_refill, const std::string& after_wait,
                       const std::string& before_read) {
  const auto fill = [](const std::string& n) {
    return "  @!%p1 bra FILLED" + n + ";\n  mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n" +
           "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, "
           "[full];\n" +
           "FILLED" + n + ":\n";
  };
  const std::string text = R"(
  .shared .align 8 .b64 empty;
  .shared .align 8 .b64 go;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra MADE;
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.init.shared.b64 [empty], 32;
  mbarrier.init.shared.b64 [go], 1;
  fence.mbarrier_init.release.cluster;
MADE:
  bar.sync 0;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra READER;
)" + fill("0") + wait("FIRST", "full", "0") +
                           (before_refill.empty() ? "" : wait("EMPTY", "empty", "0")) + fill("1") +
                           "  @%p1 mbarrier.arrive.shared.b64 _, [go];\n" + wait("SECOND", "full", "1") +
                           "  ret;\nREADER:\n" + wait("WAIT", "full", "0") + after_wait +
                           wait("GO", "go", "0") + before_read + R"(
  mov.u32 %r3, tile;
  ld.shared.u32 %r4, [%r3];
)";
  return checked(text, {1, 1, 1}, {64, 1, 1});
}

TEST(AsyncRaces, ARefillThatDoesNotWaitIsNotBlamedOnTheReadersWait) {
  const std::string arrive = "  mbarrier.arrive.shared.b64 _, [empty];\n";
  const std::string again = wait("AGAIN", "full", "1");
  const Codes early = codes_of(filled_twice("", "", ""));
  EXPECT_THAT(early, Contains("PLD4307"));
  EXPECT_THAT(early, Not(Contains("PLD4115")));
  // The refill waited; the reader did not wait for it.
  const Codes unawaited = codes_of(filled_twice("wait", arrive, ""));
  EXPECT_THAT(unawaited, Contains("PLD4115"));
  EXPECT_THAT(unawaited, Not(Contains("PLD4307")));
  EXPECT_EQ(codes_of(filled_twice("wait", arrive, again)), Codes{});
}

// Warp 1 gives the tile back and reads it after that, without a wait between the two: it wants the first
// copy.
TEST(AsyncRaces, AReadBehindTheReadersOwnReleaseIsNotBlamedOnItsWait) {
  const auto read =
      [](const std::string& before, const std::string& behind) {
        return codes_of(checked(R"(
  .shared .align 8 .b64 empty;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra MADE;
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.init.shared.b64 [empty], 32;
  fence.mbarrier_init.release.cluster;
MADE:
  bar.sync 0;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra READER;
  @!%p1 bra DONE;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
)" + wait("EMPTY", "empty", "0") + R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
)" + wait("SECOND", "full", "1") + R"(
DONE:
  ret;
READER:
)" + wait("FIRST", "full", "0") + before +
                                    R"(
  mov.u32 %r3, 0;
LATER:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p3, %r3, 100000;
  @%p3 bra LATER;
  ld.shared.u32 %r4, [tile];
)" + behind,
                                {1, 1, 1}, {64, 1, 1}));
      };
  const std::string arrive = "  mbarrier.arrive.shared.b64 _, [empty];\n";
  EXPECT_EQ(read(arrive, ""), Codes{"PLD4307"});
  EXPECT_EQ(read("", "  fence.proxy.async.shared::cta;\n" + arrive), Codes{});
}

// The first warpgroup stores the operands, the second one multiplies them.
TEST(AsyncRaces, AWgmmaThatReadsTooEarlyIsNamed) {
  const auto product = [](const std::string& meet) {
    return checked(R"(
  .reg .f32 %f<4>;
  mov.u32 %r3, dynamic;
  setp.ge.u32 %p2, %r1, 128;
  @%p2 bra MEET;
  shl.b32 %r4, %r1, 4;
  add.u32 %r4, %r3, %r4;
  st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
  setp.lt.u32 %p1, %r1, 16;
  @%p1 st.shared.v4.u32 [%r4+2048], {%r1, %r1, %r1, %r1};
  fence.proxy.async.shared::cta;
MEET:
)" + meet + R"(
  @!%p2 bra DONE;
  cvt.u64.u32 %rd2, %r3;
  shr.u64 %rd2, %rd2, 4;
  or.b64 %rd2, %rd2, 0x1000080000;
  add.u64 %rd3, %rd2, 128;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd2, %rd3, 0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
DONE:
)",
                   {1, 1, 1}, {256, 1, 1}, 4096);
  };
  const RunResult r = product("");
  EXPECT_THAT(codes_of(r), Contains("PLD4310"));
  for (const Finding& f : r.findings) {
    if (f.code != "PLD4310") continue;
    EXPECT_EQ(f.message.phrase, Phrase::reads_unordered_writes);
    EXPECT_EQ(std::get<std::string>(f.message.values.at(0)), "wgmma");
    EXPECT_EQ(f.help.phrase, Phrase::fence_and_barrier);
  }
  EXPECT_EQ(codes_of(product("  bar.sync 0;\n")), Codes{});
}

// The wait of one group is there, and the copy's group is not among those that it covers.
TEST(AsyncRaces, ACpAsyncThatIsStillUnderWayIsNoMissingBarrier) {
  const auto copied = [](const std::string& complete) {
    return checked(R"(
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 4;
  add.u32 %r4, %r3, %r4;
  cvt.u64.u32 %rd2, %r1;
  shl.b64 %rd2, %rd2, 4;
  add.u64 %rd2, %rd1, %rd2;
  cp.async.cg.shared.global [%r4], [%rd2], 16;
)" + complete + R"(
  bar.sync 0;
  xor.b32 %r4, %r4, 16;
  ld.shared.u32 %r5, [%r4];
  cp.async.wait_all;
)",
                   {1, 1, 1}, {32, 1, 1});
  };
  const RunResult newest = copied("  cp.async.commit_group;\n  cp.async.wait_group 1;\n"),
                  uncommitted = copied("  cp.async.wait_group 0;\n  cp.async.commit_group;\n");
  for (const RunResult* r : {&newest, &uncommitted}) {
    ASSERT_EQ(codes_of(*r), Codes{"PLD4322"});
    EXPECT_EQ(r->findings[0].message.phrase, Phrase::cp_async_read_early);
    EXPECT_EQ(r->findings[0].help.phrase, Phrase::wait_for_its_group);
    EXPECT_EQ(r->findings[0].missing.phrase, Phrase::no_wait_for_cp_async);
  }
  EXPECT_EQ(codes_of(copied("  cp.async.commit_group;\n  cp.async.wait_group 0;\n")), Codes{});
}

// CTA 1 waits until its bulk store is complete, and raises a flag: the store is complete, and not released.
TEST(AsyncRaces, ABulkStoreThatIsCompleteAndNotReleasedIsNoMissingWait) {
  const auto stored = [](const std::string& release, const std::string& acquire) {
    return checked(R"(
  mov.u32 %r3, tile;
  setp.eq.u32 %p1, %r9, 0;
  @%p1 bra SPIN;
  st.shared.u32 [%r3], 1;
  st.shared.u32 [%r3+4], 1;
  st.shared.u32 [%r3+8], 1;
  st.shared.u32 [%r3+12], 1;
  fence.proxy.async;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)" + release + R"(
  red.relaxed.gpu.global.add.u32 [%rd1+1024], 1;
  bra DONE;
SPIN:
  ld.relaxed.gpu.global.u32 %r4, [%rd1+1024];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra SPIN;
)" + acquire + R"(
  ld.global.u32 %r5, [%rd1];
DONE:
)",
                   {2, 1, 1}, {1, 1, 1});
  };
  const std::string fences = "  fence.proxy.async;\n  fence.acq_rel.gpu;\n";
  const RunResult r = stored("", "");
  ASSERT_EQ(codes_of(r), Codes{"PLD6005"});
  EXPECT_EQ(r.findings[0].message.phrase, Phrase::unreleased_store);
  EXPECT_EQ(r.findings[0].help.phrase, Phrase::release_behind_wait);
  ASSERT_EQ(r.findings[0].missing.phrase, Phrase::completion_not_released);
  EXPECT_EQ(std::get<WarpLanes>(r.findings[0].missing.values.at(0)).cta, (isa::Dim3{1, 0, 0}));
  EXPECT_EQ(codes_of(stored(fences, "  fence.acq_rel.gpu;\n")), Codes{});
}

// wait_group makes a thread's own copies visible to it, whatever their size.
TEST(AsyncRaces, AThreadReadsItsOwnCpAsyncWithoutABarrier) {
  for (const uint32_t bytes : {4U, 8U, 16U}) {
    const std::string size = std::to_string(bytes);
    const auto copied =
        [&](uint32_t neighbour) {
          return codes_of(checked(R"(
  mov.u32 %r3, tile;
  mad.lo.u32 %r4, %r1, )" + size + R"(, %r3;
  cvt.u64.u32 %rd2, %r1;
  mad.lo.u64 %rd2, %rd2, )" + size + R"(, %rd1;
  cp.async.ca.shared.global [%r4], [%rd2], )" +
                                      size + R"(;
  cp.async.commit_group;
  cp.async.wait_group 0;
  xor.b32 %r4, %r4, )" + std::to_string(neighbour * bytes) +
                                      ";\n  ld.shared.u32 %r5, [%r4];\n",
                                  {1, 1, 1}, {32, 1, 1}));
        };
    EXPECT_EQ(copied(0), Codes{}) << bytes;
    for (const uint32_t neighbour : {1U, 2U, 16U}) EXPECT_EQ(copied(neighbour), Codes{"PLD4322"}) << bytes;
  }
}

// Each lane waits for its own part alone: what 16 lanes wait for says nothing of the others' bytes, though
// all meet at a barrier then. Warp 1 reads the warp's tile.
TEST(AsyncRaces, ALaneThatDoesNotWaitForItsCpAsyncLeavesItsPartIncomplete) {
  const auto copied = [](const std::string& complete, uint32_t lanes) {
    return checked(R"(
  mov.u32 %r3, tile;
  and.b32 %r6, %r1, 31;
  shl.b32 %r4, %r6, 4;
  add.u32 %r4, %r3, %r4;
  setp.ne.u32 %p1, %r1, %r6;
  cvt.u64.u32 %rd2, %r6;
  shl.b64 %rd2, %rd2, 4;
  add.u64 %rd2, %rd1, %rd2;
  add.u32 %r5, %r3, 512;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 mbarrier.init.shared.b64 [%r5], )" +
                       std::to_string(lanes) + R"(;
  bar.sync 0;
  @%p1 bra MEET;
  cp.async.cg.shared.global [%r4], [%rd2], 16;
  cp.async.commit_group;
  setp.ge.u32 %p2, %r1, )" +
                       std::to_string(lanes) + ";\n  @%p2 bra MEET;\n" + complete + R"(
MEET:
  bar.sync 0;
TEST:
  mbarrier.test_wait.parity.shared.b64 %p2, [%r5], 0;
  @!%p2 bra TEST;
  @%p1 ld.shared.u32 %r7, [%r4];
)",
                   {1, 1, 1}, {64, 1, 1});
  };
  const std::string waits = "  cp.async.wait_group 0;\n  mbarrier.arrive.shared.b64 _, [%r5];\n",
                    arrives = "  cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];\n";
  for (const std::string& complete : {waits, arrives}) {
    EXPECT_EQ(codes_of(copied(complete, 32)), Codes{}) << complete;
    for (const uint32_t lanes : {1U, 16U, 31U}) {
      const RunResult r = copied(complete, lanes);
      ASSERT_EQ(codes_of(r), Codes{"PLD4322"}) << complete << lanes;
      EXPECT_EQ(r.findings[0].message.phrase, Phrase::cp_async_read_early);
    }
  }
}

TEST(AsyncRaces, AStoreIntoAnotherThreadsCpAsyncIsNamed) {
  const auto copied = [](const std::string& meet, const std::string& access) {
    return checked(R"(
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 4;
  add.u32 %r4, %r3, %r4;
  cvt.u64.u32 %rd2, %r1;
  shl.b64 %rd2, %rd2, 4;
  add.u64 %rd2, %rd1, %rd2;
  cp.async.cg.shared.global [%r4], [%rd2], 16;
  cp.async.wait_all;
)" + meet + "  xor.b32 %r4, %r4, 16;\n" +
                       access,
                   {1, 1, 1}, {32, 1, 1});
  };
  const std::string store = "  st.shared.u32 [%r4], 0;\n", load = "  ld.shared.u32 %r5, [%r4];\n";
  const RunResult written = copied("", store), read = copied("", load);
  EXPECT_EQ(codes_of(written), Codes{"PLD4322"});
  EXPECT_EQ(codes_of(read), Codes{"PLD4322"});
  ASSERT_EQ(written.findings.size(), 1u);
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(written.findings[0].message.phrase, Phrase::cp_async_written_by_other);
  EXPECT_FALSE(read.findings[0].message) << "the code's title says it";
  for (const std::string& access : {store, load})
    EXPECT_EQ(codes_of(copied("  bar.warp.sync 0xffffffff;\n", access)), Codes{});
}

// Warp 1 fills the tile; warp 0 asks for it early, does `work`, and waits where the answer was no.
RunResult asks_early(const std::string& work) {
  return checked(R"(
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra INIT;
  mbarrier.init.shared::cta.b64 [full], 1;
INIT:
  bar.sync 0;
  and.b32 %r3, %r1, 31;
  setp.ne.u32 %p0, %r3, 0;
  @%p0 bra END;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra FILL;
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  selp.u32 %r4, 1, 0, %p2;
)" + work + R"(
  setp.ne.u32 %p3, %r4, 0;
  @%p3 bra READ;
W:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [full], 0;
  @!%p4 bra W;
READ:
  ld.shared.u32 %r5, [tile];
  st.global.u32 [%rd1], %r5;
  bra END;
FILL:
  st.shared.u32 [tile], 7;
  mbarrier.arrive.shared::cta.b64 _, [full];
END:
)",
                 {1, 1, 1}, {64, 1, 1});
}

TEST(AsyncRaces, WhatStandsBetweenAQuestionAndItsWaitIsNotOrdered) {
  EXPECT_EQ(codes_of(asks_early("add.u32 %r6, %r1, 1;")), Codes{});
  EXPECT_EQ(codes_of(asks_early("ld.shared.u32 %r6, [tile]; st.global.u32 [%rd1+4], %r6;")),
            Codes{"PLD4001"});
}

}  // namespace
}  // namespace palladion::sim::testing
