// Running sums: odd lengths, rows of one element, rows that several CTAs share, more CTAs than tiles.
#include "kernels/examples/scan.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class ScanKernel : public testing::TestWithParam<Case> {};
TEST_P(ScanKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(ScanKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, ScanKernel,
                         testing::Values(Case{"scan", {{"m", "2"}, {"n", "1547"}}, {{"tile", "512"}}},
                                         Case{"scan", {{"m", "3"}, {"n", "1"}}, {}},
                                         Case{"scan", {{"m", "3"}, {"n", "257"}}, {{"dtype", "s32"}}},
                                         Case{"scan", {{"m", "2"}, {"n", "2500"}}, {{"tile", "1024"}}}),
                         name_of_param);

// Sums of parts go through semaphores, whose values depend on time.
class SharedScan : public testing::TestWithParam<Case> {};
TEST_P(SharedScan, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, SharedScan,
    testing::Values(
        Case{"scan", {{"m", "2"}, {"n", "1300"}}, {{"tile", "128"}, {"parts", "3"}}},
        Case{"scan", {{"m", "1"}, {"n", "1024"}}, {{"dtype", "s32"}, {"tile", "256"}, {"parts", "4"}}},
        Case{"scan", {{"m", "2"}, {"n", "300"}}, {{"tile", "128"}, {"parts", "7"}}}),
    name_of_param);

class ScanAssembly : public testing::TestWithParam<Case> {};
TEST_P(ScanAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, ScanAssembly,
                         testing::Values(Case{"scan", {}, {}}, Case{"scan", {}, {{"tile", "8192"}}},
                                         Case{"scan", {{"n", "65535"}}, {{"tile", "8192"}}},
                                         Case{"scan", {}, {{"parts", "4"}}}),
                         name_of_param);

TEST(Scan, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return scan({.m = 0}); }), "scan: m must be at least 1");
  EXPECT_EQ(broken_rule([] { return scan({.n = 0}); }), "scan: n must be at least 1");
  EXPECT_EQ(broken_rule([] { return scan({.tile = 384}); }),
            "scan: tile=384 must be a power of two, 128 to 8192");
  EXPECT_EQ(broken_rule([] { return scan({.parts = 0}); }), "scan: parts=0 must be 1 to 1024");
}

}  // namespace
}  // namespace palladion::kernels::test
