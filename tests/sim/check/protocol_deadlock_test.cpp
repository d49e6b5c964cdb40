// The content of a deadlock report, and how soon a deadlock is recognised.
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;

TEST(ProtocolDeadlock, AMissingArrival) {
  const Checked c = run_checked(with_mbarriers(R"(
  setp.eq.u32 %p3, %r2, 0;
  @%p3 bra $arrive;
)" + wait("$w", "full", "0") + R"(
  ret;
$arrive:
  mbarrier.arrive.shared.b64 _, [full];
  ret;)",
                                               33, 1),
                                {64, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4101"));
  const Finding& f = c.result.findings[0];
  EXPECT_TRUE(f.fatal);
  EXPECT_EQ(f.message.phrase, Phrase::no_thread_can_arrive);
  EXPECT_EQ(f.object.names.at(0).name, "full");
  EXPECT_EQ(f.sites[0].warp, 1U);
  ASSERT_TRUE(f.sites[0].wait);
  const BlockedWait& w = *f.sites[0].wait;
  EXPECT_EQ(w.expected_arrivals, 33U);
  EXPECT_EQ(w.pending_arrivals, 1U);
  EXPECT_TRUE(w.examined);
  EXPECT_TRUE(w.arrivers.empty()) << "no thread could still arrive";
  const auto signals = std::ranges::find(f.notes, Phrase::signals_in_phase, &Statement::phrase);
  ASSERT_NE(signals, f.notes.end());
  const Site& signal = std::get<Site>(signals->values.at(2));
  EXPECT_EQ(signal.warp, 0U);
  EXPECT_EQ(signal.part.arrivals, 32U);
}

// As numbers what the notes say: who waits at which site, for which phase, what is missing and who could
// bring it.
TEST(ProtocolDeadlock, WaitsAreStructured) {
  const Checked c = run_checked(
      with_mbarriers("  setp.eq.u32 %p3, %r2, 0;\n  @%p3 bra $produce;\n" + wait("$w1", "full", "0") +
                         "  mbarrier.arrive.shared.b64 _, [empty];\n  ret;\n$produce:\n" +
                         wait("$w0", "empty", "0") + "  mbarrier.arrive.shared.b64 _, [full];\n  ret;",
                     32, 32),
      {96, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4901"));
  const Finding& f = c.result.findings[0];
  ASSERT_EQ(f.sites.size(), 2U);
  ASSERT_TRUE(f.sites[0].wait && f.sites[1].wait);
  const size_t consumers = f.sites[0].wait->object.names.at(0).name == "full" ? 0 : 1;
  const BlockedWait& full = *f.sites[consumers].wait;
  EXPECT_EQ(full.kind, BlockedWait::Kind::mbarrier);
  EXPECT_EQ(full.phase, 0);
  EXPECT_EQ(full.parity, 0U);
  EXPECT_EQ(full.expected_arrivals, 32U);
  EXPECT_EQ(full.pending_arrivals, 32U);
  EXPECT_EQ(full.pending_bytes, 0);
  EXPECT_EQ(full.alike, 2U);
  ASSERT_EQ(full.arrivers.size(), 1U);
  EXPECT_EQ(full.arrivers[0].warp, 0U);
  EXPECT_EQ(full.arrivers[0].lanes, ~0U);
  EXPECT_EQ(full.arrivers[0].site, 1 - consumers);
  const BlockedWait& empty = *f.sites[1 - consumers].wait;
  EXPECT_EQ(empty.object.names.at(0).name, "empty");
  EXPECT_EQ(empty.alike, 1U);
  ASSERT_EQ(empty.arrivers.size(), 2U);
  for (const uint32_t warp : {1U, 2U}) {
    EXPECT_EQ(empty.arrivers[warp - 1].warp, warp);
    EXPECT_EQ(empty.arrivers[warp - 1].site, consumers);
  }
}

TEST(ProtocolDeadlock, AWaitThatLacksBytesStatesThem) {
  const Checked c =
      run_checked(with_mbarriers("  @%p1 bra $w;\n"
                                 "  mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;\n"
                                 "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                 "[tile], [%rd1], 256, [full];\n" +
                                     wait("$w", "full", "0") + "  ret;",
                                 1, 1),
                  {32, 1, 1});
  ASSERT_EQ(c.result.findings.size(), 1U);
  ASSERT_TRUE(c.result.findings[0].sites.at(0).wait);
  const BlockedWait& w = *c.result.findings[0].sites[0].wait;
  EXPECT_EQ(w.expected_arrivals, 1U);
  EXPECT_EQ(w.pending_arrivals, 0U);
  EXPECT_EQ(w.pending_bytes, 256);
  EXPECT_TRUE(w.arrivers.empty());
}

TEST(ProtocolDeadlock, BytesAnnouncedWithoutAnArrival) {
  const Checked c = run_checked(with_mbarriers(R"(
  @%p1 bra $w;
  mbarrier.expect_tx.relaxed.cta.shared.b64 [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
)" + wait("$w", "full", "0") + "  ret;",
                                               1, 1),
                                {32, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4202"));
  ASSERT_TRUE(c.result.findings[0].sites.at(0).wait);
  EXPECT_EQ(c.result.findings[0].sites[0].wait->expected_bytes, 256);
  EXPECT_EQ(c.result.findings[0].sites[0].wait->delivered_bytes, 256);
}

// Lane 31 leaves, the other lanes arrive and wait; lane 0 has announced bytes and arrives as well.
TEST(ProtocolDeadlock, AThreadThatExitedIsTheCause) {
  const auto kernel = [](const std::string& leave) {
    return run_checked(with_mbarriers("  setp.eq.u32 %p3, %r1, 31;\n" + leave + R"(
  @%p3 bra $end;
  @%p1 bra $arrive;
  mbarrier.expect_tx.relaxed.cta.shared.b64 [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
$arrive:
  mbarrier.arrive.shared.b64 _, [full];
)" + wait("$w", "full", "0") + "$end:\n  ret;",
                                      32, 1),
                       {32, 1, 1});
  };
  const Checked c = kernel("");
  ASSERT_THAT(codes(c), ElementsAre("PLD4703"));
  const Finding& f = c.result.findings[0];
  ASSERT_EQ(f.message.phrase, Phrase::participants_exited);
  EXPECT_EQ(std::get<int64_t>(f.message.values.at(0)), 1);
  EXPECT_EQ(std::get<WarpLanes>(f.message.values.back()),
            (WarpLanes{.cta = {}, .warp = {}, .lanes = 1U << 31}));
  EXPECT_EQ(f.sites.back().part.does, Does::exits);
  EXPECT_EQ(f.sites.back().lanes, 1U << 31);
  EXPECT_THAT(codes(kernel("  @%p3 mbarrier.arrive_drop.shared.b64 _, [full];")), ElementsAre());
}

// The CTA's whole second warp leaves, and the mbarrier counts every thread.
TEST(ProtocolDeadlock, AWarpThatExitedIsTheCause) {
  const Checked c = run_checked(with_mbarriers("  setp.ne.u32 %p3, %r2, 0;\n  @%p3 bra $end;\n"
                                               "  mbarrier.arrive.shared.b64 _, [full];\n" +
                                                   wait("$w", "full", "0") + "$end:\n  ret;",
                                               64, 1),
                                {64, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4703"));
  EXPECT_EQ(c.result.findings[0].sites.back().warp, 1U);
}

// Which of the two waits must be the first to pass: the one in front of the copy, which a separate expect_tx
// announces.
TEST(ProtocolDeadlock, ASeparateExpectTxMarksTheProducer) {
  const auto ring = [](const std::string& announce) {
    return run_checked(
        with_mbarriers("  setp.eq.u32 %p3, %r2, 0;\n  @%p3 bra $produce;\n" + wait("$w1", "full", "0") +
                           "  mbarrier.arrive.shared.b64 _, [empty];\n  ret;\n$produce:\n" +
                           wait("$w0", "empty", "0") + announce +
                           "  mbarrier.arrive.shared.b64 _, [full];\n  ret;",
                       32, 32),
        {64, 1, 1});
  };
  const Checked c = ring("  mbarrier.expect_tx.relaxed.cta.shared.b64 [full], 256;\n");
  ASSERT_THAT(codes(c), ElementsAre("PLD4113"));
  const Statement& message = c.result.findings[0].message;
  ASSERT_EQ(message.phrase, Phrase::producer_waits_first);
  EXPECT_EQ(std::get<WarpLanes>(message.values.at(0)).warp, 0U);
  EXPECT_EQ(std::get<Object>(message.values.at(1)).names.at(0).name, "empty");
  EXPECT_THAT(codes(ring("")), ElementsAre("PLD4901"));
}

TEST(ProtocolDeadlock, AnAlternationWithoutAFirstArrival) {
  const Checked c = run_checked(with_mbarriers(R"(
  setp.eq.u32 %p3, %r2, 0;
  @%p3 bra $first;
  barrier.sync 2, 64;
  barrier.arrive 1, 64;
  ret;
$first:
  barrier.sync 1, 64;
  barrier.arrive 2, 64;
  ret;)",
                                               1, 1),
                                {64, 1, 1});
  EXPECT_THAT(codes(c), ElementsAre("PLD4904"));
}

TEST(ProtocolDeadlock, WithoutACheckerNothingIsSaidOfUnannouncedBytes) {
  std::vector<uint32_t> array(64);
  PtxRunner runner(ptx(with_mbarriers(wait("$w", "full", "0") + "  ret;", 1, 1)));
  const RunResult r = runner.array(array).shape({1, 1, 1}, {32, 1, 1}).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
  ASSERT_EQ(r.findings[0].sites.size(), 1U);
  ASSERT_TRUE(r.findings[0].sites[0].wait);
  const BlockedWait& w = *r.findings[0].sites[0].wait;
  EXPECT_EQ(w.parity, 0U);
  EXPECT_EQ(w.expected_arrivals, 1U);
  EXPECT_EQ(w.pending_arrivals, 1U);
  EXPECT_EQ(w.pending_bytes, 0);
  EXPECT_EQ(w.expected_bytes, std::nullopt);
  EXPECT_EQ(w.phase, std::nullopt) << "only the checkers count phases";
}

}  // namespace
}  // namespace palladion::sim::testing
