// Checks of tensor memory that the zoo has no pair for: order through relaxed mbarriers, one thread's
// pipelined operations, instructions that ptxas would refuse together.
#include <gmock/gmock.h>

#include "sim/check/checker.h"
#include "sim/check/order/tensor_order.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using check::AsyncRecord;
using check::TensorOrder;

constexpr uint32_t threads = 256;  // two warpgroups: warps w and w + 4 reach the same lanes

// Each thread's block of tensor memory is at %at; `body` runs between allocation and its end.
std::string kernel(const std::string& body, const char* group = "cta_group::1",
                   const char* meet = "bar.sync 0;") {
  const std::string g = group;
  return R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 full;
  .shared .align 4 .b32 base;
  .reg .pred %p<5>, %first, %upper; .reg .b32 %r<12>, %at, %d; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  setp.eq.u32 %first, %r2, 0;
  setp.ge.u32 %upper, %r1, 128;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [full], 128;
  fence.mbarrier_init.release.cluster;
  @!%first bra ALLOCATED;
  tcgen05.alloc.)" +
         g + R"(.sync.aligned.shared::cta.b32 [base], 32;
  tcgen05.relinquish_alloc_permit.)" +
         g + R"(.sync.aligned;
ALLOCATED:
  )" + meet +
         R"(
  ld.shared.u32 %d, [base];
  and.b32 %at, %r2, 3;
  shl.b32 %at, %at, 21;
  add.u32 %at, %at, %d;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
)" + body +
         R"(
  )" + meet +
         R"(
  @!%first bra END;
  tcgen05.dealloc.)" +
         g + R"(.sync.aligned.b32 %d, 32;
END:
  ret;
}
)";
}

RunResult result_of(const std::string& text, uint32_t ctas = 1) {
  std::vector<uint32_t> array(threads * ctas);
  PtxRunner runner(text, *isa::find_arch("b200"));
  runner.array(array).shape({ctas, 1, 1}, {threads, 1, 1}, {ctas, 1, 1});
  check::Checker checker;
  RunOptions options;
  options.observer = &checker;
  RunResult r = runner.run(options);
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  return r;
}

std::vector<std::string> codes(const std::string& text, uint32_t ctas = 1) {
  std::vector<std::string> out;
  for (const Finding& f : result_of(text, ctas).findings) out.push_back(f.code.name());
  return out;
}

// The lower warpgroup stores, the upper one loads; `before` and `after` stand around an mbarrier of this
// memory order.
std::string handed_over(const char* release, const char* acquire, const char* before, const char* after) {
  return kernel(std::string(R"(
  @%upper bra UPPER;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%r1};
  tcgen05.wait::st.sync.aligned;
)") + before + "\n  mbarrier.arrive." +
                release + R"(.cta.shared::cta.b64 _, [full];
  bra DONE;
UPPER:
  mbarrier.try_wait.parity.)" +
                acquire + R"(.cta.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra UPPER;
)" + after + R"(
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%at];
  tcgen05.wait::ld.sync.aligned;
  st.global.u32 [%rd2], %r3;
DONE:
)");
}

constexpr const char* fence_before = "  tcgen05.fence::before_thread_sync;";
constexpr const char* fence_after = "  tcgen05.fence::after_thread_sync;";

TEST(TensorMemoryChecks, AnMbarrierOrdersWithBothFences) {
  EXPECT_THAT(codes(handed_over("release", "acquire", fence_before, fence_after)), ::testing::IsEmpty());
}

TEST(TensorMemoryChecks, ARelaxedMbarrierOrdersToo) {
  EXPECT_THAT(codes(handed_over("relaxed", "relaxed", fence_before, fence_after)), ::testing::IsEmpty());
}

TEST(TensorMemoryChecks, EitherFenceIsMissed) {
  EXPECT_THAT(codes(handed_over("release", "acquire", "", fence_after)), ::testing::Contains("PLD4516"));
  EXPECT_THAT(codes(handed_over("release", "acquire", fence_before, "")), ::testing::Contains("PLD4516"));
  EXPECT_THAT(codes(handed_over("relaxed", "relaxed", fence_before, "")), ::testing::Contains("PLD4516"));
  // A relaxed arrival carries what the fence covered, and nothing else.
  EXPECT_THAT(codes(handed_over("relaxed", "relaxed", "", fence_after)), ::testing::Contains("PLD4523"));
}

// An instruction that reads the results of a load waits for it; PTX lets that order registers alone.
TEST(TensorMemoryChecks, AWaitForALoadIsStrictlyNeededWhereItsResultsWereRead) {
  const auto severities = [](const std::string& between) {
    std::vector<std::pair<std::string, FindingSeverity>> out;
    for (const Finding& f :
         result_of(kernel("  @%upper bra DONE;\n"
                          "  tcgen05.st.sync.aligned.32x32b.x4.b32 [%at], {%r1, %r1, %r1, %r1};\n"
                          "  tcgen05.wait::st.sync.aligned;\n"
                          "  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%at];\n" +
                          between +
                          "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%at], {%r1, %r1};\n"
                          "  tcgen05.wait::st.sync.aligned;\n"
                          "  add.u32 %r5, %r3, %r4;\n  st.global.u32 [%rd2], %r5;\nDONE:\n"))
             .findings)
      out.emplace_back(f.code.name(), f.severity);
    return out;
  };
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_THAT(severities(""), ElementsAre(Pair("PLD4513", FindingSeverity::error)));
  EXPECT_THAT(severities("  add.u32 %r6, %r3, 1;\n"), ElementsAre(Pair("PLD4513", FindingSeverity::error)));
  EXPECT_THAT(severities("  add.u32 %r6, %r3, %r4;\n"),
              ElementsAre(Pair("PLD4513", FindingSeverity::strict)));
  // A later load is under way, and still is when the columns are freed.
  EXPECT_THAT(severities("  add.u32 %r7, %at, 2;\n"
                         "  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r8, %r9}, [%r7];\n"
                         "  add.u32 %r6, %r3, %r4;\n"),
              ElementsAre(Pair("PLD4507", FindingSeverity::error), Pair("PLD4513", FindingSeverity::strict)));
  EXPECT_THAT(severities("  tcgen05.wait::ld.sync.aligned;\n"), ::testing::IsEmpty());
}

