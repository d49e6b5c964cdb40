// Runs without values: operands that decide, products, addresses, copies.
#include "tests/sim/values_subject.h"

namespace palladion::sim::testing::values {
namespace {

TEST(Values, OperandsThatDecide) {
  const std::string load = std::string(prologue) + "ld.global.u32 %r2, [%rd4];\nmul.wide.u32 %rd6, %r2, 1;\n";
  expect_refused(values_kernel(load + "and.b32 %r2, %r2, 7;\nbar.sync %r2;"), {"of `bar`"});
  expect_refused(values_kernel(load + "shfl.sync.bfly.b32 %r3, %r1, 1, 31, %r2;"), {"of `shfl`"});
  expect_refused(values_kernel(load + "mbarrier.init.shared.b64 [bar], %r2;", ".shared .align 8 .b64 bar;\n"),
                 {"operand `count` of `mbarrier`"});
  expect_refused(values_kernel(load + "cp.async.ca.shared.global [tile], [%rd1], 4, %r2;", tile_variables),
                 {"of `cp`"});
  expect_refused(values_kernel(load + R"(
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd1, 1, 1, 1, 0, 0;)"),
                 {"of `wgmma`"});
}

TEST(Values, ProductsAreData) {
  const std::string product = std::string(prologue) + R"(
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1},
      {%f5, %f5, %f5, %f5};)";
  expect_same_events(values_kernel(product + "st.global.f32 [%rd5], %f1;"));
  expect_refused(values_kernel(product + "setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra $end;\n$end:"),
                 {"the branch", "the product computed"});
}

TEST(Values, AddressesAreStillChecked) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4+4096];
    st.global.u32 [%rd5], %r2;)");
  const RunResult r = Subject(text).run(without_values());
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings.front().code, "PLD3022");
}

TEST(Values, CopiesSignalWithoutMoving) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $wait;
    mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 %rd8, [bar], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [values], [%rd1], 128, [bar];
    $wait:
    bar.sync 0;
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra $wait2;
    bra $go;
    $wait2:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra $wait2;
    $go:
    cp.async.ca.shared.global [values], [%rd1], 4;
    cp.async.wait_all;
    bar.sync 0;
    fence.proxy.async.shared::cta;
    @%p1 bra $end;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [values], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    $end:)",
                                         ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 values[128];\n");
  expect_same_events(text);
  Subject s(text);
  EXPECT_TRUE(s.run(without_values()).clean());
  EXPECT_EQ(s.b, std::vector<uint32_t>(64, 7));
}

TEST(Values, AnIndexThatACopyBrought) {
  expect_stopped_for(values_kernel(std::string(prologue) + R"(
    cp.async.ca.shared.global [tile], [%rd1], 4;
    cp.async.wait_all;
    bar.sync 0;
    ld.shared.u32 %r3, [tile];
    setp.gt.u32 %p2, %r3, 20;
    @%p2 bra $end;
    $end:)",
                                   tile_variables),
                     "@%p2 bra", "ld.shared");
}

// More than the host has: memory that is not accessed costs nothing.
TEST(Values, LargeArraysCostAddressesAlone) {
  constexpr uint64_t size = uint64_t{1} << 37;
  GlobalMemory memory;
  const Address base = memory.allocate(size, "large");
  EXPECT_NE(memory.find(base, size), nullptr);
  EXPECT_EQ(*memory.find(base + size / 2, 1), 0);
}

}  // namespace
}  // namespace palladion::sim::testing::values
