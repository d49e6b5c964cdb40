// A bulk store over global memory that threads have accessed: which proxy fence lies between.
#include <gtest/gtest.h>

#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing::global_overwrites {
namespace {

const std::string shared_fence = "  fence.proxy.async.shared::cta;\n";
const std::string global_fence = "  fence.proxy.async.global;\n";
const std::string fence = "  fence.proxy.async;\n";
const std::string read = "  ld.global.u32 %r5, [%rd2];\n", fill = "  st.shared.u32 [%r4], %r5;\n";

// A warp updates 32 words in place; thread 0 issues the store behind a barrier and `behind`.
RunResult updates(const std::string& before, const std::string& behind, uint32_t threads = 32) {
  return checked(R"(
  mov.u32 %r5, 0;
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 2;
  cvt.u64.u32 %rd2, %r4;
  add.u64 %rd2, %rd1, %rd2;
  add.u32 %r4, %r3, %r4;
)" + before + R"(
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
)" + behind + R"(
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
)",
                 {1, 1, 1}, {threads, 1, 1});
}

TEST(GlobalOverwrites, AReadBeforeAFenceOfSharedMemoryAloneIsStrict) {
  const RunResult r = updates(read + fill + shared_fence, "");
  ASSERT_EQ(codes_of(r), Codes{"PLD4308?"});
  EXPECT_EQ(r.findings[0].notes.at(0).phrase, Phrase::fenced_for_shared_memory);
  EXPECT_EQ(codes_of(updates(read + fill, shared_fence)), Codes{"PLD4308?"});
  EXPECT_EQ(codes_of(updates(read + fill + shared_fence, "", 4)), Codes{"PLD4308?"});
  const std::string whole = "  st.shared.v4.u32 [%r4], {%r5, %r5, %r5, %r5};\n";
  EXPECT_EQ(codes_of(updates(read + whole + shared_fence, "", 1)), Codes{"PLD4308?"})
      << "the reader is the thread that stores";
}

TEST(GlobalOverwrites, AFenceOfGlobalMemoryOrdersTheRead) {
  EXPECT_EQ(codes_of(updates(read + fill + fence, "")), Codes{});
  EXPECT_EQ(codes_of(updates(read + fill, fence)), Codes{});
  EXPECT_EQ(codes_of(updates(read + fill + shared_fence, global_fence)), Codes{});
  EXPECT_EQ(codes_of(updates(read + fill + shared_fence + global_fence, "")), Codes{});
}

TEST(GlobalOverwrites, AReadBehindTheFenceIsAnError) {
  EXPECT_EQ(codes_of(updates(fill + shared_fence + read, "")), Codes{"PLD4308"});
}

TEST(GlobalOverwrites, AStoreIsAnErrorWhateverFenceOfSharedMemoryThereIs) {
  const std::string store = "  st.global.u32 [%rd2], 3;\n";
  EXPECT_EQ(codes_of(updates(store + fill + shared_fence, "")), Codes{"PLD4308"});
  EXPECT_EQ(codes_of(updates(store + fill + fence, "")), Codes{});
}

}  // namespace
}  // namespace palladion::sim::testing::global_overwrites