// Warps of one quarter and nothing between them.
TEST(TensorMemoryChecks, WarpgroupsRaceForTheirLanes) {
  EXPECT_THAT(codes(kernel(R"(
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%r1};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
)")),
              ::testing::Contains("PLD4523"));
}

// ptxas refuses this program; one that was linked from two parts could still do it.
// PTX wants the warp's lanes in the address; the chip takes them itself where it has none.
TEST(TensorMemoryChecks, LanesThatAreNotStatedAreTheWarps) {
  const auto with = [](const std::string& address) {
    return "tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%r1};\ntcgen05.wait::st.sync.aligned;\n"
           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [" +
           address + "];\ntcgen05.wait::ld.sync.aligned;\n@!%upper st.global.u32 [%rd2], %r3;\n";
  };
  const std::string lower = "@%upper bra MET;\n", met = "MET:\n";
  EXPECT_THAT(result_of(kernel(lower + with("%at") + met)).findings, ::testing::IsEmpty());
  const RunResult r = result_of(kernel(lower + with("%d") + met));
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].code, "PLD4511");
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::strict);
}

// A copy into the word where tcgen05.alloc had stored its address, read by all.
TEST(TensorMemoryChecks, ACopyOverTheSlotOfAnAllocationIsStrict) {
  const auto with = [](const std::string& proxy_fence) {
    std::string text = kernel(proxy_fence + R"(
  bar.sync 0;
  @!%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [base], [%rd1], 16, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra WAIT;
)");
    const auto replace = [&](const std::string& what, const std::string& by) {
      text.replace(text.find(what), what.size(), by);
    };
    replace(".shared .align 4 .b32 base;", ".shared .align 16 .b8 base[16];");
    replace("[full], 128;", "[full], 1;");
    return result_of(text);
  };
  EXPECT_THAT(with("fence.proxy.async.shared::cta;").findings, ::testing::IsEmpty());
  const RunResult r = with("");
  EXPECT_FALSE(r.findings.empty());
  for (const Finding& f : r.findings) {  // over what threads read, and what tcgen05.alloc wrote
    EXPECT_EQ(f.code, "PLD4308");
    EXPECT_EQ(f.severity, FindingSeverity::strict);
  }
}

TEST(TensorMemoryChecks, GroupsOfOneAndOfTwoDoNotMix) {
  const char* const meet = "barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;";
  const std::string commit_text = R"(
  @%p1 tcgen05.commit.cta_group::GROUP.mbarrier::arrive::one.shared::cluster.b64 [full];
)";
  const auto with = [&](const char* group) {
    std::string text = commit_text;
    return kernel(text.replace(text.find("GROUP"), 5, group), "cta_group::2", meet);
  };
  EXPECT_THAT(codes(with("1"), 2), ::testing::Contains("PLD4509"));
  EXPECT_THAT(codes(with("2"), 2), ::testing::Not(::testing::Contains("PLD4509")));
}

TEST(TensorOrder, ACommitCoversWhatItsThreadIssuedBefore) {
  TensorOrder order(2);
  AsyncRecord early, late;
  early.id = 5, late.id = 9;
  early.stream = late.stream = TensorOrder::thread_stream(WarpOfCluster(1), Lane(0));
  const auto always = [](const TensorOrder::Publication&) { return true; };
  EXPECT_FALSE(order.complete(early, always));
  order.publish(early.stream, {.before = 7, .warp = WarpOfCluster(0), .lanes = 1, .time = 3});
  EXPECT_TRUE(order.complete(early, always));
  EXPECT_FALSE(order.complete(late, always));
  // A waiter that learns of an older commit later learns nothing.
  order.publish(early.stream, {.before = 6, .warp = WarpOfCluster(0), .lanes = 1, .time = 4});
  order.publish(early.stream, {.before = 10, .warp = WarpOfCluster(0), .lanes = 2, .time = 5});
  std::vector<uint32_t> times;
  order.complete(early, [&](const TensorOrder::Publication& p) { return times.push_back(p.time), false; });
  EXPECT_THAT(times, ::testing::UnorderedElementsAre(3, 5));
  EXPECT_TRUE(order.covered(late));
}

TEST(TensorOrder, ProductsOfOneKindAreInOrderAndCopiesBeforeThem) {
  AsyncRecord copy, product, other, load;
  for (AsyncRecord* r : {&copy, &product, &other, &load}) r->family = isa::AsyncFamily::tcgen05;
  product.pipeline = 3, other.pipeline = 5;
  load.tensor_load = true;
  EXPECT_TRUE(check::pipelined(product, product));
  EXPECT_TRUE(check::pipelined(copy, product));
  EXPECT_FALSE(check::pipelined(product, copy));
  EXPECT_FALSE(check::pipelined(product, other));
  EXPECT_FALSE(check::pipelined(load, product));
  EXPECT_FALSE(check::pipelined(copy, copy));
}

}  // namespace
}  // namespace palladion::sim::testing
