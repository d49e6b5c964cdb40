// Gradients of layer norm and RMS norm: odd lengths, rows of one element, strips of columns that end early.
#include "kernels/examples/norm_backward.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class NormBackwardKernel : public testing::TestWithParam<Case> {};
TEST_P(NormBackwardKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, NormBackwardKernel,
    testing::Values(
        Case{"layer_norm_backward", {{"m", "7"}, {"n", "257"}}, {{"ctas", "3"}}},
        Case{"layer_norm_backward", {{"m", "5"}, {"n", "160"}}, {{"dtype", "f16"}}},
        Case{"layer_norm_backward", {{"m", "3"}, {"n", "1"}}, {{"dtype", "f32"}}},
        Case{"layer_norm_backward", {{"m", "2"}, {"n", "2100"}}, {{"dtype", "f32"}, {"ctas", "1"}}},
        Case{"rms_norm_backward", {{"m", "7"}, {"n", "257"}}, {{"ctas", "3"}}},
        Case{"rms_norm_backward", {{"m", "5"}, {"n", "160"}}, {{"dtype", "f16"}}},
        Case{"rms_norm_backward", {{"m", "3"}, {"n", "1"}}, {{"dtype", "f32"}}},
        Case{"rms_norm_backward", {{"m", "2"}, {"n", "2100"}}, {{"dtype", "f32"}, {"ctas", "1"}}},
        Case{"layer_norm_backward", {{"m", "70"}, {"n", "40"}}, {{"ctas", "65"}}}),
    name_of_param);

class NormBackwardAssembly : public testing::TestWithParam<Case> {};
TEST_P(NormBackwardAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, NormBackwardAssembly,
                         testing::Values(Case{"layer_norm_backward", {}, {}},
                                         Case{"layer_norm_backward", {}, {{"dtype", "f32"}}},
                                         Case{"layer_norm_backward", {{"n", "4095"}}, {}},
                                         Case{"rms_norm_backward", {}, {}},
                                         Case{"rms_norm_backward", {}, {{"dtype", "f32"}}}),
                         name_of_param);

TEST(NormBackward, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return layer_norm_backward({.n = 4097}); }),
            "layer_norm_backward: n=4097 must be 1 to 4096");
  EXPECT_EQ(broken_rule([] { return rms_norm_backward({.n = 0}); }),
            "rms_norm_backward: n=0 must be 1 to 4096");
  EXPECT_EQ(broken_rule([] { return rms_norm_backward({.m = 0}); }),
            "rms_norm_backward: m must be at least 1");
  EXPECT_EQ(broken_rule([] { return layer_norm_backward({.ctas = 0}); }),
            "layer_norm_backward: ctas must be at least 1");
}

// The CTAs that add up wait for lower numbers alone: one CTA at a time is enough.
TEST(NormBackward, EndsWithOneResidentCta) {
  const plgpu::Kernel kernel = layer_norm_backward({.m = 5, .n = 100, .ctas = 3});
  const KernelSpec& spec = *find_kernel("layer_norm_backward");
  const Choice choice = choose(spec, {{"m", "5"}, {"n", "100"}}, {{"ctas", "3"}});
  sim::Machine machine(isa::default_arch());
  sim::RunOptions options;
  options.resident_clusters = 1;
  const SimOutcome out = run(kernel, spec.make_inputs(choice, 3), machine, options);
  EXPECT_TRUE(out.result.clean()) << text_of(out.result);
}

}  // namespace
}  // namespace palladion::kernels::test
