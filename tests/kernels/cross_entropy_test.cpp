// Softmax with cross entropy: odd numbers of classes, one class, several parts, labels that are no class.
#include <cmath>
#include <limits>

#include "kernels/examples/cross_entropy.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class CrossEntropyKernel : public testing::TestWithParam<Case> {};
TEST_P(CrossEntropyKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(CrossEntropyKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, CrossEntropyKernel,
    testing::Values(Case{"cross_entropy", {{"m", "2"}, {"n", "2501"}}, {{"tile", "1024"}}},
                    Case{"cross_entropy", {{"m", "7"}, {"n", "257"}}, {{"tile", "128"}}},
                    Case{"cross_entropy", {{"m", "3"}, {"n", "1"}}, {{"dtype", "f32"}}},
                    Case{"cross_entropy", {{"m", "5"}, {"n", "1100"}}, {{"dtype", "f16"}, {"tile", "256"}}},
                    Case{"cross_entropy", {{"m", "2"}, {"n", "4096"}}, {{"dtype", "f32"}}},
                    Case{"cross_entropy", {{"m", "2"}, {"n", "5001"}}, {}}),
    name_of_param);

class CrossEntropyAssembly : public testing::TestWithParam<Case> {};
TEST_P(CrossEntropyAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, CrossEntropyAssembly,
                         testing::Values(Case{"cross_entropy", {}, {}},
                                         Case{"cross_entropy", {}, {{"dtype", "f32"}, {"tile", "8192"}}}),
                         name_of_param);

TEST(CrossEntropy, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return cross_entropy({.m = 0}); }), "cross_entropy: m must be at least 1");
  EXPECT_EQ(broken_rule([] { return cross_entropy({.n = 0}); }), "cross_entropy: n must be at least 1");
  EXPECT_EQ(broken_rule([] { return cross_entropy({.tile = 192}); }),
            "cross_entropy: tile=192 must be a multiple of 128, at most 8192");
}

// Logits that overflow e^x, and classes that are masked out.
TEST(CrossEntropy, TakesLargeLogitsAndMinusInfinity) {
  const plgpu::Kernel kernel = cross_entropy({.m = 1, .n = 300, .dtype = pl::f32, .tile = 128});
  std::vector<double> x(300, -std::numeric_limits<double>::infinity());
  x[3] = x[299] = 20000;
  const SimOutcome out = run_clean(kernel, {array_of({pl::f32, {1, 300}}, x), array_of({pl::s32, {1}}, {3})});
  EXPECT_NEAR(value_at(out.outputs[0], 0), std::log(2), 0.01);
  for (int64_t i = 0; i < 300; ++i)
    EXPECT_EQ(value_at(out.outputs[1], i), i == 3 ? -0.5 : i == 299 ? 0.5 : 0) << i;
}

}  // namespace
}  // namespace palladion::kernels::test
