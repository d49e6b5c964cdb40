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

// D and A of a product lie side by side, in an allocation each.
TEST(TensorMemoryChecks, OperandsOfTwoAllocationsAreApart) {
  const auto with = [](int d, int a, const std::string& rows) {
    std::string text = kernel(R"(
  ld.shared.u32 %r11, [other];
  add.u32 %r3, %d, )" + std::to_string(a) +
                              R"(;
  and.b32 %r4, %r2, 3;
  shl.b32 %r4, %r4, 21;
  add.u32 %r4, %r4, %r3;
  mov.u32 %r5, 0;
  @%upper bra STORED;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%r5, %r5, %r5, %r5, %r5, %r5, %r5, %r5};
  tcgen05.wait::st.sync.aligned;
STORED:
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @!%p1 bra WAIT;
  mov.u32 %r6, tile;
  shr.u32 %r6, %r6, 4;
  cvt.u64.u32 %rd3, %r6;
  or.b64 %rd3, %rd3, 0x400800100000;
  add.u32 %r7, %d, )" + std::to_string(d) +
                              R"(;
  setp.ne.u32 %p3, %r1, %r1;
  tcgen05.mma.cta_group::1.kind::f16 [%r7], [%r3], %rd3, )" +
                              rows + R"(, %p3;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra WAIT;
  tcgen05.fence::after_thread_sync;
)");
    const auto replace = [&](const std::string& what, const std::string& by) {
      text.replace(text.find(what), what.size(), by);
    };
    const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;",
                      dealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32;";
    replace(".shared .align 4 .b32 base;",
            ".shared .align 4 .b32 base, other; .shared .align 1024 .b8 tile[8192];");
    replace("[full], 128;", "[full], 1;");
    replace(alloc, alloc + "\n  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], 32;");
    replace(dealloc, dealloc + "\n  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 32;");
    std::vector<std::string> out;
    for (const std::string& code : codes(text))
      if (code != "PLD6101") out.push_back(code);  // B holds what shared memory held
    return out;
  };
  for (const char* const rows : {"0x8080010", "0x4080010"}) {  // 128 and 64 rows, 32 columns
    EXPECT_THAT(with(0, 32, rows), ::testing::IsEmpty()) << rows;
    EXPECT_THAT(with(32, 24, rows), ::testing::IsEmpty()) << rows;
    EXPECT_THAT(with(32, 28, rows), ::testing::Contains("PLD4510")) << rows << ": A ends in the other one";
    EXPECT_THAT(with(16, 48, rows), ::testing::Contains("PLD4510")) << rows << ": D does";
  }
}

// One warp of the second CTA frees; the others have waited for their loads and exited, or exit without that.
TEST(TensorMemoryChecks, ExitsInFrontOfTheClusterBarrierLetAllocationsEnd) {
  const auto with = [](const std::string& waits, const std::string& last) {
    std::string text = kernel(R"(
  @%upper bra LOADED;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%r1};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%at];
  )" + waits + R"(
LOADED:
)" + last + R"(
  @!%first bra END;
)");
    const std::string meet = "  bar.sync 0;\n  @!%first bra END;";
    text.replace(text.rfind(meet), meet.size(),
                 "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;");
    std::vector<std::pair<std::string, FindingSeverity>> out;
    for (const Finding& f : result_of(text).findings) out.emplace_back(f.code.name(), f.severity);
    return out;
  };
  using ::testing::ElementsAre;
  using ::testing::Pair;
  const std::string wait = "tcgen05.wait::ld.sync.aligned;";
  EXPECT_THAT(with(wait, ""), ElementsAre(Pair("PLD4507", FindingSeverity::strict),  // store and load
                                          Pair("PLD4507", FindingSeverity::strict)));
  EXPECT_THAT(with("", ""), ::testing::Contains(Pair("PLD4507", FindingSeverity::error)));
  // They exit behind their arrival, which the barrier needs in their place, and load after that.
  const std::string arrive_early = R"(
  @%first bra ARRIVED;
  barrier.cluster.arrive.relaxed.aligned;
  @%upper bra ARRIVED;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%at];
  tcgen05.wait::ld.sync.aligned;
ARRIVED:)";
  EXPECT_THAT(with(wait, arrive_early), ::testing::Contains(Pair("PLD4507", FindingSeverity::error)));
}

// The CTA exits behind a wait for the first commit; the second one covers nothing more, or another product.
TEST(TensorMemoryChecks, ASignalThatTrailsItsProductsIsStrict) {
  const auto with = [](const std::string& between) {
    std::string text = kernel(R"(
  @!%p1 bra WAIT;
  mov.u32 %r6, tile;
  shr.u32 %r6, %r6, 4;
  cvt.u64.u32 %rd3, %r6;
  or.b64 %rd4, %rd3, 0x400800800000;
  or.b64 %rd3, %rd3, 0x400800100000;
  setp.ne.u32 %p3, %r1, %r1;
  tcgen05.mma.cta_group::1.kind::f16 [%d], %rd4, %rd3, 0x8080010, %p3;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [full];
  )" + between + R"(
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [late];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra WAIT;
  tcgen05.fence::after_thread_sync;
)");
    const auto replace = [&](const std::string& what, const std::string& by) {
      text.replace(text.find(what), what.size(), by);
    };
    replace(".shared .align 8 .b64 full;",
            ".shared .align 8 .b64 full, late; .shared .align 1024 .b8 tile[8192];");
    replace("[full], 128;", "[full], 1;\n  @%p1 mbarrier.init.shared.b64 [late], 1;");
    std::vector<std::pair<std::string, FindingSeverity>> out;
    for (const Finding& f : result_of(text).findings)
      if (f.code != "PLD6101") out.emplace_back(f.code.name(), f.severity);  // the operands are not written
    return out;
  };
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_THAT(with(""), ElementsAre(Pair("PLD4118", FindingSeverity::strict)));
  EXPECT_THAT(with("tcgen05.mma.cta_group::1.kind::f16 [%d], %rd4, %rd3, 0x8080010, %p3;"),
              ::testing::Contains(Pair("PLD4118", FindingSeverity::error)));
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
