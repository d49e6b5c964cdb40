// Products of operands of different types: s8 with 16-bit floating point, fp8 with scales of blocks.
#include <cmath>

#include "kernels/hopper/matmul_block_scaled.h"
#include "kernels/hopper/matmul_mixed.h"
#include "kernels/hopper/matmul_ws.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class MixedProduct : public testing::TestWithParam<Case> {};
TEST_P(MixedProduct, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(MixedProduct, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, MixedProduct,
    testing::Values(Case{"matmul_mixed", {{"m", "256"}, {"n", "320"}, {"k", "192"}}, {{"sms", "2"}}},
                    Case{"matmul_mixed",
                         {{"m", "384"}, {"n", "192"}, {"k", "320"}},
                         {{"sms", "2"}, {"tile_n", "64"}, {"stages", "2"}, {"dtype", "f16"}}},
                    Case{"matmul_mixed", {{"m", "128"}, {"n", "64"}, {"k", "64"}}, {}},
                    Case{"matmul_block_scaled", {{"m", "256"}, {"n", "264"}, {"k", "400"}}, {{"sms", "2"}}},
                    Case{"matmul_block_scaled",
                         {{"m", "128"}, {"n", "384"}, {"k", "640"}},
                         {{"sms", "2"}, {"stages", "2"}, {"dtype", "e5m2"}, {"out_dtype", "f16"}}},
                    Case{"matmul_block_scaled", {{"m", "128"}, {"n", "8"}, {"k", "16"}}, {}}),
    name_of_param);

class MixedAssembly : public testing::TestWithParam<Case> {};
TEST_P(MixedAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, MixedAssembly,
                         testing::Values(Case{"matmul_mixed", {}, {}},
                                         Case{"matmul_mixed", {}, {{"dtype", "f16"}, {"tile_n", "128"}}},
                                         Case{"matmul_block_scaled", {}, {}},
                                         Case{"matmul_block_scaled", {}, {{"dtype", "e5m2"}}}),
                         name_of_param);

TEST(MatmulMixed, SaysWhichSizesItCannotTake) {
  const auto rule = [](const MatmulMixed& c) { return broken_rule([&] { return matmul_mixed(c); }); };
  EXPECT_EQ(rule({.m = 0}), "matmul_mixed: m must be at least 1");
  EXPECT_EQ(rule({.n = 96}), "matmul_mixed: n=96 must be a multiple of 64: what is swizzled together");
  EXPECT_EQ(rule({.m = 200}), "matmul_mixed: m=200 must be a multiple of 128: rows of a tile");
  EXPECT_EQ(rule({.k = 96}), "matmul_mixed: k=96 must be a multiple of 64: columns of a tile");
  EXPECT_EQ(rule({.tile_n = 320}), "matmul_mixed: tile_n=320 must be a multiple of 64 up to 256");
  EXPECT_EQ(rule({.stages = 1}), "matmul_mixed: stages must be at least 2");
}

// Every integer of 8 bits, in every row: A picks rows of B out of a matrix with one 1 a column.
TEST(MatmulMixed, ConvertsEveryInteger) {
  for (const pl::DType dtype : {pl::bf16, pl::f16}) {
    const MatmulMixed c{.m = 128, .n = 256, .k = 256, .dtype = dtype, .sm_count = 1};
    std::vector<double> a(size_t(128 * 256)), ones(size_t(256 * 256));
    for (size_t i = 0; i < a.size(); ++i) a[i] = double(int((i + i / 256 * 7) % 256) - 128);
    for (size_t i = 0; i < 256; ++i) ones[i * 256 + i] = 1;
    const SimOutcome out =
        run_clean(matmul_mixed(c), {array_of({pl::s8, {128, 256}}, a), array_of({dtype, {256, 256}}, ones)});
    EXPECT_EQ(to_doubles(out.outputs[0]), a);
  }
}

TEST(MatmulBlockScaled, SaysWhichSizesItCannotTake) {
  const auto rule = [](const MatmulBlockScaled& c) {
    return broken_rule([&] { return matmul_block_scaled(c); });
  };
  EXPECT_EQ(rule({.k = 0}), "matmul_block_scaled: k must be at least 1");
  EXPECT_EQ(rule({.m = 64}), "matmul_block_scaled: m=64 must be a multiple of 128: rows of a tile");
  EXPECT_EQ(rule({.n = 4}), "matmul_block_scaled: n=4 must be a multiple of 8: rows of 16 bytes for TMA");
  EXPECT_EQ(rule({.k = 8}), "matmul_block_scaled: k=8 must be a multiple of 16: rows of 16 bytes for TMA");
  EXPECT_EQ(rule({.stages = 1}), "matmul_block_scaled: stages must be at least 2");
}

// Ones with scales that are powers of two, a different one for each row, column block and k block.
TEST(MatmulBlockScaled, GivesEachBlockItsScales) {
  const MatmulBlockScaled c{.m = 128, .n = 136, .k = 272, .out_dtype = pl::f16, .sm_count = 1};
  std::vector<double> a_scales, b_scales;
  for (int64_t k = 0; k < 3; ++k)
    for (int64_t row = 0; row < c.m; ++row) a_scales.push_back(std::ldexp(1.0, int((row + 2 * k) % 5) - 2));
  for (int64_t block = 0; block < 2; ++block)
    for (int64_t k = 0; k < 3; ++k) b_scales.push_back(std::ldexp(1.0, int(block + k) - 1));
  const SimOutcome out = run_clean(
      matmul_block_scaled(c), {array_of({c.dtype, {c.m, c.k}}, std::vector<double>(size_t(c.m * c.k), 1)),
                               array_of({c.dtype, {c.n, c.k}}, std::vector<double>(size_t(c.n * c.k), 1)),
                               array_of(c.a_scales(), a_scales), array_of(c.b_scales(), b_scales)});
  const std::vector<double> d = to_doubles(out.outputs[0]);
  for (int64_t row = 0; row < c.m; ++row) {
    for (int64_t column = 0; column < c.n; ++column) {
      double wanted = 0;
      for (int64_t k = 0; k < 3; ++k)
        wanted +=
            (k < 2 ? 128 : 16) * a_scales[size_t(k * c.m + row)] * b_scales[size_t(column / 128 * 3 + k)];
      EXPECT_EQ(d[size_t(row * c.n + column)], wanted) << row << " " << column;
    }
  }
}

// 8192 terms of 1.125 * 1.125, to which the tensor core alone adds fewer and fewer of their bits.
TEST(MatmulBlockScaled, LosesLessThanTheTensorCoreAlone) {
  const int64_t k = 8192;
  const MatmulBlockScaled c{.m = 128, .n = 128, .k = k, .sm_count = 1};
  const std::vector<double> values(size_t(128 * k), 1.125);
  const Array a = array_of({pl::e4m3, {128, k}}, values);
  const double exact = 1.125 * 1.125 * static_cast<double>(k);
  const auto error = [&](const SimOutcome& out) {
    return std::abs(value_at(out.outputs[0], 0) - exact) / exact;
  };
  const double promoted =
      error(run_clean(matmul_block_scaled(c), {a, a, array_of(c.a_scales(), std::vector<double>(64 * 128, 1)),
                                               array_of(c.b_scales(), std::vector<double>(64, 1))}));
  const double alone = error(run_clean(matmul_ws({.m = 128,
                                                  .n = 128,
                                                  .k = k,
                                                  .dtype = pl::e4m3,
                                                  .out_dtype = pl::bf16,
                                                  .tile_m = 128,
                                                  .tile_k = 128}),
                                       {a, a}));
  EXPECT_LT(promoted, 0x1p-8);  // rounding to bf16
  EXPECT_GT(alone, 4 * promoted + 0x1p-8);
}

}  // namespace
}  // namespace palladion::kernels::test
