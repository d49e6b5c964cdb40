// Layer norm: odd lengths, rows of one element, several parts a row.
#include "kernels/examples/layer_norm.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

const auto shapes = testing::Values(Case{"layer_norm", {{"m", "3"}, {"n", "2051"}}, {}},
                                    Case{"layer_norm", {{"m", "7"}, {"n", "257"}}, {}},
                                    Case{"layer_norm", {{"m", "5"}, {"n", "384"}}, {{"dtype", "f16"}}},
                                    Case{"layer_norm", {{"m", "3"}, {"n", "1"}}, {{"dtype", "f32"}}},
                                    Case{"layer_norm", {{"m", "4"}, {"n", "1001"}}, {{"dtype", "f32"}}},
                                    Case{"layer_norm", {{"m", "3"}, {"n", "8192"}}, {{"dtype", "f32"}}},
                                    Case{"layer_norm", {{"m", "1"}, {"n", "77"}}, {{"epsilon", "0.25"}}});

class LayerNormKernel : public testing::TestWithParam<Case> {};
TEST_P(LayerNormKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(LayerNormKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, LayerNormKernel, shapes, name_of_param);

class LayerNormAssembly : public testing::TestWithParam<Case> {};
TEST_P(LayerNormAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, LayerNormAssembly,
                         testing::Values(Case{"layer_norm", {}, {}}, Case{"layer_norm", {{"n", "8192"}}, {}},
                                         Case{"layer_norm", {{"n", "8192"}}, {{"dtype", "f32"}}},
                                         Case{"layer_norm", {{"n", "8191"}}, {}}),
                         name_of_param);

TEST(LayerNorm, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return layer_norm({.n = 8193}); }), "layer_norm: n=8193 must be 1 to 8192");
  EXPECT_EQ(broken_rule([] { return layer_norm({.n = 0}); }), "layer_norm: n=0 must be 1 to 8192");
  EXPECT_EQ(broken_rule([] { return layer_norm({.m = 0}); }), "layer_norm: m must be at least 1");
}

// Of values whose squares would cancel: the variance is one of differences from the mean.
TEST(LayerNorm, KeepsTheDigitsOfRowsFarFromZero) {
  const plgpu::Kernel kernel = layer_norm({.m = 1, .n = 256, .dtype = pl::f32, .epsilon = 0});
  std::vector<double> x(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 16384 + (i % 2 == 0 ? 1 : -1);
  const SimOutcome out =
      run_clean(kernel, {array_of({pl::f32, {1, 256}}, x),
                         filled({pl::f32, {256}}, {.kind = Fill::Kind::constant, .value = 1}),
                         filled({pl::f32, {256}}, {.kind = Fill::Kind::zeros})});
  EXPECT_EQ(value_at(out.outputs[1], 0), 16384);
  EXPECT_NEAR(value_at(out.outputs[2], 0), 1, 1e-6);
  for (int64_t i = 0; i < 256; ++i) EXPECT_NEAR(value_at(out.outputs[0], i), i % 2 == 0 ? 1 : -1, 1e-6);
}

}  // namespace
}  // namespace palladion::kernels::test
