// Convolutions: filters of one tap and of many, rectangular ones, images and channels that no tile divides.
#include "kernels/hopper/conv2d.h"

#include "kernels/frame/convolution.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

Case convolution(std::map<std::string, std::string> sizes, std::map<std::string, std::string> settings = {}) {
  settings.emplace("sms", "2");
  return {"conv2d", std::move(sizes), std::move(settings)};
}

class Conv2dKernel : public testing::TestWithParam<Case> {};
TEST_P(Conv2dKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(Conv2dKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, Conv2dKernel,
    testing::Values(
        convolution({{"n", "2"}, {"h", "9"}, {"w", "11"}, {"c", "64"}, {"k", "64"}}),
        // A tile has pixels of several images; neither tiles nor steps divide anything.
        convolution({{"n", "5"}, {"h", "6"}, {"w", "7"}, {"c", "72"}, {"k", "200"}, {"r", "2"}, {"s", "3"}},
                    {{"tile_n", "128"}, {"dtype", "bf16"}, {"out_dtype", "f32"}, {"stages", "3"}}),
        convolution({{"n", "1"}, {"h", "20"}, {"w", "23"}, {"c", "8"}, {"k", "72"}, {"r", "5"}, {"s", "1"}},
                    {{"stride", "2"},
                     {"dilation", "3"},
                     {"padding", "4"},
                     {"stages", "4"},
                     {"tile_m", "256"},
                     {"out_dtype", "bf16"}}),
        convolution({{"n", "3"}, {"h", "8"}, {"w", "8"}, {"c", "136"}, {"k", "64"}, {"r", "1"}, {"s", "1"}},
                    {{"stride", "8"}, {"padding", "0"}, {"stages", "2"}}),
        convolution({{"n", "1"}, {"h", "1"}, {"w", "1"}, {"c", "8"}, {"k", "8"}, {"r", "1"}, {"s", "1"}},
                    {{"padding", "0"}})),
    name_of_param);

class Conv2dAssembly : public testing::TestWithParam<Case> {};
TEST_P(Conv2dAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, Conv2dAssembly,
    testing::Values(convolution({}), convolution({{"k", "256"}}, {{"tile_n", "256"}, {"stages", "4"}}),
                    convolution({{"k", "128"}}, {{"tile_m", "256"}, {"tile_n", "128"}, {"stages", "4"}})),
    name_of_param);

// The definition, element by element.
TEST(Conv2d, ReferenceIsTheDefinition) {
  const ConvolutionSteps steps{.stride = 2, .padding = 1, .dilation = 2};
  const Array images =
      filled({pl::f16, {2, 7, 6, 3}}, {.kind = Fill::Kind::randint, .seed = 3, .low = -4, .high = 5});
  const Array filters =
      filled({pl::f16, {4, 3, 2, 3}}, {.kind = Fill::Kind::randint, .seed = 4, .low = -4, .high = 5});
  const Array out = convolution_reference(images, filters, steps, pl::f32);
  ASSERT_EQ(out.type.shape, (pl::Shape{2, 3, 3, 4}));
  const std::vector<double> in = to_doubles(images), f = to_doubles(filters), d = to_doubles(out);
  for (int64_t i = 0; i < std::ssize(d); ++i) {
    const int64_t k = i % 4, q = i / 4 % 3, p = i / 12 % 3, n = i / 36;
    double sum = 0;
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t s = 0; s < 2; ++s)
        for (int64_t c = 0; c < 3; ++c) {
          const int64_t y = 2 * p - 1 + 2 * r, x = 2 * q - 1 + 2 * s;
          if (y >= 0 && y < 7 && x >= 0 && x < 6)
            sum += in[size_t(((n * 7 + y) * 6 + x) * 3 + c)] * f[size_t(((k * 3 + r) * 2 + s) * 3 + c)];
        }
    EXPECT_EQ(d[size_t(i)], sum) << i;
  }
}

TEST(Conv2d, SaysWhichSizesItCannotTake) {
  const auto rule = [](const Conv2d& c) { return broken_rule([&] { return conv2d(c); }); };
  EXPECT_EQ(rule({.n = 0}), "conv2d: n must be at least 1");
  EXPECT_EQ(rule({.c = 20}), "conv2d: c=20 must be a multiple of 8: pixels of 16 bytes for TMA");
  EXPECT_EQ(rule({.k = 20}),
            "conv2d: k=20 must be a multiple of 8: pixels of the result of 16 bytes for TMA");
  EXPECT_EQ(rule({.stride = 9}), "conv2d: stride=9 must be 1 to 8");
  EXPECT_EQ(rule({.padding = 128}), "conv2d: padding=128 must be 0 to 127");
  EXPECT_EQ(rule({.dilation = 0}), "conv2d: dilation must be at least 1");
  EXPECT_EQ(rule({.h = 4, .r = 7}),
            "conv2d: a filter of 7 x 3 with dilation=1 is larger than an image of 4 x 56 with padding=1");
  EXPECT_EQ(rule({.h = 500, .w = 500, .dilation = 65}),
            "conv2d: a filter of 3 x 3 with dilation=65 reaches 129 pixels beyond padding=1, a tensor map "
            "holds 128");
  EXPECT_EQ(rule({.tile_m = 64}), "conv2d: tile_m=64 must be 128 or 256: two warpgroups of 64 or 128 pixels");
  EXPECT_EQ(rule({.tile_n = 96}),
            "conv2d: tile_n=96 must be a multiple of 64, and with tile_m=128 at most 256");
  EXPECT_EQ(rule({.stages = 1}), "conv2d: stages must be at least 2");
}

}  // namespace
}  // namespace palladion::kernels::test
