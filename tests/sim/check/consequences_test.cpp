// Findings that follow from another one are under it; mistakes that do not depend on each other stay apart.
#include "sim/check/core/merge.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing::consequences {
namespace {

// All codes, each as often as it was found.
Codes all_codes(const RunResult& r) {
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  Codes out;
  for (const Finding& f : r.findings)
    out.push_back(f.code.name() + (f.severity == FindingSeverity::strict ? "?" : ""));
  return out;
}

bool notes(const Finding& f, Phrase phrase) {
  return std::ranges::any_of(f.notes, [&](const Statement& s) { return s.phrase == phrase; });
}

const std::string init =
    "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mbarrier.init.shared.b64 [full], 1;\n  bar.sync 0;\n";
const std::string load =
    "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];\n";
const std::string read =
    "  mov.u32 %r3, tile;\n  shl.b32 %r4, %r1, 2;\n  add.u32 %r4, %r3, %r4;\n  ld.shared.u32 %r5, [%r4];\n"
    "  add.u64 %rd3, %rd1, 1024;\n  cvt.u64.u32 %rd4, %r1;\n  shl.b64 %rd4, %rd4, 2;\n  add.u64 %rd3, %rd3, "
    "%rd4;\n"
    "  st.global.u32 [%rd3], %r5;\n";
// Two warps write different values to words of `dynamic`, and no barrier lies between.
const std::string other_race = "  st.shared.u32 [dynamic], %r2;\n";
const isa::Dim3 one{1, 1, 1}, two_warps{64, 1, 1};

std::string expect(int bytes) {
  return "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], " + std::to_string(bytes) + ";\n";
}

TEST(Consequences, BytesThatNothingAnnouncesAreTheCauseOfEarlyReads) {
  const std::string arrive = "  @%p1 mbarrier.arrive.shared.b64 _, [full];\n",
                    awaited = wait("W", "full", "0");
  const RunResult r = checked(init + load + arrive + awaited + read, one, two_warps);
  ASSERT_EQ(all_codes(r), Codes{"PLD4201"});
  EXPECT_TRUE(notes(r.findings[0], Phrase::finding_follows));
  EXPECT_THAT(all_codes(checked(init + load + arrive + awaited + read + other_race, one, two_warps, 128)),
              ::testing::UnorderedElementsAre("PLD4201", "PLD4001"))
      << "another array, another mistake";
  EXPECT_EQ(all_codes(checked(init + expect(256) + load + awaited + read, one, two_warps)), Codes{});
}

TEST(Consequences, ADeadlockOfSurplusArrivalsIsUnderTheArrivals) {
  const std::string arrive = "  mbarrier.arrive.shared.b64 _, [full];\n";
  const RunResult r = checked(init + arrive + wait("W", "full", "0"), one, two_warps);
  ASSERT_EQ(all_codes(r), Codes{"PLD4104"});
  EXPECT_TRUE(r.findings[0].fatal);
  EXPECT_TRUE(notes(r.findings[0], Phrase::deadlock_follows));
}

TEST(Consequences, TheReaderThatDoesNotWaitIsNamedWhicheverIsFirst) {
  const RunResult r = checked(init + expect(256) + load + read, one, two_warps);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(all_codes(r).front(), "PLD4306");
  for (const Finding& f : r.findings) EXPECT_NE(f.code, "PLD4307");
}

const std::string store_tile =
    "  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;\n  @%p1 "
    "cp.async.bulk.commit_group;\n";
const std::string fill =
    "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r3, tile;\n  shl.b32 %r4, %r1, 2;\n"
    "  add.u32 %r4, %r3, %r4;\n  st.shared.u32 [%r4], %r1;\n  fence.proxy.async;\n  bar.sync 0;\n";
const std::string again = "  bar.sync 0;\n  st.shared.u32 [%r4], %r2;\n";

// The store is not waited for: neither by who overwrites its source, nor before the exit.
TEST(Consequences, TheExitDoesNotWaitForAStoreEither) {
  EXPECT_EQ(all_codes(checked(fill + store_tile + again, one, two_warps)), Codes{"PLD4311"});
  EXPECT_EQ(all_codes(checked(fill + store_tile, one, two_warps)), Codes{"PLD4314?"});
  const std::string second =
      "  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [tile+256], 256;\n"
      "  @%p1 cp.async.bulk.commit_group;\n";
  std::string fill_second = fill;
  fill_second.insert(fill_second.find("  fence.proxy"), "  st.shared.u32 [%r4+256], %r1;\n");
  EXPECT_EQ(
      all_codes(checked(fill_second + store_tile + again + "  fence.proxy.async;\n  bar.sync 0;\n" + second,
                        one, two_warps)),
      (Codes{"PLD4311", "PLD4314?"}))
      << "a second store needs a wait of its own";
}

TEST(Consequences, ArrivalsThatDoNotAlternateAreOneMistake) {
  const std::string arrive = "  barrier.cluster.arrive.aligned;\n",
                    waits = "  barrier.cluster.wait.aligned;\n";
  EXPECT_EQ(all_codes(checked(arrive + arrive + waits + waits, one, two_warps)), Codes{"PLD4804"});
}

// Operations of the host have no places in a kernel: the sentence tells them apart.
TEST(Consequences, FindingsOfTheHostAreToldApartByWhatTheySay) {
  const auto meets = [](const std::string& what) {
    Finding f;
    f.code = "PLD7004";
    f.message = say<Phrase::operations_meet>(what, std::string("frees"), std::string("kernel k"),
                                             std::string("reads"));
    return f;
  };
  EXPECT_EQ(check::merge({meets("free of a"), meets("free of b"), meets("free of a")}).size(), 2u);
}

}  // namespace
}  // namespace palladion::sim::testing::consequences
